"""What a mirror holds: its kinds of vertices and edges, the Cypher for each, and their rows for a memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeAlias

from worldthread.extract.when import is_date, shown_time
from worldthread.memory.record import Record
from worldthread.types import Episode, Thesis, Version

Row: TypeAlias = dict[str, Any]
"""Properties by name; an edge has ``from_id`` and ``to_id`` too."""


@dataclass(frozen=True)
class MirrorTable:
    """One kind of vertices or edges.

    Args:
        name: the label, or the type.
        properties: the names of their properties, ``id`` first.
        read: returns rows in the order of the numbers that the database gave them, after a number, with the number
            last and, for edges, the ids of both ends before it. (Databases do not agree how to order texts.)
        look_up: returns the rows of some ids, with the ids of both ends last for edges.
        write: adds rows, or replaces those of the same id.
        remove: removes rows.
        remove_some: removes vertices of any id, as many as ``limit``, and counts them; empty for edges.
        count: counts the rows.
        index: makes an index for them.
    """

    name: str
    properties: tuple[str, ...]
    read: LiteralString
    look_up: LiteralString
    write: LiteralString
    remove: LiteralString
    remove_some: LiteralString
    count: LiteralString
    index: tuple[LiteralString, ...]
    is_edge: bool = False


_INTERVAL: Final = ("begin", "begin_exact", "since", "end", "end_exact", "until", "ended_by", "reason")


def _vertices(label: LiteralString, properties: tuple[LiteralString, ...]) -> MirrorTable:
    returned = ", ".join(f"n.{name}" for name in properties)
    return MirrorTable(
        label,
        properties,
        f"MATCH (n:{label} {{memory: $memory}}) WHERE id(n) > $after RETURN {returned}, id(n) "
        "ORDER BY id(n) LIMIT $limit",
        f"UNWIND $rows AS row MATCH (n:{label} {{memory: $memory, id: row.id}}) RETURN {returned}",
        f"UNWIND $rows AS row MERGE (n:{label} {{memory: $memory, id: row.id}}) SET n = row",
        f"UNWIND $rows AS row MATCH (n:{label} {{memory: $memory, id: row.id}}) DETACH DELETE n",
        f"MATCH (n:{label} {{memory: $memory}}) WITH n LIMIT $limit DETACH DELETE n RETURN count(n)",
        f"MATCH (n:{label} {{memory: $memory}}) RETURN count(n)",
        (f"CREATE INDEX FOR (n:{label}) ON (n.memory)", f"CREATE INDEX FOR (n:{label}) ON (n.id)"),
    )


def _edges(
    kind: LiteralString, begin: LiteralString, end: LiteralString, properties: tuple[LiteralString, ...]
) -> MirrorTable:
    returned = ", ".join((*(f"e.{name}" for name in properties), "a.id", "b.id"))
    ends = f"MATCH (a:{begin} {{memory: $memory, id: row.from_id}}), (b:{end} {{memory: $memory, id: row.to_id}})"
    edge = (
        f"UNWIND $rows AS row MATCH (a:{begin} {{memory: $memory, id: row.from_id}})"
        f"-[e:{kind} {{id: row.id}}]->(b:{end})"
    )
    return MirrorTable(
        kind,
        properties,
        f"MATCH (a:{begin} {{memory: $memory}})-[e:{kind}]->(b:{end}) WHERE id(e) > $after "
        f"RETURN {returned}, id(e) ORDER BY id(e) LIMIT $limit",
        f"{edge} RETURN {returned}",
        f"UNWIND $rows AS row {ends} MERGE (a)-[e:{kind} {{id: row.id}}]->(b) SET e = row.properties",
        f"{edge} DELETE e",
        "",
        f"MATCH (:{begin} {{memory: $memory}})-[e:{kind}]->() RETURN count(e)",
        (),
        is_edge=True,
    )


OBJECT: Final = _vertices("Object", ("id", "name"))
EPISODE: Final = _vertices(
    "Episode", ("id", "at", "at_exact", "time", "source", "text", "speaker", "user", "agent", "session")
)
THESIS: Final = _vertices("Thesis", ("id", "text", "objects"))
FACT: Final = _edges("FACT", "Object", "Object", ("id", "relation", "text", "sources", *_INTERVAL))
ABOUT: Final = _edges("ABOUT", "Thesis", "Object", ("id",))
STATES: Final = _edges("STATES", "Episode", "Thesis", ("id", *_INTERVAL))
NAMES: Final = _edges("NAMES", "Episode", "Object", ("id",))

TABLES: Final = (OBJECT, EPISODE, THESIS, FACT, ABOUT, STATES, NAMES)
"""All kinds, vertices first."""


def rows_of(record: Record, texts: dict[str, Episode]) -> dict[str, dict[str, Row]]:
    """Return what the mirror of a memory holds.

    Args:
        record: the memory.
        texts: episodes that were read before, by id; new ones are added, and those that are gone removed.

    Returns:
        Rows by id, by the name of their kind. Equal memories have equal rows.
    """
    found: dict[str, dict[str, Row]] = {table.name: {} for table in TABLES}
    with record.read_lock() as graph:
        alive = set(graph.episodes())
        for gone in texts.keys() - alive:
            del texts[gone]
        for id_ in alive - texts.keys():
            texts[id_] = record.episode(id_)
        for id_ in alive:
            found["Episode"][id_] = _episode_row(texts[id_])
        for name in graph.objects():
            found["Object"][name] = {"id": name, "name": name}
        for number in graph.statement_numbers:
            shown = graph.numbered_statement(number)
            if isinstance(shown, Thesis):
                objects = {"objects": list(shown.objects)} if shown.objects else {}
                found["Thesis"][shown.id] = {"id": shown.id, "text": shown.text, **objects}
            for place, version in enumerate(graph.numbered_versions(number)):
                for table, row in _statement_rows(version, place, graph.names_of(number), graph.user_of(number)):
                    found[table.name][row["id"]] = row
    return {name: {row["id"]: row for row in rows.values()} for name, rows in found.items()}


def _statement_rows(
    version: Version, place: int, names: tuple[str, ...], user: str
) -> Iterator[tuple[MirrorTable, Row]]:
    statement, interval = version.statement, _interval(version)
    key = f"{statement.id}#{place:06}{'#' if user else ''}{user}"
    for name in dict.fromkeys(names):
        for source in version.sources:
            yield NAMES, {"id": f"{source} {name}", "from_id": source, "to_id": name}
    if isinstance(statement, Thesis):
        for name in dict.fromkeys(names):
            yield ABOUT, {"id": f"{statement.id} {name}", "from_id": statement.id, "to_id": name}
        for source in version.sources:
            yield STATES, {"id": f"{key} {source}", "from_id": source, "to_id": statement.id, **interval}
        return
    yield (
        FACT,
        {
            "id": key,
            "from_id": names[0],
            "to_id": names[-1],
            "relation": statement.relation,
            "text": str(statement),
            "sources": list(version.sources),
            **interval,
        },
    )


def _interval(version: Version) -> Row:
    """Return an interval as numbers, exactly as text, and for people; ends that are not known are left out."""
    begin, end = version.interval.valid_from, version.interval.valid_to
    found: Row = {}
    for value, number, exact, shown in ((begin, "begin", "begin_exact", "since"), (end, "end", "end_exact", "until")):
        if math.isfinite(value):
            found |= {number: float(value), exact: repr(float(value)), shown: shown_time(value)}
    if version.ended_by is not None:
        found["ended_by"] = version.ended_by
    if version.reason is not None:
        found["reason"] = version.reason
    return found


def _episode_row(episode: Episode) -> Row:
    row: Row = {
        "id": episode.id,
        "at": float(episode.at),
        "at_exact": repr(float(episode.at)),
        "source": episode.source,
        "text": episode.text,
        "speaker": episode.speaker,
        "user": episode.user,
        "agent": episode.agent,
        "session": episode.session,
    }
    return row | ({"time": shown_time(episode.at)} if is_date(episode.at) else {})
