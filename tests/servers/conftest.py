"""Real servers for tests: `make test-servers` installs them, and a run of the tests starts them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

if "postgres_server" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("postgres_server", Path(__file__).with_name("postgres_server.py"))
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["postgres_server"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["postgres_server"])
postgres_server: Any = sys.modules["postgres_server"]


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A PostgreSQL server that is started once for the session."""
    with postgres_server.temporary_server(fsync="off") as running:
        yield running


@pytest.fixture
def own_server() -> Iterator[Any]:
    """A PostgreSQL server of one test, which may kill it."""
    with postgres_server.temporary_server() as running:
        yield running


@pytest.fixture(scope="session")
def new_postgresql_address(server: Any) -> Callable[[], str]:
    """Makes an empty database, and returns its address as its owner."""
    return server.new_address


@pytest.fixture
def address(new_postgresql_address: Callable[[], str]) -> str:
    """The address of an empty database of a test, as its owner."""
    return new_postgresql_address()
