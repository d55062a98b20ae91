"""A dump of Zep's service: ``{"messages": [...], "episodes": [...], "nodes": [...], "edges": [...]}``, as is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from worldthread.moving.base import NO_TIME, Dump, DumpItem, JsonPart, LeftOut, Spacing
from worldthread.moving.graphiti import read_edge

SOURCE: Final = "zep"
_PARTS: Final = ("messages", "episodes", "nodes", "edges")
_OF_ZEP: Final = ("graph_uuid", "thread_uuid", "source_node_name", "role_type")
_LEFT_OUT_ROLES: Final = ("system", "tool", "function", "norole")


def detect(dump: Dump) -> bool:
    """Return whether the file is such a dump; edges and nodes of older releases look like Graphiti's."""
    value = dump.root.value
    if not isinstance(value, dict):
        return False
    first = [
        rows[0] for rows in map(value.get, _PARTS) if isinstance(rows, list) and rows and isinstance(rows[0], dict)
    ]
    return any(name in row for row in first for name in _OF_ZEP)


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield the messages and other texts at their times, and every edge as a fact with its interval.

    Args:
        dump: the file.

    Yields:
        The texts and facts, and one item for each that is left out.

    Raises:
        FormatError: the file is not such a dump; the message names the place.
    """
    root = dump.root.require(dict)
    if not any(root.has(part) for part in _PARTS):
        raise dump.fail(f"expected at least one list of: {', '.join(_PARTS)}")
    spacing: dict[str, Spacing] = {}
    for message in root.get("messages").named("the file").each("message"):
        thread = message.text("thread_uuid") or message.text("session_id")
        yield _message(dump, message, thread, spacing.setdefault(thread, Spacing()))
    for episode in root.get("episodes").named("the file").each("episode"):
        thread = episode.text("thread_uuid")
        if thread and root.has("messages"):
            yield LeftOut("episodes that are among the messages")
        else:
            session = thread or episode.text("graph_uuid")
            yield _message(dump, episode, session, spacing.setdefault(session, Spacing()))
    names = None
    if root.has("nodes"):
        nodes = root.get("nodes").named("the file").each("node")
        names = {node.required_text("uuid"): node.required_text("name") for node in nodes}
    for edge in root.get("edges").named("the file").each("edge"):
        yield read_edge(dump, edge, _names(edge, names), SOURCE, edge.text("graph_uuid"))


def _message(dump: Dump, message: JsonPart, session: str, spacing: Spacing) -> DumpItem:
    uuid, text = message.required_text("uuid"), message.get("content").require(str).value
    role = message.text("role_type") or message.text("role")
    # releases before 3 have the name in "role" and the role in "role_type"
    old_name = message.text("role") if message.has("role_type") else ""
    at = message.time("reference_time")
    at = spacing.place(message.time("created_at") if at is None else at)
    if role in _LEFT_OUT_ROLES:
        return LeftOut(f"of the role {role}")
    if at is None:
        return LeftOut(NO_TIME)
    own, long = message.get("metadata").fields()
    return dump.document(
        message.place, text, at=at, source=SOURCE, session=session,
        speaker=_speaker(message) or old_name or role,
        metadata={**own, "message": uuid}, payload=long,
    )  # fmt: skip


def _speaker(message: JsonPart) -> str:
    """Return the name of who said it: messages and episodes have it under different names."""
    return message.text("name") or message.text("role_name")


def _names(edge: JsonPart, names: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Return the names of the nodes of an edge: those that it holds itself, else those of the file."""
    own: dict[str, Any] = {}
    for end in ("source", "target"):
        if edge.has(f"{end}_node_name"):
            own[edge.required_text(f"{end}_node_uuid")] = edge.required_text(f"{end}_node_name")
    if len(own) == 2 or (own and edge.text("source_node_uuid") == edge.text("target_node_uuid")):
        return own
    return None if names is None else {**names, **own} if own else names
