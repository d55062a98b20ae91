"""Measure whether a move of go_explore costs more the longer a play lasts.

    python benchmarks/bench_exploring.py [--game detective] [--moves 1000,10000] [--seed 1]

Plays one long play with a memory in RAM and prints in JSON, for the 500 moves before each number of moves, the
milliseconds of processor time that a move takes: deciding, perceiving (the memory with it), and the rest (the world,
the records). At last the last number of moves is compared with the first. Without --game the world is a made-up house
of 60 rooms with 20 things. A real game is searched for in $WORLDTHREAD_GAMES; most of its rest is the search for valid
actions, which is kept on disk for the next run.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from worldthread.graph import TemporalGraph
from worldthread_lab.agents.go_explore.agent import GoExplore
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld
from worldthread_lab.play.loop import Play

WINDOW = 500
"""Moves over which a mean is taken."""
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


def house(rooms: int, things: int) -> ScriptedHouse:
    """Return a house of rooms in a tree, with some exits that do not lead back; every third thing is worth points."""
    chance = random.Random(7)
    names = [f"room {number}" for number in range(rooms)]
    exits: dict[str, dict[str, str]] = {name: {} for name in names}
    for number, name in enumerate(names[1:], 1):
        room = chance.choice([one for one in names[:number] if len(exits[one]) < len(OPPOSITE)])
        direction = chance.choice([one for one in OPPOSITE if one not in exits[room]])
        exits[room][direction] = name
        if chance.random() < 0.9:
            exits[name][OPPOSITE[direction]] = room
    held = {f"thing {number}": chance.choice(names) for number in range(things)}
    return ScriptedHouse(
        exits=exits,
        start=names[0],
        things=held | {"crown": names[-1]},
        rewards=dict.fromkeys(list(held)[::3], 5),
        prize="crown",
        goal="Get rich.",
    )


class Clock:
    """Processor time by what it is used for."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose processor time is added under a name."""

        def run(*given: Any) -> Any:
            started = time.process_time()
            try:
                return call(*given)
            finally:
                self.spent[name] += time.process_time() - started

        return run


def measure(env: Environment, moves: list[int], seed: int) -> Iterator[dict[str, float]]:
    """Yield the milliseconds of a move, and what the agent knows, at each of some numbers of moves."""
    graph, clock = TemporalGraph(), Clock()
    agent = GoExplore(graph, seed=seed)
    agent.decide = clock.timed("decide", agent.decide)  # type: ignore[method-assign]
    agent.perceive = clock.timed("perceive", agent.perceive)  # type: ignore[method-assign]
    play = Play(env, agent, graph, seed=seed, max_moves=max(moves), audit=False)
    begun, before = time.process_time(), dict(clock.spent)
    reached = 0
    for _ in play:
        if play.moves == reached:
            continue
        reached = play.moves
        if reached in moves:
            total = time.process_time() - begun
            used = {name: clock.spent[name] - before.get(name, 0.0) for name in ("decide", "perceive")}
            used["rest"] = total - sum(used.values())
            figures: dict[str, float] = {"moves": reached, "states": len(agent._graph.states)}
            yield figures | {f"{name}_ms": round(1000 * seconds / WINDOW, 3) for name, seconds in used.items()}
        if reached + WINDOW in moves:
            begun, before = time.process_time(), dict(clock.spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", help="a game instead of the made-up house")
    parser.add_argument("--moves", default="1000,10000", help=f"numbers of moves of at least {WINDOW}, rising")
    parser.add_argument("--seed", type=int, default=1, help="seeds the agent and the world")
    given = parser.parse_args()
    made_up = house(rooms=60, things=20)
    with make(given.game, seed=given.seed) if given.game else ScriptedWorld(lambda _: made_up) as env:
        figures = []
        for figure in measure(env, [int(number) for number in given.moves.split(",")], given.seed):
            figures.append(figure)
            print(json.dumps(figure), flush=True)
    costs = ("decide_ms", "perceive_ms", "rest_ms")
    print(json.dumps({"last against first": {name: round(figures[-1][name] / figures[0][name], 2) for name in costs}}))


if __name__ == "__main__":
    main()
