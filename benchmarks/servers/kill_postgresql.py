"""Writers and a PostgreSQL server that are killed at random: is anything acknowledged lost, or anything doubled?

    python benchmarks/servers/kill_postgresql.py [--writers 8] [--episodes 2000] [--server-kills 5] [--writer-kills 40]

Starts a server of its own (package pgserver, or Debian's postgresql). Each writer process appends its episodes one by
one, says so after each, and goes on where it stopped after it was killed. Readers recall meanwhile and check the graph
that they see: each writer's episodes must come without a gap, nothing is in two places at once, and the graph must be
the fold of the episodes it holds. That last check reads everything, so each reader makes it whenever the memory has
grown by half, and readers pause between two looks (``--pause``).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import temporary_server  # type: ignore[import-not-found]  # noqa: E402

_REPORT_SECONDS = 30.0

WRITER = """
import sys, time
from worldthread.errors import StoreUnavailableError
from worldthread.stores import open_store
from worldthread.types import Episode, Extraction, Fact
address, worker, count, log = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), open(sys.argv[4], "a", buffering=1)
things = int(sys.argv[5])
done = sum(1 for line in open(sys.argv[4]) if line.endswith("\\n"))
while True:
    try:
        with open_store(address, wait=60) as store:
            while done < count:
                thing = f"thing {(worker + 8 * done) % things}"
                fact = Fact(thing, "is in", f"room {(done * 7 + worker) % 11}", aspect=f"place of {thing}")
                text = f"writer {worker} saw {thing} at {done}."
                store.append(Episode(text, done, str(worker), Extraction("test/1", (fact,))))
                log.write(f"{done}\\n")
                done += 1
        break
    except StoreUnavailableError:
        time.sleep(0.1)
"""

READER = """
import json, sys, time
from pathlib import Path
from worldthread import Memory
from worldthread.errors import StoreUnavailableError
from worldthread.graph import TemporalGraph
address, number, stop, pause = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
things = int(sys.argv[5])
looks = recalls = folds = unavailable = folded = 0
wrong = []
memory = None
while not stop.exists():
    try:
        if memory is None:
            memory = Memory(address, readonly=True, model="none", embedder="fake", wait=60)
        memory.recall(f"Where is thing {looks % things}?", k=5)
        recalls += 1
        with memory.record.read_lock() as graph:
            by_writer = {}
            for record in map(graph.numbered_episode, graph.episode_numbers):
                by_writer.setdefault(record.source, []).append(int(record.at))
            for writer, times in by_writer.items():
                if sorted(times) != list(range(len(times))):
                    wrong.append(f"writer {writer} has a gap or a double")
            if len(graph) > 1.5 * folded:
                folded = len(graph)
                folds += 1
                if graph.state_hash() != TemporalGraph(list(memory.episodes())).state_hash():
                    wrong.append("the graph is not the fold of its episodes")
            for thing in range(things):
                if len(graph.view().facts(f"thing {thing}")) > 1:
                    wrong.append(f"thing {thing} is in two places at once")
        looks += 1
        time.sleep(pause)
    except StoreUnavailableError:
        unavailable += 1
        time.sleep(0.1)
print(json.dumps({"reader": number, "recalls": recalls, "checks": looks, "folds": folds, "unavailable": unavailable,
                  "wrong": wrong}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--server-kills", type=int, default=5)
    parser.add_argument("--writer-kills", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=math.inf, help="kill all writers then, and compare")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two looks of a reader")
    parser.add_argument("--things", type=int, default=3, help="that move: the fewer, the longer the history of each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with temporary_server() as server, tempfile.TemporaryDirectory() as folder:
        print(server.version)
        print(json.dumps(run(server, Path(folder), options), indent=1))


def run(server: object, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    from worldthread.graph import TemporalGraph
    from worldthread.stores import open_store

    address = server.new_address()  # type: ignore[attr-defined]
    chance = random.Random(options.seed)
    logs = [folder / f"writer-{number}" for number in range(options.writers)]
    for log in logs:
        log.touch()
    open_store(address).close()

    def writer(number: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                WRITER,
                address,
                str(number),
                str(options.episodes),
                str(logs[number]),
                str(options.things),
            ]
        )

    stop = folder / "stop"
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, address, str(number), str(stop), str(options.pause), str(options.things)],
            stdout=subprocess.PIPE,
        )
        for number in range(options.readers)
    ]
    begin = time.monotonic()
    writers = [writer(number) for number in range(options.writers)]
    total = options.writers * options.episodes
    kills = ["writer"] * options.writer_kills + ["server"] * options.server_kills
    chance.shuffle(kills)
    # spread over the run by what is acknowledged, so that they fall everywhere, whatever the speed
    due = sorted(chance.uniform(0.02, 0.95) * total for _ in kills)
    killed = {"writer": 0, "server": 0}
    reported = begin
    is_stopped = False
    while any(one.poll() is None for one in writers):
        time.sleep(0.05)
        if time.monotonic() > begin + 60 * options.minutes:
            is_stopped = True
            for one in writers:
                one.kill()
                one.wait()
            break
        acknowledged = sum(log.read_bytes().count(b"\n") for log in logs)
        if time.monotonic() > reported + _REPORT_SECONDS:
            reported = time.monotonic()
            print(f"{acknowledged} of {total} acknowledged after {reported - begin:.0f} s, {killed}", flush=True)
        while due and acknowledged >= due[0]:
            due.pop(0)
            what = kills.pop()
            if what == "server":
                server.kill()  # type: ignore[attr-defined]
                time.sleep(chance.uniform(0, 0.5))
                server.start()  # type: ignore[attr-defined]
            else:
                running = [number for number, one in enumerate(writers) if one.poll() is None]
                if not running:
                    continue
                chosen = chance.choice(running)
                writers[chosen].kill()
                writers[chosen].wait()
                writers[chosen] = writer(chosen)
            killed[what] += 1
    seconds = time.monotonic() - begin
    assert is_stopped or all(one.returncode == 0 for one in writers), [one.returncode for one in writers]
    stop.touch()
    seen = [json.loads(reader.communicate()[0]) for reader in readers]
    with open_store(address, readonly=True) as store:
        found = list(store.episodes())
        scratch = TemporalGraph(found).state_hash()
        texts = [episode.text for episode in found]
        # a writer says what it has done in order, and may be killed between the deed and the word
        expected = {(number, at) for number, log in enumerate(logs) for at in range(log.read_bytes().count(b"\n"))}
        stored = [(int(text.split()[1]), int(text.split()[-1].rstrip("."))) for text in texts]
        equal = store.graph.state_hash() == scratch
    changes = server.sql(  # type: ignore[attr-defined]
        "SELECT count(*), min(number), max(number) FROM worldthread.change", address.split("/")[3].split("?")[0]
    ).strip()
    with open_store(address) as store:
        folded = len(store.graph)
    return {
        "cpus": os.cpu_count(), "writers": options.writers, "episodes": total, "acknowledged": len(expected),
        "stopped early": is_stopped, "seconds": round(seconds, 1),
        "killed": killed, "stored": len(stored), "lost": len(expected - set(stored)),
        "doubled": len(stored) - len(set(stored)), "state hash equals a fold from scratch": equal,
        "changes (count|first|last; old ones are trimmed)": changes, "opened again": folded, "readers": seen,
    }  # fmt: skip


if __name__ == "__main__":
    main()
