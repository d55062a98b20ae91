"""Measure NetHack as a text world: milliseconds per action in both modes, and the depth that a simple player reaches.

The player has no model: it fights adjacent monsters, descends where stairs are listed, and explores otherwise.

    python benchmarks/bench_nethack.py [--seeds 0-9] [--actions 300] [--json]
"""

from __future__ import annotations

import argparse
import json
import re
import time

import numpy as np

from worldthread_lab.envs import make
from worldthread_lab.envs.base import Info

CLOSE = re.compile(r"^An? (?P<name>.+) is close by", re.M)
LEAVE_ALONE = re.compile(r"^peaceful |^tame |floating eye|mold|jelly|gas spore|unseen")
DEPTH = re.compile(r"dungeon level (\d+) in ")


def choose(text: str, info: Info) -> str:
    """Return the next action of the simple player."""
    offered = info.valid_actions or ()
    if "no" in offered:
        return "no"
    if "eat food ration" in offered and re.search(r", (?:hungry|weak from hunger|fainting),", text):
        return "eat food ration"
    if "pray" in offered:
        return "pray"
    for name in CLOSE.findall(text):
        if f"fight {name}" in offered and not LEAVE_ALONE.search(name):
            return f"fight {name}"
    return "descend" if "descend" in offered else "explore"


def measure(mode: str, seeds: range, actions: int) -> dict[str, object]:
    """Measure the times of all actions by verb, and the depths and scores of the plays."""
    seconds: dict[str, list[float]] = {}
    starts, depths, scores, lengths = [], [], [], []
    for seed in seeds:
        with make("nethack", seed=seed, observation=mode, max_moves=actions) as env:
            begin = time.perf_counter()
            text, info = env.reset()
            starts.append(time.perf_counter() - begin)
            depth, over = 1, False
            while not over:
                action = choose(text, info)
                begin = time.perf_counter()
                text, _, terminated, truncated, info = env.step(action)
                seconds.setdefault(action.split()[0], []).append(time.perf_counter() - begin)
                lengths.append(len(text))
                over = terminated or truncated
                if (match := DEPTH.search(text)) is not None and not terminated:
                    depth = max(depth, int(match[1]))
            depths.append(depth)
            scores.append(info.score)
    every = [one for times in seconds.values() for one in times]
    return {
        "mode": mode,
        "plays": len(depths),
        "actions": len(every),
        "reset_ms": milliseconds(starts),
        "action_ms": milliseconds(every),
        **{f"{verb}_ms": milliseconds(times) for verb, times in sorted(seconds.items())},
        "characters_a_text": round(float(np.mean(lengths))),
        "deepest_level": summary(depths),
        "score": summary(scores),
    }


def milliseconds(times: list[float]) -> dict[str, float]:
    return {f"p{q}": round(float(np.percentile(times, q)) * 1000, 2) for q in (50, 95)} | {"count": len(times)}


def summary(numbers: list[float]) -> dict[str, float]:
    return {
        "mean": round(float(np.mean(numbers)), 2),
        "standard_error": round(float(np.std(numbers, ddof=1) / len(numbers) ** 0.5), 2) if len(numbers) > 1 else 0.0,
        "best": float(max(numbers)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-9", help="range of seeds, first and last")
    parser.add_argument("--actions", type=int, default=300, help="actions per play")
    parser.add_argument("--json", action="store_true", help="print a line of JSON per mode")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    for mode in ("room", "level"):
        figures = measure(mode, range(first, last + 1), options.actions)
        print(json.dumps(figures) if options.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))
        print("", end="" if options.json else "\n")


if __name__ == "__main__":
    main()
