"""Whether an action that is not on the list of valid actions had an effect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldthread_lab.envs.base import ENGINE_COMMAND, Info
from worldthread_lab.play.effects import had_effect

BEFORE = Info(score=1, inventory="You are carrying nothing.", state="a")


@pytest.mark.parametrize(
    ("after", "text", "expected"),
    [
        (replace(BEFORE, state="b"), 'I don\'t know the word "xyzzy".', True),
        (replace(BEFORE, score=2), "", True),
        (replace(BEFORE, inventory="a lamp"), "Taken.", True),
        (replace(BEFORE, lost=True), "You can't see anything.", True),
        (BEFORE, "The leaflet is a page of advice about the cave and those who dug it.", True),
        (BEFORE, "Time passes.", True),
        (BEFORE, "I don't understand that sentence.", False),
        (BEFORE, "You can't see any such thing.", False),
        (BEFORE, "That's not a verb I recognise.", False),
        (BEFORE, "There is no tree here which can be climbed.", False),
        (BEFORE, "You can't go that way.", False),
        (BEFORE, ENGINE_COMMAND, False),
        (BEFORE, "It says: " + "there is no way out of here. " * 10, True),
    ],
)
def test_what_counts_as_an_effect(after: Info, text: str, expected: bool) -> None:
    assert had_effect(BEFORE, after, text) is expected
