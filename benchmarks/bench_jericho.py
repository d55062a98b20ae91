"""Measure Z-machine games: steps per second, time to find valid actions, and size of saved states.

Measures each game file of a folder, in states spread along its walkthrough. "first" is the time to find the valid
actions of a state, "kept" the time to read them from disk. With --compare, "jericho" is the time of jericho's own
search in the same states (with spaCy's empty English model, which finds no nouns in texts), and "lost" counts the
changes of the world that jericho finds and we do not (jericho tries one of several names of a thing, and which one
differs between processes). "walkthrough_changing" counts the states in which the walkthrough's next command changes the
world, "walkthrough_offered" those of them in which a valid action
changes it alike, or leaves the same tree of objects. Times are CPU times.

    python benchmarks/bench_jericho.py FOLDER [--games zork1,zork3] [--states 40] [--compare] [--json]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.envs.jericho_actions import ActionFinder
from worldthread_lab.envs.jericho_engine import SUFFIXES, CommandTrials, EngineState, JerichoEngine


def spread_states(engine: JerichoEngine, wanted: int) -> list[tuple[EngineState, str]]:
    """Return states spread evenly along the walkthrough, each with the walkthrough's next command."""
    engine.reset(engine.own_seed)
    states = []
    for command in engine.walkthrough:
        if not engine.awaits_key:
            states.append((engine.save(), command))
        engine.step(command)
        if engine.over or engine.won:
            break
    return states[:: max(1, len(states) // wanted)][:wanted]


def jericho_changes(engine: JerichoEngine) -> list[str]:
    """Return one action for each change of the world that jericho finds."""
    import spacy
    from jericho import util

    util.spacy_nlp = spacy.blank("en")
    frotz: Any = engine._frotz
    nouns = frotz._score_object_names(frotz._identify_interactive_objects(use_object_tree=True))
    alike = frotz._filter_candidate_actions(frotz.act_gen.generate_actions(nouns), use_ctypes=True)
    return [max(actions, key=util.verb_usage_count) for actions in alike.values()]


def _does_alike(engine: JerichoEngine, trials: CommandTrials, one: str, other: str) -> bool:
    """Return whether two commands change the world alike, as reported or by the tree of objects."""
    reached = []
    for line in (one, other):
        change = trials.attempt(line.encode("ascii", "replace")).change
        reached.append((change, engine.world_bytes(), engine.score))
    return reached[0][0] == reached[1][0] or reached[0][1:] == reached[1][1:]


def search(path: Path, wanted: int, *, compare: bool) -> dict[str, float]:
    """Measure the time and results of the search for valid actions."""
    engine = JerichoEngine(path)
    finder = ActionFinder(engine)
    states = spread_states(engine, wanted)
    ours: list[float] = []
    theirs: list[float] = []
    found = known = lost = changing = offered = 0
    for state, command in states:
        engine.restore(state)
        started = time.process_time()
        actions = finder.find()
        ours.append(time.process_time() - started)
        found += len(actions)
        with engine.trials() as trials:
            wanted_change = trials.attempt(command.encode("ascii", "replace")).change
            if wanted_change is not None:
                changing += 1
                offered += any(map(partial(_does_alike, engine, trials, command), actions))
        if compare:
            started = time.process_time()
            changes = jericho_changes(engine)
            theirs.append(time.process_time() - started)
            engine.restore(state)
            known += len(changes)
            with engine.trials() as trials:
                reached = {trials.attempt(action.encode()).change for action in actions}
                lost += sum(trials.attempt(action.encode()).change not in reached for action in changes)
    figures = {
        "states": len(states),
        "first_ms": round(sum(ours) / len(ours) * 1000, 1),
        "first_ms_most": round(max(ours) * 1000, 1),
        "actions": round(found / len(states), 1),
        "walkthrough_changing": changing,
        "walkthrough_offered": offered,
    }
    if compare:
        figures |= {
            "jericho_ms": round(sum(theirs) / len(theirs) * 1000, 1),
            "jericho_actions": round(known / len(states), 1),
            "lost": lost,
        }
    return figures


def play(path: Path, cache: Path) -> dict[str, float]:
    """Measure the speed of play without valid actions, the time to read cached ones, and the size of saved states."""
    with open_jericho(str(path), id=path.stem, cache_dir=cache, valid_actions=False) as world:
        world.reset()
        walkthrough = world.truth().walkthrough
        sizes = []
        started = time.process_time()
        for command in walkthrough:
            if world.step(command)[2]:
                break
        seconds = time.process_time() - started
        world.reset()
        for command in walkthrough:
            if world.step(command)[2]:
                break
            sizes.append(len(world.save()))
    with open_jericho(str(path), id=path.stem, cache_dir=cache) as world:
        world.reset()
    with open_jericho(str(path), id=path.stem, cache_dir=cache) as world:
        started = time.process_time()
        world.reset()
        kept = time.process_time() - started
    return {
        "steps_per_second": round(len(walkthrough) / seconds),
        "kept_ms": round(kept * 1000, 2),
        "saved_bytes": round(sum(sizes) / len(sizes)),
        "saved_bytes_most": max(sizes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of game files")
    parser.add_argument("--games", default="", help="names of games, separated by commas; default: all files")
    parser.add_argument("--states", type=int, default=40, help="number of states per game")
    parser.add_argument("--compare", action="store_true", help="also measure jericho's own search")
    parser.add_argument("--json", action="store_true", help="print a line of JSON per game")
    options = parser.parse_args()
    names = set(filter(None, options.games.split(",")))
    files = sorted(path for path in options.folder.iterdir() if path.suffix in SUFFIXES)
    for path in files:
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as cache:
            figures = search(path, options.states, compare=options.compare) | play(path, Path(cache))
        if options.json:
            print(json.dumps({"game": path.stem, **figures}), flush=True)
        else:
            print(path.stem, *(f"{name} {value}" for name, value in figures.items()), sep="  ", flush=True)


if __name__ == "__main__":
    main()
