"""Measure how the explorer finds out what a world rewards: houses of different makes, none of which states a task.

Draws houses at random: rooms, furniture, which containers are closed, things, and words. In each, some things lie far
from where they belong. The makes differ in what tells so:

- ``told``: the description of a misplaced thing says that it is misplaced, and never changes;
- ``scored``: descriptions say nothing, and the world gives a point when such a thing comes to its place;
- ``both``: descriptions say it, in other words, and the world gives a point.

Prints for each house how many misplaced things are where they belong at the end, the points, how many things that were
in place are elsewhere, moves, how the play ended, how many commands were given again in a state in which they had been
refused, and the audit of the memory.

    python benchmarks/bench_houses.py --seeds 1-2 [--makes told,scored,both] [--moves 400] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from worldthread.graph import TemporalGraph
from worldthread_lab.agents.explorer.agent import Explorer
from worldthread_lab.cli.running import seeds_in
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Proposition
from worldthread_lab.play.loop import Play

MAKES = ("told", "scored", "both")
# room -> furniture ("s": supporter, "c": container) -> things that belong there
HOUSE: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {
    "kitchen": {
        ("spice shelf", "s"): ("pepper mill", "jar of cinnamon", "salt cellar"),
        ("larder", "c"): ("sack of flour", "bag of rice", "tin of beans"),
        ("dish rack", "s"): ("soup plate", "saucepan lid", "gravy boat"),
    },
    "bathroom": {
        ("medicine chest", "c"): ("cough syrup", "box of plasters", "thermometer"),
        ("washstand", "s"): ("toothbrush", "bar of soap", "shaving foam"),
    },
    "bedroom": {
        ("chest of drawers", "c"): ("woollen socks", "flannel pyjamas", "silk scarf"),
        ("nightstand", "s"): ("alarm clock", "reading glasses"),
    },
    "study": {
        ("writing desk", "s"): ("fountain pen", "blotting paper", "letter opener"),
        ("bookshelf", "s"): ("dictionary", "detective novel", "book of maps"),
    },
    "workshop": {
        ("pegboard", "s"): ("pair of pliers", "handsaw", "claw hammer"),
        ("parts bin", "c"): ("box of nails", "roll of wire", "bag of screws"),
    },
    "nursery": {
        ("toy chest", "c"): ("teddy bear", "building blocks", "spinning top"),
        ("cradle", "s"): ("rattle", "baby blanket"),
    },
    "greenhouse": {
        ("potting table", "s"): ("flower pot", "trowel", "watering can"),
        ("seed cupboard", "c"): ("packet of seeds", "garden twine"),
    },
    "music room": {
        ("piano", "s"): ("book of sonatas", "metronome"),
        ("instrument case", "c"): ("flute", "violin bow"),
    },
}
WORDS = {
    "told": ("It does not belong here.", "The {} looks misplaced here.", "This is the wrong room for a {}."),
    "both": ("Surely the {} should be kept elsewhere.", "The {} is out of its place.", "Somebody left the {} here."),
}
"""What descriptions of misplaced things say; ``both`` in words that the explorer was not made for."""


def build(make_: str, seed: int, path: Path) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """Write a house to a file.

    Args:
        make_: one of :data:`MAKES`.
        seed: decides everything else.
        path: the file.

    Returns:
        The places of all things at the start, and the places where the misplaced ones belong.
    """
    from textworld import GameMaker, GameOptions, g_rng
    from textworld.generator import compile_game
    from textworld.generator.game import Event, Quest

    rng = random.Random(f"{make_} {seed}")
    g_rng.set_seed(rng.randrange(1 << 30))
    maker = GameMaker()
    names = rng.sample(sorted(HOUSE), rng.randint(4, 6))
    rooms = {name: maker.new_room(name) for name in names}
    free = {name: ["north", "east", "south", "west"] for name in names}
    opposite = {"north": "south", "south": "north", "east": "west", "west": "east"}
    at = {names[0]: (0, 0)}
    steps = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
    for name in names[1:]:  # a tree on a grid
        ways = [(old, way) for old in at for way in free[old]]
        ways = [(o, w) for o, w in ways if (at[o][0] + steps[w][0], at[o][1] + steps[w][1]) not in at.values()]
        old, way = rng.choice(ways)
        maker.connect(getattr(rooms[old], way), getattr(rooms[name], opposite[way]))
        free[old].remove(way)
        free[name].remove(opposite[way])
        at[name] = (at[old][0] + steps[way][0], at[old][1] + steps[way][1])
    maker.set_player(rooms[rng.choice(names)])
    furniture: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for name in names:
        for (piece, kind), _ in HOUSE[name].items():
            furniture[piece] = maker.new(type=kind, name=piece)
            kinds[piece] = "in" if kind == "c" else "on"
            rooms[name].add(furniture[piece])
            if kind == "c":
                furniture[piece].add_property(rng.choice(("open", "closed")))
    belongs = {thing: piece for name in names for (piece, _), held in HOUSE[name].items() for thing in held}
    room_of = {piece: name for name in names for piece, _ in HOUSE[name]}
    misplaced = rng.sample(sorted(belongs), rng.randint(4, 6))
    start, right, quests = {}, {}, []
    for thing, piece in belongs.items():
        now, description = piece, f"An ordinary {thing}."
        if thing in misplaced:
            now = rng.choice([other for other in furniture if room_of[other] != room_of[piece]])
            right[thing] = (kinds[piece], piece)
            if make_ != "scored":
                description = rng.choice(WORDS[make_]).format(thing)
        start[thing] = (kinds[now], now)
        made = maker.new(type="o", name=thing, desc=description)
        furniture[now].add(made)
        if thing in misplaced and make_ != "told":
            fact = maker.new_fact(kinds[piece], made, furniture[piece])
            quests.append(Quest(win_events=[Event(conditions={fact})], reward=1))
    maker.quests = quests
    game = maker.build(validate=False)
    game.objective = ""
    options = GameOptions()
    options.path = str(path)
    options.force_recompile = True
    compile_game(game, options)
    return start, right


def play(make_: str, seed: int, moves: int) -> dict[str, Any]:
    """Return the figures of one play of the explorer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "house.z8"
        start, right = build(make_, seed, path)
        graph = TemporalGraph()
        with make(f"textworld:{path}", max_moves=moves) as env:
            played = Play(env, Explorer(graph), graph, seed)
            refused: set[tuple[frozenset[Proposition], str]] = set()
            repeated, state = 0, frozenset[Proposition]()
            for step in played:
                before, state = state, env.truth().propositions
                action = step.decision.action if step.decision else "look"
                if action != "look" and state == before:
                    repeated += (before, action) in refused
                    refused.add((before, action))
            ended, score = played.ended_by, played.info.score
            truth = {p[1]: (p[0], p[2]) for p in state if p[0] in ("in", "on")}
            found = played.auditor.result()
        return {
            "house": f"{make_} {seed}",
            "right": sum(truth.get(thing) == place for thing, place in right.items()),
            "misplaced": len(right),
            "points": score,
            "moved_away": sum(truth.get(thing) != place for thing, place in start.items() if thing not in right),
            "moves": played.moves,
            "ended_by": ended,
            "refused_again": repeated,
            "precision": round(found.precision, 3),
            "recall": round(found.recall, 3),
            "stale_steps": found.stale_steps,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1", help="seeds of each make, such as 1-3")
    parser.add_argument("--makes", default=",".join(MAKES), help="which makes, separated by commas")
    parser.add_argument("--moves", type=int, default=400, help="the limit of moves")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each house")
    options = parser.parse_args()
    for make_ in options.makes.split(","):
        for seed in seeds_in(options.seeds):
            figures = play(make_, seed, options.moves)
            if options.json:
                print(json.dumps(figures), flush=True)
            else:
                print(", ".join(f"{name} {value}" for name, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
