"""The same memories in SQLite and in PostgreSQL: state hashes, recall lists, and times side by side.

    python benchmarks/servers/compare_postgresql.py [--conversations 4] [--questions 40]

Starts a server of its own (package pgserver, or Debian's postgresql) and reaches it over its local socket. The
conversations are those of LoCoMo (``$WORLDTHREAD_SHARED/data/locomo/dev.jsonl.gz``), the passages those of
musique_train (``$WORLDTHREAD_DATA``); the game is played once. Every text is read and embedded once, before, so
"remember all" is what recording takes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import temporary_server  # type: ignore[import-not-found]  # noqa: E402

from worldthread import Memory  # noqa: E402
from worldthread.extract.documents import Document  # noqa: E402
from worldthread.extract.prose.extractor import ProseExtractor  # noqa: E402
from worldthread.models import embedder as make_embedder  # noqa: E402
from worldthread.types import Episode  # noqa: E402
from worldthread_lab.bench.conversations import remember_turns  # noqa: E402
from worldthread_lab.bench.datasets import load  # noqa: E402
from worldthread_lab.bench.datasets.conversations import Conversation, load_locomo  # noqa: E402


class EmbedOnce:
    """Keeps the vector of every text."""

    def __init__(self) -> None:
        self._inner = make_embedder("minilm")
        self.name, self.dimensions = self._inner.name, self._inner.dimensions
        self._every: dict[str, np.ndarray[Any, Any]] = {}

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        new = [text for text in dict.fromkeys(texts) if text not in self._every]
        if new:
            self._every |= dict(zip(new, self._inner.embed(new), strict=True))
        return np.stack([self._every[text] for text in texts])


EXTRACTOR, EMBEDDER = ProseExtractor(), EmbedOnce()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=4)
    parser.add_argument("--questions", type=int, default=40, help="of each conversation")
    parser.add_argument("--singles", type=int, default=200, help="episodes recorded one by one")
    parser.add_argument("--sessions", type=int, default=None, help="of each conversation; default: all")
    parser.add_argument("--passages", type=int, default=1000, help="of musique_train; 0: none")
    parser.add_argument("--no-game", action="store_true", help="leave out the game")
    options = parser.parse_args()
    with temporary_server() as server, tempfile.TemporaryDirectory() as folder:
        print(server.version)
        data = Path(os.environ["WORLDTHREAD_SHARED"]) / "data" / "locomo" / "dev.jsonl.gz"
        for conversation in load_locomo(data)[: options.conversations]:
            questions = [question.text for question in conversation.questions][: options.questions]
            places = {"sqlite": str(Path(folder) / conversation.id), "postgresql": server.new_address()}

            part = replace(conversation, sessions=conversation.sessions[: options.sessions])

            def remember(memory: Memory, conversation: Conversation = part) -> None:
                remember_turns(memory, conversation)

            print(
                json.dumps(
                    compare(f"LoCoMo {conversation.id}", places, remember, questions, options.singles), indent=1
                ),
                flush=True,
            )
        if options.passages:
            dataset = load("musique_train")
            documents = [
                Document(one.text, at=float(number), source=str(number))
                for number, one in enumerate(dataset.passages[: options.passages])
            ]
            questions = [question.text for question in dataset.questions][: options.questions]
            places = {"sqlite": str(Path(folder) / "musique"), "postgresql": server.new_address()}

            def read(memory: Memory) -> None:
                memory.remember_many(documents, progress=False)

            print(json.dumps(compare("musique_train", places, read, questions, options.singles), indent=1), flush=True)
        if options.no_game:
            return
        episodes = play(Path(folder))
        places = {"sqlite": str(Path(folder) / "game"), "postgresql": server.new_address()}
        questions = ["Where is the key?", "Which exits does the kitchen have?", "What is in the chest?", "Where am I?"]

        def record(memory: Memory) -> None:
            for episode in episodes:
                memory.record.add(episode)

        print(json.dumps(compare("treasure-hunt, seed 1", places, record, questions, options.singles), indent=1))


def play(folder: Path) -> list[Episode]:
    """Play a game with the explorer, and return what its memory recorded, in the order of the moves."""
    command = [sys.executable, "-m", "worldthread", "play", "treasure-hunt", "--seed", "1", "--out", folder / "run"]
    subprocess.run([*command, "--json"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (file,) = (path for path in (folder / "run").glob("*.worldthread") if path.is_file())
    with Memory(file, readonly=True, model="none") as memory:
        return list(memory.episodes())


@contextmanager
def timed(times: dict[str, float], name: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    times[name] = round((time.perf_counter() - begin) * 1000, 2)


def compare(
    name: str, places: dict[str, str], remember: Callable[[Memory], None], questions: list[str], singles: int
) -> dict[str, object]:
    with Memory(None, model="none", extractor=EXTRACTOR, embedder=EMBEDDER) as memory:
        remember(memory)
    found = {kind: measure(place, remember, questions, singles) for kind, place in places.items()}
    one, other = found.values()
    equal = sum(a == b for a, b in zip(one["lists"], other["lists"], strict=True))
    return {
        "memory": name, "episodes": one["episodes"], "equal state hash": one["hash"] == other["hash"],
        "equal recall lists": f"{equal} of {len(questions)}",
        "milliseconds": {kind: figures["times"] for kind, figures in found.items()},
    }  # fmt: skip


def measure(place: str, remember: Callable[[Memory], None], questions: list[str], singles: int) -> dict[str, Any]:
    times: dict[str, float] = {}

    def opened(**more: Any) -> Memory:
        models: Any = {"model": "none", "extractor": EXTRACTOR, "embedder": EMBEDDER}
        return Memory(place, **models, wait=60, clock=itertools.count(1.7e9).__next__, **more)

    with opened() as memory:
        with timed(times, "remember all"):
            remember(memory)
        with timed(times, "first recall"):
            memory.recall(questions[0])
        lists, each = [], []
        for question in questions:
            begin = time.perf_counter()
            recall = memory.recall(question, k=10)
            each.append(time.perf_counter() - begin)
            lists.append([(hit.kind, hit.item.id, hit.score) for hit in recall.hits])
        times["recall, median"] = round(statistics.median(each) * 1000, 2)
        digest, count = memory.record.state_hash(), len(memory.record.graph)
    with timed(times, "open"), opened(readonly=True) as memory:
        assert memory.record.state_hash() == digest
    with opened() as memory:
        record = memory.record
        times["record.add, median"] = median(singles, lambda n: record.add(Episode(f"single {n}", 5e9 + n)))
        ids = [Episode(f"single {n}", 5e9 + n).id for n in range(singles)]
        times["record.forget, median"] = median(min(singles, 50), lambda n: record.forget(ids[n]))
    return {"hash": digest, "lists": lists, "episodes": count, "times": times}


def median(count: int, operation: Callable[[int], object]) -> float:
    each = []
    for number in range(count):
        begin = time.perf_counter()
        operation(number)
        each.append(time.perf_counter() - begin)
    return round(statistics.median(each) * 1000, 2)


if __name__ == "__main__":
    main()
