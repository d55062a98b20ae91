from __future__ import annotations

from worldthread_lab.game.commands import direction_of


def test_directions() -> None:
    assert direction_of("go north") == direction_of("n") == direction_of("North") == "north"
    assert direction_of("go to kitchen") is None
