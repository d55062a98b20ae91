"""Compare what storing and finding cost with another version of worldthread, by turns, in processor time.

    python benchmarks/hardening/speed.py [--before COMMIT] [--rounds 5] [--episodes 4000]

Each round runs both versions, each in processes of its own on a new file: episodes of five statements are appended one
by one in the order of their times, then others late, that is, each earlier than one that is there; then both again in a
batch, the late ones last; the file is opened; it is asked; it is asked right after a write; episodes are forgotten.
The default commit is the last one before the work on hardening. Embeddings are stand-ins (``FakeEmbedder``), so that no
time of a model is in it. The figures are the least of all rounds, since other work on a machine only ever adds to them,
and their ratio: below 1 this version is faster.
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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldthread import Episode

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "8ee4aff"
STAGES = ("append", "append late", "batch", "batch late", "opening", "recall", "recall after a write", "forget")


def make_episodes(count: int, start: int = 0) -> Iterator[Episode]:
    """Yield episodes of five statements about 200 rooms and 2,000 things."""
    from worldthread import Episode, Extraction, Fact

    chance = random.Random(start)
    for number in range(start, start + count):
        room = f"room {chance.randrange(200)}"
        things = [f"thing {chance.randrange(2000)}" for _ in range(3)]
        facts = [Fact("player", "is in", room, "place of player"), Fact(f"note {number}", "is read in", room)]
        facts += [Fact(thing, "is in", room, f"place of {thing}") for thing in things]
        text = f"Step {number}. You are in {room}. You see {', '.join(things)}."
        yield Episode(text, number, source="speed", extraction=Extraction("speed/1", tuple(facts)))


def processor_seconds(action: Callable[[], object]) -> float:
    """Return the processor time of this process while ``action`` runs."""
    start = time.process_time()
    action()
    return time.process_time() - start


def measure_writing(file: str, count: int) -> dict[str, float]:
    """Write ``count`` episodes one by one and as many in batches, half of them late, and return the seconds of each."""
    from worldthread import Memory
    from worldthread.models.fake import FakeEmbedder

    half = count // 2
    parts = {
        "append": list(make_episodes(half, start=half)),
        "append late": list(make_episodes(half)),
        "batch": list(make_episodes(half, start=3 * half)),
        "batch late": list(make_episodes(half, start=2 * half)),
    }
    seconds: dict[str, float] = {}
    with Memory(file, embedder=FakeEmbedder()) as memory:
        memory.record.add(next(make_episodes(1, start=-1)))  # what is loaded at the first write
        for stage, episodes in parts.items():
            if stage.startswith("batch"):
                seconds[stage] = processor_seconds(partial(memory.record.add_many, episodes))
                continue

            def append(episodes: list[Episode] = episodes) -> None:
                for episode in episodes:
                    memory.record.add(episode)

            seconds[stage] = processor_seconds(append)
        memory.recall("Where is thing 5?")  # saves the index
        return seconds


def measure_reading(file: str, count: int) -> dict[str, float]:
    """Open a file, ask 50 questions, ask 20 after a write each, forget 100 episodes, and return the seconds of each."""
    from worldthread import Memory
    from worldthread.models.fake import FakeEmbedder

    embedder = FakeEmbedder()
    start = time.process_time()
    memory = Memory(file, embedder=embedder)
    memory.view().facts("thing 1")
    seconds = {"opening": time.process_time() - start}
    with memory:
        memory.recall("Where is thing 5?")
        questions = [f"Where is thing {number}?" for number in range(50)]
        seconds["recall"] = processor_seconds(lambda: [memory.recall(question) for question in questions])
        late = list(make_episodes(20, start=20 * count))

        def write_and_ask() -> None:
            for episode, question in zip(late, questions):  # noqa: B905 (questions are more)
                memory.record.add(episode)
                memory.recall(question)

        seconds["recall after a write"] = processor_seconds(write_and_ask)
        doomed = [episode.id for episode in make_episodes(100)]

        def forget() -> None:
            for episode in doomed:
                memory.record.forget(episode)

        seconds["forget"] = processor_seconds(forget)
    return seconds


def run_version(source: Path, folder: Path, count: int) -> dict[str, float]:
    """Return the seconds of every stage with the sources of one version, in two new processes."""
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"}
    file = folder / f"{time.monotonic_ns()}.db"
    seconds: dict[str, float] = {}
    for part in ("writing", "reading"):
        command = [sys.executable, __file__, "--part", part, "--file", str(file), "--episodes", str(count)]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        seconds |= json.loads(done.stdout)
    return seconds


def main() -> None:
    """Run both versions by turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default=BEFORE, help="the commit to compare with (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each version runs (default: %(default)s)")
    parser.add_argument("--episodes", type=int, default=4000, help="how many are appended (default: %(default)s)")
    parser.add_argument("--part", choices=("writing", "reading"), help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        measure = measure_writing if options.part == "writing" else measure_reading
        print(json.dumps(measure(options.file, options.episodes)))
        return
    runs: dict[str, list[dict[str, float]]] = {"before": [], "now": []}
    with tempfile.TemporaryDirectory(prefix="worldthread-speed-") as name:
        folder, before = Path(name), Path(name) / "before"
        subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "add", "--quiet", "--detach", str(before), options.before], check=True
        )
        try:
            for number in range(options.rounds):
                for version, source in (("before", before / "src"), ("now", ROOT / "src")):
                    runs[version].append(run_version(source, folder, options.episodes))
                print(f"round {number + 1} of {options.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(before)], check=True)
    print(f"| processor seconds, least of {options.rounds} | {options.before} | now | ratio |\n|---|---|---|---|")
    for stage in STAGES:
        before_seconds, now_seconds = (min(run[stage] for run in runs[version]) for version in runs)
        print(f"| {stage} | {before_seconds:.3f} | {now_seconds:.3f} | {now_seconds / before_seconds:.2f} |")


if __name__ == "__main__":
    main()
