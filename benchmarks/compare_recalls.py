"""Compare what two versions of the package recall, to the last bit, and the processor time that it takes them.

    python benchmarks/compare_recalls.py --other FOLDER [--conversations 2] [--embedder minilm] [--keep FOLDER]

FOLDER holds other sources of the package. Memories are made of the first conversations of LoCoMo, message by message,
and of the passages of ``musique_train``, read by rule and with its own triples, by the version in FOLDER. Both versions
open copies of the same files, each in a process of its own, once with the index that is kept beside the file and once
making it anew, and ask all questions; then questions with a write before each; then with an episode forgotten, with
``min_score``, and by other methods. The digest is of the kinds, items, scores, paths and versions of all hits. All
texts are embedded before the clock starts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread import Episode, Extraction, Fact, Hit, Memory
from worldthread.models import Embedder, embedder
from worldthread_lab.bench import conversations
from worldthread_lab.bench.datasets import load
from worldthread_lab.bench.qa.dataset_memory import episodes_of

WRITES = 30
OTHER_METHODS = ("lexical", "fusion", "dense")


class Remembering:
    """An embedder that embeds each text once in its life, so that its time can be kept out of a measurement."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.dimensions = inner.name, inner.dimensions
        self._known: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        if unknown:
            self._known |= dict(zip(unknown, self._inner.embed(unknown), strict=True))
        rows = [self._known[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)


def made(folder: Path, count: int, model: Embedder) -> None:
    """Make the memories, and a file with the questions of each."""
    for place, conversation in enumerate(conversations.load("locomo")[:count]):
        with _new(folder / f"locomo-{place}", [each.text for each in conversation.questions], model) as memory:
            conversations.remember_turns(memory, conversation)
            _keep_index(memory)
    dataset = load("musique_train")
    for triples in ("none", "given"):
        questions = [each.text for each in dataset.questions]
        with _new(folder / f"musique-{triples}", questions, model) as memory:
            memory.record.add_many(list(episodes_of(dataset, triples)))
            _keep_index(memory)


def _new(folder: Path, questions: list[str], model: Embedder) -> Memory:
    folder.mkdir(parents=True)
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    return Memory(folder / "memory", model="none", embedder=model)


def _keep_index(memory: Memory) -> None:
    memory.recall("What is new?")
    memory.checkpoint()


def write(memory: Memory, number: int, speaker: str) -> None:
    """Record one more episode."""
    text = f"Thing {number} is in the room."
    fact = Fact(f"Thing {number}", "is in", "Room")
    text = f"{speaker}: {text}" if speaker else text
    memory.record.add(Episode(text, 2e9 + number, "compare", Extraction("compare", (fact,)), speaker=speaker))


def shown(hits: Iterable[Hit]) -> str:
    """Return everything that is shown of some hits; a score with all its bits."""
    return repr([(h.kind, h.item.id, str(h.item), float(h.score).hex(), h.path, repr(h.version)) for h in hits])


def asked(folder: Path, model: Remembering) -> dict[str, Any]:
    """Ask a memory everything, and return the digest of what it found and the milliseconds of the processor."""
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    speaker = "Anna" if folder.name.startswith("locomo") else ""
    state, hits = hashlib.sha256(), 0
    took: dict[str, list[float]] = {"recall": [], "after a write": []}
    with Memory(folder / "memory", model="none", embedder=model) as memory:
        for number in range(WRITES):
            model.embed(
                [f"{speaker}: Thing {number} is in the room.".removeprefix(": "), f"Thing {number}, is in, Room"]
            )

        def ask(question: str, kind: str = "", **options: Any) -> None:
            nonlocal hits
            start = time.process_time()
            found = memory.recall(question, k=10, **options).hits
            if kind:
                took[kind].append(1000 * (time.process_time() - start))
            hits += len(found)
            state.update(shown(found).encode())

        for question in questions:
            memory.recall(question, k=1)  # embeds it
        for question in questions:
            ask(question, "recall")
        for number, question in enumerate(questions[:WRITES]):
            write(memory, number, speaker)
            ask(question, "after a write")
        record = memory.record.graph.numbered_episode(3)
        assert record is not None
        memory.record.forget(record.id)
        for question in questions[:10]:
            ask(question, min_score=0.05)
            for method in OTHER_METHODS:
                ask(question, method=method)
    percentiles = {kind: [round(float(np.percentile(ms, p)), 2) for p in (50, 95)] for kind, ms in took.items()}
    return {"questions": len(questions), "hits": hits, "digest": state.hexdigest()[:16], "ms_p50_p95": percentiles}


def measured_with(source: Path, *arguments: object) -> list[dict[str, Any]]:
    """Run this file with the package in a folder, and return the lines that it prints."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, help="a folder with other sources of the package")
    parser.add_argument("--conversations", type=int, default=2, help="how many conversations of LoCoMo")
    parser.add_argument("--embedder", default="minilm", help="name of the embedder")
    parser.add_argument("--keep", type=Path, help="keep the memories in this folder, and use those that are there")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make is not None:
        made(given.make, given.conversations, embedder(given.embedder))
        return
    if given.ask is not None:
        print(json.dumps(asked(given.ask, Remembering(embedder(given.embedder)))))
        return
    if given.other is None:
        parser.error("--other is needed")
    versions = {"other": given.other, "own": Path(__file__).parents[1] / "src"}
    options = ("--embedder", given.embedder, "--conversations", given.conversations)
    is_same = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch) / "made"
        if not folder.exists():
            measured_with(versions["other"], "--make", folder, *options)
        for memory in sorted(path for path in folder.iterdir() if path.is_dir()):
            for index in ("kept", "anew"):
                row: dict[str, Any] = {"memory": memory.name, "index": index}
                for name, source in versions.items():
                    copy = Path(scratch) / "copy" / memory.name
                    shutil.copytree(memory, copy)
                    if index == "anew":
                        shutil.rmtree(copy / "memory-snapshot")
                    (row[name],) = measured_with(source, "--ask", copy, *options)
                    shutil.rmtree(copy)
                row["same"] = row["own"]["digest"] == row["other"]["digest"]
                is_same = is_same and row["same"]
                print(json.dumps(row), flush=True)
    sys.exit(0 if is_same else "the versions differ")


if __name__ == "__main__":
    main()
