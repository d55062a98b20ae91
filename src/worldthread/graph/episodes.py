"""The episodes that a graph was made from, by number: everything but their texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import NotFoundError
from worldthread.graph.provenances import ProvenanceTable
from worldthread.graph.strings import StringTable
from worldthread.provenance import TIMEZONE, UNKNOWN, Provenance


@dataclass(frozen=True)
class EpisodeRecord:
    """What the graph keeps of an episode: everything but its text.

    Args:
        id: id of the episode.
        at: world time.
        source: where the episode comes from.
        recorded_at: recorded time, in seconds since 1970-01-01 UTC; ``None`` when it was never stored.
        extractor: name of the extractor that read the episode; empty when nothing has read it.
        failures: number of pieces that the extractor could not understand.
        extracted_at: recorded time of the extraction, if it replaced an earlier one; ``None`` while it is the first.
        provenance: its speaker and its labels.
    """

    id: str
    at: float
    source: str
    recorded_at: float | None
    extractor: str = ""
    failures: int = 0
    extracted_at: float | None = None
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class EpisodeColumns:
    """What filters look at, by number of the episode; each has the shape (episodes,). The arrays must not be changed.

    Args:
        at: world times.
        recorded: recorded times; not a number where an episode was never stored.
        source: numbers of strings.
        provenance: numbers of provenances.
        present: whether the episode was not removed.
    """

    at: NDArray[np.float64]
    recorded: NDArray[np.float64]
    source: NDArray[np.int64]
    provenance: NDArray[np.int64]
    present: NDArray[np.bool_]


class EpisodeTable:
    """Episodes, numbered from 0 in order of arrival. The number of a removed episode is not used again.

    Args:
        strings: holds sources and names of extractors.
    """

    __slots__ = (
        "_columns",
        "_of_users",
        "at",
        "digests",
        "extracted",
        "extractors",
        "failures",
        "ids",
        "latest",
        "numbers",
        "provenance_numbers",
        "provenances",
        "recorded",
        "sources",
        "strings",
    )

    def __init__(self, strings: StringTable) -> None:
        self.strings = strings
        self.ids: list[str] = []
        self.at: list[float] = []
        self.sources: list[int] = []
        self.provenance_numbers: list[int] = []
        self.provenances = ProvenanceTable()
        self.recorded: list[float | None] = []
        self.extracted: dict[int, float] = {}
        """Recorded times of the extractions that replaced earlier ones."""
        self.latest = -math.inf
        """The latest recorded time of an episode or an extraction, also when it was removed since."""
        self.extractors: list[int] = []
        self.failures: list[int] = []
        self.digests: list[str] = []
        """Digests of the extractions."""
        self.numbers: dict[str, int] = {}
        """Numbers of the episodes that were not removed, by id."""
        self._columns: EpisodeColumns | None = None
        # how many episodes were looked at, and the numbers of each user's, once there are several users
        self._of_users: tuple[int, dict[str, list[int]]] = 0, {}

    def add(self, record: EpisodeRecord, digest: str) -> int:
        """Add an episode whose extraction has this digest, and return its number."""
        number = len(self.ids)
        self.ids.append(record.id)
        self.at.append(record.at)
        self.sources.append(self.strings.intern(record.source))
        self.provenance_numbers.append(self.provenances.intern(record.provenance))
        self.recorded.append(record.recorded_at)
        self.extractors.append(self.strings.intern(record.extractor))
        self.failures.append(record.failures)
        self.digests.append(digest)
        self.numbers[record.id] = number
        if record.recorded_at is not None:
            self.latest = max(self.latest, record.recorded_at)
        if record.extracted_at is not None:
            self.extracted[number] = record.extracted_at
            self.latest = max(self.latest, record.extracted_at)
        return number

    def reread(self, number: int, record: EpisodeRecord, digest: str) -> None:
        """Note another extraction of an episode, with this digest."""
        self.extractors[number] = self.strings.intern(record.extractor)
        self.failures[number] = record.failures
        self.digests[number] = digest
        if record.extracted_at is not None:
            self.extracted[number] = record.extracted_at
            self.latest = max(self.latest, record.extracted_at)

    def remove(self, number: int) -> None:
        """Remove an episode; its number stays unused."""
        del self.numbers[self.ids[number]]
        self.extracted.pop(number, None)

    def number(self, episode_id: str) -> int:
        """Return the number of an episode.

        Args:
            episode_id: id of the episode.

        Returns:
            The number.

        Raises:
            NotFoundError: there is no such episode.
        """
        try:
            return self.numbers[episode_id]
        except KeyError:
            raise NotFoundError(f"no episode {episode_id!r} in this memory") from None

    def record(self, number: int) -> EpisodeRecord:
        """Return the episode of a number."""
        strings = self.strings.items
        return EpisodeRecord(
            self.ids[number],
            self.at[number],
            strings[self.sources[number]],
            self.recorded[number],
            strings[self.extractors[number]],
            self.failures[number],
            self.extracted.get(number),
            self.provenances.items[self.provenance_numbers[number]],
        )

    def user(self, number: int) -> str:
        """Return the user whose episode it is; empty for none."""
        return self.provenances.items[self.provenance_numbers[number]].labels.user

    def talks(self, start: int) -> list[int]:
        """Return for the episodes from a number on which source and user they have, as one number."""
        sources = self.sources[start:]
        if len(self.provenances.users) < 2:
            return sources
        users = {user: number << 32 for number, user in enumerate(self.provenances.users)}
        numbers = [users[one.labels.user] for one in self.provenances.items]
        return [source + numbers[own] for source, own in zip(sources, self.provenance_numbers[start:], strict=True)]

    def timezone(self, number: int) -> str:
        """Return the time zone of who wrote an episode; empty for UTC."""
        zone = self.provenances.items[self.provenance_numbers[number]].labels.metadata.get(TIMEZONE, "")
        return zone if isinstance(zone, str) else ""

    def of_user(self, user: str) -> Sequence[int]:
        """Return the numbers of the episodes of a user, those included that were removed; not to be changed."""
        if len(self.provenances.users) < 2:
            return range(len(self.ids) if user in self.provenances.users else 0)
        count, found = self._of_users
        users = [one.labels.user for one in self.provenances.items] if count < len(self.ids) else []
        for number in range(count, len(self.ids)):
            found.setdefault(users[self.provenance_numbers[number]], []).append(number)
        self._of_users = len(self.ids), found
        return found.get(user, ())

    def columns(self) -> EpisodeColumns:
        """Return the columns of all episodes as arrays. What was added since the last time is appended to them."""
        old, count = self._columns, len(self.ids)
        known = 0 if old is None else len(old.at)
        if old is None or known < count:
            recorded = [np.nan if time is None else time for time in self.recorded[known:]]
            new = (
                np.array(self.at[known:], np.float64),
                np.array(recorded, np.float64),
                np.array(self.sources[known:], np.int64),
                np.array(self.provenance_numbers[known:], np.int64),
            )
            if old is not None:
                before = (old.at, old.recorded, old.source, old.provenance)
                new = tuple(np.concatenate(pair) for pair in zip(before, new, strict=True))  # type: ignore[assignment]
            self._columns = EpisodeColumns(*new, np.ones(count, bool))
        assert self._columns is not None
        if not self.is_compact:
            present = np.zeros(count, bool)
            present[np.fromiter(self.numbers.values(), np.int64, len(self.numbers))] = True
            return replace(self._columns, present=present)
        return self._columns

    def order(self, number: int) -> tuple[float, str]:
        """Return the sort key of the fold order: world time, then id."""
        return self.at[number], self.ids[number]

    def last(self) -> tuple[float, str] | None:
        """Return the greatest sort key; ``None`` without episodes."""
        if self.is_compact:
            return max(zip(self.at, self.ids, strict=True), default=None)
        return max((self.order(number) for number in self.numbers.values()), default=None)

    def is_read(self, number: int) -> bool:
        """Return whether an extractor has read the episode and has understood all of it."""
        return not self.failures[number] and bool(self.strings.items[self.extractors[number]])

    @property
    def is_compact(self) -> bool:
        """Whether no episode was removed."""
        return len(self.numbers) == len(self.ids)
