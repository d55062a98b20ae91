"""The critic: every rule of its table, with sequences as they happen."""

from __future__ import annotations

import pytest

from worldthread_lab.agents.reflact.critic import (
    ActionOutcome,
    CriticVerdict,
    RoomLog,
    action_key,
    is_rejected,
    judge,
    suggestion,
)
from worldthread_lab.agents.reflact.settings import DEFAULT_SETTINGS

LOOKED = ActionOutcome("look", "A room.")
NORTH_BLOCKED = ActionOutcome("go north", "You can't go that way.")
NORTH_TAKEN = ActionOutcome("north", "Attic. You are in the attic.", moved=True)
TOOK = ActionOutcome("take lamp", "Taken.", gained=("lamp",))
PAID = ActionOutcome("put egg in case", "Your score has gone up.", reward=5)


@pytest.mark.parametrize(
    ("action", "outcomes", "score"),
    [
        ("look", [], 1),
        ("LOOK ", [], 1),
        ("dance", [], 0),
        ("look", [LOOKED], -0.5),
        ("look", [LOOKED, TOOK, LOOKED], -1),
        ("Look", [LOOKED, LOOKED, LOOKED], -1),
        ("go north", [NORTH_BLOCKED], -1),
        ("n", [NORTH_BLOCKED], -1),
        ("go north", [NORTH_TAKEN, NORTH_TAKEN, NORTH_TAKEN], 0),
        ("go south", [NORTH_BLOCKED], 0),
        ("go down", [ActionOutcome("d", "The trap door is closed.")], -0.5),  # it is on the list now
        ("go down", [ActionOutcome("d", "The trap door is closed.")] * 2, -1),
        ("take lamp", [TOOK, TOOK], 0),
        ("put egg in case", [PAID], 0.5),
        ("put egg in case", [ActionOutcome("put egg in case", "You have no egg."), PAID], 0.5),
        ("put egg in case", [PAID, ActionOutcome("put egg in case", "You have no egg.")], -0.5),
        ("drink", [ActionOutcome("drink", "It burns.", reward=-5), ActionOutcome("drink", "It burns.", reward=-5)], -1),
    ],
)
def test_the_score_of_an_action(action: str, outcomes: list[ActionOutcome], score: float) -> None:
    verdict = judge(action, outcomes, offered=("look", "wait", "down"))
    assert verdict.score == score
    assert verdict.reason


def test_three_in_a_row_are_enough() -> None:
    recent = [ActionOutcome("wait", "Time passes.")] * 3
    assert judge("wait", [], recent=recent).score == -1
    assert judge("wait", [], recent=recent[:2]).score == 0
    assert judge("look", [], recent=recent).score == 0
    assert judge("wait", [], recent=[*recent, LOOKED]).score == 0
    walked = [ActionOutcome("go east", "A corridor.", moved=True)] * 3
    assert judge("go east", [], recent=walked).score == 0, "a long corridor"


def test_rejection_is_stricter_in_a_loop() -> None:
    assert is_rejected(CriticVerdict(-1, ""), 0)
    assert not is_rejected(CriticVerdict(-0.5, ""), 2)
    assert is_rejected(CriticVerdict(-0.5, ""), 3)
    assert not is_rejected(CriticVerdict(0, ""), 9)


def test_what_is_suggested_was_not_tried() -> None:
    offered = ("examine rug", "go west", "open window")
    assert suggestion(["Examine  Rug", "w"], offered=offered) == "open window"
    assert suggestion(["examine rug"], offered=offered, hinted=["sing", "open window"]) == "open window"
    assert suggestion(offered, offered=offered) == "north", "else a direction"
    assert suggestion(["n", "south"], offered=None) == "east"
    assert suggestion([], offered=None, hinted=["sing"]) == "sing"
    everything = ["n", "s", "e", "w", "ne", "nw", "se", "sw", "u", "d", "in", "out"]
    assert suggestion(everything, offered=None) is None


def test_one_word_for_each_direction() -> None:
    assert {action_key(action) for action in ("n", "north", "go north", "Go  North")} == {"north"}
    assert action_key("Take  the LAMP") == "take the lamp"


def test_a_room_remembers_all_names_and_the_last_consequences() -> None:
    log = RoomLog()
    for number in range(DEFAULT_SETTINGS.kept_outcomes + 10):
        log.record("cave", ActionOutcome(f"ask gnome about {number}", "He shrugs."))
    log.record("cave", ActionOutcome("Ask gnome  about 3", "He shrugs."))
    assert len(log.tried("cave")) == DEFAULT_SETTINGS.kept_outcomes + 10
    assert log.tried("cave")[0] == "ask gnome about 0"
    assert len(log.outcomes("cave")) == DEFAULT_SETTINGS.kept_outcomes
    assert log.outcomes("cave")[-1].action == "Ask gnome  about 3"
    assert log.outcomes("hall") == ()
