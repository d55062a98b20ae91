"""The servers of stores that keep their record on one: see ``tests/servers``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

if "postgres_server" not in sys.modules:
    _path = Path(__file__).parents[1] / "servers" / "postgres_server.py"
    _spec = importlib.util.spec_from_file_location("postgres_server", _path)
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["postgres_server"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["postgres_server"])
postgres_server: Any = sys.modules["postgres_server"]


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Any]:
    """A server of this session."""
    with postgres_server.temporary_server(fsync="off") as running:
        yield running


@pytest.fixture(scope="session")
def new_postgresql_address(postgresql_server: Any) -> Callable[[], str]:
    """Makes an empty database on a server of this session, and returns its address as its owner."""
    made: Callable[[], str] = postgresql_server.new_address
    return made
