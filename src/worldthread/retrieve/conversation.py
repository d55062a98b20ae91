"""Where each episode stands in what was said: its session, its turn, its speaker, and what was said before and after.

Only episodes with a speaker are said. A *session* is what one user says and hears in one source without a pause of
:data:`LONGEST_PAUSE`. Within it, episodes are in the order of world time; of those within a millisecond, in the order
in which they were recorded, since the messages of a session often have one time. A *turn* is one message: a long one
is divided into several episodes, which are :data:`~worldthread.extract.episode_builder.PART_GAP` apart.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.episode_builder import MESSAGE_GAP, PART_GAP
from worldthread.graph import TemporalGraph
from worldthread.retrieve.sparse import Numbers, distinct

Floats = NDArray[np.float32]

LONGEST_PAUSE: Final = 8 * 3600.0
"""World time, in seconds, after which another session begins."""

ASSISTANTS: Final = frozenset({"ai", "assistant", "bot", "chatbot", "model", "system", "tool"})
"""Normalised speakers, or roles, whose words are made from what others said."""

_FEW: Final = 16  # so many new episodes, or one in so many, are inserted one by one

NOBODY: Final = 0
"""The number of the speaker of what nobody says."""


@dataclass(frozen=True)
class ConversationIndex:
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
        return {self.names[number]: number for number in distinct(self.speakers).tolist()}

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

    @cached_property
    def _same_sessions(self) -> dict[int, NDArray[np.bool_]]:
        return {}

    def is_same_session(self, steps: int) -> NDArray[np.bool_]:
        """Return for each place but the last ones whether the place ``steps`` later is in the same session.

        Args:
            steps: how many places later; at least 1.

        Returns:
            Shape (max(n - steps, 0),).
        """
        if steps not in self._same_sessions:
            self._same_sessions[steps] = self.sessions[steps:] == self.sessions[: max(len(self) - steps, 0)]
        return self._same_sessions[steps]

    @cached_property
    def _session_ends(self) -> dict[int, Numbers]:
        return {}

    def session_ends(self, steps: int) -> Numbers:
        """Return the places for which the place ``steps`` later is in another session; ``steps``: at least 1."""
        if steps not in self._session_ends:
            self._session_ends[steps] = np.flatnonzero(~self.is_same_session(steps))
        return self._session_ends[steps]

    def shifted(self, values: Floats, steps: int) -> Floats:
        """Return for each place the value of another one in its session.

        Args:
            values: by place.
            steps: how many places later the other one is; negative for earlier.

        Returns:
            Shape (n,); the value of the place itself where the session has no other one there.
        """
        found = values.copy()
        earlier, later = slice(0, max(len(self) - abs(steps), 0)), slice(abs(steps), None)
        source, target = (later, earlier) if steps > 0 else (earlier, later)
        there = self.is_same_session(abs(steps))
        found[target] = np.where(there, values[source], values[target])
        return found


class ConversationOrder:
    """Keeps what was said in order while episodes come and go: the new ones are inserted, the others stay in place.

    Episodes are ordered by source and user, then by time to the millisecond, recorded time, time, and a number that
    depends on the id.
    """

    def __init__(self) -> None:
        self._times = np.zeros(0, np.float64)
        self._sources = np.zeros(0, np.int64)
        self._recorded = np.zeros(0, np.float64)
        self._order = np.zeros(0, np.int64)
        self._is_in_order = np.zeros(0, bool)

    def update(
        self,
        graph: TemporalGraph,
        present: NDArray[np.bool_],
        speakers: NDArray[np.int32],
        names: Sequence[str],
        ties: NDArray[np.uint64],
    ) -> ConversationIndex | None:
        """Return what was said in a graph, the same one at every call.

        Args:
            graph: the graph; episodes have the numbers that they had before.
            present: for each episode, whether it is in the graph.
            speakers: for each episode, the number of its speaker, or :data:`NOBODY`.
            names: normalised names of the speakers, by number.
            ties: for each episode a number that depends on its id alone.

        Returns:
            The conversation; ``None`` when nobody says anything.
        """
        self._extend(graph)
        is_said = present & (speakers[: len(present)] != NOBODY)
        was_said = np.zeros(len(present), bool)
        was_said[: len(self._is_in_order)] = self._is_in_order
        if (was_said & ~is_said).any():
            self._order = self._order[is_said[self._order]]
        fresh = np.flatnonzero(is_said & ~was_said)
        if len(fresh) > max(_FEW, len(self._order) // _FEW):
            self._order = self._sorted(np.flatnonzero(is_said), ties)
        elif len(fresh):
            self._insert(self._sorted(fresh, ties), ties)
        self._is_in_order = is_said
        return self._conversation(len(present), speakers, names) if len(self._order) else None

    def _extend(self, graph: TemporalGraph) -> None:
        """Copy the columns of new episodes."""
        times, _, recorded = graph.episode_columns()
        known = len(self._times)
        self._times = np.concatenate((self._times, np.array(times[known:], np.float64)))
        self._sources = np.concatenate((self._sources, np.array(graph.talks(known), np.int64)))
        # NaN, which is sorted last, for what was never stored
        self._recorded = np.concatenate((self._recorded, np.array(recorded[known:], np.float64)))

    def _sorted(self, episodes: Numbers, ties: NDArray[np.uint64]) -> Numbers:
        times = self._times[episodes]
        order = np.lexsort((ties[episodes], times, self._recorded[episodes], _moments(times), self._sources[episodes]))
        return np.asarray(episodes[order], np.int64)

    def _insert(self, episodes: Numbers, ties: NDArray[np.uint64]) -> None:
        """Insert sorted episodes into the order."""

        def key(episode: int) -> tuple[float, ...]:
            source, time = int(self._sources[episode]), self._times[episode : episode + 1]
            recorded = float(self._recorded[episode])
            stored = (1, 0.0) if math.isnan(recorded) else (0, recorded)
            return (source, float(_moments(time)[0]), *stored, float(time[0]), int(ties[episode]))

        places = [bisect.bisect_left(self._order, key(episode), key=key) for episode in episodes.tolist()]
        self._order = np.insert(self._order, places, episodes)

    def _conversation(self, count: int, speakers: NDArray[np.int32], names: Sequence[str]) -> ConversationIndex:
        said = self._order
        at, sources, speaks = self._times[said], self._sources[said], speakers[said]
        gaps = np.diff(at, prepend=at[:1])
        other_source = np.diff(sources, prepend=sources[:1]) != 0
        begins_session = other_source | (gaps > LONGEST_PAUSE)
        same_speaker = np.diff(speaks, prepend=speaks[:1]) == 0
        continues = (gaps > 0) & (gaps < 1.5 * PART_GAP) & ~other_source & same_speaker
        places = np.full(count, -1, np.int64)
        places[said] = np.arange(len(said))
        return ConversationIndex(
            episodes=said,
            places=places,
            sessions=np.cumsum(begins_session),
            turns=np.cumsum(~continues) - 1,
            speakers=speaks,
            times=at,
            names=names,
        )


def _moments(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return times in milliseconds: the passages of a message end at its time, microseconds apart, so they round up."""
    with np.errstate(over="ignore"):
        return np.asarray(np.ceil((times - PART_GAP / 2) / MESSAGE_GAP))
