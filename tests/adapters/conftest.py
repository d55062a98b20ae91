"""Adapters are tested with the real frameworks, in an environment of their own: `make test-adapters`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread import Memory


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def __call__(self) -> float:
        return self.time

    def pass_minutes(self, minutes: float) -> None:
        self.time += 60 * minutes


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.worldthread"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with Memory(path, model="none", embedder="fake") as memory:
        yield memory
