"""The statements of a memory as rows of a table and as parts of a graph, from which every export is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from worldthread.extract.when import shown_time
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.names import normalise_name
from worldthread.types import Fact, TimeLike, Version

_PAGE: Final = 1000

COLUMNS: Final = (
    "id", "kind", "subject", "relation", "object", "text", "objects", "valid_from", "valid_to", "since", "until",
    "sources", "episodes", "ended_by", "reason", "user",
)  # fmt: skip
"""The columns of a table of statements."""


@dataclass(frozen=True)
class StatementRow:
    """A statement in one interval in which it held.

    Args:
        version: the statement and its interval.
        sources: the sources of the episodes that state it, each once; none for episodes without a source.
        user: the user of these episodes; empty for none.
    """

    version: Version
    sources: tuple[str, ...]
    user: str = ""

    @property
    def key(self) -> str:
        """A name that no other row has: the id of the statement, its interval, and the user if there is one."""
        interval = self.version.interval
        whose = f" of {self.user}" if self.user else ""
        return f"{self.version.statement.id}@{interval.valid_from!r}-{interval.valid_to!r}{whose}"

    @property
    def subjects(self) -> tuple[str, ...]:
        """The names that the statement is about, normalised."""
        statement = self.version.statement
        names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
        return tuple(dict.fromkeys(map(normalise_name, names)))

    def times(self) -> dict[str, Any]:
        """Return the interval, as numbers and as dates; no end while it is open."""
        start, end, is_open = (
            self.version.interval.valid_from,
            self.version.interval.valid_to,
            self.version.interval.is_open,
        )
        return {
            "valid_from": start,
            "valid_to": None if is_open else end,
            "since": shown_time(start),
            "until": None if is_open else shown_time(end),
        }

    def values(self) -> dict[str, Any]:
        """Return the values of :data:`COLUMNS` by name: strings, numbers, lists of strings, or ``None``."""
        statement, version = self.version.statement, self.version
        return {
            "id": statement.id,
            "kind": "fact" if isinstance(statement, Fact) else "thesis",
            "subject": statement.subject if isinstance(statement, Fact) else None,
            "relation": statement.relation if isinstance(statement, Fact) else None,
            "object": statement.object if isinstance(statement, Fact) else None,
            "text": str(statement),
            "objects": None if isinstance(statement, Fact) else list(statement.objects),
            **self.times(),
            "sources": list(self.sources),
            "episodes": list(version.sources),
            "ended_by": version.ended_by,
            "reason": version.reason,
            "user": self.user or None,
        }


def statement_rows(
    memory: Memory, *, where: Filter | None, as_of: TimeLike | None, only_current: bool
) -> Iterator[StatementRow]:
    """Yield the statements of a memory; see :meth:`Memory.list_statements` for the arguments and the order."""
    read: dict[str, tuple[str, str]] = {}  # episode -> its source and its user
    cursor = None
    while True:
        page = memory.list_statements(where, as_of=as_of, only_current=only_current, limit=_PAGE, cursor=cursor)
        for version in page.items:
            for id_ in version.sources:
                if id_ not in read:
                    episode = memory.episode(id_)
                    read[id_] = episode.source, episode.user
            sources = dict.fromkeys(source for id_ in version.sources if (source := read[id_][0]))
            yield StatementRow(version, tuple(sources), read[version.sources[0]][1])
        cursor = page.cursor
        if cursor is None:
            return
