"""Measure stores of vectors: what they find of what an exact search finds, and what that costs.

    python benchmarks/bench_vectors.py [--data FOLDER] [--items N] [--queries N] [--vectors FILE.npz] [ADDRESS...]

The vectors are those of MiniLM for different sentences, and pairs of them that follow each other, of the passages of
musique_train and hotpotqa_train; the questions of both sets are asked. Each item has one of ten labels and holds for a
tenth of the time, at random. ADDRESS is that of a store, whose table is dropped at the end; "pgvector" starts a
PostgreSQL server, and "qdrant" and "milvus" use a temporary folder. Recall is measured without a restriction, with a
label, as of a time, and with both; exact is what the store "exact:" finds. Times are of one process that asks one
question after another; CPU seconds are those of this process, without a server's.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from worldthread.models import embedder as make_embedder
from worldthread.vectors import VectorItem, VectorStore, open_vector_store
from worldthread_lab.bench.datasets import load

SETS = ("musique_train", "hotpotqa_train")
K = 10
SPREAD = 10  # labels, and spans of time


def texts_of(data: Path | None, items: int, queries: int) -> tuple[list[str], list[str]]:
    """Different sentences and pairs of sentences, and questions."""
    sets = [load(name, data) for name in SETS]
    texts: dict[str, None] = {}
    for one in sets:
        for passage in one.passages:
            sentences = [part for part in re.split(r"(?<=[.!?])\s+", passage.text) if len(part) > 20]
            texts |= dict.fromkeys(sentences)
            texts |= dict.fromkeys(" ".join(pair) for pair in itertools.pairwise(sentences))
    questions = list(dict.fromkeys(question.text for one in sets for question in one.questions))
    rng = np.random.default_rng(0)
    listed = list(texts)
    chosen = sorted(rng.choice(len(listed), min(items, len(listed)), replace=False).tolist())
    asked = sorted(rng.choice(len(questions), min(queries, len(questions)), replace=False).tolist())
    return [listed[number] for number in chosen], [questions[number] for number in asked]


def vectors_of(options: argparse.Namespace) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Vectors of items and of questions; kept in a file when one is named."""
    if options.vectors and options.vectors.exists():
        kept = np.load(options.vectors)
        return kept["items"], kept["queries"]
    texts, questions = texts_of(options.data, options.items, options.queries)
    embedder = make_embedder("minilm")
    items = np.concatenate([embedder.embed(texts[start : start + 256]) for start in range(0, len(texts), 256)])
    queries = embedder.embed(questions)
    if options.vectors:
        np.savez(options.vectors, items=items, queries=queries)
    return items, queries


@contextmanager
def address_of(named: str, folder: Path) -> Iterator[str]:
    """The address of a store; that of a server of our own for "pgvector"."""
    if named == "pgvector":
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))
        import postgres_server

        with postgres_server.temporary_server() as running:
            yield running.new_address()
    elif named in ("qdrant", "milvus"):
        yield f"{named}:{folder / named}.db"
    else:
        yield named


def searches(store: VectorStore, queries: np.ndarray[Any, Any], **limits: Any) -> tuple[list[set[str]], list[float]]:
    """What each question finds, and the milliseconds that it takes."""
    found, times = [], []
    for query in queries:
        start = time.perf_counter()
        hits = store.search(query, K, **limits)
        times.append((time.perf_counter() - start) * 1000)
        found.append({hit.id for hit in hits})
    return found, times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the data; default: $WORLDTHREAD_DATA")
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", type=Path, help="keeps the vectors, so that a second run need not embed")
    parser.add_argument("stores", nargs="*", default=["quantised:", "pgvector", "qdrant", "milvus"], metavar="ADDRESS")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, queries = vectors_of(options)
    queries = queries[: options.queries]
    rng = np.random.default_rng(1)
    labels, begins = rng.integers(SPREAD, size=len(rows)), rng.uniform(0, SPREAD - 1, size=len(rows))
    items = [
        VectorItem(str(number), row, {"part": str(labels[number])}, begins[number], begins[number] + 1)
        for number, row in enumerate(rows)
    ]
    limits: dict[str, dict[str, Any]] = {
        "all": {}, "a label": {"labels": {"part": "3"}}, "as of a time": {"as_of": SPREAD / 2},
        "both": {"labels": {"part": "3"}, "as_of": SPREAD / 2},
    }  # fmt: skip
    print(f"{len(rows)} vectors of {rows.shape[1]} numbers, {len(queries)} questions, load {os.getloadavg()[0]:.1f}")
    truth: dict[str, list[set[str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for named in ["exact:", *options.stores]:
            with address_of(named, Path(folder)) as address:
                store = open_vector_store(address, "bench", rows.shape[1])
                start, cpu = time.perf_counter(), time.process_time()
                store.add(items)
                print(
                    f"{named:12} added in {time.perf_counter() - start:.1f} s ({time.process_time() - cpu:.1f} s CPU)",
                    flush=True,
                )
                for kind, limit in limits.items():
                    found, times = searches(store, queries, **limit)
                    truth.setdefault(kind, found)
                    pairs = list(zip(truth[kind], found, strict=True))
                    recall = statistics.mean(len(wanted & got) / max(1, len(wanted)) for wanted, got in pairs)
                    short = sum(len(got) < len(wanted) for wanted, got in pairs)
                    p50, p95 = np.percentile(times, [50, 95])
                    line = f"recall@{K} {recall:.4f}, too few {short}, p50 {p50:.1f} ms, p95 {p95:.1f} ms"
                    print(f"{'':12} {kind:13} {line}", flush=True)
                store.drop()


if __name__ == "__main__":
    main()
