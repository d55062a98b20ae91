"""Stories of which jericho knows nothing: their player, their texts, their plays, and their audit."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worldthread.errors import GameFileError, InputError
from worldthread_lab.cli.bench import bench
from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.envs.unbound_story import UnboundStory
from worldthread_lab.envs.zmachine_objects import TrueTree
from worldthread_lab.play.audit_story import audit_game
from worldthread_lab.play.unbound_plays import find_player, play_commands, read_commands, set_player, wander

SERIAL_NUMBER = slice(0x12, 0x18)


def tree(*parents: int) -> TrueTree:
    """Return a tree of objects with these parents, from the number 1 on."""
    return TrueTree(0, (0, *parents), (frozenset(),) * (len(parents) + 1))


def unknown(games: Path, name: str, folder: Path) -> tuple[Path, tuple[str, ...], int, int]:
    """Write a game under another serial number, so that jericho does not know it.

    Returns:
        The file, the walkthrough of the game, its own seed, and the number of its player.
    """
    env = open_jericho(str(games / name), id=name, valid_actions=False, cache_dir=folder)
    env.reset()
    known = env.truth().walkthrough, env._engine.own_seed, env._engine.player
    env.close()
    story = bytearray((games / name).read_bytes())
    story[SERIAL_NUMBER] = b"260000"
    file = folder / name
    file.write_bytes(story)
    return file, *known


def test_the_player_is_what_goes_and_gets_things() -> None:
    # 1 and 2 are rooms, 3 is the player, 4 follows the player, 5 is taken, 6 moves all the time
    trees = [tree(0, 0, 1, 1, 2, 1), tree(0, 0, 2, 2, 2, 2), tree(0, 0, 2, 2, 3, 1), tree(0, 0, 1, 1, 3, 2)]
    assert find_player(trees, ["north", "take coin", "south"]) == 3
    with pytest.raises(GameFileError, match="no object moves"):
        find_player(trees[:1], [])


def test_a_walkthrough_is_a_command_a_line(tmp_path: Path) -> None:
    file = tmp_path / "walkthrough.txt"
    file.write_text("# the way out\n\n> open door\n north \n", encoding="utf-8")
    assert read_commands(file) == ("open door", "north")
    file.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no commands"):
        read_commands(file)
    with pytest.raises(InputError, match="cannot read the walkthrough"):
        read_commands(tmp_path / "missing.txt")


@pytest.mark.games
@pytest.mark.parametrize("name", ["pentari.z5", "zork1.z5", "enchanter.z3"])
def test_an_unknown_story_is_played_as_the_known_one(jericho_games: Path, tmp_path: Path, name: str) -> None:
    file, commands, seed, player = unknown(jericho_games, name, tmp_path)
    story = UnboundStory(file, seed=seed)
    played = play_commands(story, commands, 25)
    assert story.player == player
    inventories = [step.step.inventory for step in played]
    story.close()
    env = open_jericho(str(jericho_games / name), id=name, valid_actions=False, cache_dir=tmp_path)
    env.reset()
    infos = [env.step(command) for command in commands[: len(played) - 1]]
    env.close()
    # jericho's own reading of a known game sometimes loses the last full stop
    assert [step.step.text.rstrip(".") for step in played[1:]] == [text.rstrip(".") for text, *_ in infos]
    assert inventories[1:] == [info[-1].inventory for info in infos]


@pytest.mark.games
def test_the_end_of_an_unknown_story_is_seen(jericho_games: Path, tmp_path: Path) -> None:
    file, commands, seed, _ = unknown(jericho_games, "detective.z5", tmp_path)
    story = UnboundStory(file, seed=seed)
    story.reset()
    texts = [story.step(command) for command in commands if not story.is_over]
    assert story.is_over
    assert len(texts) == len(commands)
    assert story.ways() == {}
    assert story.inventory() is None
    story.reset()
    assert not story.is_over
    story.close()


@pytest.mark.games
def test_the_wanderer_changes_things_and_plays_the_same_again(jericho_games: Path, tmp_path: Path) -> None:
    file, commands, seed, _ = unknown(jericho_games, "zork1.z5", tmp_path)
    story = UnboundStory(file, seed=seed)
    set_player(story, commands[:8])
    played = wander(story, 12, seed=3)
    assert [step.step.action for step in wander(story, 12, seed=3)] == [step.step.action for step in played]
    story.close()
    trees = [step.tree for step in played]
    changed = sum(before != after for before, after in pairwise(trees))
    assert len(played) == 13
    assert changed > 6


@pytest.mark.games
def test_the_command_audits_an_unknown_story(jericho_games: Path, tmp_path: Path) -> None:
    file, commands, _, _ = unknown(jericho_games, "pentari.z5", tmp_path)
    walkthrough = tmp_path / "walkthrough.txt"
    walkthrough.write_text("\n".join(commands), encoding="utf-8")
    asked = ["audit-stories", str(file), "--walkthrough", str(walkthrough), "--steps", "20", "--json"]
    report, wandered = map(json.loads, CliRunner().invoke(bench, [*asked, "--wanderers", "1"]).output.splitlines())
    known = audit_game(str(jericho_games / "pentari.z5"), 20).to_dict()
    assert report["player"] == known["player"]
    assert report["carried"] == known["carried"]
    assert (wandered["game"], wandered["steps"]) == ("pentari, wanderer 1", 21)
    missing = CliRunner().invoke(bench, [*asked, str(file)])
    assert "name one for each" in str(missing.exception)
    refused = CliRunner().invoke(bench, [*asked, "--agent", "random"])
    assert "--wanderers" in str(refused.exception)
    alone = CliRunner().invoke(bench, ["audit-stories", str(file), "--wanderers", "1"])
    assert "needs --walkthrough" in str(alone.exception)
