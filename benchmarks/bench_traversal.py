"""Speed of retrieval, size and opening, at the size of PersonalAI's graph of HotpotQA (by Qwen2.5, Table 15).

Passages come from the corpora of two question answering data sets; statements are extracted by rule, and one data set
comes with triples. To reach the size, passages are repeated with every capitalised word renamed, so that a repetition
mentions other things than its original; questions mention the originals. Vectors of statements, passages, names and
questions are random unit vectors, whose values do not change how much is computed; making them is not timed. The memory
is opened in a fresh process, with the files in the page cache. Every method answers all questions twice: the first
time, right after a change of the graph, it has to look up what holds.

    python benchmarks/bench_traversal.py --shared ../shared
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from bench_scale import peak_resident_mb

from worldthread import Memory
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.retrieve import Query, RetrievalIndex, Scores, method, methods
from worldthread.retrieve.query import names_in
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis
from worldthread_lab.published.astar import AStarSettings, astar
from worldthread_lab.published.linking import entities_of, pending_names
from worldthread_lab.published.traversal import vertex_graph

SIZE = {"episodes": 3933, "theses": 31795, "objects": 56078, "episodic": 119387, "thesis": 106037, "object": 38460}
DIMENSIONS = 384
OBJECTS = 4
SETS = ("musique_train", "hotpotqa_train")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")


def lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def passages(shared: Path) -> list[tuple[str, Extraction]]:
    """Return every passage with the statements that rules extract from it and the triples given for it."""
    extractor = ProseExtractor()
    found = []
    for name in SETS:
        for row in lines(shared / "data" / "multihop" / f"{name}_corpus.jsonl.gz"):
            text = f"{row['title']}\n{row['text']}"
            triples = [
                Fact(*parts) for parts in row.get("triples", ()) if len(parts) == 3 and all(map(str.strip, parts))
            ]
            read = [s for s in extractor.extract(text).statements if s.aspect is None]
            found.append((text, Extraction("benchmark", (*read, *triples))))
    return found


def renamed(text: str, generation: int) -> str:
    return _NAME.sub(lambda match: f"{match[0]}{generation}", text) if generation else text


def renamed_statement(statement: Statement, generation: int) -> Statement:
    if isinstance(statement, Fact):
        return Fact(*(renamed(part, generation) for part in (statement.subject, statement.relation, statement.object)))
    objects = tuple(renamed(name, generation) for name in statement.objects[:OBJECTS])
    return Thesis(renamed(statement.text, generation), objects)


def episodes(texts: list[tuple[str, Extraction]], theses: int) -> Iterator[Episode]:
    """Yield episodes of two passages each, as long as PersonalAI's, until they have this many theses.

    A thesis keeps its first :data:`OBJECTS` objects, about as many as a model names.
    """
    seen: set[str] = set()
    for generation in count():
        for (text, extraction), (more, other) in zip(texts[::2], texts[1::2], strict=False):
            statements = tuple(renamed_statement(s, generation) for s in (*extraction.statements, *other.statements))
            seen.update(s.id for s in statements if isinstance(s, Thesis))
            yield Episode(
                renamed(f"{text}\n\n{more}", generation), generation, extraction=Extraction("benchmark", statements)
            )
            if len(seen) >= theses:
                return


def build(path: Path, shared: Path, theses: int) -> None:
    """Make a memory of this size, with its snapshot and index."""
    with Memory(path, model="none", embedder=RandomVectors()) as memory:
        memory.record.add_many(episodes(passages(shared), theses))
        with memory.record.index():
            pass  # makes the index
        memory.checkpoint()


def questions(shared: Path) -> list[str]:
    return [str(row["question"]) for name in SETS for row in lines(shared / "data" / "multihop" / f"{name}.jsonl.gz")]


def unit_vectors(rng: np.random.Generator, rows: int) -> np.ndarray:
    vectors = rng.normal(size=(rows, DIMENSIONS)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class RandomVectors:
    """An embedder whose vectors are random."""

    name = "random"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return unit_vectors(self._rng, len(texts))


def timed(
    run: Callable[[Query, RetrievalIndex], Scores], asked: list[Query], index: RetrievalIndex
) -> dict[str, float]:
    took, sizes = [], []
    for query in asked:
        start = time.perf_counter()
        scores = run(query, index)
        took.append(1000 * (time.perf_counter() - start))
        sizes.append(int(np.isfinite(scores.statements).sum() + np.isfinite(scores.episodes).sum()))
    took.sort()
    return {
        "ms_p50": round(statistics.median(took), 2),
        "ms_p95": round(took[int(0.95 * len(took))], 2),
        "ms_max": round(took[-1], 2),
        "found_p50": statistics.median(sizes),
    }


def measure(path: Path, shared: Path, *, with_names: bool) -> None:
    """Measure everything; runs in a fresh process."""
    start = time.perf_counter()
    memory = Memory(path, model="none", embedder=RandomVectors(), readonly=True)
    memory.view().facts("anything")
    opening = time.perf_counter() - start
    with memory.record.index() as index:
        indexed = time.perf_counter() - start - opening
        full = vertex_graph(index)
        assert len(full.adjacency.far)
        vertices = time.perf_counter() - start - opening - indexed
        rng = np.random.default_rng(0)
        if with_names:
            for part in pending_names(index):
                index.put(part, unit_vectors(rng, len(part.texts)))
        asked = [
            Query(text, vector, names_in(text, index.names.find))
            for text, vector in zip(questions(shared), unit_vectors(rng, 1000), strict=False)
        ]
        starts = [len(entities_of(query, index, full.filtered()).starts) for query in asked]
        counts = memory.record.graph.counts()
        report = {
            "questions": len(asked),
            "starts_per_question": {str(n): starts.count(n) for n in sorted(set(starts))},
            "graph": {"episodes": counts["episodes"], "theses": counts["theses"], **full.counts()},
            "personalai": SIZE,
            "vectors": "random",
            "names_have_vectors": with_names,
            "opening_seconds": round(opening, 2),
            "opening_index_seconds": round(indexed, 2),
            "making_vertices_seconds": round(vertices, 2),
            "disk_mb": sum(file.stat().st_size for file in path.parent.rglob("*") if file.is_file()) // 2**20,
            "resident_mb": peak_resident_mb(),
        }
        print(json.dumps(report), flush=True)
        runs: dict[str, Callable[[Query, RetrievalIndex], Scores]] = {name: method(name) for name in methods()}
        runs |= {f"astar {name}": partial(astar, settings=AStarSettings(name)) for name in ("weighted", "averaged")}
        for name, run in runs.items():
            full.look_again()
            first = timed(run, asked, index)
            print(json.dumps({"method": name, "first": first, "again": timed(run, asked, index)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--theses", type=int, default=SIZE["theses"], help="theses in the graph")
    parser.add_argument("--without-names", action="store_true", help="leave the names of objects without vectors")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        measure(given.measure, given.shared, with_names=not given.without_names)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        build(path, given.shared, given.theses)
        names = ["--without-names"] if given.without_names else []
        subprocess.run(
            [sys.executable, __file__, "--measure", str(path), "--shared", str(given.shared), *names], check=True
        )


if __name__ == "__main__":
    main()
