"""Clusters of names: a memory that is too large to draw whole, as a few dozen discs that open.

Names belong to one cluster when statements link them with each other more than with others: the communities of the
Leiden algorithm (Traag, Waltman and van Eck 2019), over the statements of any time, so that the picture stays as it is
while the moment changes. A large cluster consists of smaller ones, which are looked for when it is opened.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import NameLinks

MOST_SHOWN: Final = 40
"""The most clusters in one picture."""
MOST_NAMES: Final = 250
"""The most names in a picture of names. A cluster with more is shown as the clusters in it, if it has any."""
_MOST_LINES: Final = 3  # of one cluster to others, the strongest, so that a picture does not become a ball of wool
_CAPTION: Final = 3  # names
_BEST: Final = 12  # most connected names that are listed of a cluster
_SEED: Final = 1
# Fewer, larger clusters come first: of 92,000 names the 40 largest hold 67 % at a resolution of 0.3, 53 % at 1.
_COARSE: Final = 0.3
_FINE: Final = 1.0


@dataclass(frozen=True)
class Cluster:
    """Names that belong together.

    Args:
        members: their numbers, ascending.
        level: how many clusters it lies in, counted with itself; 0 for all names.
        best: the numbers of those with the most links to other members, the most connected first.
    """

    members: NDArray[np.int64]
    level: int
    best: list[int]

    @property
    def anchor(self) -> int:
        """The number of the most connected name, which stands for the cluster in an address."""
        return self.best[0]


@dataclass(frozen=True)
class ClusterLine:
    """The statements that link names of two clusters.

    Args:
        first: the place of one of the clusters among those that are shown.
        second: that of the other.
        count: how many statements of those that were asked for.
    """

    first: int
    second: int
    count: int


@dataclass
class NameClusters:
    """The clusters of the names of a graph, and the clusters in these. Thread-safe.

    Args:
        links: which names stand in a statement together.
    """

    links: NameLinks
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _inside: dict[tuple[int, int], list[Cluster]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        ends = (self.links.first, self.links.second)
        self._number = 1 + max((int(end.max(initial=-1)) for end in ends), default=-1)
        self._repeats = len(np.unique(self.links.statements)) < len(self.links.statements)
        """Whether a statement has several links."""
        members = np.unique(np.concatenate(ends))
        self.whole = Cluster(members, 0, _most_connected(members, *ends, self._number))

    def prepare(self) -> None:
        """Look for the first clusters, which takes longest."""
        self.inside(self.whole)

    def inside(self, cluster: Cluster) -> list[Cluster]:
        """Return the clusters in a cluster, the largest first; none if it is a small one, or has no parts."""
        if len(cluster.members) <= MOST_NAMES:
            return []
        with self._lock:
            key = cluster.level, cluster.anchor
            if key not in self._inside:
                self._inside[key] = self._divided(cluster)
            return self._inside[key]

    def _divided(self, cluster: Cluster) -> list[Cluster]:
        place = np.full(self._number, -1, np.int64)
        place[cluster.members] = np.arange(len(cluster.members))
        first, second = place[self.links.first], place[self.links.second]
        is_link = (first >= 0) & (second >= 0)
        first, second = first[is_link], second[is_link]
        labels = _communities(first, second, len(cluster.members), _FINE if cluster.level else _COARSE)
        sizes = np.bincount(labels)
        if len(sizes) < 2 or sizes.max() > 0.95 * len(cluster.members):
            return []  # a hub with its neighbours: parts would say nothing
        order = np.lexsort((np.arange(len(sizes)), -sizes))
        members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        same = labels[first] == labels[second]
        first, second = first[same], second[same]
        strength = np.bincount(np.concatenate((first, second)), minlength=len(cluster.members))
        found = []
        for label in order.tolist():
            inner = members[label]
            best = inner[np.lexsort((inner, -strength[inner]))[:_BEST]]
            found.append(Cluster(cluster.members[inner], cluster.level + 1, cluster.members[best].tolist()))
        return found

    def path_to(self, name: int, level: int) -> list[Cluster]:
        """Return the clusters in which a name lies, the largest first; not the whole.

        Args:
            name: its number.
            level: the most to return.
        """
        path = [self.whole]
        while len(path) <= level:
            inner = next((one for one in self.inside(path[-1]) if _has(one, name)), None)
            if inner is None:
                break
            path.append(inner)
        return path[1:]

    def counts(
        self, clusters: list[Cluster], holding: NDArray[np.bool_]
    ) -> tuple[list[int], list[int], list[ClusterLine]]:
        """Count what holds in clusters and between them.

        Args:
            clusters: the clusters, which share no name.
            holding: which links count; see :meth:`NameLinks.holding`.

        Returns:
            For each cluster how many of its names have a statement, and how many statements are about its names alone;
            and the strongest lines between two clusters, which are the same whatever counts.
        """
        label = np.full(self._number, -1, np.int64)
        for place, cluster in enumerate(clusters):
            label[cluster.members] = place
        links = self.links
        is_told = np.zeros(self._number, bool)
        is_told[links.first[holding]] = True
        is_told[links.second[holding]] = True
        names = np.bincount(label[is_told & (label >= 0)], minlength=len(clusters))
        first, second = label[links.first], label[links.second]
        is_shown = np.flatnonzero((first >= 0) & (second >= 0))
        first, second, counted = first[is_shown], second[is_shown], holding[is_shown]
        pairs = np.minimum(first, second) * len(clusters) + np.maximum(first, second)
        # a thesis about three names has two links, and is counted once
        if self._repeats:
            kept = np.unique(links.statements[is_shown] * len(clusters) ** 2 + pairs, return_index=True)[1]
            pairs, counted = pairs[kept], counted[kept]
        size = len(clusters) ** 2
        now = np.bincount(pairs[counted], minlength=size).reshape(-1, len(clusters))
        ever = np.bincount(pairs, minlength=size).reshape(-1, len(clusters))
        lines = [ClusterLine(first, second, int(now[first, second])) for first, second in _strongest(ever)]
        return names.tolist(), np.diag(now).tolist(), lines

    def statements_in(self, names: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the statements that are about some of these names alone."""
        is_one = np.zeros(self._number, bool)
        is_one[names] = True
        inner = is_one[self.links.first] & is_one[self.links.second]
        found = np.unique(self.links.statements[inner])
        return found[~np.isin(found, self.links.statements[~inner])] if self._repeats else found

    def strongest(self, cluster: Cluster, number: int) -> NDArray[np.int64]:
        """Return the most connected names of a cluster, the most connected first."""
        is_one = np.zeros(self._number, bool)
        is_one[cluster.members] = True
        inner = is_one[self.links.first] & is_one[self.links.second]
        ends = self.links.first[inner], self.links.second[inner]
        return np.array(_most_connected(cluster.members, *ends, self._number, number), np.int64)

    def caption(self, cluster: Cluster) -> list[str]:
        """Return the names that say what a cluster is about."""
        return [self.links.names[name] for name in cluster.best[:_CAPTION]]

    def changes(self, bars: int) -> list[tuple[float, int, int]]:
        """Return when how much began and how much ended.

        Args:
            bars: the most moments. If there are more, neighbouring ones become one.

        Returns:
            World time, versions that began and versions that ended, ascending.
        """
        begins = self.links.begins[np.isfinite(self.links.begins)]
        ends = self.links.ends[np.isfinite(self.links.ends)]
        moments = np.unique(np.concatenate((begins, ends)))
        if len(moments) > bars:
            spread = np.linspace(moments[0], moments[-1], bars + 1)[:-1]
            places = np.unique(np.searchsorted(moments, spread, side="left"))
            moments = moments[places[places < len(moments)]]
        counts = [
            np.bincount(np.searchsorted(moments, times, side="right") - 1, minlength=len(moments))
            for times in (begins, ends)
        ]
        return list(zip(moments.tolist(), *(count.tolist() for count in counts), strict=True))


