"""The tuned numbers of the explorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class TidyingSettings:
    """How well a thing fits a place, as a weighted sum of cosine similarities of names.

    The five weights were found by random search over generated houses (seeds 101-124); they sum to 1. How the margin
    and the other numbers were chosen is not recorded.

    Args:
        furniture_weight: weight of the similarity with the piece of furniture in its room. Random search.
        room_weight: weight of the similarity with the room. Random search.
        room_furniture_weight: weight of the mean similarity with the furniture of the room. Random search.
        neighbours_weight: weight of the similarity with the nearest things on the furniture. Random search.
        room_things_weight: weight of the similarity with the nearest things in the room. Random search.
        margin: how much better another place must fit, in the unit of the sum. Not recorded.
        unknown_similarity: the similarity with neighbours where there are none, within [-1, 1]. By hand, not tuned.
        neighbours: nearest things on a piece of furniture that count; a number. By hand, not tuned.
        roommates: nearest things in a room that count; a number. By hand, not tuned.
    """

    furniture_weight: float = 0.25
    room_weight: float = 0.1
    room_furniture_weight: float = 0.3
    neighbours_weight: float = 0.2
    room_things_weight: float = 0.15
    margin: float = 0.095
    unknown_similarity: float = 0.2
    neighbours: int = 2
    roommates: int = 3


@dataclass(frozen=True)
class ExplorerSettings:
    """The order of errands, the limit of planning, and the weights of tidying.

    Errands of a higher urgency are done first, wherever they are; only the order of the urgencies matters.

    Args:
        take_urgency: of taking what is wanted. By hand, not tuned.
        offered_unlock_urgency: of unlocking what the world offers to unlock. By hand, not tuned.
        read_urgency: of reading what may hold a text. By hand, not tuned.
        open_urgency: of opening what is closed, and of unlocking what a text or a name says that a key fits. By hand,
            not tuned.
        try_key_urgency: of trying a key in a lock that it may fit. By hand, not tuned.
        planned_states: states that the planner of meals may expand. By hand; a bound on the time of a decision.
        places_tried: places that are tried for a thing whose description goes on saying that it is misplaced, or that
            brings no points where others do. By hand, not tuned.
        tidying_trials: things that are moved to see whether the world gives points for tidying. By hand, not tuned.
        tidying: how things are matched with places.
    """

    take_urgency: int = 5
    offered_unlock_urgency: int = 4
    read_urgency: int = 3
    open_urgency: int = 2
    try_key_urgency: int = 1
    planned_states: int = 20_000
    places_tried: int = 3
    tidying_trials: int = 3
    tidying: TidyingSettings = field(default_factory=TidyingSettings)


DEFAULT_SETTINGS: Final = ExplorerSettings()
"""The settings with which the figures in ``docs/results.md`` were measured."""
