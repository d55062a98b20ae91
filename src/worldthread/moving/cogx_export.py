"""Writes the statements of a memory as a COGX archive, which cognee imports and this package reads again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import IO, Any

from worldthread.moving.cogx import OWN_SYSTEM
from worldthread.moving.cogx_archive import ArchiveWriter
from worldthread.moving.statements_table import StatementRow
from worldthread.names import normalise_name
from worldthread.types import Fact


def write_cogx(rows: Iterable[StatementRow], stream: IO[bytes]) -> int:
    """Write an archive, ``.cogx.tar.gz``: names are entities, facts are facts with their interval, theses are memories.

    The format has dates alone. Exact times, and the intervals of theses, are in the metadata of each record.

    Args:
        rows: the statements.
        stream: is written to.

    Returns:
        How many statements were written.
    """
    archive, named, count = ArchiveWriter(OWN_SYSTEM), set[str](), 0
    for row in rows:
        statement = row.version.statement
        common: dict[str, Any] = {"external_id": row.key, "metadata": _metadata(row)}
        if isinstance(statement, Fact):
            for name in (statement.subject, statement.object):
                if normalise_name(name) not in named:
                    named.add(normalise_name(name))
                    archive.add("entity", {"external_id": normalise_name(name), "name": name})
            fact = {
                "subject_ref": normalise_name(statement.subject),
                "predicate": statement.relation,
                "object_ref": normalise_name(statement.object),
                "fact_text": f"{statement.subject} {statement.relation} {statement.object}.",
                "provenance": list(row.version.sources),
            }
            archive.add("fact", {**common, **fact, **_dates(row, "valid_at", "invalid_at")})
        else:
            archive.add("memory", {**common, "content": statement.text, **_dates(row, "created_at")})
        count += 1
    archive.write(stream, datetime.now(UTC).isoformat())
    return count


def _metadata(row: StatementRow) -> dict[str, Any]:
    values = row.values()
    names = ("valid_from", "valid_to", "sources", "ended_by", "reason", "objects", "user")
    return {name: values[name] for name in names if values[name] is not None}


def _dates(row: StatementRow, start: str, end: str | None = None) -> dict[str, str]:
    """Return the interval as dates, without those that are no dates."""
    times = row.times()
    named = {start: times["valid_from"]} | ({end: times["valid_to"]} if end else {})
    return {name: date for name, at in named.items() if at is not None and (date := _date(at))}


def _date(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""
