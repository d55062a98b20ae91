"""What the words of a command promise."""

from __future__ import annotations

import pytest

from worldthread_lab.agents.go_explore.commands import USEFUL, form, gives_light, is_putting_down, promise, things_of


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("put small stone in wooden box", "put X in X"),
        ("take all", "take X"),
        ("pick up stone", "pick up X"),
        ("look", "look"),
        ("turn stone on", "turn X on"),
    ],
)
def test_the_form_of_an_action(action: str, expected: str) -> None:
    assert form(action) == expected


def test_moving_taking_and_opening_promise_more_than_putting_down() -> None:
    for leading in ("go east", "east", "take stone", "open box", "enter hut"):
        assert promise(leading) == 3
    for losing in ("drop stone", "put stone down", "throw stone at box", "close box", "turn stone off", "eat stone"):
        assert promise(losing) < USEFUL
    assert promise("hit troll with stone") > promise("hit troll")
    assert promise("xyzzy") == 2


def test_putting_down_light_and_things() -> None:
    assert is_putting_down("put stone down")
    assert is_putting_down("drop stone")
    assert not is_putting_down("drop all")
    assert not is_putting_down("put stone in box")
    assert gives_light("light candle")
    assert gives_light("turn on thing")
    assert not gives_light("turn off thing")
    assert things_of("put small stone in box") == {"small", "stone", "box"}
