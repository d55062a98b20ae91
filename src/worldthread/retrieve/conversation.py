"""Where each episode stands in what was said: its session, its turn, its speaker, and what was said before and after.

Only episodes with a speaker are said. A *session* is what is said in one source without a pause of
:data:`LONGEST_PAUSE`. Within it, episodes are in the order of world time; of those within a millisecond, in the order
in which they were recorded, since the messages of a session often have one time. A *turn* is one message: a long one
is divided into several episodes, which are :data:`~worldthread.extract.episode_builder.PART_GAP` apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.episode_builder import MESSAGE_GAP, PART_GAP
from worldthread.graph import TemporalGraph
from worldthread.retrieve.sparse import Numbers

Floats = NDArray[np.float32]

LONGEST_PAUSE: Final = 8 * 3600.0
"""World time, in seconds, after which another session begins."""

ASSISTANTS: Final = frozenset({"ai", "assistant", "bot", "chatbot", "model", "system", "tool"})
"""Normalised speakers, or roles, whose words are made from what others said."""

NOBODY: Final = 0
"""The number of the speaker of what nobody says."""


@dataclass(frozen=True)
class Conversation:
    """What was said, in order. A *place* is a position in that order.

    Args:
        episodes: the episode at each place, shape (n,).
        places: the place of every episode, -1 for one that nobody said or that was forgotten; shape (episodes,).
        sessions: the session of each place, ascending from 0, shape (n,).
        turns: the turn of each place, ascending from 0, shape (n,).
        speakers: the number of the speaker of each place, shape (n,).
        times: the world time of each place, shape (n,).
        names: normalised names of the speakers, by number.
    """

    episodes: Numbers
    places: Numbers
    sessions: Numbers
    turns: Numbers
    speakers: NDArray[np.int32]
    times: NDArray[np.float64]
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.episodes)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of the speakers, by normalised name."""
        return {self.names[number]: number for number in np.unique(self.speakers).tolist()}

    @cached_property
    def is_by_assistant(self) -> NDArray[np.bool_]:
        """For each place, whether an assistant says it, shape (n,)."""
        assistants = np.array([name in ASSISTANTS for name in self.names], bool)
        return assistants[self.speakers]

    @cached_property
    def opens_turn(self) -> NDArray[np.bool_]:
        """For each place, whether a turn begins there, shape (n,)."""
        return np.asarray(np.diff(self.turns, prepend=-1) > 0)

    def turn_of(self, episode: int) -> int | None:
        """Return the number of the turn of an episode; ``None`` when nobody said it."""
        place = int(self.places[episode])
        return None if place < 0 else int(self.turns[place])

    def shifted(self, values: Floats, steps: int) -> Floats:
        """Return for each place the value of another one in its session.

        Args:
            values: by place.
            steps: how many places later the other one is; negative for earlier.

        Returns:
            Shape (n,); the value of the place itself where the session has no other one there.
        """
        others = np.arange(len(self)) + steps
        there = (others >= 0) & (others < len(self))
        there[there] = self.sessions[others[there]] == self.sessions[there]
        found = values.copy()
        found[there] = values[others[there]]
        return found


def make_conversation(
    graph: TemporalGraph,
    present: NDArray[np.bool_],
    speakers: NDArray[np.int32],
    names: Sequence[str],
    ties: NDArray[np.uint64],
) -> Conversation | None:
    """Return what was said in a graph.

    Args:
        graph: the graph.
        present: for each episode, whether it is in the graph.
        speakers: for each episode, the number of its speaker, or :data:`NOBODY`.
        names: normalised names of the speakers, by number.
        ties: for each episode a number that depends on its id alone.

    Returns:
        The conversation; ``None`` when nobody says anything.
    """
    said = np.flatnonzero(present & (speakers[: len(present)] != NOBODY))
    if not len(said):
        return None
    times, sources_of, recorded_times = graph.episode_columns()
    at = np.array(times, np.float64)[said]
    sources = np.array(sources_of, np.int64)[said]
    recorded = np.array(recorded_times, np.float64)[said]  # NaN, which is sorted last, for what was never stored
    # the passages of a message end at its time, microseconds apart, so they round up to the same millisecond
    with np.errstate(over="ignore"):
        moments = np.ceil((at - PART_GAP / 2) / MESSAGE_GAP)
    order = np.lexsort((ties[said], at, recorded, moments, sources))
    said, at, sources = said[order], at[order], sources[order]
    speaks = speakers[said]
    gaps = np.diff(at, prepend=at[:1])
    other_source = np.diff(sources, prepend=sources[:1]) != 0
    begins_session = other_source | (gaps > LONGEST_PAUSE)
    continues = (gaps > 0) & (gaps < 1.5 * PART_GAP) & ~other_source & (np.diff(speaks, prepend=speaks[:1]) == 0)
    places = np.full(len(present), -1, np.int64)
    places[said] = np.arange(len(said))
    return Conversation(
        episodes=said,
        places=places,
        sessions=np.cumsum(begins_session),
        turns=np.cumsum(~continues) - 1,
        speakers=speaks,
        times=at,
        names=names,
    )
