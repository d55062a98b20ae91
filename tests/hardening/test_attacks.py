"""A small part of each attack of benchmarks/hardening; `make test-hardening` makes all of their trials."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ATTACKS = Path(__file__).parents[2] / "benchmarks" / "hardening"

Attack = Callable[..., dict[str, Any]]


def test_a_few_trials_break_no_promise(attack: Attack) -> None:
    found = attack("simulate", "--trials", "8")
    assert found["violations"] == []
    assert found["trials"] >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "trials", "at_least"),
    [
        ("simulate", 150, 150),
        ("kills", 200, 200),
        ("interrupts", 400, 400),
        ("histories", 800, 800),
    ],
)
def test_many_trials_break_no_promise(name: str, trials: int, at_least: int, attack: Attack) -> None:
    found = attack(name, "--first", "100000", "--trials", str(trials))
    assert found["violations"] == []
    assert found["trials"] >= at_least
    if name == "simulate":
        assert found["notes"]["trials with a fault"] > 0.8 * trials
        assert found["notes"]["power failed, durability full"]
        assert found["notes"]["power failed, durability normal"]
    if name == "interrupts":
        assert {f"interrupted in {what}" for what in ("add", "forget", "recall", "close")} <= found["notes"].keys()


def test_threads_that_read_and_recall_do_not_wait_for_each_other(attack: Attack) -> None:
    found = attack("deadlocks", "--only", "Memory.recall Memory.recall", "--trials", "2")
    assert found["violations"] == []
    assert found["trials"] == 5, "one memory, two namespaces, inside read_lock, inside index, coroutines"


def test_the_search_for_deadlocks_knows_every_public_call(attack: Attack) -> None:
    found = attack("deadlocks", "--only", "no such pair")
    assert found["violations"] == [], "a public method needs an entry in CALLS of benchmarks/hardening/deadlocks.py"
    assert found["notes"]["calls"] > 60


@pytest.mark.slow
def test_no_pair_of_calls_on_one_memory_is_a_deadlock(attack: Attack) -> None:
    found = attack("deadlocks", "--only", "one memory Memory.")
    assert found["violations"] == []
    assert found["trials"] > 1000


@pytest.mark.slow
def test_a_seed_replays_a_simulation_exactly() -> None:
    traces = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, ATTACKS / "simulate.py", "--seed", "3"], capture_output=True, text=True, check=False
        )
        traces.append(re.findall(r"^trace (\w+)$", done.stdout, re.M))
        assert "A: " in done.stdout
    assert traces[0] == traces[1] != []


@pytest.mark.slow
def test_the_simulation_sees_what_is_lost(tmp_path: Path) -> None:
    """The oracle is no use if it accepts everything: a process that forgets to write is found."""
    script = tmp_path / "lossy.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ATTACKS)!r})\n"
        "import simulate\n"
        "real = simulate.perform\n"
        "def lossy(memory, name, arguments):\n"
        "    return None if name == 'add_many' else real(memory, name, arguments)\n"
        "simulate.perform = lossy\n"
        "sys.exit(simulate.main())\n"
    )
    done = subprocess.run([sys.executable, script, "--trials", "8"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"sees in \w+ lacks \['mark", done.stdout), done.stdout + done.stderr


SCRIPTED = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import simulate
simulate.restart_with_library()

def run(seed, folder, durability, steps):
    trial = simulate.Simulation(seed, folder, print, simulate.Result("").notes)
    trial._durability = durability
    left = iter(steps)
    def step():
        for number, name, arguments, fault in left:
            trial._command(trial._processes[number], name, arguments, fault and simulate.Fault(*fault))
            return
    trial._step = step
    trial.run()

for number, (durability, steps) in enumerate(json.load(sys.stdin)):
    print("-- trial", number)
    folder = Path(sys.argv[2]) / str(number)
    folder.mkdir()
    run(number, folder, durability, steps)
"""
"""Runs simulations in which the steps are not drawn, but given: process, operation, arguments, and fault."""

Step = tuple[int, str, dict[str, Any], tuple[Any, ...] | None]

OPEN, READ, CLOSE = ("open", {"readonly": False}), ("open", {"readonly": True}), ("close", {"reverse": False})
LOOK = ("as_of", {"where": "default", "at": 5})


def adding(number: int) -> tuple[str, dict[str, Any]]:
    return "add", {"where": "default", "number": number, "reading": 0}


def scripted(folder: Path, *trials: tuple[str, list[Step]]) -> str:
    """Run trials on which processes and faults are given, and return what they said. None may break a promise."""
    (folder / "scripted.py").write_text(SCRIPTED)
    done = subprocess.run(
        [sys.executable, folder / "scripted.py", ATTACKS, folder],
        input=json.dumps(trials), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_reader_that_closes_does_not_complete_the_change_of_a_paused_writer(tmp_path: Path) -> None:
    """The oracle must not take a change that is under way for done before any process has seen it."""
    steps: list[Step] = [(0, *OPEN, None), (1, *READ, None), (2, *READ, None)]
    steps += [(0, *adding(1), ("pause", 1)), (1, *CLOSE, None), (2, *LOOK, None)]
    said = scripted(tmp_path, ("normal", steps))
    assert re.search(r"^A: stands still\n(.+\n)+?B: close: done\n(.+\n)+?R: as_of: done$", said, re.M), said


@pytest.mark.slow
def test_a_whole_change_of_a_killed_writer_may_be_seen_when_all_others_have_closed(tmp_path: Path) -> None:
    """A writer that is killed between its last write to the log and telling SQLite's other processes about it."""
    trials = []
    for change in [14, 15, 16, 17, 18] * 3:  # with other seeds, another process looks
        steps: list[Step] = [(0, *OPEN, None), (0, *adding(2), None), (1, *READ, None), (2, *READ, None)]
        steps += [(0, *adding(1), ("kill after", change)), (1, *CLOSE, None), (2, *CLOSE, None)]
        trials.append(("normal", steps))
    said = scripted(tmp_path, *trials)
    assert said.count("A: killed") > 5, said


def test_nothing_of_a_change_whose_synchronisation_failed_comes_back_after_a_crash(tmp_path: Path) -> None:
    trials = []
    for change in range(10, 20):
        steps: list[Step] = [(0, *OPEN, None), (0, *adding(2), None)]
        steps += [(0, *adding(1), ("fail once", change, 1, "input/output")), (0, *LOOK, ("line", 1))]
        trials.append(("full", steps))
    said = scripted(tmp_path, *trials)
    assert "A: fail once: fdatasync m-wal" in said
    assert "Nothing of this change was kept" in said
