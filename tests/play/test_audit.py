"""The audit: it finds what is wrong, stale and missed, and it agrees with the readers on real games."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Truth
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.extractor import GameExtractor
from worldthread_lab.play.audit import NOTHING_AUDITED, Auditor
from worldthread_lab.play.audit_mapping import is_checkable, true_facts

HALL = frozenset(
    {
        ("at", "P", "Hall"),
        ("at", "Red chest", "Hall"),
        ("locked", "Red chest"),
        ("in", "Key 2", "Red chest"),
        ("in", "Key 1", "I"),
        ("match", "Key 1", "Red chest"),
        ("north_of", "Attic", "Hall"),
        ("south_of", "Hall", "Attic"),
        ("link", "Hall", "Oak door", "Attic"),
        ("closed", "Oak door"),
        ("free", "Hall", "Attic"),
    }
)


def memory(*facts: Fact) -> TemporalGraph:
    return TemporalGraph([Episode("told", 0, extraction=Extraction("test", facts))])


def test_the_table_turns_propositions_into_facts() -> None:
    required, allowed = true_facts(HALL)
    assert {
        ("player", "is in", "hall"),
        ("red chest", "is in", "hall"),
        ("red chest", "is", "locked"),
        ("key 2", "is in", "red chest"),
        ("key 1", "is in", "inventory"),
        ("key 1", "unlocks", "red chest"),
        ("hall", "has exit", "north"),
        ("attic", "is north of", "hall"),
        ("hall", "is south of", "attic"),
        ("attic", "has exit", "south"),
        ("oak door", "leads north from", "hall"),
        ("oak door", "is", "closed"),
    } == required
    assert ("red chest", "is", "closed") in allowed - required
    assert ("p", "is in", "hall") not in allowed, "the player is not a thing"


def test_recipes_are_mapped() -> None:
    required, _ = true_facts(
        frozenset({("base", "leek", "slot 0"), ("diced", "slot 0"), ("fried", "slot 0"), ("needs_cooking", "leek")})
    )
    assert {
        ("recipe", "needs", "leek"),
        ("leek", "must be", "diced"),
        ("leek", "must be", "fried"),
        ("leek", "is", "raw"),
    } <= required


def test_what_was_fried_before_it_burned_need_not_be_known() -> None:
    required, allowed = true_facts(frozenset({("fried", "leek"), ("burned", "leek")}))
    assert ("leek", "is", "burned") in required
    assert ("leek", "is", "fried") in allowed - required


def test_only_what_the_state_determines_is_checkable() -> None:
    _, allowed = true_facts(HALL)
    assert is_checkable(("red chest", "is", "open"), allowed)
    assert not is_checkable(("hall", "is", "open"), allowed), "the engine keeps no such state for it"
    assert not is_checkable(("red chest", "is", "massive"), allowed)
    assert not is_checkable(("red chest", "is a", "container"), allowed)
    assert is_checkable(("hall", "is a", "room"), allowed)
    assert is_checkable(("key 1", "does not unlock", "red chest"), allowed)


def test_right_wrong_and_missed_are_distinguished() -> None:
    graph = memory(
        v.place("Key 1", v.IS_IN, v.INVENTORY),
        v.state("Red chest", v.CLOSED),
        v.exit_of("Hall", "west"),
        v.exit_of("Hall", "east", exists=False),
        Fact("Key 1", v.DOES_NOT_UNLOCK, "Red chest"),
        Fact("hall", "looks", "old"),
    )
    auditor = Auditor()
    text = "-= Hall =-\nYou see a locked Red chest. There is an exit to the north. There is a Key 2 somewhere."
    auditor.observe(GameStep(text, inventory="You are carrying: a Key 1."), Truth(HALL), graph.view())
    result = auditor.result()
    assert (result.held, result.true, result.statements) == (5, 3, 6)
    assert (result.wrong_steps, result.stale_steps) == (2, 0)
    assert {m[2] for m in auditor.mistakes if m[1] == "wrong"} == {
        ("hall", "has exit", "west"),
        ("key 1", "does not unlock", "red chest"),
    }
    assert {m[2] for m in auditor.mistakes if m[1] == "missed"} == {
        ("player", "is in", "hall"),
        ("red chest", "is in", "hall"),
        ("red chest", "is", "locked"),
        ("hall", "has exit", "north"),
    }, "key 2 is inside something locked: it could not be seen"
    assert result.precision == pytest.approx(3 / 5)
    assert result.recall == pytest.approx(1 / 5)
    assert result.mapped == pytest.approx(5 / 6)


def test_stale_is_what_was_true_once() -> None:
    graph = memory(v.place("Key 1", v.IS_IN, v.INVENTORY))
    auditor = Auditor()
    auditor.observe(GameStep("You hold a Key 1.", turn=0), Truth(HALL), graph.view())
    dropped = (HALL - {("in", "Key 1", "I")}) | {("at", "Key 1", "Hall")}
    for turn in (1, 2):
        auditor.observe(GameStep("You drop the Key 1.", "drop Key 1", turn=turn), Truth(dropped), graph.view())
    assert auditor.result().stale_steps == 2, "two steps during which a false fact was held"
    assert auditor.result().wrong_steps == 0
    assert (1, "stale", ("key 1", "is in", "inventory")) in auditor.mistakes


def test_pooling() -> None:
    graph = memory(v.place("Key 1", v.IS_IN, v.INVENTORY))
    auditor = Auditor()
    auditor.observe(GameStep("Key 1."), Truth(HALL), graph.view())
    one = auditor.result()
    assert (one + one).held == 2 * one.held
    assert (NOTHING_AUDITED + one) == one
    assert NOTHING_AUDITED.precision == NOTHING_AUDITED.recall == NOTHING_AUDITED.mapped == 1


@pytest.mark.games
@pytest.mark.parametrize(
    "name",
    [
        *("hunt_hard", "clean", "cook_level4_a", "cook_rl_baseline"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("hunt", "cook", "cook_hard", "cook_hardest")),
    ],
)
def test_a_random_walk_through_a_published_game_is_read_without_an_error(name: str, textworld_games: Path) -> None:
    """Whatever a player does, the memory agrees with the world (the walk is random, so no strategy is assumed)."""
    chance = random.Random(name)
    extractor, graph, auditor = GameExtractor(), TemporalGraph(), Auditor()
    with make(f"textworld:{textworld_games / name}.z8") as env:
        text, info = env.reset()
        step = GameStep(text, None, info.inventory, info.goal)
        for turn in range(1, 121):
            graph.add(Episode(step.text, step.turn, extraction=extractor.extract(step, graph.view())))
            auditor.observe(step, env.truth(), graph.view())
            actions = [a for a in info.valid_actions or () if not a.startswith(("eat ", "look", "inventory"))]
            action = chance.choice(actions)
            text, _, terminated, truncated, info = env.step(action)
            step = GameStep(text, action, info.inventory, turn=turn)
            if terminated or truncated:
                break
    result = auditor.result()
    assert result.precision >= 0.995, auditor.mistakes
    assert result.recall >= 0.99, auditor.mistakes
    assert result.stale_steps == 0, auditor.mistakes
    assert result.mapped >= 0.8
