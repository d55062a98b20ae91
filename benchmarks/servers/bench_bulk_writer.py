"""How fast one writer records what readers have read: the part of reading in bulk that is not spread over workers.

    python benchmarks/servers/bench_bulk_writer.py CORPUS.jsonl.gz --passages 300

Every passage is read and embedded once, here. Then the same readings are recorded in a new SQLite file and in a new
PostgreSQL database, as if workers had read them in no time, twice each in turns. Prints passages and statements a
second of the wall clock and of processor time; that of the PostgreSQL server is not counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from worldthread import Extractor, Memory
from worldthread.extract.documents import Document, load
from worldthread.extract.groups import EpisodeGroup
from worldthread.memory.bulk import BatchReading
from worldthread.memory.bulk.worker import Models, read_batch
from worldthread.models.base import Embedder


class ReadBefore:
    """Readers that read each batch once, and afterwards remember it."""

    batch = 64
    in_flight = 8
    description = "what was read before"

    def __init__(self) -> None:
        self._models: Models | None = None
        self._read: dict[tuple[str, ...], BatchReading] = {}

    def start(self, extractor: Extractor, embedder: Embedder) -> None:
        self._models = Models(extractor, embedder)

    def submit(self, groups: Sequence[EpisodeGroup]) -> object:
        assert self._models is not None
        key = tuple(episode.id for group in groups for episode in group.episodes)
        if key not in self._read:
            self._read[key] = read_batch(self._models, groups)
        return key

    def result(self, ticket: Any) -> BatchReading:
        return self._read[ticket]


def postgres_server() -> Any:
    place = Path(__file__).parents[2] / "tests" / "servers" / "postgres_server.py"
    spec = importlib.util.spec_from_file_location("postgres_server", place)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["postgres_server"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(what: str, address: str, documents: list[Document], readers: ReadBefore) -> str:
    with Memory(address, model="none") as memory:
        begin, used = time.perf_counter(), time.process_time()
        memory.remember_many(documents, progress=False, readers=readers)
        wall, used = time.perf_counter() - begin, time.process_time() - used
        counts, digest = memory.stats(), memory.record.state_hash()
    passages, statements = counts["episodes"], counts["facts"] + counts["theses"]
    print(
        f"{what:12} {passages} passages, {statements} statements: {passages / wall:6.0f} and {statements / wall:7.0f} "
        f"a second of the wall clock, {passages / used:6.0f} and {statements / used:7.0f} of the processor; "
        f"load {os.getloadavg()[0]:.1f}, {digest[:15]}",
        flush=True,
    )
    return digest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--passages", type=int, default=300)
    options = parser.parse_args()
    documents = [
        Document(one.text, at=float(number), source=str(number))
        for number, one in enumerate(islice(load(options.corpus), options.passages))
    ]
    readers = ReadBefore()
    with tempfile.TemporaryDirectory() as folder, postgres_server().temporary_server() as server:
        record("reading", str(Path(folder, "first")), documents, readers)
        digests = set()
        for number in range(2):
            digests.add(record("SQLite", str(Path(folder, f"m{number}")), documents, readers))
            digests.add(record("PostgreSQL", server.new_address(), documents, readers))
    assert len(digests) == 1


if __name__ == "__main__":
    main()
