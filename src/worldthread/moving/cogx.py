"""cognee's COGX: documents, conversations, memories and facts of cognee or of what was translated for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from worldthread.moving.base import (
    MAX_DUMP_BYTES,
    NO_TEXT,
    NO_TIME,
    UNRECORDABLE,
    Dump,
    DumpItem,
    JsonPart,
    LeftOut,
    Spacing,
)
from worldthread.moving.cogx_archive import is_archive, manifest_of, records_of, unpack
from worldthread.provenance import MetadataValue
from worldthread.types import Fact, Thesis

SOURCE: Final = "cogx"
OWN_SYSTEM: Final = "worldthread"
_NAMED_TYPES: Final = ("Entity", "EntityType")
_LEFT_OUT_ROLES: Final = ("system", "tool", "function")
_TURN_OF_TEXT: Final = "episode"  # the role that cognee gives a text that nobody said


def detect(dump: Dump) -> bool:
    """Return whether the file is a packed archive."""
    return is_archive(dump.data)


@dataclass(frozen=True)
class _NamedNode:
    """A node that facts refer to.

    Args:
        name: its name; empty for a node that is no entity.
        at: the time at which it was made; ``None`` when the archive does not say.
    """

    name: str
    at: float | None


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield what the archive holds.

    Documents, memories, blocks and the turns of conversations are texts; facts are facts with their interval. Entities
    and raw nodes are named by the facts, and are not remembered by themselves.

    Args:
        dump: the file.

    Yields:
        The texts and facts, and one item for each record that is left out.

    Raises:
        FormatError: the file is not such an archive; the message names the place.
    """
    files = unpack(dump.data, dump.path, MAX_DUMP_BYTES)
    exported_at = manifest_of(files, dump.path).time("exported_at")
    for record in records_of(files, "document", dump.path):
        yield _text(dump, record, "content", None)
    for record in records_of(files, "episode", dump.path):
        yield from _turns(dump, record)
    for record in records_of(files, "memory", dump.path):
        yield (
            _thesis(dump, record)
            if record.text("external_system") == OWN_SYSTEM
            else _text(dump, record, "content", None)
        )
    for record in records_of(files, "memory_block", dump.path):
        yield _text(dump, record, "value", exported_at, "label")
    nodes: dict[str, _NamedNode] = {}
    for record in records_of(files, "entity", dump.path):
        nodes[record.required_text("external_id")] = _NamedNode(record.required_text("name"), record.last_change())
        yield LeftOut("entities, which facts name")
    for record in records_of(files, "raw_node", dump.path):
        named = record.text("type") in _NAMED_TYPES and record.has("name")
        made = record.time("created_at") if isinstance(record.get("created_at").value, str) else None
        nodes.setdefault(record.required_text("id"), _NamedNode(record.text("name") if named else "", made))
        yield LeftOut("raw nodes")
    for record in records_of(files, "fact", dump.path):
        yield _fact(dump, record, nodes, exported_at)


def _labels(record: JsonPart) -> dict[str, str]:
    scope = record.get("scope")
    return {
        "user": scope.text("user_id"),
        "agent": scope.text("agent_id"),
        "session": scope.text("session_id") or scope.text("run_id"),
    }


def _metadata(record: JsonPart, *names: str) -> dict[str, MetadataValue]:
    return {
        **record.plain(*names),
        "system": record.text("external_system") or "unknown",
        "record": record.required_text("external_id"),
    }


def _text(dump: Dump, record: JsonPart, field: str, otherwise: float | None, *names: str) -> DumpItem:
    text, at = str(record.get(field).require(str).value), record.last_change()
    at = otherwise if at is None else at
    if at is None:
        return LeftOut(NO_TIME)
    return dump.document(
        record.place, text, at=at, source=SOURCE, metadata=_metadata(record, "title", *names), **_labels(record)
    )


def _turns(dump: Dump, record: JsonPart) -> Iterator[DumpItem]:
    spacing = Spacing(record.last_change())
    labels, metadata = _labels(record), _metadata(record, "title")
    for turn in record.get("turns").each("turn"):
        role, text = turn.required_text("role"), str(turn.get("content").require(str).value)
        at = spacing.place(turn.time("occurred_at"))
        if role in _LEFT_OUT_ROLES:
            yield LeftOut(f"of the role {role}")
        elif at is None:
            yield LeftOut(NO_TIME)
        else:
            speaker = "" if role == _TURN_OF_TEXT else role
            yield dump.document(turn.place, text, at=at, source=SOURCE, speaker=speaker, metadata=metadata, **labels)


def _interval(record: JsonPart, fields: JsonPart) -> tuple[float | None, float | None]:
    """Return the interval of a record: exactly, where we wrote it, else by its dates."""
    if record.text("external_system") == OWN_SYSTEM and fields.has("valid_from"):
        return fields.time("valid_from"), fields.time("valid_to")
    return record.time("valid_at"), record.time("invalid_at")


def _thesis(dump: Dump, record: JsonPart) -> DumpItem:
    """Return a thesis that we exported."""
    text, fields = record.required_text("content"), record.get("metadata")
    start, end = fields.time("valid_from"), fields.time("valid_to")
    objects = tuple(str(part.require(str).value) for part in fields.get("objects").each("object"))
    if start is None:
        return LeftOut(NO_TIME)
    if end is not None and end < start:
        return LeftOut("that end before they begin")
    statement = dump.statement(record.place, lambda: Thesis(text, objects, valid_from=start, valid_to=end))
    return dump.fact(record.place, text, statement, at=start, source=SOURCE, metadata=_metadata(record))


def _fact(dump: Dump, record: JsonPart, nodes: Mapping[str, _NamedNode], exported_at: float | None) -> DumpItem:
    own = record.text("external_system") == OWN_SYSTEM
    ends = [nodes.get(ref, _NamedNode(ref, None)) for ref in map(record.required_text, ("subject_ref", "object_ref"))]
    relation = record.required_text("predicate")
    if not own:
        relation = " ".join(relation.replace("_", " ").split())
    start, end = _interval(record, record.get("metadata"))
    if start is None:
        start = record.time("created_at")
    if start is None:  # cognee exports its own edges without a time
        start = max((node.at for node in ends if node.at is not None), default=exported_at)
    text = record.text("fact_text").strip()
    if not all(node.name for node in ends):
        return LeftOut("about nodes that are no entities")
    if start is None:
        return LeftOut(NO_TIME)
    if end is not None and end < start:
        return LeftOut("that end before they begin")
    if not relation:
        return LeftOut(NO_TEXT)
    if "\0" in text:
        return LeftOut(UNRECORDABLE)
    subject, object_ = (node.name for node in ends)
    statement = dump.statement(record.place, lambda: Fact(subject, relation, object_, valid_from=start, valid_to=end))
    session = _labels(record)["session"]
    return dump.fact(
        record.place, text or f"{subject} {relation} {object_}.", statement, at=start, source=SOURCE, session=session,
        metadata=_metadata(record),
    )  # fmt: skip
