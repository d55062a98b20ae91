"""Copying a memory between any two stores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread.errors import InputError, NotFoundError, StoreError
from worldthread.stores import open_store
from worldthread.stores.moving import move
from worldthread.types import Episode, Extraction, Fact


def noted(number: int) -> Episode:
    fact = Fact(f"thing {number % 7}", "is in", f"room {number}", aspect=f"place of thing {number % 7}")
    return Episode(f"note {number}", number, "test", Extraction("test/1", (fact,)))


def fill(place: str) -> dict[str, str]:
    """Make a memory with two namespaces, and return the state hash of each."""
    hashes = {}
    with open_store(place) as store, store.open_namespace("other") as other:
        for one, count in ((store, 700), (other, 3)):
            one.append_many([noted(number) for number in range(count)])
            one.put_vectors("m", [f"note {number}" for number in range(count)], np.ones((count, 4), np.float32))
            hashes[one.namespace] = one.graph.state_hash()
    return hashes


def check(source: str, target: str) -> None:
    hashes = fill(source)
    moved = move(source, target)
    assert {one.name: one.state_hash for one in moved} == hashes
    assert [(one.episodes, one.added, one.vectors) for one in moved] == [(700, 700, 700), (3, 3, 3)]
    with open_store(source, readonly=True) as old, open_store(target, readonly=True) as new:
        assert [(e, e.recorded_at) for e in new.episodes()] == [(e, e.recorded_at) for e in old.episodes()]
        assert new.stats() == old.stats()
        assert new.get_vectors("m", ["note 5"])["note 5"].tolist() == [1] * 4
        assert [one.name for one in new.list_namespaces()] == ["default", "other"]
    again = move(source, target)
    assert [one.added for one in again] == [0, 0]
    with open_store(target) as new:
        new.append(noted(1000))
    with pytest.raises(StoreError, match=r"1 episodes that .* does not have"):
        move(source, target)
    assert move(source, target, namespace="other", into="third")[0].name == "third"
    with pytest.raises(NotFoundError, match=r"namespaces of .* are: 'default', 'other'"):
        move(source, target, namespace="none")


def test_from_file_to_file(tmp_path: Path) -> None:
    check(str(tmp_path / "from"), str(tmp_path / "to"))
    with pytest.raises(InputError, match="needs the namespace"):
        move(tmp_path / "from", tmp_path / "to", into="x")


def test_an_empty_memory_has_nothing_to_copy(tmp_path: Path) -> None:
    open_store(tmp_path / "from").close()
    with pytest.raises(NotFoundError, match="is empty"):
        move(tmp_path / "from", tmp_path / "to")


@pytest.mark.servers
def test_from_file_to_server(address: str, tmp_path: Path) -> None:
    check(str(tmp_path / "from"), address)


@pytest.mark.servers
def test_from_server_to_file(address: str, tmp_path: Path) -> None:
    check(address, str(tmp_path / "to"))


@pytest.mark.servers
def test_from_server_to_server(new_postgresql_address: Callable[[], str]) -> None:
    check(new_postgresql_address(), new_postgresql_address())


@pytest.mark.servers
def test_the_command_shows_equal_states_and_no_password(server: Any, address: str, tmp_path: Path) -> None:
    source = str(tmp_path / "from")
    hashes = fill(source)
    database = address.split("/")[3].split("?")[0]
    target = server.tcp_address(database)
    done = subprocess.run(
        [sys.executable, "-m", "worldthread", "move", source, target], capture_output=True, text=True, check=True
    )
    for name, digest in hashes.items():
        assert f"{name}: " in done.stdout
        assert f"equal state {digest}" in done.stdout
    assert server.password not in done.stdout + done.stderr
