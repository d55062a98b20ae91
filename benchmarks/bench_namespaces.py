"""Many memories in one file: how long it takes to open one and to recall from it, and how much memory they take.

Every memory holds the same number of short messages, which are made of a few hundred sentences, each embedded once.

    python benchmarks/bench_namespaces.py --namespaces 10000 --messages 20
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldthread import Episode, Memory
from worldthread.extract.pipeline import extract_episodes
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.models import embedder

PEOPLE = ("Anna", "Tom", "Eve", "Omar", "Lin", "Ravi", "Maya", "Jonas")
THINGS = ("tea", "jazz", "chess", "sailing", "mangoes", "winter", "old films", "maps", "the piano", "cycling")
PLACES = ("Rome", "Oslo", "Lima", "Kyoto", "Cairo", "Quito", "Porto", "Delhi")
QUESTIONS = ("Where does Anna live?", "What does Tom like?", "Who likes chess?", "Where is Maya?")


class Remembering:
    """An embedder that computes the vector of every text once in this process.

    Args:
        name: the name of the embedder that computes them.
    """

    def __init__(self, name: str | None) -> None:
        self._embedder = embedder(name)
        self._known: dict[str, NDArray[np.float32]] = {}
        self.name, self.dimensions = self._embedder.name, self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return np.array([self._known[text] for text in texts], np.float32)


def sentences() -> list[str]:
    """Return the messages."""
    likes = [f"{person} likes {thing}." for person in PEOPLE for thing in THINGS]
    return likes + [f"{person} lives in {place}." for person in PEOPLE for place in PLACES]


def resident() -> float:
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 in milliseconds."""
    return {f"p{p}_ms": round(float(np.percentile(seconds, p)) * 1000, 3) for p in (50, 95)}


def main() -> None:
    """Write the file, then open every memory in random order in the same process, and print JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--namespaces", type=int, default=10_000)
    arguments.add_argument("--messages", type=int, default=20)
    arguments.add_argument("--kept", type=int, default=1000, help="how many memories are open at a time")
    arguments.add_argument("--embedder", default=None)
    given = arguments.parse_args()
    chance = random.Random(1)
    texts = sentences()
    read = dict(zip(texts, extract_episodes(ProseExtractor(), [Episode(t, 0) for t in texts]), strict=True))
    model = Remembering(given.embedder)
    model.embed(texts)
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "m", model="none", embedder=model) as memory:
        names = [f"user {number}" for number in range(given.namespaces)]
        start = time.perf_counter()
        for name in names:
            with memory.open_namespace(name) as one:
                chosen = chance.choices(texts, k=given.messages)
                one.record.add_many(
                    Episode(text, float(at), extraction=read[text].extraction, user=name)
                    for at, text in enumerate(chosen)
                )
                one.recall(QUESTIONS[0])  # keeps the vectors in the file
        written = time.perf_counter() - start
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        chance.shuffle(names)
        gc.collect()
        before = resident()
        opening: list[float] = []
        first: list[float] = []
        later: list[float] = []
        kept: list[Memory] = []
        growth = 0.0
        for number, name in enumerate(names):
            begun = time.perf_counter()
            one = memory.open_namespace(name)
            count = len(one.record.graph)
            opening.append(time.perf_counter() - begun)
            assert count == given.messages
            for measured in (first, later):
                begun = time.perf_counter()
                found = one.recall(chance.choice(QUESTIONS))
                measured.append(time.perf_counter() - begun)
                assert found.hits
            kept.append(one)
            if number + 1 == given.kept:
                growth = resident() - before
            if len(kept) > given.kept:
                kept.pop(0).close()
        result = {
            "namespaces": given.namespaces, "messages": given.messages, "written_s": round(written, 1),
            "file_mb": round(size / 1e6, 1), "open": percentiles(opening), "first_recall": percentiles(first),
            "recall": percentiles(later), "resident_mb_before": round(before, 1),
            "resident_mb_each_of_the_open": round(growth / min(given.kept, given.namespaces), 4),
            "resident_mb_after": round(resident(), 1),
        }  # fmt: skip
        start = time.perf_counter()
        sizes = memory.namespaces()
        result["listing_s"] = round(time.perf_counter() - start, 2)
        assert len(sizes) == given.namespaces
        for one in kept:
            one.close()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
