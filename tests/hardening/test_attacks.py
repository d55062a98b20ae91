"""A small part of each attack of benchmarks/hardening; `make test-hardening` makes all of their trials."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ATTACKS = Path(__file__).parents[2] / "benchmarks" / "hardening"

Attack = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("name", "trials", "at_least"),
    [
        ("simulate", 8, 8),
        ("kills", 10, 10),
        ("interrupts", 20, 20),
        ("histories", 20, 20),
    ],
)
def test_a_few_trials_break_no_promise(name: str, trials: int, at_least: int, attack: Attack) -> None:
    found = attack(name, "--trials", str(trials))
    assert found["violations"] == []
    assert found["trials"] >= at_least


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


def test_a_seed_replays_a_simulation_exactly() -> None:
    traces = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, ATTACKS / "simulate.py", "--seed", "3"], capture_output=True, text=True, check=False
        )
        traces.append(re.findall(r"^trace (\w+)$", done.stdout, re.M))
        assert "A: " in done.stdout
    assert traces[0] == traces[1] != []


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


def test_a_reader_that_closes_does_not_complete_the_change_of_a_paused_writer(tmp_path: Path) -> None:
    """The oracle must not take a change that is under way for done before any process has seen it."""
    script = tmp_path / "closing.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        f"sys.path.insert(0, {str(ATTACKS)!r})\n"
        "import simulate\n"
        "simulate.restart_with_library()\n"
        "trial = simulate.Simulation(0, Path(sys.argv[1]), print, simulate.Result('').notes)\n"
        "steps = iter([\n"
        "    (0, 'open', {'readonly': False}, None),\n"
        "    (1, 'open', {'readonly': True}, None),\n"
        "    (2, 'open', {'readonly': True}, None),\n"
        "    (0, 'add', {'where': 'default', 'number': 1, 'reading': 0}, simulate.Fault('pause', 1)),\n"
        "    (1, 'close', {'reverse': False}, None),\n"
        "    (2, 'as_of', {'where': 'default', 'at': 5}, None),\n"
        "])\n"
        "def step():\n"
        "    number, *rest = next(steps, (None,))\n"
        "    if number is not None:\n"
        "        trial._command(trial._processes[number], *rest)\n"
        "trial._step = step\n"
        "trial.run()\n"
    )
    folder = tmp_path / "trial"
    folder.mkdir()
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^A: stands still\n(.+\n)+?B: close: done\n(.+\n)+?R: as_of: done$", done.stdout, re.M), (
        done.stdout
    )
