from __future__ import annotations

import importlib
import math
import subprocess
import sys
from pathlib import Path

import pytest

from worldthread.errors import GameFileError, InputError, MissingExtraError, UnknownGameError
from worldthread_lab.envs import registry
from worldthread_lab.envs.registry import games, make, register, spec_of

TINY = "worldthread_lab.envs.fake:make_tiny"


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def test_the_games_of_the_paper_are_registered() -> None:
    ids = [spec.id for spec in games()]
    assert [spec.name for spec in games()] == sorted(spec.name for spec in games())
    hunts = {"treasure-hunt-v1", "treasure-hunt-hard-v1", "treasure-hunt-hardest-v1"}
    meals = {"cooking-v1", "cooking-hard-v1", "cooking-hardest-v1", *(f"cooking-level{n}-v1" for n in range(1, 5))}
    assert {"tiny-v1", "cleaning-v1"} | hunts | meals <= set(ids)


@pytest.mark.parametrize("spec", games(), ids=lambda spec: spec.id)
def test_entry_points_lead_somewhere(spec: registry.GameSpec) -> None:
    module, _, name = spec.entry_point.partition(":")
    assert callable(getattr(importlib.import_module(module), name))
    assert spec.title
    assert spec.description
    assert spec.extra is None or not spec.installed or importlib.util.find_spec(str(spec.package))


def test_an_id_without_version_means_the_newest(own_registry: None) -> None:
    for version in (2, 10, 9):
        register(f"tiny-v{version}", TINY, title="t", description="d")
    assert spec_of("tiny").id == "tiny-v10"
    assert spec_of("tiny-v2").id == "tiny-v2"
    assert make("tiny").id == "tiny-v10"
    assert [spec.version for spec in games() if spec.name == "tiny"] == [1, 2, 9, 10]


@pytest.mark.parametrize("id", ["Tiny-v1", "tiny", "tiny-v0", "tiny-v01", "my game-v1", "tiny--x-v1", "-v1", ""])
def test_register_refuses_ids_that_are_not_versioned_names(own_registry: None, id: str) -> None:
    with pytest.raises(InputError, match="my-game-v1"):
        register(id, TINY, title="t", description="d")


def test_register_refuses_a_taken_id_and_an_entry_point_without_factory(own_registry: None) -> None:
    with pytest.raises(InputError, match="taken"):
        register("tiny-v1", TINY, title="t", description="d")
    for entry_point in ("worldthread_lab.envs.fake", "worldthread_lab.envs.fake:", ":make_tiny"):
        with pytest.raises(InputError, match=r"package\.module:factory"):
            register("new-v1", entry_point, title="t", description="d")


def test_errors_for_unknown_names_list_similar_names() -> None:
    with pytest.raises(UnknownGameError, match=r"Did you mean .*treasure-hunt-v1"):
        make("tresure-hunt")
    with pytest.raises(UnknownGameError, match="Known: balances-v1, cleaning-v1, "):
        make("zzzzzz")
    with pytest.raises(UnknownGameError, match=r"'floppy'.*jericho:FILE.*textworld:FILE"):
        make("floppy:zork1.z5")


def test_a_version_that_does_not_exist_is_not_the_newest() -> None:
    with pytest.raises(UnknownGameError, match="tiny-v1"):
        make("tiny-v7")


