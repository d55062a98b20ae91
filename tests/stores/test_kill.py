"""kill -9 at random moments: nothing acknowledged is lost, nothing is half there, nothing forgotten is left."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worldthread.graph import TemporalGraph, fold, state_hash
from worldthread.stores import SQLiteStore
from worldthread.types import Episode, Extraction, Fact

TRIES = 25
MOST_TRIES = 250

CHILD = """
import json, random, sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode, Extraction, Fact

path, exported, seed, fresh, known = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
chance = random.Random(seed)

def say(*words):
    sys.stdout.write(json.dumps(words) + "\\n")
    sys.stdout.flush()

def episode(number, reader="first"):
    facts = tuple(Fact(f"thing {number}", "is in", f"room {part}", f"place of {number}") for part in range(2))
    return Episode(f"mark{number}mark " + "x" * (number * 97 % 6000), number, "run", Extraction(reader, facts))

say("ready")
sys.stdin.readline()
with SQLiteStore.open(path, wait=30) as store:
    say("open")
    numbers = [int(text) for text in known]
    while True:
        kind = chance.choices(["append", "many", "forget", "replace", "snapshot", "import"], [8, 4, 2, 2, 1, 3])[0]
        if kind == "append":
            plan = [fresh]
        elif kind in ("many", "import"):
            plan = list(range(fresh, fresh + chance.randint(2, 120)))
        elif kind in ("forget", "replace") and numbers:
            plan = [chance.choice(numbers)]
        else:
            kind, plan = "snapshot", []
        if kind == "import":
            with SQLiteStore.open(None) as other:
                other.append_many(episode(number) for number in plan)
                # a kill in the midst of it leaves a part of an export, which is nothing that the memory keeps
                other.export(exported)
        say("begin", kind, plan)
        if kind == "append":
            store.append(episode(fresh))
        elif kind == "many":
            store.append_many(episode(number) for number in plan)
        elif kind == "import":
            store.import_(exported)
        elif kind == "forget":
            store.forget(episode(plan[0]).id)
            numbers.remove(plan[0])
        elif kind == "replace":
            store.replace(episode(plan[0], f"again {seed}"))
        else:
            store.checkpoint()
        say("end")
        if kind in ("append", "many", "import"):
            numbers += plan
            fresh += len(plan)
"""


def expected_episode(number: int, reader: str) -> Episode:
    facts = tuple(Fact(f"thing {number}", "is in", f"room {part}", f"place of {number}") for part in range(2))
    return Episode(f"mark{number}mark " + "x" * (number * 97 % 6000), number, "run", Extraction(reader, facts))


def run_until_killed(
    path: Path, seed: int, fresh: int, known: list[int], seconds: float, operation: int = 0
) -> list[list[object]]:
    """What a process said that was killed ``seconds`` after it began its n-th operation, or to open the memory at 0."""
    exports = path.parent / "exports"
    exports.mkdir(exist_ok=True)
    command = [sys.executable, "-c", CHILD, str(path), str(exports / "import"), str(seed), str(fresh), *map(str, known)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert json.loads(child.stdout.readline()) == ["ready"]
        child.stdin.write("go\n")
        child.stdin.flush()
        said: list[list[object]] = []
        begun = 0
        # by what the process says, not by the clock: on a busy machine it may need a second to come to its first
        while begun < operation:
            said.append(json.loads(child.stdout.readline()))
            begun += said[-1][0] == "begin"
        time.sleep(seconds)
        child.kill()
        said += [json.loads(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        child.wait()
    return said


def after(state: dict[int, str], kind: str, plan: list[int], seed: int) -> dict[int, str]:
    """The state when an operation is done: numbers of episodes, and who read them."""
    if kind in ("append", "many", "import"):
        return {**state, **dict.fromkeys(plan, "first")}
    if kind == "forget":
        return {number: reader for number, reader in state.items() if number not in plan}
    if kind == "replace":
        return {**state, plan[0]: f"again {seed}"}
    return state


@pytest.mark.slow
def test_kill_loses_nothing_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    chance = random.Random(11)
    state: dict[int, str] = {}
    fresh = 0
    interrupted: set[str] = set()
    kept: set[int] = set()
    for seed in range(MOST_TRIES):
        # where a kill falls is left to chance, so there are more of them until enough kinds of operations were hit
        if seed >= TRIES and len(interrupted) >= 4 and fresh > 200:
            break
        # every few tries a kill while the memory is being opened
        operation = 0 if seed % 5 == 0 else chance.randint(1, 12)
        said = run_until_killed(path, seed, fresh, list(state), chance.uniform(0, 0.03), operation)
        outcomes = [state]
        for word, *rest in said:
            if word == "begin":
                kind, plan = str(rest[0]), [int(str(number)) for number in rest[1]]  # type: ignore[attr-defined]
                # until the end is said the operation may or may not be done; there is no third outcome
                outcomes = [outcomes[-1], after(outcomes[-1], kind, plan, seed)]
                fresh = max([fresh, *(number + 1 for number in plan)])
            elif word == "end":
                outcomes = outcomes[-1:]
        if len(outcomes) == 2:
            interrupted.add(kind)
        if not path.exists():
            assert state == {}
            continue
        with SQLiteStore.open(path) as store:
            found = list(store.episodes())
            state = {int(e.text.split("mark")[1]): e.extraction.extractor for e in found}
            assert state in outcomes
            assert all(
                e == expected_episode(number, reader) for e, (number, reader) in zip(found, state.items(), strict=True)
            )
            assert [e.extraction.digest for e in found] == [
                expected_episode(*item).extraction.digest for item in state.items()
            ]
            assert store.graph.state_hash() == TemporalGraph(found).state_hash()
            if len(found) < 300:  # the fold takes quadratic time
                assert store.graph.state_hash() == state_hash(fold(found).rows())
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
        left = b"|".join(
            file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file.parent.name != "exports"
        )
        marks = {int(number) for number in re.findall(rb"mark(\d+)mark", left)}
        assert set(state) <= marks, "the search finds what is there"
        # what was in the memory and was forgotten left no trace; of a batch that was cut off before it was
        # acknowledged, pages may lie in the log until that is written over
        kept |= state.keys()
        assert (kept - state.keys()) & marks == set()
    assert fresh > 200
    assert len(interrupted) >= 4, interrupted


@pytest.mark.slow
def test_kill_while_a_memory_is_made(tmp_path: Path) -> None:
    chance = random.Random(5)
    made = 0
    for seed in range(12):
        path = tmp_path / str(seed) / "memory"
        path.parent.mkdir()
        said = run_until_killed(path, seed, 0, [], chance.uniform(0, 0.012))
        made += ["open"] in said
        with SQLiteStore.open(path) as store:
            found = list(store.episodes())
            assert store.graph.state_hash() == state_hash(fold(found).rows())
            store.append(Episode("life goes on", 1))
    assert made < 12, "some were killed before they were open"


@pytest.mark.parametrize("mode", ["normal", "full"])
def test_a_log_that_was_left_behind_is_read(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "memory"
    code = f"""
import os, sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
store = SQLiteStore.open(sys.argv[1], durability={mode!r})
for at in range(20):
    store.append(Episode(f"at {{at}}", at))
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert Path(f"{path}-wal").stat().st_size > 0
    with SQLiteStore.open(path, readonly=True) as reader:
        assert len(reader.graph) == 20
    with SQLiteStore.open(path) as store:
        assert len(store.graph) == 20
