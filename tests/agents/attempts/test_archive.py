"""The archive: which states are one, and which are put to the choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from worldthread_lab.agents.attempts.archive import Archive, render_state, render_states
from worldthread_lab.agents.attempts.settings import DEFAULT_SETTINGS
from worldthread_lab.agents.attempts.trajectories import TrajectoryStep


def step(moment: int, text: str = "A room.", score: float = 0, **options: Any) -> TrajectoryStep:
    return TrajectoryStep(moment, "look", text, score, **options)


def test_digests_tell_states_apart() -> None:
    archive = Archive()
    archive.record(step(0, "Hall.", state="a"), 0)
    archive.record(step(1, "Taken.", state="b"), 1)
    archive.record(step(2, "Hall again.", state="a"), 2)
    archive.record(step(3, "Taken.", state="c"), 2)
    assert [(state.number, state.step.moment, state.reached) for state in archive.states] == [
        (0, 0, 2),
        (1, 1, 1),
        (2, 3, 1),
    ]


def test_without_digests_observation_and_inventory_do() -> None:
    archive = Archive()
    archive.record(step(0, "Hall.", inventory="nothing"), 0)
    archive.record(step(1, "Hall.", inventory="a coin"), 1)
    archive.record(step(2, "Hall.", inventory="nothing"), 2)
    assert [(state.step.moment, state.reached) for state in archive.states] == [(0, 2), (1, 1)]


def test_the_better_way_to_a_state_is_kept() -> None:
    archive = Archive()
    archive.record(step(5, state="a", score=1), 9)
    archive.record(step(6, state="a", score=1), 12)
    assert (archive.states[0].step.moment, archive.states[0].moves) == (5, 9)
    archive.record(step(7, state="a", score=1), 4)
    assert (archive.states[0].step.moment, archive.states[0].moves) == (7, 4)
    archive.record(step(8, state="a", score=2), 30)
    assert (archive.states[0].step.moment, archive.states[0].moves, archive.states[0].reached) == (8, 30, 4)


def test_where_the_game_is_over_nobody_comes_back() -> None:
    archive = Archive()
    archive.record(step(0, state="a"), 0)
    archive.record(step(1, state="dead", score=50, ended=True), 1)
    assert [state.step.moment for state in archive.states] == [0]


def test_as_in_the_paper_every_state_is_offered_without_its_place() -> None:
    settings = replace(DEFAULT_SETTINGS, offers_all=True)
    archive = Archive(settings)
    for number in range(60):
        archive.record(step(number, state=f"m{number}", score=number, place="Maze", inventory="a coin"), number)
    offered = archive.offer(100_000)
    assert [state.number for state in offered] == list(range(60)), "also of one place, one score and one inventory"
    text = render_state(offered[59], settings)
    assert text.startswith("59: score 59, 59 moves from the beginning, reached 1 times, chosen 0 times\n")
    assert "carries: a coin" in text, "the paper shows inventories where a state is chosen"
    few = archive.offer(3 * (len(text) + 1))
    assert [state.number for state in few] == [57, 58, 59], "what does not fit is what promises least"


def test_every_place_is_offered_before_any_gets_a_second_state() -> None:
    archive = Archive()
    for number in range(60):  # a place with many states of high scores
        archive.record(step(number, state=f"m{number}", score=100 + number, place="Maze"), number)
    for number in range(60, 65):
        archive.record(step(number, state=f"r{number}", score=1, place=f"Room {number}"), number)
    offered = archive.offer(100_000)
    assert len(offered) == DEFAULT_SETTINGS.offered_states
    assert [state.number for state in offered] == sorted(state.number for state in offered)
    assert {60, 61, 62, 63, 64} < {state.number for state in offered}
    assert {state.number for state in offered if state.number < 60} == set(range(25, 60)), "the best of the maze"
    (first,) = archive.offer(10)
    assert first.number == 59, "one is offered even where nothing fits"


def test_of_states_alike_the_one_that_was_chosen_least_is_offered() -> None:
    archive = Archive()
    for number in range(3):
        archive.record(step(number, f"Hall {number}.", place="Hall", inventory="a coin", score=5), number)
    assert [state.number for state in archive.offer(9999)] == [2], "the one that was reached latest"
    archive.states[2].chosen = 1
    assert [state.number for state in archive.offer(9999)] == [1]


def test_what_is_offered_fits() -> None:
    archive = Archive()
    for number in range(50):
        archive.record(step(number, f"{number} " + "word " * 200, inventory="thing " * 200), number)
    for limit in (700, 3000, 12_000):
        offered = archive.offer(limit)
        assert offered
        assert len(render_states(offered)) <= limit
    told = render_state(archive.states[7])
    assert told.startswith("7: score 0, 7 moves from the beginning, reached 1 times, chosen 0 times\n   sees: 7 word")
    assert len(told) < 650


def test_what_is_removed_is_offered_again_once_it_is_reached_again() -> None:
    for offers_all in (False, True):
        archive = Archive(replace(DEFAULT_SETTINGS, offers_all=offers_all))
        for number in range(3):
            archive.record(step(number, f"Room {number}.", state=f"s{number}"), number)
        archive.states[1].is_removed = True
        assert [state.number for state in archive.offer(9_000)] == [0, 2]
        archive.record(step(7, "Room 1.", state="s1"), 5)
        assert [state.number for state in archive.offer(9_000)] == [0, 1, 2]
