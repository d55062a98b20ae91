"""How costs grow with the number of facts: opening, recalling, adding, memory and disk.

    python benchmarks/bench_scale.py [--sizes 10000,100000,1000000,10000000] [--shared FOLDER] [--keep FOLDER]
        [--plot FILE]

Facts are the triples that come with ``musique_train``, each with its passage. To reach a size, passages are repeated
with every capitalised word renamed. What is stored has random unit vectors: a search costs the same, and embedding a
million texts takes hours. Questions are embedded with MiniLM, which is part of the time of a recall. Opening and
everything after it is measured in a fresh process, with the files in the page cache. The memory is made in another
process; reading and renaming the passages is part of the time of writing. Recalls are given in time of the
wall and of the processor: a machine that is busy with other work lengthens the first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bench_memory import StandIn, questions, renamed

from worldthread import Episode, Extraction, Fact, Memory
from worldthread_lab.bench.datasets import load

MEASURES = (
    "open_seconds",
    "first_recall_seconds",
    "recall_ms_p50",
    "recall_ms_p95",
    "add_ms_p50",
    "recall_after_add_ms_p50",
    "resident_mb",
    "disk_mb",
)


def episodes(shared: Path, facts: int) -> Iterator[Episode]:
    """Yield passages with their triples until they have this many facts."""
    passages = load("musique_train", shared / "data").passages
    # facts without a capitalised word are the same in every generation, all others are new in each
    first = {fact.key for passage in passages for fact in passage.facts}
    earlier, generation = 0, 0
    while True:
        distinct: set[tuple[str, str, str]] = set()
        for passage in passages:
            found = tuple(
                Fact(renamed(f.subject, generation), f.relation, renamed(f.object, generation)) for f in passage.facts
            )
            distinct.update(fact.key for fact in found if not generation or fact.key not in first)
            text = renamed(passage.full_text, generation)
            yield Episode(text, float(generation), passage.id, Extraction("given/1", found))
            if earlier + len(distinct) >= facts:
                return
        earlier += len(distinct)
        generation += 1


def build(path: Path, shared: Path, facts: int) -> dict[str, Any]:
    """Make a memory of this size, with its snapshot and index; runs in a process of its own."""
    start, used = time.perf_counter(), time.process_time()
    with Memory(path, model="none", embedder=StandIn(set())) as memory:
        memory.record.add_many(episodes(shared, facts))
        written, using, resident = time.perf_counter(), time.process_time(), peak_resident_mb()
        with memory.record.index():
            pass  # makes the index
        memory.checkpoint()
    return {
        "written_facts_per_second": round(facts / (written - start)),
        "written_facts_per_processor_second": round(facts / (using - used)),
        "writing_resident_mb": resident,
        "index_seconds": round(time.perf_counter() - written, 1),
        "index_processor_seconds": round(time.process_time() - using, 1),
        "building_resident_mb": peak_resident_mb(),
    }


def in_process(*arguments: object) -> dict[str, Any]:
    """Run this file with some arguments, and return what it prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def peak_resident_mb() -> int:
    """Return the peak memory of this process; that of ``getrusage`` includes the parent process."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) // 1024


def timed_recall(memory: Memory, question: str) -> tuple[float, float]:
    """Return the milliseconds of a recall: of the wall, and of the processor."""
    begin, used = time.perf_counter(), time.process_time()
    memory.recall(question)
    return 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used)


def percentiles(name: str, took: list[tuple[float, float]]) -> dict[str, float]:
    """Return the median and the 95th percentile of what :func:`timed_recall` returned, of wall and processor."""
    kinds = (("ms", [wall for wall, _ in took]), ("processor_ms", [used for _, used in took]))
    return {
        f"{name}_{kind}_p{percent}": round(float(np.percentile(values, percent)), 1)
        for kind, values in kinds
        for percent in (50, 95)
    }


def measure(path: Path, shared: Path) -> dict[str, Any]:
    """Measure everything; runs in a fresh process."""
    asked = questions(shared)
    model = StandIn(set(asked))
    model.embed(asked[:1])
    start = time.perf_counter()
    memory = Memory(path, model="none", embedder=model)
    facts = len(memory.record.graph.statement_numbers)
    memory.view().facts("anything")
    opened = time.perf_counter()
    memory.recall(asked[0])
    first = time.perf_counter()
    took = [timed_recall(memory, question) for question in asked]
    added, after = [], []
    for number in range(20):
        fact = Fact(f"Thing {number}", "is in", "Room")
        episode = Episode(f"Thing {number} is in the room.", 1e6 + number, "bench", Extraction("bench", (fact,)))
        begin = time.perf_counter()
        memory.record.add(episode)
        added.append(1000 * (time.perf_counter() - begin))
        after.append(timed_recall(memory, asked[number]))
    files = (file for file in path.parent.rglob("*") if file.is_file())
    return {
        "facts": facts,
        "episodes": len(memory.record.graph) - 20,
        "open_seconds": round(opened - start, 3),
        "first_recall_seconds": round(first - opened, 2),
        **percentiles("recall", took),
        "add_ms_p50": round(float(np.percentile(added, 50)), 2),
        "add_ms_p95": round(float(np.percentile(added[1:], 95)), 2),
        **percentiles("recall_after_add", after[1:]),
        "add_ms_first": round(added[0], 2),
        "resident_mb": peak_resident_mb(),
        "disk_mb": sum(file.stat().st_size for file in files) // 2**20,
    }


def exponents(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the slope of each measure over the number of facts, both as logarithms, by least squares."""
    sizes = np.log([row["facts"] for row in rows])
    return {
        name: round(float(np.polyfit(sizes, np.log([max(row[name], 1e-3) for row in rows]), 1)[0]), 2)
        for name in MEASURES
    }


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = exponents(rows)
    figure, axes = pyplot.subplots(figsize=(9, 4.5))
    for name in MEASURES:
        axes.plot(
            [row["facts"] for row in rows], [row[name] for row in rows], "o-", label=f"{name} ~ n^{found[name]:.2f}"
        )
    axes.set(xscale="log", yscale="log", xlabel="facts")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000,3000000,10000000", help="numbers of facts")
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument(
        "--keep", type=Path, help="keep the memories in this folder, and measure those that are already there"
    )
    parser.add_argument("--plot", type=Path, help="write a plot to this file")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build is not None:
        print(json.dumps(build(given.build, given.shared, int(given.sizes))))
        return
    if given.measure is not None:
        print(json.dumps(measure(given.measure, given.shared)))
        return
    rows = []
    for size in map(int, given.sizes.split(",")):
        built: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory"
            if given.keep is not None:
                kept = given.keep / f"facts-{size}"
                if not kept.exists():
                    kept.mkdir(parents=True)
                    built = in_process("--build", kept / "memory", "--shared", given.shared, "--sizes", size)
                shutil.copytree(kept, folder, dirs_exist_ok=True)  # measuring adds facts
            else:
                built = in_process("--build", path, "--shared", given.shared, "--sizes", size)
            os.sync()  # or the writing of the files goes on meanwhile
            measured = in_process("--measure", path, "--shared", given.shared)
        rows.append({**measured, **built})
        print(json.dumps(rows[-1]), flush=True)
    if len(rows) > 1:
        print(json.dumps({"exponents": exponents(rows)}), flush=True)
    if given.plot is not None:
        plot(rows, given.plot)


if __name__ == "__main__":
    main()
