"""Measure the time from perceiving a step of a real game until it is durable on disk.

Fills a memory with facts, then plays generated games with the explorer on top of it. Each step is timed from its text
until the record of the episode returns (extraction, folding, commit; no embedding).

    python benchmarks/bench_step.py [--facts 10000] [--seeds 1-5] [--durability normal|full] [--json]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from worldthread import Memory
from worldthread.extract.base import GameStep
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents import make_agent
from worldthread_lab.agents.base import PerceivingAgent, Percept
from worldthread_lab.envs import make
from worldthread_lab.game.extractor import GameExtractor

GAME = "treasure-hunt-hardest"


class Clerk(PerceivingAgent):
    """An agent that only perceives."""

    name = "clerk"

    def decide(self):  # type: ignore[no-untyped-def]
        raise NotImplementedError


def record_steps(seed: int) -> list[Percept]:
    """Return the percepts of one play of the explorer."""
    percepts = []
    with make(GAME, seed=seed) as world, Memory() as memory:
        agent = make_agent("explorer", memory.record)
        text, info = world.reset()
        percepts.append(Percept(GameStep(text, None, info.inventory, info.goal), info.score, info.valid_actions))
        agent.perceive(percepts[-1])
        over = False
        while not over:
            action = agent.decide().action
            text, _, terminated, truncated, info = world.step(action)
            step = GameStep(text, action, info.inventory, turn=info.moves)
            percepts.append(Percept(step, info.score, info.valid_actions))
            agent.perceive(percepts[-1])
            over = terminated or truncated
    return percepts


def fill(memory: Memory, facts: int) -> None:
    """Add ``facts`` facts in episodes of ten, earlier than every game."""
    episodes = []
    for number in range(0, facts, 10):
        found = tuple(
            Fact(f"thing {n}", "is in", f"room {n % 997} of house {n % 31}", aspect=f"place of thing {n}")
            for n in range(number, min(number + 10, facts))
        )
        episodes.append(
            Episode(f"Page {number} of the ledger.", number - facts, "ledger", Extraction("ledger/1", found))
        )
    memory.record.add_many(episodes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000, help="facts in the memory before the games")
    parser.add_argument("--seeds", default="1-5", help="range of seeds, first and last")
    parser.add_argument("--durability", choices=("normal", "full"), default="normal", help="durability of the memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    total: list[float] = []
    extraction: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.worldthread"
        with Memory(path, durability=options.durability) as memory:
            fill(memory, options.facts)
            for seed in range(first, last + 1):
                clerk = Clerk(memory.record, run=f"play {seed}")
                shift = int(max(0, memory.record.graph.counts()["episodes"])) + seed * 1000
                for percept in record_steps(seed):
                    step = percept.step
                    moved = GameStep(step.text, step.action, step.inventory, step.goal, step.turn + shift)
                    started = time.perf_counter()
                    GameExtractor().extract(moved, memory.view())
                    read = time.perf_counter()
                    clerk.perceive(Percept(moved, percept.score, percept.valid_actions))
                    done = time.perf_counter()
                    extraction.append(read - started)
                    total.append(done - read)
            held = memory.record.graph.counts()["current_facts"]
    figures = {
        "facts": held,
        "steps": len(total),
        "durability": options.durability,
        "perceive_to_durable_ms": {f"p{q}": round(float(np.percentile(total, q)) * 1000, 3) for q in (50, 95, 99)},
        "of_which_reading_ms": {f"p{q}": round(float(np.percentile(extraction, q)) * 1000, 3) for q in (50, 95)},
    }
    print(json.dumps(figures) if options.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
