"""Measure how fast a memory remembers and recalls real text without a chat model.

Passages come from the corpora of two question-answering data sets. To reach a size, they are repeated with every
capitalised word renamed, so that the repetition is about other things than the original. Embedding 100,000 statements
and their passages with MiniLM takes about 25 minutes: unless --real is given, random unit vectors of the same
dimension replace the embeddings of stored texts, at the same cost of a search. Questions are always embedded.

    python benchmarks/bench_memory.py --shared ../shared
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldthread import Memory
from worldthread.models import embedder

_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")


class StandIn:
    """Embeds questions with MiniLM, and everything else as a random unit vector."""

    def __init__(self, questions: set[str]) -> None:
        self._model = embedder("minilm")
        self._questions = questions
        self.name = "stand-in/1"
        self.dimensions = self._model.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._questions.issuperset(texts):
            return self._model.embed(texts)
        vectors = np.random.default_rng(len(texts[0])).normal(size=(len(texts), self.dimensions)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def passages(shared: Path) -> list[str]:
    """Return title and text of every passage as one text each."""
    found = []
    for name in ("musique_train", "hotpotqa_train"):
        with gzip.open(shared / "data" / "multihop" / f"{name}_corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
            found += [f"{row['title']}\n{row['text']}" for row in map(json.loads, stream)]
    return found


def questions(shared: Path) -> list[str]:
    """Return the questions of both data sets."""
    found = []
    for name in ("musique_train", "hotpotqa_train"):
        with gzip.open(shared / "data" / "multihop" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
            found += [json.loads(line)["question"] for line in stream]
    return found


def renamed(text: str, generation: int) -> str:
    """Return ``text`` with the generation appended to every capitalised word."""
    return _NAME.sub(lambda match: f"{match[0]}{generation}", text) if generation else text


def hundred_words(texts: list[str], count: int) -> list[str]:
    """Return ``count`` passages of 100 words each, cut from the concatenated texts."""
    words = " ".join(texts).split()
    return [" ".join(words[start : start + 100]) for start in range(0, 100 * count, 100)]


def remember_speed(texts: list[str], name: str, folder: Path) -> dict[str, float]:
    """Measure passages per second into an empty file, including embedding, with the embedder loaded before."""
    model = embedder(name)
    model.embed(["warm up"])
    with Memory(folder / f"{name}.worldthread", embedder=model, model="none") as memory:
        memory.remember("Warm up.", at=0)
        start = time.perf_counter()
        memory.remember_many(texts, at=1, progress=False)
        seconds = time.perf_counter() - start
        stats = memory.stats()
    return {"passages_per_second": round(len(texts) / seconds, 1), "statements": stats["facts"] + stats["theses"]}


def recall_speed(
    texts: list[str], queries: list[str], statements: int, folder: Path, *, real: bool
) -> dict[str, object]:
    """Measure milliseconds per recall, including query embedding, at a number of statements, with MiniLM."""
    path = folder / "large.worldthread"
    model = embedder("minilm") if real else StandIn({*queries, *(f"{question}?" for question in queries)})
    generation = 0
    with Memory(path, embedder=model, model="none") as memory:
        while (count := memory.stats()["facts"] + memory.stats()["theses"]) < statements:
            memory.remember_many([renamed(t, generation) for t in texts], at=generation, progress=False)
            generation += 1
    with Memory(path, embedder=model, model="none", readonly=True) as memory:
        start = time.perf_counter()
        memory.recall(queries[0])
        first = time.perf_counter() - start
        took = []
        for question in queries:
            start = time.perf_counter()
            memory.recall(question)
            took.append(1000 * (time.perf_counter() - start))
        alone = []
        for question in queries:
            start = time.perf_counter()
            model.embed([question + "?"])
            alone.append(1000 * (time.perf_counter() - start))
    took.sort()
    return {
        "statements": count,
        "repetitions": generation,
        "vectors": "MiniLM" if real else "random",
        "first_recall_seconds_after_opening": round(first, 2),
        "recall_ms_p50": round(statistics.median(took), 2),
        "recall_ms_p95": round(took[int(0.95 * len(took))], 2),
        "of_which_query_embedding_ms_p50": round(statistics.median(alone), 2),
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "file_mb": path.stat().st_size // 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--statements", type=int, default=100_000, help="size of the memory to recall from")
    parser.add_argument("--real", action="store_true", help="embed stored texts with MiniLM too")
    parser.add_argument("--passages", type=int, default=400, help="number of passages of 100 words to remember")
    options = parser.parse_args()
    texts = passages(options.shared)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("wordllama", "minilm"):
            report = remember_speed(hundred_words(texts, options.passages), name, Path(folder))
            print(json.dumps({"remember": name, **report}), flush=True)
        report = recall_speed(texts, questions(options.shared), options.statements, Path(folder), real=options.real)
        print(json.dumps({"recall": "minilm", **report}), flush=True)


if __name__ == "__main__":
    main()
