"""Measure retrieval speed, size and opening at the size of PersonalAI's HotpotQA graph (by Qwen2.5, Table 15).

<<<<<<< HEAD
Passages come from the corpora of two question answering data sets; statements are extracted by rule, and one data set
comes with triples. To reach the size, passages are repeated with every capitalised word renamed, so that a repetition
mentions other things than its original; questions mention the originals. Vectors of statements, passages, names and
questions are random unit vectors, whose values do not change how much is computed; making them is not timed. The memory
is opened in a fresh process, with the files in the page cache. Every method answers all questions twice: the first
time, right after a change of the graph, it has to look up what holds.
=======
Passages come from the corpora of two question-answering data sets, with statements extracted by rules and the given
triples of one of them. To reach the size, they are repeated with every capitalised word renamed, so that the repetition
is about other things than the original; questions are about the originals. Random unit vectors replace all embeddings;
their values do not change the amount of computation, and embedding questions is not timed. The memory is opened in a
fresh process, with the files in the page cache. Every method answers all questions twice: the first pass, after a
change of the graph, has to look up what holds.
>>>>>>> h-bench

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
from worldthread.retrieve import METHODS, Query, RetrievalIndex, Scores, method
from worldthread.retrieve.published.astar import AStarSettings, astar
from worldthread.retrieve.published.linking import entities_of, pending_names
from worldthread.retrieve.published.traversal import vertex_graph
from worldthread.retrieve.query import names_in
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis

SIZE = {"episodes": 3933, "theses": 31795, "objects": 56078, "episodic": 119387, "thesis": 106037, "object": 38460}
DIMENSIONS = 384
OBJECTS = 4
SETS = ("musique_train", "hotpotqa_train")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")


def lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def passages(shared: Path) -> list[tuple[str, Extraction]]:
<<<<<<< HEAD
    """Return every passage with the statements that rules extract from it and the triples given for it."""
=======
    """Return every passage with the statements that rules extract and its given triples."""
>>>>>>> h-bench
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
<<<<<<< HEAD
    """Yield episodes of two passages each, as long as PersonalAI's, until they have this many theses.

    A thesis keeps its first :data:`OBJECTS` objects, about as many as a model names.
=======
    """Yield episodes of two passages each, as long as PersonalAI's, until there are ``theses`` theses.

    A thesis keeps its first :data:`OBJECTS` objects, about as many as a model gives it.
>>>>>>> h-bench
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
<<<<<<< HEAD
    """Make a memory of this size, with its snapshot and index."""
    with Memory(path, model="none", embedder=RandomVectors()) as memory:
        memory.record.add_many(episodes(passages(shared), theses))
        with memory.record.index():
            pass  # makes the index
=======
    """Build a memory of a size, with its snapshot and index."""
    with Memory(path, model="none", embedder=RandomVectors()) as memory:
        memory.record.add_many(episodes(passages(shared), theses))
        with memory.record.index():
            pass  # built on first access
>>>>>>> h-bench
        memory.checkpoint()


def questions(shared: Path) -> list[str]:
    return [str(row["question"]) for name in SETS for row in lines(shared / "data" / "multihop" / f"{name}.jsonl.gz")]


def unit_vectors(rng: np.random.Generator, rows: int) -> np.ndarray:
    vectors = rng.normal(size=(rows, DIMENSIONS)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class RandomVectors:
<<<<<<< HEAD
    """An embedder whose vectors are random."""
=======
    """An embedder that returns a random vector for any text."""
>>>>>>> h-bench

    name = "random"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return unit_vectors(self._rng, len(texts))


def timed(
<<<<<<< HEAD
    run: Callable[[Query, RetrievalIndex], Scores], asked: list[Query], index: RetrievalIndex
=======
    run: Callable[[Query, RetrievalIndex], Scores], queries: list[Query], index: RetrievalIndex
>>>>>>> h-bench
) -> dict[str, float]:
    took, sizes = [], []
    for query in queries:
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
<<<<<<< HEAD
    """Measure everything; runs in a fresh process."""
=======
    """Measure a memory; to be called in a fresh process."""
>>>>>>> h-bench
    start = time.perf_counter()
    memory = Memory(path, model="none", embedder=RandomVectors(), readonly=True)
    memory.view().facts("anything")
    opening = time.perf_counter() - start
    with memory.record.index() as index:
        indexed = time.perf_counter() - start - opening
<<<<<<< HEAD
        full = vertex_graph(index)
        assert len(full.adjacency.far)
=======
        vertex_edges = vertex_graph(index)
        assert len(vertex_edges.half.far)
>>>>>>> h-bench
        vertices = time.perf_counter() - start - opening - indexed
        rng = np.random.default_rng(0)
        if with_names:
            for part in pending_names(index):
                index.put(part, unit_vectors(rng, len(part.texts)))
<<<<<<< HEAD
        asked = [
            Query(text, vector, names_in(text, index.names.find))
            for text, vector in zip(questions(shared), unit_vectors(rng, 1000), strict=False)
        ]
        starts = [len(entities_of(query, index, full.filtered()).starts) for query in asked]
=======
        queries = [
            Query(text, vector, names_in(text, index.names.find))
            for text, vector in zip(questions(shared), unit_vectors(rng, 1000), strict=False)
        ]
        starts = [len(entities_of(query, index, vertex_edges.walk()).starts) for query in queries]
>>>>>>> h-bench
        counts = memory.record.graph.counts()
        report = {
            "questions": len(queries),
            "starts_per_question": {str(n): starts.count(n) for n in sorted(set(starts))},
<<<<<<< HEAD
            "graph": {"episodes": counts["episodes"], "theses": counts["theses"], **full.counts()},
=======
            "graph": {"episodes": counts["episodes"], "theses": counts["theses"], **vertex_edges.counts()},
>>>>>>> h-bench
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
        runs: dict[str, Callable[[Query, RetrievalIndex], Scores]] = {name: method(name) for name in METHODS}
        runs |= {f"astar {name}": partial(astar, settings=AStarSettings(name)) for name in ("weighted", "averaged")}
        for name, run in runs.items():
<<<<<<< HEAD
            full.look_again()
            first = timed(run, asked, index)
            print(json.dumps({"method": name, "first": first, "again": timed(run, asked, index)}), flush=True)
=======
            vertex_edges.look_again()
            first = timed(run, queries, index)
            print(json.dumps({"method": name, "first": first, "again": timed(run, queries, index)}), flush=True)
>>>>>>> h-bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
<<<<<<< HEAD
    parser.add_argument("--theses", type=int, default=SIZE["theses"], help="theses in the graph")
    parser.add_argument("--without-names", action="store_true", help="leave the names of objects without vectors")
=======
    parser.add_argument("--theses", type=int, default=SIZE["theses"], help="number of theses in the graph")
    parser.add_argument("--without-names", action="store_true", help="give names of objects no vectors")
>>>>>>> h-bench
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        measure(options.measure, options.shared, with_names=not options.without_names)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        build(path, options.shared, options.theses)
        names = ["--without-names"] if options.without_names else []
        subprocess.run(
            [sys.executable, __file__, "--measure", str(path), "--shared", str(options.shared), *names], check=True
        )


if __name__ == "__main__":
    main()
