"""How fast a memory of many short messages is recalled from, and right after a write.

    python benchmarks/bench_messages.py [--statements 20000,100000] [--other FOLDER] [--keep FOLDER]

Messages of 5 to 25 words of a made-up vocabulary, of two speakers, in sessions of 20; each asserts two statements, and
every vector is random, so a recall costs what it does with real ones but for the embedding of the question. With
``--other``, the same file is measured with the package in another folder of sources too, in turns, and the ratios of
the medians are printed: a machine that is busy slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread import Episode, Extraction, Fact, Memory, Thesis

SESSION = 20
ROUNDS = 3
QUESTIONS = 30


class RandomEmbedder:
    """Returns random unit vectors of the dimension of MiniLM's."""

    name = "random/1"
    dimensions = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        chance = np.random.default_rng(len(texts[0]) if texts else 0)
        rows = chance.normal(size=(len(texts), self.dimensions)).astype(np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def word(number: int) -> str:
    """Return a made-up word; each number has its own."""
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
    text = ""
    while True:
        number, rest = divmod(number, len(syllables))
        text += syllables[rest]
        if not number:
            return text + "x"


def messages(count: int, first: int = 0) -> Iterator[Episode]:
    """Yield ``count`` messages, from number ``first``."""
    for number in range(first, first + count):
        chance = np.random.default_rng(number)
        words = [word(int(n)) for n in np.minimum(chance.zipf(1.2, int(chance.integers(5, 25))), 50_000)]
        speaker, other = ("Anna", "Ben") if number % 2 else ("Ben", "Anna")
        thing = f"{words[0].capitalize()} {words[-1]}"
        stated = (Thesis(f"{speaker} says {' '.join(words)} {number}.", (speaker, thing)), Fact(speaker, "saw", thing))
        session, place = divmod(number, SESSION)
        yield Episode(
            f"{speaker}: {' '.join(words)}, {other}.", 1.6e9 + 86400.0 * session + place, f"session {session}",
            Extraction("given/1", stated), speaker=speaker,
        )  # fmt: skip


def build(path: Path, statements: int) -> None:
    """Make a memory with at least this many statements."""
    with Memory(path, model="none", embedder=RandomEmbedder()) as memory:
        made = 0
        while len(memory.record.graph.statement_numbers) < statements:
            memory.record.add_many(messages(2000, made))
            made += 2000
        memory.recall("What is new?")
        memory.checkpoint()


def measure(path: Path) -> dict[str, Any]:
    """Measure recalls, and recalls after one write each, in milliseconds of this thread and of the clock."""
    with Memory(path, model="none", embedder=RandomEmbedder()) as memory:
        count = len(memory.record.graph)
        questions = [
            f"What did Anna say about {' '.join(episode.text.split()[1:6])}?" for episode in messages(QUESTIONS, 7)
        ]
        memory.recall(questions[0])

        def took(question: str) -> tuple[float, float]:
            start, used = time.perf_counter(), time.process_time()
            memory.recall(question)
            return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - used)

        warm = [took(question) for question in questions]
        after = []
        for number, question in enumerate(questions[: QUESTIONS // 2]):
            memory.record.add_many(messages(1, 10_000_000 + count + number))
            after.append(took(question))
        return {
            "messages": count,
            "statements": len(memory.record.graph.statement_numbers),
            "recall_ms": [statistics.median(times) for times in zip(*warm, strict=True)],
            "after_write_ms": [statistics.median(times) for times in zip(*after, strict=True)],
        }


def measured_with(folder: Path, path: Path) -> dict[str, Any]:
    """Measure a copy of a file in a fresh process, with the package in ``folder``."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(path.parent, copy, dirs_exist_ok=True)
        command = [sys.executable, __file__, "--measure", str(Path(copy) / path.name)]
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", default="20000,100000", help="numbers of statements")
    parser.add_argument("--other", type=Path, help="a folder with other sources of the package to compare with")
    parser.add_argument("--keep", type=Path, help="keep the files in this folder, and use those that are there")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="measurements with each version, in turns")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        print(json.dumps(measure(given.measure)))
        return
    own = Path(__file__).parents[1] / "src"
    versions = {"own": own} | ({"other": given.other} if given.other else {})
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, given.statements.split(",")):
            path = (given.keep or Path(folder)) / f"messages-{size}" / "memory"
            if not path.parent.exists():
                path.parent.mkdir(parents=True)
                build(path, size)
            rounds = [
                {name: measured_with(source, path) for name, source in versions.items()} for _ in range(given.rounds)
            ]
            row: dict[str, Any] = {key: rounds[0]["own"][key] for key in ("messages", "statements")}
            for what in ("recall_ms", "after_write_ms"):
                for name in versions:
                    wall, used = zip(*(found[name][what] for found in rounds), strict=True)
                    row[f"{what}_{name}"] = {
                        "median": round(statistics.median(wall), 1),
                        "least": round(min(wall), 1),
                        "processor": round(statistics.median(used), 1),
                    }
                if given.other:
                    ratios = [found["other"][what][1] / found["own"][what][1] for found in rounds]
                    row[f"{what}_processor_ratio"] = round(statistics.median(ratios), 2)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
