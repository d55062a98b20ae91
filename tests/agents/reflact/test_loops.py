"""Loops, being stuck, and talk in vain: noticed at the right moment, and not before."""

from __future__ import annotations

import pytest

from worldthread_lab.agents.reflact.loop_detector import LoopDetector, is_talk, talk_is_stalled


def watched(*moves: tuple[str | None, float, str | None]) -> LoopDetector:
    watch = LoopDetector()
    for move in moves:
        watch.record(*move)
    return watch


def test_an_action_that_comes_up_too_often() -> None:
    moves = [(None, 0, None), *((action, 0.0, None) for action in ("look", "wait", "LOOK", "look", "go east"))]
    assert watched(*moves).warnings() == []
    (warning,) = watched(*moves, ("Look", 0, None)).warnings()
    assert warning == "'look' was done 4 times in the last 6 moves."
    faded = watched(*moves, ("look", 0, None), *((f"push button {n}", n, None) for n in range(9)))
    assert faded.warnings() == [], "only the last ten moves count"


def test_directions_are_one_action_however_they_are_written() -> None:
    moves = [(action, 0.0, None) for action in ("n", "north", "go north", "north")]
    assert watched((None, 0, None), *moves).warnings() == ["'north' was done 4 times in the last 4 moves."]


def test_states_that_were_there_before() -> None:
    watch = LoopDetector()
    found = []
    for action, state in zip([None, "open", "close", "open", "close", "open", "close"], "abababa", strict=True):
        watch.record(action, 0, state)
        found.append(watch.revisits)
    assert found == [0, 0, 1, 1, 2, 2, 3]
    assert any(
        warning.startswith("LOOP: the whole game was in this very state 3 times") for warning in watch.warnings()
    )
    watch.record("jump", 0, "c")
    assert watch.revisits == 0
    assert not any("LOOP" in warning for warning in watch.warnings())


def test_a_world_without_digests_has_no_revisits() -> None:
    watch = watched(*[(None, 0.0, None)], *[(f"push {n}", 0.0, None) for n in range(9)])
    assert watch.revisits == 0
    assert watch.warnings() == []


@pytest.mark.parametrize(
    ("moves", "says"), [(9, None), (10, "The score has"), (20, "Warning:"), (29, "Warning:"), (30, "STUCK:")]
)
def test_being_stuck_becomes_more_urgent(moves: int, says: str | None) -> None:
    watch = watched((None, 5, None), *((f"push {n}", 5.0, None) for n in range(moves)))
    assert watch.since_score == moves
    assert [warning.startswith(says) for warning in watch.warnings()] == ([True] if says else [])
    watch.record("take egg", 10, None)
    assert (watch.since_score, watch.warnings()) == (0, [])


def test_what_is_talk() -> None:
    assert all(map(is_talk, ("ask gnome about key", "TELL him", "say hello", "talk to gnome", "gnome, tell me a joke")))
    assert not any(map(is_talk, ("take key", "asking", "gnome, go north", "", "look at the telling sign")))


def test_when_talk_is_stalled() -> None:
    five = ["ask gnome about key"] * 4 + ["look", "talk to gnome"]
    assert talk_is_stalled(five, 10, None)
    assert not talk_is_stalled(five[1:], 10, None), "four only"
    assert not talk_is_stalled(five, 9, None), "points came lately"
    assert not talk_is_stalled(five, 30, 4), "it was thought about"
    assert talk_is_stalled(five, 30, 5)
