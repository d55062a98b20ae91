"""How many messages a memory remembers a second with the default embedder, and how many texts it embeds.

    python benchmarks/bench_writing.py [--messages 1000] [--words 20] [--other FOLDER] [--rounds 3]

Messages are the turns of LoCoMo with at most so many words (``--words 0``: all), in the order in which they were said,
remembered in one call in an empty memory in RAM, read by rule. The model is loaded, and one message remembered, before
the clock starts. With ``--other``, the package in another folder of sources is measured too, in a process of its own,
in turns, and the ratios of the medians are printed. The cost of a message does not depend on how many there are, so a
thousand stand for fifty thousand.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread import Memory
from worldthread.models.minilm import MiniLMEmbedder


class TimedEmbedder:
    """The default embedder; it counts its texts, and its seconds of the wall and of the processor."""

    def __init__(self) -> None:
        self._model = MiniLMEmbedder()
        self.name, self.dimensions = self._model.name, self._model.dimensions
        self.seconds, self.used, self.texts = 0.0, 0.0, 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start, used = time.perf_counter(), time.process_time()
        vectors = self._model.embed(texts)
        self.seconds += time.perf_counter() - start
        self.used += time.process_time() - used
        self.texts += len(texts)
        return vectors


def turns(count: int, words: int) -> list[dict[str, str]]:
    """Return so many messages of LoCoMo of at most so many words."""
    from worldthread_lab.bench.conversations import load  # the other version may not have it

    said = (turn for conversation in load("locomo") for session in conversation.sessions for turn in session.turns)
    short = [turn for turn in said if turn.text.strip() and (not words or len(turn.text.split()) <= words)]
    return [{"speaker": turn.speaker, "content": turn.text} for turn in short[:count]]


def measure(messages: list[dict[str, str]]) -> dict[str, Any]:
    """Remember the messages once."""
    embedder = TimedEmbedder()
    with Memory(model="none", embedder=embedder) as memory:
        memory.remember([{"speaker": "Anna", "content": "I live in Rome."}], at=0.0)
        memory.recall("What is new?")
        embedder.seconds, embedder.used, embedder.texts = 0.0, 0.0, 0
        start, used = time.perf_counter(), time.process_time()
        memory.remember(messages, at=1.6e9)
        seconds, using = time.perf_counter() - start, time.process_time() - used
    return {
        "messages": len(messages),
        "messages_a_second": round(len(messages) / seconds, 1),
        "messages_a_processor_second": round(len(messages) / using, 1),
        "texts_a_message": round(embedder.texts / len(messages), 2),
        "texts_a_second": round(embedder.texts / embedder.seconds, 1),
        "texts_a_processor_second": round(embedder.texts / embedder.used, 1),
        "share_of_embedding": round(embedder.used / using, 2),
    }


def measured_with(folder: Path, messages: list[dict[str, str]]) -> dict[str, Any]:
    """Measure in a fresh process, with the package in ``folder``."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, __file__, "--measure"]
    given = json.dumps(messages)
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1000, help="the most messages")
    parser.add_argument("--words", type=int, default=20, help="the most words of a message; 0: any number")
    parser.add_argument("--other", type=Path, help="a folder with other sources of the package to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="measurements with each version, in turns")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(json.load(sys.stdin))))
        return
    messages = turns(given.messages, given.words)
    versions = {"own": Path(__file__).parents[1] / "src"} | ({"other": given.other} if given.other else {})
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in versions}
    for _ in range(given.rounds):
        for name, folder in versions.items():
            found = measured_with(folder, messages)
            rounds[name].append(found)
            print(json.dumps({"version": name, **found}), flush=True)
    if given.other:
        for key in ("messages_a_second", "messages_a_processor_second", "texts_a_second", "texts_a_processor_second"):
            own, other = (statistics.median(found[key] for found in rounds[name]) for name in ("own", "other"))
            print(f"{key}: ratio {own / other:.2f}")


if __name__ == "__main__":
    main()
