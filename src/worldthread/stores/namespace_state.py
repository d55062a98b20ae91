"""The graph of one namespace in RAM, its position in the history of changes, and when a snapshot of it pays."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.stores.snapshots import ChangePosition
from worldthread.types import Episode

_SNAPSHOT_CHANGES: Final = 200  # folding this many takes about 50 ms
_SNAPSHOT_FRACTION: Final = 16
_UNUSED_EPISODES: Final = 2000  # numbers from which on a graph is compacted


class NamespaceState:
    """The graph of one namespace of an open store, and its position in the history of changes.

    Args:
        name: name of the namespace.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.graph: TemporalGraph | None = None
        self.number: int | None = None
        """Number of the namespace in the store; ``None`` while the namespace is empty."""
        self.position = ChangePosition()
        """The last change that the graph shows."""
        self.latest_snapshot = ChangePosition()
        """The position of the snapshot that the next opening will find."""
        self.numbering_snapshot = ChangePosition()
        """The position of a snapshot that numbers episodes and statements as the graph does."""
        self.is_torn = False
        """Whether a change of the graph has begun and has not ended. Then the next use makes the graph anew."""
        self.users: weakref.WeakSet[object] = weakref.WeakSet()
        """The open stores of the namespace."""

    def start_over(self, number: int | None) -> TemporalGraph:
        """Begin with an empty graph, and return it."""
        self.is_torn = True
        self.number = number
        self.position = self.latest_snapshot = self.numbering_snapshot = ChangePosition()
        self.graph = TemporalGraph()
        return self.graph

    def apply(
        self, number: int, position: ChangePosition, *, removed: Sequence[str] = (), added: Sequence[Episode] = ()
    ) -> None:
        """Apply a committed change to the graph. ``number`` is that of the namespace, which may be new."""
        assert self.graph is not None
        self.is_torn = True
        numbering = self.graph.numbering
        again = {episode.id for episode in added}
        for episode_id in removed:
            if episode_id not in again:
                self.graph.forget(episode_id)
        self.graph.put_many(added)
        self.note_change(number, position, numbering)
        if removed:
            self.compact_if_worthwhile()
        self.is_torn = False

    def note_change(self, number: int | None, position: ChangePosition, numbering: int) -> None:
        """Note that the graph shows a change, before which it was numbered as ``numbering`` says."""
        if self.graph is not None and self.graph.numbering != numbering:  # names were merged or are apart again
            self.numbering_snapshot = ChangePosition()
        self.number, self.position = number, position

    def compact_if_worthwhile(self) -> None:
        """Release what the graph keeps of forgotten episodes when that is most of it."""
        graph = self.graph
        if graph is not None and graph.unused_fraction > 0.5 and len(graph.episode_numbers) > _UNUSED_EPISODES:
            self.numbering_snapshot = ChangePosition()
            graph.compact()

    def is_snapshot_worthwhile(self, changes: int) -> bool:
        """Return whether a snapshot saves the next opening enough folding.

        Folding one change takes about four times as long as writing one episode of a snapshot, which holds them all.

        Args:
            changes: number of changes that the next opening would have to fold.
        """
        return self.graph is not None and changes > max(_SNAPSHOT_CHANGES, len(self.graph) // _SNAPSHOT_FRACTION)

    def snapshot_content(self) -> SnapshotContent | None:
        """Return what a snapshot would hold now; ``None`` when the newest one shows the same."""
        if self.graph is None or self.position == self.latest_snapshot:
            return None
        return SnapshotContent(self.graph, self.graph.numbering, self.position, self.graph.to_arrays())

    def numbering_base(self) -> ChangePosition | None:
        """Return the snapshot whose indexes fit a new one: that of a graph with forgotten episodes has new numbers."""
        base = self.numbering_snapshot
        return base if base.number and self.graph is not None and self.graph.is_compact else None

    def note_snapshot(self, position: ChangePosition) -> None:
        """Remember the position of the snapshot that was just written of the graph."""
        self.latest_snapshot = position
        is_compact = self.graph is not None and self.graph.is_compact
        self.numbering_snapshot = position if is_compact else ChangePosition()


@dataclass(frozen=True)
class SnapshotContent:
    """A graph as arrays, which takes long to make and can be written later.

    Args:
        graph: the graph.
        numbering: its :attr:`TemporalGraph.numbering`.
        position: its position in the history.
        arrays: from :meth:`TemporalGraph.to_arrays`.
    """

    graph: TemporalGraph
    numbering: int
    position: ChangePosition
    arrays: Mapping[str, NDArray[Any]]

    def fits(self, graph: TemporalGraph) -> bool:
        """Return whether ``graph`` is the same one, and has lost nothing since: it may have grown."""
        return self.graph is graph and self.numbering == graph.numbering and graph.is_compact
