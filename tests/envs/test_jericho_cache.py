from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from worldthread.errors import GenerationError
from worldthread_lab.envs import jericho_cache
from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.envs.jericho_actions import ActionFinder
from worldthread_lab.envs.jericho_cache import ActionCache

pytestmark = pytest.mark.games


def refuse() -> tuple[str, ...]:
    raise AssertionError("it was kept")


def test_found_actions_are_cached(tmp_path: Path) -> None:
    for kept in ((), ("look",), ("go north", "take lamp")):
        state = repr(kept).encode()
        cache = ActionCache("game", tmp_path)
        assert cache.actions(state, lambda kept=kept: kept) == kept  # type: ignore[misc]
        assert cache.actions(state, refuse) == kept
        cache.close()
        cache.close()
        again = ActionCache("game", tmp_path)
        assert again.actions(state, refuse) == kept
        assert ActionCache("other", tmp_path).actions(state, lambda: ("wait",)) == ("wait",)
    assert again.noise(lambda: b"\0\1") == b"\0\1"
    assert ActionCache("game", tmp_path).noise(lambda: b"\1\1") == b"\0\1"


def test_the_first_result_for_a_state_is_kept(tmp_path: Path) -> None:
    """Another process that was at it at the same time takes what was kept first."""
    one, two = ActionCache("game", tmp_path), ActionCache("game", tmp_path)
    assert one.actions(b"s", lambda: two.actions(b"s", lambda: ("north",)) and ("south",)) == ("north",)


def test_the_file_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jericho_cache, "MAX_STATES", 3)
    cache = ActionCache("game", tmp_path)
    for number in range(5):
        cache.actions(bytes([number]), lambda: ("look",))
    assert cache.actions(bytes([1]), refuse) == ("look",)
    assert cache.actions(bytes([4]), lambda: ("wait",)) == ("wait",)
    with sqlite3.connect(cache.path) as database:
        assert database.execute("SELECT count(*) FROM actions").fetchone() == (3,)


def test_a_file_that_cannot_be_used_is_an_error_that_names_it(tmp_path: Path) -> None:
    cache = ActionCache("game", tmp_path)
    cache.close()
    cache.path.write_bytes(b"no database, but long enough to be looked at as one " * 100)
    with pytest.raises(GenerationError, match=r"game-.*\.sqlite.*delete the file"):
        ActionCache("game", tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    with pytest.raises(GenerationError, match=r"\$WORLDTHREAD_CACHE"):
        ActionCache("game", blocked)


def keep_many(folder: Path, shift: int) -> None:
    cache = ActionCache("game", folder)
    for number in range(200):
        cache.actions((number + shift).to_bytes(2, "big"), lambda number=number: (f"go {number + shift}",))  # type: ignore[misc]


def test_processes_share_the_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=keep_many, args=(tmp_path, shift)) for shift in (0, 50, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    cache = ActionCache("game", tmp_path)
    for number in range(300):
        assert cache.actions(number.to_bytes(2, "big"), refuse) == (f"go {number}",)


def test_a_replayed_game_finds_all_actions_in_the_cache(
    jericho_games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(jericho_games / "zork1.z5")
    actions = ("open mailbox", "north", "wait", "west")
    told = []
    for _ in range(2):
        with open_jericho(path, id="zork", cache_dir=tmp_path, seed=3) as env:
            told.append([env.reset()[1], *(env.step(action)[4] for action in actions)])
        monkeypatch.setattr(ActionFinder, "find", refuse)
    assert told[0] == told[1]
    with open_jericho(path, id="zork", cache_dir=tmp_path, seed=8) as env:
        # another chance, and the same places
        assert env.reset()[1].valid_actions == told[0][0].valid_actions
