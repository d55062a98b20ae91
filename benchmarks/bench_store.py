"""Measure how long a step takes until it is durable, and how long a memory takes to open.

    python benchmarks/bench_store.py [--json] [--folder FOLDER] [--steps N]

A step is an episode with 12 facts about an invented house: places of things (each such fact ends the previous one) and
permanent doors. Extraction and embedding are not included. Files are in a temporary folder: give --folder to measure
another disk. Opening is measured in a fresh process with the files in the page cache, from the call that opens the
memory to the first answer. CPU times distinguish a busy machine from a slow store.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worldthread import Episode, Extraction, Fact, Memory

FACTS_PER_EPISODE = 12

OPENING = """
import sys, time
from worldthread import Memory
import worldthread.memory.memory
start = time.perf_counter()
memory = Memory(sys.argv[1], readonly=sys.argv[2] == "reader")
count = len(memory.record.graph)
opened = time.perf_counter()
found = memory.view().facts("thing 1")
print(opened - start, time.perf_counter() - start, count)
"""


def episodes(count: int, *, seed: int = 0, start: int = 0) -> Iterator[Episode]:
    """Yield steps through a house of 200 rooms: each sees a room, moves a few things, and adds something new."""
    generator = random.Random(seed + start)
    for step in range(start, start + count):
        room = generator.randrange(200)
        here = f"room {room}"
        facts = [Fact("player", "is in", here, "place of player")]
        facts += [
            Fact(here, direction, f"room {(room + far) % 200}") for direction, far in (("north", 20), ("east", 1))
        ]
        for _ in range(3):
            thing = f"thing {generator.randrange(2000)}"
            facts.append(Fact(thing, "is in", here, f"place of {thing}"))
        facts += [Fact(f"note {step}.{part}", "is read in", here) for part in range(FACTS_PER_EPISODE - len(facts))]
        text = f"Step {step}. You are in {here}. " + " ".join(f"You see {fact.subject}." for fact in facts[3:])
        yield Episode(text, step, source="bench", extraction=Extraction("bench/1", tuple(facts)))


def milliseconds(seconds: list[float]) -> dict[str, float]:
    """Return the usual percentiles of durations."""
    cuts = statistics.quantiles(seconds, n=1000, method="inclusive")
    return {
        "p50_ms": round(cuts[499] * 1000, 3),
        "p95_ms": round(cuts[949] * 1000, 3),
        "p99_ms": round(cuts[989] * 1000, 3),
        "max_ms": round(max(seconds) * 1000, 3),
    }


def bench_append(folder: Path, durability: Any, facts: int, steps: int) -> dict[str, Any]:
    """Measure single steps on a memory with a number of facts."""
    before = facts // FACTS_PER_EPISODE
    with Memory(folder / f"append-{durability}", durability=durability) as memory:
        memory.record.add_many(episodes(before))
        memory.view()
        seconds, cpu_seconds = [], []
        for episode in episodes(steps, start=before):
            start, cpu_start = time.perf_counter(), time.process_time()
            memory.record.add(episode)
            seconds.append(time.perf_counter() - start)
            cpu_seconds.append(time.process_time() - cpu_start)
        return {
            "durability": durability,
            "facts_before": facts,
            "steps": steps,
            **milliseconds(seconds),
            **{f"cpu_{name}": value for name, value in milliseconds(cpu_seconds).items()},
        }


def bench_forget(folder: Path, facts: int, times: int) -> dict[str, Any]:
    """Measure forgetting one episode, including the checkpoint of the log."""
    with Memory(folder / "forget") as memory:
        memory.record.add_many(episodes(facts // FACTS_PER_EPISODE))
        ids = random.Random(1).sample([episode.id for episode in memory.episodes()], times)
        seconds = []
        for episode_id in ids:
            start = time.perf_counter()
            memory.forget(episode_id)
            seconds.append(time.perf_counter() - start)
        return {"facts_before": facts, "times": times, **milliseconds(seconds)}


def bench_open(folder: Path, facts: int, repeats: int) -> dict[str, Any]:
    """Measure opening, and filling and closing before it."""
    path = folder / "open"
    start = time.perf_counter()
    with Memory(path) as memory:
        memory.record.add_many(episodes(facts // FACTS_PER_EPISODE))
        added = time.perf_counter() - start
        start = time.perf_counter()
    closed = time.perf_counter() - start
    result: dict[str, Any] = {
        "facts": facts,
        "episodes": facts // FACTS_PER_EPISODE,
        "add_many_s": round(added, 3),
        "close_s": round(closed, 3),
        "memory_bytes": path.stat().st_size,
        "snapshot_bytes": sum(file.stat().st_size for file in Path(f"{path}-snapshot").rglob("*.npy")),
    }
    for mode in ("writer", "reader"):
        runs = [_open_in_a_fresh_process(path, mode) for _ in range(repeats)]
        result[f"open_{mode}_s"] = round(statistics.median(run[0] for run in runs), 3)
        result[f"open_{mode}_to_first_answer_s"] = round(statistics.median(run[1] for run in runs), 3)
    for file in Path(f"{path}-snapshot").rglob("manifest.json"):
        file.unlink()
    result["open_reader_without_snapshot_s"] = round(_open_in_a_fresh_process(path, "reader")[0], 3)
    return result


def _open_in_a_fresh_process(path: Path, mode: str) -> tuple[float, float]:
    run = subprocess.run([sys.executable, "-c", OPENING, str(path), mode], capture_output=True, text=True, check=True)
    opened, answered, _ = run.stdout.split()
    return float(opened), float(answered)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--folder", type=Path, help="folder for the files")
    parser.add_argument("--steps", type=int, default=3000, help="number of steps per durability")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        results = {
            "machine": {
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
            },
            "append": [bench_append(folder, durability, 10_000, options.steps) for durability in ("normal", "full")],
            "forget": bench_forget(folder, 10_000, 100),
            "open": bench_open(folder, 100_000, 5),
        }
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for title, rows in results.items():
        for row in rows if isinstance(rows, list) else [rows]:
            print(f"{title}: " + ", ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
