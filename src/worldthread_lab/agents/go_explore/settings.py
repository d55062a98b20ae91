"""The tuned numbers of go_explore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class GoExploreSettings:
    """The numbers that decide how :class:`~worldthread_lab.agents.go_explore.agent.GoExplore` explores.

    One set of values serves all games (``docs/results.md``, "Hard exploration without a model"). The agent was
    developed while playing ten Z-machine games; no search over the values was run, and none of them comes from a paper.
    Each was chosen by hand and not tuned further, unless its line says otherwise.

    Two units recur. *Promise* rates an action that was not tried: above 0, 3 for a move in a direction
    (:func:`~worldthread_lab.agents.go_explore.commands.promise`). *Merit* rates what was achieved: an achievement of
    average points is worth :attr:`points`
    (:meth:`~worldthread_lab.agents.go_explore.achievements.Achievements.weight`).

    Args:
        described_characters: length of the part of a room's text that is compared, in characters. By hand.
        min_description_words: different words from which on a paragraph counts as the description of a room and not
            as a remark about a thing. By hand.
        same_room_similarity: least Jaccard similarity, within [0, 1], of two descriptions of one room with the same
            exits. By hand; raised from 0.5 when rooms of one title were mistaken for each other.
        same_room_similarity_other_exits: the same when the exits differ, as doors open and close. By hand.
        other_room_similarity: Jaccard similarity, within [0, 1], up to which two descriptions are those of different
            rooms even when the exits suggest one. By hand.
        kept_descriptions: descriptions, and sets of exits, kept of a room; a number. By hand.
        min_return_share: share of exits, within [0, 1], that were found to lead back, from which on an untried one is
            assumed to lead back. By hand.
        points: merit of an achievement that brings the average points. By hand; it sets the unit of merit.
        thing_merit: merit of taking a thing that was never held before. By hand.
        possibility_merit: merit of making new actions possible. By hand.
        merit_beside_points: merit of any achievement that brings points, added to that of its points. By hand.
        doubt_of_proven: factor, within [0, 1], on the doubt about an achievement that the best state has. By hand.
        max_preparations: actions without a use of their own that may have made an achievement possible; a number.
            By hand.
        loss_clutter: clutter, in useless actions, of one that lost a thing or points. By hand.
        expected_usefulness: share of actions, within [0, 1], that are expected to be of use before any of their form
            was tried. By hand.
        expected_trials: weight of that expectation, in trials. By hand.
        max_usefulness: most that experience multiplies a promise by. By hand.
        move_cost: merit that a move costs in a plan. By hand.
        loss_cost: moves that are worth making to keep an achievement of merit 1 within reach. By hand.
        min_plan_gain: least merit that a plan must gain. By hand.
        simulated_starts: states from which a plan is simulated; a number. By hand; limits the time of a decision.
        max_lost: times that a move of a plan may lead elsewhere before the plan is given up. By hand.
        max_known_moves: moves through known states before a route is given up. By hand; it breaks cycles.
        max_failed: actions that failed, from which on a plan no longer retries them after a success; a number. By hand.
        max_put_down: things that a plan puts down to free its hands; a number. By hand.
        missing_action_attempt: attempts that are counted when the action of an achievement is not offered. By hand.
        recent_actions: last actions among which a preparation is not repeated; a number. By hand.
        useful_thing_worth: worth of keeping a thing that was in an action which brought points; any unit, compared
            with ``other_thing_worth``. By hand.
        other_thing_worth: worth of keeping any other thing. By hand.
        max_blows: times that an action which brings news each time is repeated. By hand.
        decisions_between_plans: least number of decisions from one plan to the next. By hand; planning takes long.
        sure_gain: hoped merit from which on a plan begins at once. By hand.
        min_plan_moves: moves that a plan counts as when it has fewer. By hand.
        gain_pace: moves in which a plan must gain a merit of 1 to equal an action of promise 1. By hand.
        new_achievement_promise: promise of seeing a known room with one more achievement than ever before. By hand.
        max_new_achievements: achievements that count for that, at most. By hand.
        retry_factor: factor on the promise of an action that was tried in this room with fewer achievements, for each
            new achievement. By hand.
        max_fresh_achievements: achievements that count for that, at most. By hand.
        return_exit_factor: factor on the promise of a move back. By hand.
        low_promise: promise below which a random walk may do as well. By hand.
        max_walk_share: share of decisions, within [0, 1], that begin a random walk when nothing is promised. By hand:
            with walks of ten moves, two of three moves are then random.
        walk_moves: most moves of a random walk from one state. By hand.
        death_factor: factor on the promise of an action for each time that it ended the game. By hand.
        form_halving: other actions of one form tried in a room after which the next is half as promising. By hand.
        light_in_dark_promise: promise of an action that may light something in the dark. By hand.
        move_in_dark_promise: promise of a move in the dark. By hand.
        score_floor: factor, within [0, 1], on the promise in a state of score 0 or less; it grows to 1 at the highest
            score. By hand.
        min_trust: least trust in plans, within (0, 1]. By hand; with none, no plan would be tried again.
        trust_growth: factor on the trust after a plan that succeeded. By hand.
        trust_gain: added to the trust then. By hand.
        trust_decay: factor on the trust after a plan that failed. By hand.
        success_share: share of its hoped gain, within [0, 1], that a plan must bring to succeed. By hand.
    """

    described_characters: int = 200
    min_description_words: int = 9
    same_room_similarity: float = 0.7
    same_room_similarity_other_exits: float = 0.95
    other_room_similarity: float = 0.4
    kept_descriptions: int = 6
    min_return_share: float = 0.5
    points: float = 3.0
    thing_merit: float = 0.25
    possibility_merit: float = 0.22
    merit_beside_points: float = 0.1
    doubt_of_proven: float = 0.2
    max_preparations: int = 3
    loss_clutter: int = 2
    expected_usefulness: float = 0.3
    expected_trials: float = 3.0
    max_usefulness: float = 3.0
    move_cost: float = 0.015
    loss_cost: float = 5.0
    min_plan_gain: float = 0.1
    simulated_starts: int = 10
    max_lost: int = 8
    max_known_moves: int = 300
    max_failed: int = 30
    max_put_down: int = 4
    missing_action_attempt: float = 0.25
    recent_actions: int = 6
    useful_thing_worth: float = 0.9
    other_thing_worth: float = 0.3
    max_blows: int = 8
    decisions_between_plans: int = 10
    sure_gain: float = 1.5
    min_plan_moves: int = 3
    gain_pace: float = 8.0
    new_achievement_promise: float = 0.04
    max_new_achievements: int = 6
    retry_factor: float = 0.1
    max_fresh_achievements: int = 5
    return_exit_factor: float = 0.2
    low_promise: float = 0.1
    max_walk_share: float = 0.2
    walk_moves: int = 10
    death_factor: float = 0.3
    form_halving: float = 3.0
    light_in_dark_promise: float = 8.0
    move_in_dark_promise: float = 0.6
    score_floor: float = 0.3
    min_trust: float = 0.1
    trust_growth: float = 1.5
    trust_gain: float = 0.1
    trust_decay: float = 0.7
    success_share: float = 0.3


DEFAULT_SETTINGS: Final = GoExploreSettings()
"""The settings with which the figures in ``docs/results.md`` were measured."""