def _communities(
    first: NDArray[np.int64], second: NDArray[np.int64], number: int, resolution: float
) -> NDArray[np.int64]:
    """Return the community of each vertex of a graph, numbered from 0."""
    from graspologic_native import leiden_csr  # late: a small memory needs none

    is_link = first != second
    pairs = np.concatenate((first[is_link] * number + second[is_link], second[is_link] * number + first[is_link]))
    if not len(pairs):
        return np.arange(number, dtype=np.int64)
    pairs, weights = np.unique(pairs, return_counts=True)
    pointers = np.searchsorted(pairs, np.arange(number + 1, dtype=np.int64) * number).astype(np.int64)
    others, weights = (pairs % number).astype(np.int32), weights.astype(np.float64)
    _, found = leiden_csr(pointers, others, weights, number, resolution=resolution, seed=_SEED)
    labels = np.full(number, -1, np.int64)
    labels[np.fromiter(found.keys(), np.int64, len(found))] = np.fromiter(found.values(), np.int64, len(found))
    alone = np.flatnonzero(labels < 0)
    labels[alone] = labels.max() + 1 + np.arange(len(alone))
    return labels


def _most_connected(
    members: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64], size: int, number: int = _BEST
) -> list[int]:
    strength = np.bincount(np.concatenate((first, second)), minlength=size)[members]
    found: list[int] = members[np.lexsort((members, -strength))[:number]].tolist()
    return found


def _strongest(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the pairs of different places that are among the strongest of one of both."""
    between = np.triu(counts, 1)
    both = between + between.T
    kept = set()
    for place, row in enumerate(both):
        for other in np.argsort(-row, kind="stable")[:_MOST_LINES].tolist():
            if row[other]:
                kept.add((min(place, other), max(place, other)))
    return sorted(kept)


def _has(cluster: Cluster, name: int) -> bool:
    place = int(np.searchsorted(cluster.members, name))
    return place < len(cluster.members) and int(cluster.members[place]) == name
