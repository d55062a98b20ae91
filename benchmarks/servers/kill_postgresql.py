"""Writers and a PostgreSQL server that are killed at random: is anything acknowledged lost, or anything doubled?

    python benchmarks/servers/kill_postgresql.py [--writers 8] [--episodes 2000] [--server-kills 5] [--writer-kills 40]

Starts a server of its own (package pgserver, or Debian's postgresql). Each writer process appends its episodes one by
one, says so after each, and goes on where it stopped after it was killed. Readers recall meanwhile and check the graph
that they see: it must be the fold of the episodes it holds, and each writer's episodes must come without a gap.
"""

from __future__ import annotations

import argparse
import json
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

WRITER = """
import sys, time
from worldthread.errors import StoreUnavailableError
from worldthread.stores import open_store
from worldthread.types import Episode, Extraction, Fact
address, worker, count, log = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), open(sys.argv[4], "a", buffering=1)
done = sum(1 for line in open(sys.argv[4]) if line.endswith("\\n"))
while True:
    try:
        with open_store(address, wait=60) as store:
            while done < count:
                thing = f"thing {worker % 3}"
                fact = Fact(thing, "is in", f"room {(done * 7 + worker) % 11}", aspect=f"place of {thing}")
                text = f"writer {worker} saw {thing} at {done}."
                store.append(Episode(text, done, "", Extraction("test/1", (fact,))))
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
address, number, stop = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
looks = recalls = unavailable = 0
wrong = []
memory = None
while not stop.exists():
    try:
        if memory is None:
            memory = Memory(address, readonly=True, model="none", embedder="fake", wait=60)
        memory.recall(f"Where is thing {looks % 3}?", k=5)
        recalls += 1
        with memory.record.read_lock() as graph:
            if looks % 10 == 0:
                found = list(memory.episodes())
                if graph.state_hash() != TemporalGraph(found).state_hash():
                    wrong.append("the graph is not the fold of its episodes")
                by_writer = {}
                for episode in found:
                    by_writer.setdefault(episode.text.split()[1], []).append(int(episode.at))
                for writer, times in by_writer.items():
                    if times != list(range(len(times))):
                        wrong.append(f"writer {writer} has a gap or a double")
            for thing in range(3):
                if len(graph.view().facts(f"thing {thing}")) > 1:
                    wrong.append(f"thing {thing} is in two places at once")
        looks += 1
    except StoreUnavailableError:
        unavailable += 1
        time.sleep(0.1)
print(json.dumps({"reader": number, "recalls": recalls, "checks": looks, "unavailable": unavailable, "wrong": wrong}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--server-kills", type=int, default=5)
    parser.add_argument("--writer-kills", type=int, default=40)
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
            [sys.executable, "-c", WRITER, address, str(number), str(options.episodes), str(logs[number])]
        )

    stop = folder / "stop"
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, address, str(number), str(stop)], stdout=subprocess.PIPE)
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
    while any(one.poll() is None for one in writers):
        time.sleep(0.05)
        acknowledged = sum(log.read_bytes().count(b"\n") for log in logs)
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
    assert all(one.returncode == 0 for one in writers), [one.returncode for one in writers]
    stop.touch()
    seen = [json.loads(reader.communicate()[0]) for reader in readers]
    with open_store(address, readonly=True) as store:
        found = list(store.episodes())
        scratch = TemporalGraph(found).state_hash()
        texts = [episode.text for episode in found]
        expected = {(number, at) for number in range(options.writers) for at in range(options.episodes)}
        stored = [(int(text.split()[1]), int(text.split()[-1].rstrip("."))) for text in texts]
        equal = store.graph.state_hash() == scratch
    changes = server.sql(  # type: ignore[attr-defined]
        "SELECT count(*), min(number), max(number) FROM worldthread.change", address.split("/")[3].split("?")[0]
    ).strip()
    with open_store(address) as store:
        folded = len(store.graph)
    return {
        "cpus": os.cpu_count(), "writers": options.writers, "episodes": total, "seconds": round(seconds, 1),
        "killed": killed, "stored": len(stored), "lost": len(expected - set(stored)),
        "doubled": len(stored) - len(set(stored)), "state hash equals a fold from scratch": equal,
        "changes (count|first|last; old ones are trimmed)": changes, "opened again": folded, "readers": seen,
    }  # fmt: skip


if __name__ == "__main__":
    main()
