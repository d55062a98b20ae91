from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest

from worldthread.errors import GenerationError
from worldthread_lab.envs.cache import cached_game, default_cache_dir


def write_game(path: Path) -> None:
    path.write_bytes(b"story")
    path.with_suffix(".json").write_text("{}", encoding="utf-8")


def write_game_slowly(log: Path, cache: Path) -> None:
    """Run in several processes at once: each build leaves a line in the log."""

    def build(path: Path) -> None:
        with log.open("a", encoding="utf-8") as lines:
            lines.write("built\n")
        path.write_bytes(b"st")
        time.sleep(0.3)
        write_game(path)

    game = cached_game("slow-v1", 5, generator="1", build=build, cache_dir=cache)
    assert game.read_bytes() == b"story"


def test_the_cache_is_in_the_platforms_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WORLDTHREAD_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_cache_dir() == tmp_path / ".cache" / "worldthread"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache_dir() == tmp_path / ".cache" / "worldthread"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache_dir() == tmp_path / "xdg" / "worldthread"
    monkeypatch.setenv("WORLDTHREAD_CACHE", "~/mine")
    assert default_cache_dir() == tmp_path / "mine"


def test_a_game_is_built_once_for_each_seed_and_generator(tmp_path: Path) -> None:
    built: list[Path] = []

    def build(path: Path) -> None:
        built.append(path)
        write_game(path)

    for seed, generator in ((0, "1"), (0, "1"), (1, "1"), (0, "2")):
        game = cached_game("some-v1", seed, generator=generator, build=build, cache_dir=tmp_path)
        assert game == tmp_path / "games" / "some-v1" / f"{seed}-{generator}.z8"
        assert game.with_suffix(".json").is_file()
    assert len(built) == 3


def test_a_failed_build_leaves_no_file_that_looks_like_a_game(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise GenerationError("the compiler refused the game")

    for build, message in ((fail, "compiler"), (lambda path: path.write_bytes(b"story") and None, "no game for 0-1")):
        with pytest.raises(GenerationError, match=message):
            cached_game("some-v1", 0, generator="1", build=build, cache_dir=tmp_path)
        folder = tmp_path / "games" / "some-v1"
        assert [path.name for path in folder.iterdir() if path.suffix != ".lock"] == []
    assert cached_game("some-v1", 0, generator="1", build=write_game, cache_dir=tmp_path).read_bytes() == b"story"


def test_a_cache_that_cannot_be_written_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    with pytest.raises(GenerationError, match=r"cannot keep generated games in .*\$WORLDTHREAD_CACHE"):
        cached_game("some-v1", 0, generator="1", build=write_game, cache_dir=blocked)


def test_processes_share_one_build(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=write_game_slowly, args=(log, tmp_path)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert log.read_text(encoding="utf-8") == "built\n"
