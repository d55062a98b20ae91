"""Measure the time to read a step of a Z-machine game by rule, and to record what was read.

The steps are those of jericho's walkthroughs, played before. Times are CPU times; the best of three passes counts. To
compare with an earlier reader, run the script by turns with ``PYTHONPATH`` at the sources of the other commit.

    python benchmarks/bench_reading.py zork1 zork3 [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Episode
from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.game.extractor import GameExtractor


def record_steps(game: str) -> list[GameStep]:
    """Return the steps of the walkthrough of a game."""
    with open_jericho(game, id=f"jericho:{game}", valid_actions=False) as world:
        text, info = world.reset()
        steps = [GameStep(text, None, info.inventory)]
        for turn, action in enumerate(world.truth().walkthrough, 1):
            text, _, terminated, truncated, info = world.step(action)
            if terminated or truncated:
                break
            steps.append(GameStep(text, action, info.inventory, turn=turn))
    return steps


def forget_what_was_read() -> None:
    """Empty the caches of the reader, so that no pass gains by the one before it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("worldthread_lab.game"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def measure(steps: list[GameStep]) -> tuple[float, float]:
    """Return the seconds of reading and of recording all steps once, with empty caches at the beginning."""
    forget_what_was_read()
    graph, extractor = TemporalGraph(), GameExtractor()
    reading = recording = 0.0
    for step in steps:
        begin = time.process_time()
        extraction = extractor.extract(step, graph.view())
        read = time.process_time()
        graph.add(Episode(f"> {step.action}\n{step.text}", step.turn, "bench", extraction))
        reading += read - begin
        recording += time.process_time() - read
    return reading, recording


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", help="files, or names in the folders of $WORLDTHREAD_GAMES")
    parser.add_argument("--json", action="store_true", help="print a line of JSON per game")
    options = parser.parse_args()
    for game in options.games:
        steps = record_steps(game)
        reading, recording = min(measure(steps) for _ in range(3))
        figures = {
            "steps": len(steps),
            "reading_ms": round(reading / len(steps) * 1000, 3),
            "recording_ms": round(recording / len(steps) * 1000, 3),
        }
        if options.json:
            print(json.dumps({"game": game, **figures}), flush=True)
        else:
            print(game, *(f"{name} {value}" for name, value in figures.items()), sep="  ", flush=True)


if __name__ == "__main__":
    main()
