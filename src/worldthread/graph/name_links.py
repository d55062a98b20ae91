"""Which names stand in a statement together, and when: a whole graph as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.columns import StringList
from worldthread.graph.state import GraphState
from worldthread.graph.strings import ABSENT


@dataclass(frozen=True)
class NameLinks:
    """The statements of a graph, without those that were forgotten, as links between two names.

    A fact links its subject and its object; a thesis links the first of its objects and each other one. A statement
    about one name links it with itself.

    Args:
        names: the normalised names by number; it also holds other strings.
        statements: the number of the statement that makes each link, int64.
        first: the number of one name of each link, int64.
        second: that of the other, int64.
        held: the number of the statement of each version, int64.
        begins: the world time at which each version begins to hold.
        ends: the world time from which on it does not hold; infinite if no end is known.
        now: the world time of the latest episode.
    """

    names: StringList
    statements: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    held: NDArray[np.int64]
    begins: NDArray[np.float64]
    ends: NDArray[np.float64]
    now: float

    @classmethod
    def of(cls, state: GraphState) -> NameLinks:
        """Return the links of a state, which must not change meanwhile."""
        number = len(state.statements.keys)
        held, begins, ends = _versions(state, number)
        is_asserted = np.zeros(number, bool)
        is_asserted[held] = True
        keys: NDArray[np.int32] = state.statements.keys.packed().narrow
        facts = np.flatnonzero(is_asserted & (keys[:, 1] != ABSENT))
        theses = np.flatnonzero(is_asserted & (keys[:, 1] == ABSENT))
        told, first, second = _thesis_links(state, theses, keys[theses, 2])
        return cls(
            names=state.strings.items,
            statements=np.concatenate((facts, told)),
            first=np.concatenate((keys[facts, 0].astype(np.int64), first)),
            second=np.concatenate((keys[facts, 2].astype(np.int64), second)),
            held=held,
            begins=begins,
            ends=ends,
            now=state.now,
        )

    def holding(
        self, at: float | None = None, span: tuple[float, float] | None = None, *, ended: bool = False
    ) -> NDArray[np.bool_]:
        """Return which links hold, shape (links,).

        Args:
            at: a world time; ``None`` for now.
            span: the first and the last world time of a range: what held at some time in it; ``at`` does not count.
            ended: also what held before.
        """
        begins, ends = self.begins, self.ends
        counts = begins < ends
        if span is not None:
            counts &= (begins <= span[1]) & (ends > span[0])
        elif at is None:
            counts &= (ends > self.now) | ended
        else:
            counts &= (begins <= at) & ((ends > at) | ended)
        holds = np.zeros(int(self.held.max(initial=-1)) + 1, bool)
        holds[self.held[counts]] = True
        found: NDArray[np.bool_] = holds[self.statements]
        return found


def _versions(state: GraphState, number: int) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return the statement, the beginning and the end of every version."""
    pointers, rows = state.versions.packed(number)
    assertion_pointers, assertions = state.assertions.packed(number)
    held = np.repeat(np.arange(number, dtype=np.int64), np.diff(pointers))
    at = np.fromiter(state.episodes.at, np.float64, len(state.episodes.at))
    first, ended_by = rows.narrow[:, 0], rows.narrow[:, 2]
    begins = at[assertions.narrow[assertion_pointers[held] + first, 0]] if len(held) else np.zeros(0)
    ends = np.full(len(held), np.inf)
    is_ended = ended_by != ABSENT
    ends[is_ended] = at[ended_by[is_ended]]
    for times, column in ((begins, 0), (ends, 1)):
        stated = rows.values[:, column]
        is_stated = stated != ABSENT
        times[rows.timed[is_stated]] = np.ascontiguousarray(stated[is_stated]).view(np.float64)
    return held, begins, ends


def _thesis_links(
    state: GraphState, theses: NDArray[np.int64], joined: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return statement, first and second name of the links that theses make."""
    links: list[tuple[int, int, int]] = []
    known: dict[int, list[int]] = {}  # many theses are about the same names
    for number, objects in zip(theses.tolist(), joined.tolist(), strict=True):
        if objects not in known:
            found = map(state.strings.find, state.statements.vertices(number))
            known[objects] = [name for name in found if name is not None]
        names = known[objects]
        links += [(number, names[0], other) for other in names[1:] or names]
    told = np.array(links, np.int64).reshape(-1, 3)
    return told[:, 0], told[:, 1], told[:, 2]
