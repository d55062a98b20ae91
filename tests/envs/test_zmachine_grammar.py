"""The grammar that is read from story files tells the same actions together, and which things fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread_lab.envs.zmachine_grammar import CREATURE, SEVERAL, StoryGrammar

pytest.importorskip("jericho")

from worldthread_lab.envs import jericho_actions
from worldthread_lab.envs.jericho_actions import ActionFinder
from worldthread_lab.envs.jericho_engine import CommandTrial, CommandTrials, JerichoEngine


@pytest.fixture(scope="module", params=["lostpig.z8", "ludicorp.z5"])
def grammar(request: pytest.FixtureRequest, jericho_games: Path) -> StoryGrammar:
    return StoryGrammar((jericho_games / request.param).read_bytes())


def test_other_words_for_one_action_are_known(grammar: StoryGrammar) -> None:
    take = grammar.meaning("take OBJ")
    assert take is not None
    assert take.holes[0].kind in SEVERAL
    assert grammar.meaning("get OBJ") == grammar.meaning("pick up OBJ") == grammar.meaning("pick OBJ up") == take
    drop = grammar.meaning("drop OBJ")
    assert drop is not None
    assert drop.action != take.action


def test_holes_say_which_things_fit(grammar: StoryGrammar) -> None:
    kiss, put = grammar.meaning("kiss OBJ"), grammar.meaning("put OBJ in OBJ")
    assert kiss is not None
    assert put is not None
    assert kiss.holes[0].kind == CREATURE
    assert [hole.kind for hole in put.holes] == ["multiexcept", "noun"]


def test_what_is_no_sentence_has_no_meaning(grammar: StoryGrammar) -> None:
    assert grammar.meaning("north") is None
    assert grammar.meaning("xyzzyx OBJ") is None
    assert grammar.meaning("take OBJ OBJ OBJ") is None


def test_other_compilers_have_no_grammar_of_this_format(jericho_games: Path) -> None:
    story = (jericho_games / "zork1.z5").read_bytes()
    with pytest.raises(ValueError, match="Inform"):
        StoryGrammar(story)


def test_a_damaged_grammar_is_refused(jericho_games: Path) -> None:
    story = bytearray((jericho_games / "lostpig.z8").read_bytes())
    table = int.from_bytes(story[0x0E:0x10], "big")
    story[table : table + 2000] = bytes(2000)
    with pytest.raises(ValueError, match=r"format|beyond"):
        StoryGrammar(bytes(story))


def test_a_large_story_has_a_limit(jericho_games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few commands are tried, and those that matter are found."""
    engine = JerichoEngine(jericho_games / "lostpig.z8")
    engine.reset(engine.own_seed)
    lines: set[bytes] = set()
    attempt = CommandTrials.attempt

    def counted(trials: CommandTrials, line: bytes, chance: int | None = None) -> CommandTrial:
        lines.add(line)
        return attempt(trials, line, chance)

    monkeypatch.setattr(CommandTrials, "attempt", counted)
    monkeypatch.setattr(jericho_actions, "_MAX_TRIALS_LARGE", 600)
    found = ActionFinder(engine).find()
    assert len(lines) < 900  # the names of things are tried beside
    with engine.trials() as trials:
        assert all(trials.attempt(action.encode()).change is not None for action in found)
    assert any(action.startswith("put ") for action in found)
