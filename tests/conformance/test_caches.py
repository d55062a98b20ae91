"""What every cache promises: an SQLite file here, and Redis and MongoDB's protocol on servers that are started here."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread.caches import Cache, CacheLimits, open_cache, shown_address
from worldthread.errors import ClosedError, InputError, MissingExtraError, StoreError, StoreUnavailableError
from worldthread.installation import install_command
from worldthread.models.chat import ChatAnswer, ChatRequest, Message
from worldthread.models.chat_cache import CachedChat, KeptAnswers
from worldthread.models.fake_chat import FakeChat
from worldthread.models.shared_vectors import ChainedVectors, SharedVectors

KINDS = ["sqlite", *(pytest.param(kind, marks=pytest.mark.servers) for kind in ("redis", "mongodb"))]


def load_servers() -> Any:
    if "cache_servers" not in sys.modules:
        place = Path(__file__).parents[1] / "servers" / "cache_servers.py"
        spec = importlib.util.spec_from_file_location("cache_servers", place)
        assert spec is not None
        assert spec.loader is not None
        sys.modules["cache_servers"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["cache_servers"])
    return sys.modules["cache_servers"]


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Any]:
    pytest.importorskip("redis")
    with load_servers().running_redis() as server:
        yield server


@pytest.fixture(scope="session")
def mongo_address() -> Iterator[str]:
    pytest.importorskip("pymongo")
    if shutil.which("java") is None or shutil.which("mvn") is None:
        pytest.skip("needs Java and Maven")
    with load_servers().running_mongo() as address:
        yield address


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'cache'}"
    if request.param == "redis":
        return str(request.getfixturevalue("redis_server").address)
    return str(request.getfixturevalue("mongo_address"))


@pytest.fixture
def opened(address: str, request: pytest.FixtureRequest) -> Iterator[Callable[..., Cache]]:
    """Opens caches of one kind that no other test has."""
    made: list[Cache] = []
    name = f"{abs(hash(request.node.nodeid)):x}"

    def make(clock: Clock | None = None, kind: str = "", **limits: Any) -> Cache:
        cache = open_cache(address, name + kind, CacheLimits(**limits))
        if clock is not None:
            cache._clock = clock
        made.append(cache)
        return cache

    yield make
    for cache in made:
        cache.close()


def test_the_first_value_of_a_key_stays(opened: Callable[..., Cache]) -> None:
    cache = opened()
    assert cache.get(["a"]) == {}
    cache.put({"a": b"1", "b ä {x}:*": bytes(range(256)), "empty": b""})
    cache.put({"a": b"2", "c": b"3"})
    assert cache.get(["a", "b ä {x}:*", "c", "d", "a", "empty"]) == {
        "a": b"1", "b ä {x}:*": bytes(range(256)), "c": b"3", "empty": b"",
    }  # fmt: skip
    assert len(cache) == 4
    assert cache.get([]) == {}
    cache.put({})


def test_kinds_do_not_see_each_other_and_processes_share(opened: Callable[..., Cache]) -> None:
    one, other, same = opened(), opened(kind="x"), opened()
    one.put({"a": b"1"})
    assert (other.get(["a"]), same.get(["a"])) == ({}, {"a": b"1"})
    other.put({"a": b"2"})
    other.clear()
    assert (len(other), len(one), same.get(["a"])) == (0, 1, {"a": b"1"})


def test_many_entries(opened: Callable[..., Cache]) -> None:
    cache = opened()
    values = {f"key {number}": b"%d" % number * 10 for number in range(1700)}
    cache.put(values)
    assert cache.get(list(values)) == values
    assert len(cache) == 1700
    assert cache.size() == sum(len(key) + len(value) for key, value in values.items())
    cache.clear()
    assert (len(cache), cache.size(), cache.get(["key 5"])) == (0, 0, {})


def test_what_is_too_old_is_not_given(opened: Callable[..., Cache]) -> None:
    clock = Clock()
    cache = opened(clock, age=100)
    cache.put({"a": b"1"})
    clock.now += 60
    cache.put({"a": b"again", "b": b"2"})
    assert cache.get(["a", "b"]) == {"a": b"1", "b": b"2"}
    clock.now += 60
    assert cache.get(["a", "b"]) == {"b": b"2"}
    assert len(cache) == 1
    cache.put({"a": b"new"})
    assert cache.get(["a"]) == {"a": b"new"}
    clock.now += 1000
    assert cache.size() == 0


def test_what_was_not_used_for_longest_makes_room(opened: Callable[..., Cache]) -> None:
    clock = Clock()
    cache = opened(clock, size=10_000)
    for number in range(300):
        clock.now += 1
        cache.put({f"{number:03}": b"x" * 97})
        assert cache.get(["000"]) == {"000": b"x" * 97}  # is used all the time
        assert cache.get([f"{number:03}"])
    assert cache.size() <= 10_500
    assert len(cache) >= 80
    assert cache.get(["001"]) == {}
    assert cache.get(["299", "298"]).keys() == {"299", "298"}
    cache.put({"large": b"x" * 20_000})
    assert cache.get(["large"]) == {}
    opened(clock, size=10_000).put({"next": b"1"})  # another process finds what is there
    assert cache.size() <= 10_500


def test_threads_share_a_cache(opened: Callable[..., Cache]) -> None:
    cache = opened(size=10_000_000)
    errors: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(30):
                cache.put({f"{name} {number}": b"own", f"shared {number}": b"%d" % name})
                assert cache.get([f"{name} {number}"]) == {f"{name} {number}": b"own"}
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(cache) == 150


def test_a_closed_cache_says_so(opened: Callable[..., Cache]) -> None:
    cache = opened()
    cache.close()
    cache.close()
    for use in (lambda: cache.get(["a"]), lambda: cache.put({"a": b""}), lambda: len(cache), cache.clear):
        with pytest.raises(ClosedError):
            use()


def test_answers_are_asked_once(opened: Callable[..., Cache]) -> None:
    request = ChatRequest((Message("user", "a key"),), "extract")
    with KeptAnswers(opened()) as answers:
        model = FakeChat(["first", "second"])
        assert CachedChat(model, answers).complete(request).text == "first"
        again = CachedChat(model, answers).complete(request)
        assert (again, model.left) == (ChatAnswer("first", "fake", attempts=0, finish_reason="stop"), 1)


def test_vectors_are_shared_between_memories(opened: Callable[..., Cache], dict_cache: type[Any]) -> None:
    shared = SharedVectors(opened())
    vectors = np.array([[0.6, 0.8], [1, 0]], np.float32)
    one, other = dict_cache(), dict_cache()
    ChainedVectors(one, shared).put_vectors("m", ["Anna", "Bert"], vectors)
    found = ChainedVectors(other, shared).get_vectors("m", ["Anna", "Carla"])
    assert found.keys() == {"Anna"}
    np.testing.assert_allclose(found["Anna"], [0.6, 0.8], atol=1e-3)
    assert other.kept.keys() == {("m", "Anna")}
    assert shared.get_vectors("another model", ["Anna"]) == {}


# -- addresses and servers ---------------------------------------------------------------------------------------------


def test_wrong_addresses_and_limits() -> None:
    for wrong in ("answers.sqlite", "ftp://host/x", "sqlite:"):
        with pytest.raises(InputError):
            open_cache(wrong, "answers")
    for limits in ({"age": 0}, {"size": -1}, {"age": float("nan")}):
        with pytest.raises(InputError, match="must be above 0"):
            CacheLimits(**limits)


@pytest.mark.parametrize(("scheme", "package"), [("redis", "redis"), ("mongodb", "pymongo")])
def test_a_missing_package_is_named(scheme: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command(scheme)) + "$"):
        open_cache(f"{scheme}://127.0.0.1:9/0", "answers")


@pytest.mark.servers
def test_a_lost_server_is_an_error_without_the_password(tmp_path: Path) -> None:
    pytest.importorskip("redis")
    with load_servers().running_redis() as server:
        cache = open_cache(server.address, "answers")
        cache.put({"a": b"1"})
        server.kill()
        with pytest.raises(StoreUnavailableError) as raised:
            cache.get(["a"])
        assert server.password not in str(raised.value) + repr(cache)
        server.start()
        assert cache.get(["a"]) == {"a": b"1"}  # it was on the disk
        with pytest.raises(StoreUnavailableError):
            open_cache("redis://:secret@127.0.0.1:9/0", "answers")


def test_a_write_that_fails_leaves_a_usable_cache(tmp_path: Path) -> None:
    with open_cache(f"sqlite:{tmp_path / 'cache'}", "x", CacheLimits(size=10_000_000)) as cache:
        cache.put({"a": b"1"})
        cache._connection.execute(  # type: ignore[attr-defined]
            "CREATE TEMP TRIGGER refuse BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
        with pytest.raises(StoreError, match="the disk is full"):
            cache.get(["a"])  # it notes that the entry was used
        cache._connection.execute("DROP TRIGGER temp.refuse")  # type: ignore[attr-defined]
        assert cache.get(["a"]) == {"a": b"1"}
        cache.put({"b": b"2"})
        assert len(cache) == 2


@pytest.mark.parametrize(
    "given", ["redis:anna:secret@host", "other:anna:secret@host", "redis://anna:secret@host/0?x=1"]
)
def test_no_password_is_shown(given: str) -> None:
    assert "secret" not in shown_address(given)