@pytest.mark.parametrize("seed", [-1, 1.0, True, "3", None])
def test_make_refuses_seeds_that_are_not_natural_numbers(seed: object) -> None:
    with pytest.raises(InputError, match="seed"):
        make("tiny", seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("max_moves", [0, -5, 2.5, True, math.nan, -math.inf, "9"])
def test_make_refuses_limits_that_are_not_counts(max_moves: object) -> None:
    with pytest.raises(InputError, match="max_moves"):
        make("tiny", max_moves=max_moves)  # type: ignore[arg-type]


@pytest.mark.parametrize(("max_moves", "ends_at"), [(None, 50), (3, 3), (4.0, 4), (math.inf, None)])
def test_the_limit_of_moves_defaults_to_that_of_the_game(max_moves: float | None, ends_at: int | None) -> None:
    env = make("tiny", max_moves=max_moves)
    env.reset()
    for move in range(1, 61):
        _, _, terminated, truncated, info = env.step("look")
        assert info.moves == move
        assert not terminated
        assert truncated == (move == ends_at)
        if truncated:
            return
    assert ends_at is None


def test_options_reach_the_factory_and_override_those_of_the_registry(
    own_registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = (
        "def make_it(spec, *, seed, goal, max_moves, cache_dir, a, b):\n    return spec.id, seed, cache_dir, a, b\n"
    )
    (tmp_path / "my_optional_game.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    register("optional-v1", "my_optional_game:make_it", title="t", description="d", options={"a": 1, "b": 2})
    assert make("optional", seed=7, cache_dir="folder", b=3) == ("optional-v1", 7, Path("folder"), 1, 3)
    with pytest.raises(TypeError, match="nonsense"):
        make("optional", nonsense=1)


def test_a_missing_engine_is_named_with_its_install_command(own_registry: None) -> None:
    register("far-v1", TINY, title="t", description="d", extra="games", package="no_such_engine")
    assert not spec_of("far").installed
    with pytest.raises(MissingExtraError, match=r"no_such_engine.*\n.*pip install .*\[games\]'?"):
        make("far")


def test_bare_names_of_game_files_are_searched_for_in_the_named_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORLDTHREAD_GAMES", raising=False)
    with pytest.raises(UnknownGameError, match="WORLDTHREAD_GAMES, which is not set"):
        make("textworld:hunt")
    (tmp_path / "textworld").mkdir()
    (tmp_path / "textworld" / "hunt.z8").write_bytes(b"no game")
    monkeypatch.setenv("WORLDTHREAD_GAMES", f"/nonexistent:{tmp_path}")
    with pytest.raises(UnknownGameError, match="Did you mean hunt"):
        make("textworld:hutn")
    with pytest.raises(GameFileError, match=r"hunt\.z8: not a Z-machine story"):
        make("textworld:hunt")
    with pytest.raises(GameFileError, match=r"absent\.z8: no such file"):
        make("textworld:absent.z8")
    with pytest.raises(InputError, match="takes no option but rename_cooking, and got level"):
        make("textworld:hunt", level=3)


@pytest.mark.games
def test_z_machine_games_are_found_in_the_named_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLDTHREAD_GAMES", raising=False)
    with pytest.raises(UnknownGameError, match="WORLDTHREAD_GAMES, which is not set"):
        make("jericho:zork1")
    with pytest.raises(GameFileError, match=r"'zork1-v1' needs the file zork1\.z5 .*set \$WORLDTHREAD_GAMES"):
        make("zork1")
    (tmp_path / "jericho").mkdir()
    (tmp_path / "jericho" / "zork1.z3").write_bytes(b"no game")
    (tmp_path / "jericho" / "mine.z5").write_bytes(bytes([5, *range(200)]))
    monkeypatch.setenv("WORLDTHREAD_GAMES", str(tmp_path))
    with pytest.raises(UnknownGameError, match="Did you mean zork1"):
        make("jericho:zork")
    for id in ("jericho:zork1", "zork1"):
        with pytest.raises(GameFileError, match=r"zork1\.z3: not a Z-machine story"):
            make(id)
    with pytest.raises(GameFileError, match=r"mine\.z5: jericho knows no game with this content"):
        make("jericho:mine")
    with pytest.raises(GameFileError, match="'zork3-v1' needs the file"):
        make("zork3")
    with pytest.raises(InputError, match="takes no option but valid_actions, inventory, stochastic, and got level"):
        make("jericho:zork1", level=3)


def test_the_registry_imports_no_engine() -> None:
    program = (
        "import sys, worldthread_lab.envs as e; e.games(); e.make('tiny').reset();"
        "print([m for m in ('textworld', 'jericho', 'numpy', 'spacy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
