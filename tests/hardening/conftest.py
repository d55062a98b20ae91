"""Attacks run as programs, each in a process of its own, since they preload a library and end processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ATTACKS = Path(__file__).parents[2] / "benchmarks" / "hardening"


def run_attack(name: str, *arguments: str) -> dict[str, Any]:
    """Run an attack, and return what it found."""
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and gcc")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WORLDTHREAD_")}
    done = subprocess.run(
        [sys.executable, ATTACKS / f"{name}.py", "--json", *arguments],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    found: dict[str, Any] = json.loads(lines[-1])
    return found


@pytest.fixture(scope="session")
def attack() -> Callable[..., dict[str, Any]]:
    """Runs an attack: its name, and its arguments."""
    return run_attack
