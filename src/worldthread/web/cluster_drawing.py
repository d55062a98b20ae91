"""Drawings of clusters: what the page of a large memory shows first, and what is in a cluster that was opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from worldthread.extract.when import shown_name
from worldthread.graph import TemporalGraph
from worldthread.web.clusters import MOST_NAMES, MOST_SHOWN, Cluster, NameClusters
from worldthread.web.graph_drawing import GraphDrawing, written_names
from worldthread.web.name_kinds import NameKind, name_kind
from worldthread.web.names import NameIndex
from worldthread.web.overview import CountedTime

_BARS: Final = 240  # moments of the axis of time
_MOST_STATEMENTS: Final = 1000  # in a picture of names
_MOST_ASKED: Final = 8  # statements about a name that are asked how it is written


@dataclass
class ClusterPictures:
    """Draws the clusters of a graph.

    Args:
        clusters: the clusters.
        numbering: the :attr:`~worldthread.graph.TemporalGraph.numbering` of the graph that they are of.
    """

    clusters: NameClusters
    numbering: int
    _described: dict[tuple[int, int], tuple[str, NameKind]] = field(default_factory=dict, init=False)

    def picture(
        self, graph: TemporalGraph, names: NameIndex, cluster: Cluster, *, skip: int, time: CountedTime
    ) -> dict[str, Any]:
        """Draw the clusters in a cluster, or its names if there are none.

        Args:
            graph: the graph; it must not change while it is drawn.
            names: gives the weights of names.
            cluster: the cluster; the first one holds all names.
            skip: how many clusters in it to leave out, the largest ones.
            time: what counts; a picture of names has all its statements, with the intervals in which they held.

        Returns:
            ``vertices`` and ``edges``, as :meth:`~worldthread.web.graph_drawing.GraphDrawing.as_json` returns them. A
            cluster has the kind ``cluster``, ``label``, ``type`` (of most of its best-known names), ``weight`` (the
            number of its names with a statement in the time), ``statements`` (about its names alone) and ``cluster``
            (how to ask for it). An edge between two has the kind ``link`` and ``count``, of statements. And
            ``clusters``: what the drawing is of.
        """
        inside = self.clusters.inside(cluster)
        drawn = self._clusters(graph, inside[skip : skip + MOST_SHOWN], time) if inside else None
        left = inside[skip + MOST_SHOWN :]
        path = self.clusters.path_to(cluster.anchor, cluster.level)
        return {
            **(drawn or self._names(graph, names, cluster)),
            "clusters": {
                "path": [self._named(graph, one) for one in path],
                "skip": skip,
                "total": len(inside),
                "names": len(cluster.members),
                "left": len(left),
                "left_names": sum(len(one.members) for one in left),
                "best": [weighed_name(graph, names, self.clusters.links.names[name]) for name in cluster.best],
                "changes": self.clusters.changes(_BARS) if inside else [],
            },
        }

    def _clusters(self, graph: TemporalGraph, shown: list[Cluster], time: CountedTime) -> dict[str, Any]:
        holding = self.clusters.links.holding(time.at, time.span, ended=time.ended)
        told, statements, lines = self.clusters.counts(shown, holding)
        vertices = [
            {
                "id": _vertex_id(self._named(graph, one)), "kind": "cluster", "label": self._label(graph, one)[0],
                "type": self._label(graph, one)[1], "weight": told[place], "statements": statements[place],
                "size": len(one.members), "cluster": self._named(graph, one),
            }
            for place, one in enumerate(shown)
        ]  # fmt: skip
        edges = [
            {
                "id": f"l:{vertices[line.first]['id']}\n{vertices[line.second]['id']}",
                "from": vertices[line.first]["id"], "to": vertices[line.second]["id"], "kind": "link",
                "relation": "", "held": [], "number": None, "episode": None, "restates": False, "count": line.count,
            }
            for line in lines
        ]  # fmt: skip
        return {"vertices": vertices, "edges": edges}

    def _names(self, graph: TemporalGraph, names: NameIndex, cluster: Cluster) -> dict[str, Any]:
        chosen = self.clusters.strongest(cluster, MOST_NAMES)
        drawing = GraphDrawing(graph, names)
        for number in self.clusters.statements_in(chosen)[:_MOST_STATEMENTS].tolist():
            drawing.add_statement(number)
        return drawing.as_json()

    def _named(self, graph: TemporalGraph, cluster: Cluster) -> dict[str, Any]:
        name = self.clusters.links.names[cluster.anchor]
        return {"name": name, "level": cluster.level, "label": self._label(graph, cluster)[0]}

    def _label(self, graph: TemporalGraph, cluster: Cluster) -> tuple[str, NameKind]:
        """Return the caption of a cluster, and what most of its best-known names stand for."""
        key = cluster.level, cluster.anchor
        if key not in self._described:
            strings = self.clusters.links.names
            kinds = Counter(name_kind(graph, strings[name]) for name in cluster.best)
            caption = ", ".join(written_name(graph, name) for name in self.clusters.caption(cluster))
            self._described[key] = caption, kinds.most_common(1)[0][0]
        return self._described[key]


def written_name(graph: TemporalGraph, name: str, numbers: Iterable[int] | None = None) -> str:
    """Return a normalised name as it is written in a statement.

    Args:
        graph: the graph.
        name: the name.
        numbers: the statements to look at; ``None`` for the first about the name.

    Returns:
        The name as the first of these statements with it writes it; as it is if there is none.
    """
    for number in graph.numbers_about(name, _MOST_ASKED) if numbers is None else numbers:
        statement = graph.numbered_statement(number)
        if statement is not None and (form := written_names(statement).get(name)) is not None:
            return shown_name(form)
    return shown_name(name)


def weighed_name(graph: TemporalGraph, names: NameIndex, name: str, weight: int | None = None) -> dict[str, Any]:
    """Return a normalised name with its ``label`` and its ``weight``: how many statements mention it."""
    return {
        "name": name,
        "label": written_name(graph, name),
        "weight": names.weight(name) if weight is None else weight,
    }


def _vertex_id(named: dict[str, Any]) -> str:
    return f"c:{named['level']}:{named['name']}"
