"""Reading on a Ray cluster of this machine: equal state, speed-up, a killed worker, throughput by size of a batch.

    python benchmarks/servers/bench_ray.py CORPUS.jsonl.gz --passages 240

CORPUS has a JSON object with a text on each line. Every run remembers the same passages into a new file; the state hash
of each must be that of the run without a cluster. Prints one line for each run: wall seconds, processor seconds of all
processes, passages a second.

``--waiting SECONDS`` adds runs whose reader also waits so long for every passage, as for a model on a server: where the
processors of this machine are busy with other programs, these show what further workers bring.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from worldthread import Extraction, Memory
from worldthread.extract.base import Extractor
from worldthread.extract.documents import Document, load
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.memory.bulk import RayReaders


class WaitingExtractor(ProseExtractor):
    """Reads by rule, and waits as for the answer of a server.

    Args:
        seconds: for each passage.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        time.sleep(self._seconds)
        return super().extract(text, speaker, at)


def processes() -> dict[int, tuple[str, int]]:
    """Name of every process of this machine, and its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_bytes().split(b"\0")[0].decode("utf-8", "replace")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            found[int(entry.name)] = title, parent
    return found


def own_workers() -> list[int]:
    """The processes that read for this one."""
    running = processes()

    def is_ours(pid: int) -> bool:
        while pid in running and pid != os.getpid():
            pid = running[pid][1]
        return pid == os.getpid()

    return [
        pid for pid, (title, _) in running.items() if title.startswith(("ray::_read", "ray::IDLE")) and is_ours(pid)
    ]


def processor_seconds(pids: list[int]) -> float:
    """What processes have used so far."""
    used = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def run(
    what: str,
    documents: list[Document],
    readers: RayReaders | None,
    kills: int = 0,
    extractor: Extractor | None = None,
) -> tuple[str, float]:
    """Remember the documents, print what it took, and return the state hash and the wall seconds."""
    killed: list[int] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(
            Path(folder, "m"), model="none", extractor=extractor, embedder="minilm" if extractor is None else "fake"
        ) as memory,
    ):

        def kill(done: int, total: int | None) -> None:
            if len(killed) < kills and done >= len(documents) * (len(killed) + 1) // (kills + 2):
                victim = random.choice(own_workers())
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        memory.remember_many(documents[:2], progress=False, readers=readers)  # models are loaded
        here, there = time.process_time(), processor_seconds(own_workers())
        begin = time.perf_counter()
        memory.remember_many(documents, progress=kill, readers=readers)
        wall = time.perf_counter() - begin
        used = time.process_time() - here
        elsewhere = processor_seconds(own_workers()) - there if not killed else float("nan")
        digest = memory.record.state_hash()
        count = len(memory.record.graph)
    print(
        f"{what:34} {wall:7.1f} s wall  {used:7.1f} s here  {elsewhere:7.1f} s in workers"
        f"  {count / wall:6.1f} passages/s"
        f"  killed {len(killed)}  load {os.getloadavg()[0]:.1f}  {digest[:15]}",
        flush=True,
    )
    return digest, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--passages", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--batches", type=int, nargs="*", default=[4, 16, 64])
    parser.add_argument("--waiting", type=float)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8], help="with --waiting")
    options = parser.parse_args()
    documents = [
        Document(one.text, at=float(number), source=str(number))
        for number, one in enumerate(islice(load(options.corpus), options.passages))
    ]
    if options.waiting:
        sys.path.insert(0, str(Path(__file__).parent))
        from bench_ray import WaitingExtractor as Importable  # workers import it by this name

        reader = Importable(options.waiting)
        digests = [run("waiting, without a cluster", documents, None, extractor=reader)[0]]
        for workers in options.workers:
            with RayReaders(workers=workers, batch=4) as readers:
                what = f"waiting, {workers} worker{'s' * (workers > 1)}"
                digests.append(run(what, documents, readers, extractor=reader)[0])
        print(f"{len(set(digests))} different state of {len(digests)} runs")
        assert len(set(digests)) == 1
        return
    digests = []
    walls: dict[str, list[float]] = {}

    def one(what: str, readers: RayReaders | None, kills: int = 0) -> None:
        digest, wall = run(what, documents, readers, kills)
        digests.append(digest)
        walls.setdefault(what, []).append(wall)

    for _ in range(options.rounds):
        one("without a cluster", None)
        for workers in (1, 2):
            with RayReaders(workers=workers, batch=16) as readers:
                one(f"{workers} worker{'s' * (workers > 1)}, batches of 16", readers)
    with RayReaders(workers=2, batch=16) as readers:
        one("2 workers, one killed", readers, kills=1)
        one("2 workers, three killed", readers, kills=3)
    for batch in options.batches:
        with RayReaders(workers=2, batch=batch) as readers:
            one(f"2 workers, batches of {batch}, again", readers)
    print(f"{len(set(digests))} different state of {len(digests)} runs")
    best = {what: min(found) for what, found in walls.items()}
    for what, seconds in best.items():
        print(f"{what:34} best {seconds:7.1f} s")
    assert len(set(digests)) == 1


if __name__ == "__main__":
    main()
