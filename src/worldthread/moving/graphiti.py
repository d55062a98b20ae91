"""Edges of Graphiti or Zep, as JSON: ``{"nodes": [...], "edges": [...]}``, or a list of edges without their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from worldthread.moving.base import NO_TEXT, NO_TIME, UNRECORDABLE, Dump, DumpItem, JsonPart, LeftOut
from worldthread.types import Fact, Thesis

SOURCE: Final = "graphiti"
_ENDS: Final = ("source_node_uuid", "target_node_uuid")


def detect(dump: Dump) -> bool:
    """Return whether the file holds such edges."""
    return bool(dump.first_row("edges", *_ENDS))


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield every edge as a fact that holds from ``valid_at`` to ``invalid_at``.

    An edge without ``valid_at`` holds from ``created_at``; one that has expired without ``invalid_at`` ends at
    ``expired_at``. Without the nodes, whose names a fact needs, the sentence of the edge is remembered as a thesis.

    Args:
        dump: the file.

    Yields:
        The facts, and one item for each edge that is left out.

    Raises:
        FormatError: the file does not hold such edges; the message names the place.
    """
    root = dump.root
    names = None
    if root.has("nodes"):
        names = {node.required_text("uuid"): node.required_text("name") for node in root.get("nodes").each("node")}
    edges = root.get("edges").require(list) if isinstance(root.value, dict) else root
    for edge in edges.named("the file").each("edge"):
        yield read_edge(dump, edge, names, SOURCE, edge.text("group_id"))


def read_edge(dump: Dump, edge: JsonPart, names: Mapping[str, str] | None, source: str, session: str) -> DumpItem:
    """Return an edge as a fact, or why it is left out.

    Args:
        dump: the file.
        edge: the edge.
        names: the names of the nodes by id; ``None`` when the file has no nodes.
        source: the format of the file.
        session: the session of the fact.

    Raises:
        FormatError: it is not an edge; the message names the place.
    """
    uuid, text, created = edge.required_text("uuid"), edge.text("fact").strip(), edge.time("created_at")
    start, end, expired = edge.time("valid_at"), edge.time("invalid_at"), edge.time("expired_at")
    start = created if start is None else start
    end = expired if end is None else end
    if start is None:
        return LeftOut(NO_TIME)
    if end is not None and end < start:
        return LeftOut("that end before they begin")
    if "\0" in text:
        return LeftOut(UNRECORDABLE)
    if names is not None:
        relation = " ".join(edge.required_text("name").replace("_", " ").lower().split())
        subject, object_ = (_name(edge, names, field) for field in _ENDS)
        statement = dump.statement(edge.place, lambda: Fact(subject, relation, object_, valid_from=start, valid_to=end))
        text = text or f"{subject} {relation} {object_}."
    elif not text:
        return LeftOut(NO_TEXT)
    else:
        statement = dump.statement(edge.place, lambda: Thesis(text, valid_from=start, valid_to=end))
    return dump.fact(
        edge.place, text, statement, at=start, source=source, session=session, metadata={"edge": uuid}
    )  # fmt: skip


def _name(edge: JsonPart, names: Mapping[str, str], field: str) -> str:
    id_ = edge.required_text(field)
    if id_ not in names:
        raise edge.get(field).fail(f"there is no node {id_!r} in the file")
    return names[id_]
