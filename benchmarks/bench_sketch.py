"""Compare the approximate search of very large tables with the exact one: what it finds, and how long it takes.

    python benchmarks/bench_sketch.py [--embedder wordllama] [--texts 100000] [--rows 3000000]

Recall is measured on texts of two question-answering data sets (passages and their sentences) and their questions: the
share of the first k rows of an exact search of the same codes that are among the first k of the approximate one.
The table is searched approximately whatever its size: one row in 256 is compared in full, or as many as given. Times
are of random rows, of the processor and of the wall.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from bench_memory import passages, questions
from numpy.typing import NDArray

from worldthread.models import embedder
from worldthread.vectors import quantised
from worldthread.vectors.quantised import QuantisedTable

KS = (1, 10, 20, 100)
EXACT = 10**12


def search(table: QuantisedTable, query: NDArray[np.float32], limit: int) -> tuple[NDArray[np.float32], float, float]:
    """Return the scores of a search that is approximate above ``limit`` rows, and its milliseconds: wall, processor."""
    quantised.SKETCHED_ROWS = limit  # type: ignore[misc]
    begin, used = time.perf_counter(), time.process_time()
    scores = table.similarities(query)
    return scores, 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used)


def recall(name: str, shared: Path, count: int, compared: int) -> dict[str, object]:
    """Return the recall of the approximate search over real texts, with 95 % bootstrap intervals over questions."""
    model, asked = embedder(name), questions(shared)
    texts = list(dict.fromkeys(part for text in passages(shared) for part in (text, *text.split(". "))))[:count]
    table = QuantisedTable(model.dimensions)
    for start in range(0, len(texts), 4096):
        batch = texts[start : start + 4096]
        table.put(np.arange(start, start + len(batch)), model.embed(batch))
    quantised._LEAST_COMPARED = compared  # type: ignore[misc]
    shares: dict[int, list[float]] = {k: [] for k in KS}
    chance = np.random.default_rng(1)
    for query in model.embed(asked):
        exact, found = search(table, query, EXACT)[0], search(table, query, 0)[0]
        first, others = (np.argsort(-scores, kind="stable")[: max(KS)] for scores in (exact, found))
        for k in KS:
            shares[k].append(float(np.isin(first[:k], others[:k]).mean()))
    drawn = chance.integers(0, len(asked), (2000, len(asked)))
    return {
        "embedder": name,
        "texts": len(texts),
        "compared": max(compared, len(texts) // 256),
        "questions": len(asked),
        **{
            f"recall@{k}": [
                round(float(value), 4)
                for value in (np.mean(found), *np.percentile(np.array(found)[drawn].mean(axis=1), [2.5, 97.5]))
            ]
            for k, found in shares.items()
        },
    }


def times(rows: int, dimensions: int = 384) -> dict[str, object]:
    """Return how long searches of random rows take."""
    chance = np.random.default_rng(1)
    codes = np.empty((rows, dimensions), np.int8)
    for start in range(0, rows, 1 << 16):
        codes[start : start + (1 << 16)] = chance.integers(-127, 128, codes[start : start + (1 << 16)].shape, np.int8)
    table = QuantisedTable.of(codes, np.full(rows, 1 / 1400, np.float32), np.ones(rows, bool))
    queries = chance.normal(size=(12, dimensions)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    _, first, used = search(table, queries[0], 0)
    found: dict[str, object] = {"rows": rows, "first_approximate_ms": [round(first), round(used)]}
    for name, limit in (("exact", EXACT), ("approximate", 0)):
        taken = [search(table, query, limit)[1:] for query in queries]
        for part, kind in enumerate(("wall", "processor")):
            found[f"{name}_{kind}_ms_p50"] = round(float(np.median([one[part] for one in taken])), 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--texts", type=int, default=100_000, help="how many texts at most; 0 for no recall")
    parser.add_argument("--compared", type=int, default=0, help="how many rows are compared in full at least")
    parser.add_argument("--rows", type=int, default=3_000_000, help="how many random rows; 0 for no times")
    given = parser.parse_args()
    if given.texts:
        print(json.dumps(recall(given.embedder, given.shared, given.texts, given.compared)), flush=True)
    if given.rows:
        print(json.dumps(times(given.rows)), flush=True)


if __name__ == "__main__":
    main()
