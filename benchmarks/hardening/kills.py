"""Kill writers at random moments: nothing acknowledged is lost, nothing is half there, nothing forgotten is left.

    python benchmarks/hardening/kills.py [--trials 1000] [--first 0]

A writer is forked from this process, opens the memory that the killed one before it left, and says what it begins and
what it has finished. The moment of the kill is drawn from the clock and from the machine, so a seed repeats the
operations, not the moment; ``simulate.py`` kills at moments that repeat.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import select
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from faults import restart_with_library
from material import (
    EMPTY,
    NAMESPACES,
    TEXTS,
    VECTOR_TEXTS,
    Result,
    State,
    Violation,
    attack,
    close_all,
    export_of,
    faults_found_by_sqlite,
    ids_of,
    look,
    make_episode,
    marks_left,
    open_memories,
    options,
    outcome,
    perform,
    require_folds,
)  # fmt: skip

from worldthread.types import Episode

KILLS = 10
"""Kills for each seed, one after another on the same file."""

POOL = 40
STUCK_SECONDS = 240.0


def choose(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """Return an operation that changes a memory."""
    where = chance.choice(NAMESPACES[:1] * 3 + NAMESPACES[1:])
    plan = [(number, 0) for number in chance.sample(range(POOL), chance.choice((2, 5, 20)))]
    choices: dict[str, tuple[int, dict[str, Any]]] = {
        "add": (8, {"where": where, "number": chance.randrange(POOL), "reading": 0}),
        "add_many": (6, {"where": where, "plan": plan}),
        "import": (1, {"where": where, "plan": plan[:5]}),
        "replace": (4, {"where": where, "number": chance.randrange(POOL), "reading": chance.randrange(3)}),
        "forget": (8, {"where": where, "number": chance.randrange(POOL)}),
        "clear": (1, {"where": where}),
        "checkpoint": (3, {"where": where}),
        "put_vectors": (2, {"where": where, "texts": chance.sample(VECTOR_TEXTS, 2), "value": chance.randint(1, 99)}),
        "remember": (4, {"where": where, "text": chance.randrange(len(TEXTS)), "wait": chance.random() < 0.5}),
        "reopen": (1, {}),
    }
    name = chance.choices(list(choices), [weight for weight, _ in choices.values()])[0]
    return name, choices[name][1]


def write_until_killed(path: Path, seed: str, state: State, out: int) -> None:
    """Make changes, and say so, without an end."""

    def say(*words: Any) -> None:
        os.write(out, json.dumps(words).encode() + b"\n")

    chance = random.Random(seed)
    warnings.simplefilter("ignore")
    memories = open_memories(path, wait=60.0)
    say("open")
    while True:
        name, arguments = choose(chance)
        states, error = outcome(state, name, arguments)
        if error is not None:
            continue
        if name == "import":
            arguments["export"] = export_of(arguments["plan"])
        say("begin", name, {key: value for key, value in arguments.items() if key != "export"})
        if name == "reopen":
            close_all(memories)
            memories = open_memories(path, wait=60.0)
        else:
            perform(memories[arguments["where"]], name, arguments)
        say("end")
        state = states[-1] if states else state


def run_until_killed(path: Path, seed: str, state: State, chance: random.Random) -> list[list[Any]] | None:
    """Return what a writer said before it was killed; ``None`` when it ended by itself."""
    gc.collect()  # nothing of a memory of this process may be left in the writer
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(ours)
        try:
            write_until_killed(path, seed, state, theirs)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(theirs)
    heard = b""
    if chance.random() < 0.15:  # while it opens
        time.sleep(chance.uniform(0, 0.01))
    else:
        # after so many operations, and then in the midst of the next one: counted, since machines differ in speed
        wanted = chance.randint(0, 12)
        while heard.count(b'"end"') < wanted and select.select([ours], [], [], STUCK_SECONDS)[0]:
            part = os.read(ours, 1 << 16)
            if not part:
                break
            heard += part
        time.sleep(chance.choice((0, chance.uniform(0, 0.001), chance.uniform(0, 0.01))))
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    while part := os.read(ours, 1 << 16):
        heard += part
    os.close(ours)
    if not os.WIFSIGNALED(status):
        return None
    return [json.loads(line) for line in heard.splitlines(keepends=True) if line.endswith(b"\n")]


def run_trial(seed: int, folder: Path, result: Result, is_shown: bool) -> None:
    """Kill writers of one file, one after another."""
    chance = random.Random(f"kills {seed}")
    path = folder / "m"
    close_all(open_memories(path))
    for number in range(POOL):
        for reading in range(3):
            make_episode(number, reading)
    state, recorded = EMPTY, set[str]()
    for kill in range(KILLS):
        said = run_until_killed(path, f"{seed} {kill}", state, chance)
        result.trials += 1
        if said is None:
            result.violations.append((f"--seed {seed}", f"the writer of kill {kill} ended by itself"))
            return
        possible = [state]
        name = "open"
        for word, *rest in said:
            if word == "begin":
                name = rest[0]
                states, _ = outcome(possible[-1], name, rest[1])
                possible = [possible[-1], *states]
            elif word == "end":
                possible, name = possible[-1:], "between operations"
                recorded |= ids_of(possible[0])
                result.notes["finished operations"] += 1
        result.notes[f"killed in {name}"] += 1
        if is_shown:
            print(f"kill {kill} in {name}")
        try:
            state = check(path, possible, recorded)
        except Violation as violation:
            result.violations.append((f"--seed {seed}", f"kill {kill} in {name}: {violation}"))
            return
        recorded |= ids_of(state)


def check(path: Path, possible: list[State], recorded: set[str]) -> State:
    """Return the state of a memory that a killed writer left.

    Raises:
        Violation: it is none of the possible ones, or something else is wrong with the file.
    """
    try:
        memories = open_memories(path)
    except Exception as error:
        if keep := os.environ.get("HARDENING_KEEP"):
            shutil.copytree(path.parent, Path(keep) / f"{path.parent.name}-{os.getpid()}")
        raise Violation(f"it does not open: {error!r}") from error
    try:
        seen = look(memories)
        memories["default"].record.add(Episode("life goes on", 0.5))
        memories["default"].record.forget(Episode("life goes on", 0.5).id)
    except Exception as error:
        raise Violation(f"it cannot be used: {error!r}") from error
    finally:
        close_all(memories)
    state, _ = seen
    if state not in possible:
        raise Violation(f"{state} is none of {possible}")
    require_folds(seen, "the next process")
    if found := faults_found_by_sqlite(path):
        raise Violation(f"SQLite finds it damaged: {found}")
    if left := marks_left(path.parent, recorded - ids_of(state)):
        raise Violation(f"forgotten, and still in the files: {left}")
    return state


def main() -> int:
    """Run the kills."""
    restart_with_library()
    parser = options(__doc__ or "", 1000)
    arguments = parser.parse_args()
    arguments.trials = -(-arguments.trials // KILLS)
    return attack("kill -9 at random moments", run_trial, arguments)


if __name__ == "__main__":
    sys.exit(main())
