"""The servers of stores that keep their record on one: see ``tests/servers``."""

from __future__ import annotations

import importlib.util
import os
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


_PACKAGES = {"pgvector": ("psycopg",), "qdrant": ("qdrant_client",), "milvus": ("pymilvus", "milvus_lite")}


@pytest.fixture(scope="session")
def milvus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for the session: Milvus Lite runs a server for each file until the process ends."""
    return tmp_path_factory.mktemp("milvus") / "vectors.db"


@pytest.fixture(scope="session")
def vector_database(new_postgresql_address: Callable[[], str]) -> str:
    return new_postgresql_address()


@pytest.fixture
def vector_address(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Returns the address of a store of vectors by its kind, or skips the test where it cannot be had."""

    def address_of(kind: str) -> str:
        for package in _PACKAGES.get(kind, ()):
            pytest.importorskip(package)
        if server := os.environ.get(f"WORLDTHREAD_TEST_{kind.upper()}"):
            return server
        if kind == "pgvector":
            return str(request.getfixturevalue("vector_database"))
        if kind == "milvus":
            return f"milvus:{request.getfixturevalue('milvus_file')}"
        return f"qdrant:{request.getfixturevalue('tmp_path') / 'qdrant'}" if kind == "qdrant" else f"{kind}:"

    return address_of
