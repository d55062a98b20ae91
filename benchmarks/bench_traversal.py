"""How fast the traversals of a graph are, at the size of PersonalAI's graph of HotpotQA (read by Qwen2.5, Table 15).

Passages come from the corpora of two question answering data sets, read by rule, together with the triples that are
given for one of them. To reach the size, they are repeated with every capitalised word renamed, so that a repetition
speaks of other things than its original; questions speak of the originals. Random unit vectors stand in for those of
statements, passages and names, whose values make no difference to how much is computed; those of questions are random
too, and their making is not timed. Every method is asked all questions twice: the first time, right after a change of
the graph, what holds has to be looked up.

    python benchmarks/bench_traversal.py --shared ../shared
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

from worldthread.extract.prose import ProseReader
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Corpus, Query, Scores, method
from worldthread.retrieve.astar import AStarSettings, astar
from worldthread.retrieve.linking import entities_of, pending_names
from worldthread.retrieve.query import names_in
from worldthread.retrieve.traversal import vertex_graph
from worldthread.types import Episode, Fact, Reading, Statement, Thesis

SIZE = {"episodes": 3933, "theses": 31795, "objects": 56078, "episodic": 119387, "thesis": 106037, "object": 38460}
DIMENSIONS = 384
OBJECTS = 4
SETS = ("musique_train", "hotpotqa_train")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")


def lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def passages(shared: Path) -> list[tuple[str, Reading]]:
    """Every passage with what a rule reads in it, and the triples given for it."""
    reader = ProseReader()
    found = []
    for name in SETS:
        for row in lines(shared / "data" / "multihop" / f"{name}_corpus.jsonl.gz"):
            text = f"{row['title']}\n{row['text']}"
            triples = [
                Fact(*parts) for parts in row.get("triples", ()) if len(parts) == 3 and all(map(str.strip, parts))
            ]
            read = [s for s in reader.extract(text).statements if s.aspect is None]
            found.append((text, Reading("benchmark", (*read, *triples))))
    return found


def renamed(text: str, generation: int) -> str:
    return _NAME.sub(lambda match: f"{match[0]}{generation}", text) if generation else text


def renamed_statement(statement: Statement, generation: int) -> Statement:
    if isinstance(statement, Fact):
        return Fact(*(renamed(part, generation) for part in (statement.subject, statement.relation, statement.object)))
    objects = tuple(renamed(name, generation) for name in statement.objects[:OBJECTS])
    return Thesis(renamed(statement.text, generation), objects)


def graph_of_size(texts: list[tuple[str, Reading]], theses: int) -> tuple[TemporalGraph, dict[str, str]]:
    """A graph with so many theses, and the texts of its episodes: two passages each, as long as PersonalAI's.

    A thesis keeps its first :data:`OBJECTS` objects, so that it has about as many as a model gives one.
    """
    graph, told = TemporalGraph(), {}
    seen: set[str] = set()
    for generation in count():
        for (text, reading), (more, other) in zip(texts[::2], texts[1::2], strict=False):
            statements = tuple(renamed_statement(s, generation) for s in (*reading.statements, *other.statements))
            seen.update(s.id for s in statements if isinstance(s, Thesis))
            episode = Episode(
                renamed(f"{text}\n\n{more}", generation), generation, reading=Reading("benchmark", statements)
            )
            graph.add(episode)
            told[episode.id] = episode.text
            if len(seen) >= theses:
                return graph, told
    raise AssertionError


def questions(shared: Path) -> list[str]:
    return [str(row["question"]) for name in SETS for row in lines(shared / "data" / "multihop" / f"{name}.jsonl.gz")]


def unit_vectors(rng: np.random.Generator, rows: int) -> np.ndarray:
    vectors = rng.normal(size=(rows, DIMENSIONS)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Sized(FakeEmbedder):
    """Says how long vectors are."""

    dimensions = DIMENSIONS


def timed(run: Callable[[Query, Corpus], Scores], asked: list[Query], corpus: Corpus) -> dict[str, float]:
    took, sizes = [], []
    for query in asked:
        start = time.perf_counter()
        scores = run(query, corpus)
        took.append(1000 * (time.perf_counter() - start))
        sizes.append(int(np.isfinite(scores.statements).sum() + np.isfinite(scores.episodes).sum()))
    took.sort()
    return {
        "ms_p50": round(statistics.median(took), 2),
        "ms_p95": round(took[int(0.95 * len(took))], 2),
        "ms_max": round(took[-1], 2),
        "found_p50": statistics.median(sizes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--theses", type=int, default=SIZE["theses"], help="theses in the graph")
    parser.add_argument("--without-names", action="store_true", help="names of objects have no vectors")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    graph, told = graph_of_size(passages(given.shared), given.theses)
    corpus = Corpus(Sized())
    for part in corpus.take(graph, lambda ids: [told[i] for i in ids]):
        corpus.put(part, unit_vectors(rng, len(part.texts)))
    corpus.take(graph, lambda ids: [told[i] for i in ids])
    start = time.perf_counter()
    over = vertex_graph(corpus)
    assert len(over.half.far)
    seconds = time.perf_counter() - start
    if not given.without_names:
        for part in pending_names(corpus):
            corpus.put(part, unit_vectors(rng, len(part.texts)))
    asked = [
        Query(text, vector, names_in(text, corpus.names.find))
        for text, vector in zip(questions(given.shared), unit_vectors(rng, 1000), strict=False)
    ]
    starts = [len(entities_of(query, corpus, over.walk()).starts) for query in asked]
    counts = graph.counts()
    report = {
        "questions": len(asked),
        "starts_per_question": {str(n): starts.count(n) for n in sorted(set(starts))},
        "graph": {"episodes": counts["episodes"], "theses": counts["theses"], **over.counts()},
        "personalai": SIZE,
        "vectors": "random",
        "names_have_vectors": not given.without_names,
        "index_seconds": round(seconds, 2),
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(report), flush=True)
    runs: dict[str, Callable[[Query, Corpus], Scores]] = {
        name: method(name) for name in ("water_circles", "beam", "astar", "mixture")
    }
    runs |= {f"astar {name}": partial(astar, settings=AStarSettings(name)) for name in ("weighted", "averaged")}
    for name, run in runs.items():
        over.look_again()
        first = timed(run, asked, corpus)
        print(json.dumps({"method": name, "first": first, "again": timed(run, asked, corpus)}), flush=True)


if __name__ == "__main__":
    main()
