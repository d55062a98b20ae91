"""What the readers of other programs' files share: values that know their place, and the items that readers yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from worldthread.errors import FormatError, InputError
from worldthread.extract.documents import Document
from worldthread.extract.records import metadata_of
from worldthread.extract.when import world_time
from worldthread.files.foreign_json import read_json, write_json
from worldthread.provenance import LONGEST_VALUE, Labels, Metadata, MetadataValue
from worldthread.support.arguments import require_query, require_string
from worldthread.types import Episode, Extraction, Statement

MESSAGE_GAP: Final = 1e-3
"""Seconds between messages that a file gives the same time, so that they keep their order."""

MAX_DUMP_BYTES: Final = 1 << 29
"""The most bytes of a file to import, also after unpacking. It is held in memory as a whole, several times over."""

_EARLIEST: Final = -62_135_596_800.0  # the year 1
_LATEST: Final = 253_402_300_800.0  # the year 10000
_EXTRACTOR: Final = "given/1"

NO_TEXT: Final = "without text"
NO_TIME: Final = "without a time"
UNRECORDABLE: Final = "with the character NUL"

DateOrder: TypeAlias = Literal["day-first", "month-first"]
"""How dates such as 03/04/24 are written."""


@dataclass(frozen=True)
class LeftOut:
    """A message or fact of the file that is not remembered.

    Args:
        reason: why, in words that follow a number of messages: "on another branch".
        problem: what is damaged, if that is why.
    """

    reason: str
    problem: str = ""


DumpItem: TypeAlias = Document | Episode | LeftOut
"""What a reader yields for one message or fact of a file."""


@dataclass(frozen=True)
class Dump:
    """A file of another program, read but not understood yet.

    Args:
        data: the bytes of the file.
        path: the file.
        user: the person whose memory the file becomes; empty when the file says it, or nobody does.
        session: the session of everything in the file; empty to take what the file says.
        metadata: is added to everything in the file.
        date_order: how dates are written where the file does not tell; ``None`` when nobody knows.
    """

    data: bytes
    path: Path
    user: str = ""
    session: str = ""
    metadata: Mapping[str, MetadataValue] | None = None
    date_order: DateOrder | None = None

    @cached_property
    def root(self) -> JsonPart:
        """The file as JSON.

        Raises:
            FormatError: it is not JSON.
        """
        try:
            return JsonPart(read_json(self.data), "the file", self.path)
        except ValueError as error:
            raise FormatError(f"this is not JSON: {error}", path=self.path) from None

    def rows(self, name: str) -> JsonPart:
        """Return the list that the file is or, in an object, that stands under a name.

        Raises:
            FormatError: there is no list.
        """
        root = self.root
        rows = root.get(name).require(list) if isinstance(root.value, dict) else root
        return rows.named("the file")

    def first_row(self, name: str, *keys: str) -> Mapping[str, Any]:
        """Return the first row with some keys of the file's list, or of the list in a field of it.

        Args:
            name: the field; the file itself is the row where it has no such field.
            keys: what the row must have; damaged rows before it are passed over.

        Returns:
            The row; empty when there is none.
        """
        value = self.root.value
        found = value.get(name, value) if isinstance(value, dict) else value
        rows = found if isinstance(found, list) else [found]
        return next((row for row in rows if isinstance(row, dict) and set(keys) <= row.keys()), {})

    def fail(self, message: str, line: int | None = None) -> FormatError:
        """Return the error for a problem in this file."""
        return FormatError(message, path=self.path, line=line)

    def document(
        self,
        place: str,
        text: str,
        *,
        at: float,
        source: str,
        speaker: str = "",
        user: str = "",
        agent: str = "",
        session: str = "",
        metadata: Mapping[str, MetadataValue] | None = None,
        payload: str = "",
    ) -> Document | LeftOut:
        """Return a message or another text as a document, or why it is left out.

        Raises:
            FormatError: a label cannot be used; the message names the place.
        """
        if not text.strip():
            return LeftOut(NO_TEXT)
        if "\0" in text:
            return LeftOut(UNRECORDABLE)
        labels = self._labels(place, user, agent, session, metadata)
        name = " ".join(speaker.split())
        if name:
            try:
                name = require_query(require_string(name, "the speaker"), "the speaker")
            except InputError as error:
                raise self.fail(f"{place}: {error}") from None
        return Document(
            text.strip(), at, source, name, labels.user, labels.agent, labels.session, labels.metadata, payload
        )  # fmt: skip

    def fact(
        self,
        place: str,
        text: str,
        statement: Statement,
        *,
        at: float,
        source: str,
        session: str = "",
        metadata: Mapping[str, MetadataValue] | None = None,
    ) -> Episode:
        """Return a fact with its times as an episode that states it.

        Raises:
            FormatError: a label or the text cannot be used; the message names the place.
        """
        labels = self._labels(place, "", "", session, metadata)
        try:
            return Episode(
                text, at, source, Extraction(_EXTRACTOR, (statement,)),
                user=labels.user, agent=labels.agent, session=labels.session, metadata=labels.metadata,
            )  # fmt: skip
        except InputError as error:
            raise self.fail(f"{place}: {error}") from None

    def statement(self, place: str, make: Callable[[], Statement]) -> Statement:
        """Return the statement that a function makes.

        Raises:
            FormatError: its parts cannot be used; the message names the place.
        """
        try:
            return make()
        except InputError as error:
            raise self.fail(f"{place}: {error}") from None

    def _labels(
        self, place: str, user: str, agent: str, session: str, metadata: Mapping[str, MetadataValue] | None
    ) -> Labels:
        try:
            merged = Metadata({**(metadata or {}), **(self.metadata or {})})
            return Labels(user or self.user, agent, self.session or session, merged)
        except InputError as error:
            raise self.fail(f"{place}: {error}") from None


class JsonPart:
    """A value in a JSON file that knows its place, so that every error names it.

    Args:
        value: the value.
        place: where it is, in words.
        path: the file.

    Attributes:
        value: the value.
        place: where it is, in words.
    """

    def __init__(self, value: Any, place: str, path: Path) -> None:
        self.value = value
        self.place = place
        self._path = path

    def fail(self, message: str) -> FormatError:
        """Return the error for a problem here."""
        return FormatError(f"{self.place}: {message}", path=self._path)

    def require(self, *kinds: type) -> JsonPart:
        """Return this part if its value has one of these types.

        Raises:
            FormatError: it has another type.
        """
        if not isinstance(self.value, kinds) or (isinstance(self.value, bool) and bool not in kinds):
            raise self.fail(f"expected {' or '.join(map(_named, kinds))}, not {_named(type(self.value))}")
        return self

    def has(self, name: str) -> bool:
        """Return whether this is a mapping in which the name has a value other than null."""
        return isinstance(self.value, dict) and self.value.get(name) is not None

    def get(self, name: str) -> JsonPart:
        """Return the part under a name; its value is ``None`` when there is none, and when this is null.

        Raises:
            FormatError: this is neither a mapping nor null.
        """
        value = None if self.value is None else self.require(dict).value.get(name)
        return JsonPart(value, f"{self.place}, {name!r}", self._path)

    def named(self, place: str) -> JsonPart:
        """Return this part under another name of its place."""
        return JsonPart(self.value, place, self._path)

    def each(self, noun: str) -> Iterator[JsonPart]:
        """Yield the elements of this list, named by a noun and a number from 1; nothing for null.

        Raises:
            FormatError: this is not a list.
        """
        if self.value is None:
            return
        within = "" if self.place == "the file" else f"{self.place}, "
        for number, element in enumerate(self.require(list).value, 1):
            yield JsonPart(element, f"{within}{noun} {number}", self._path)

    def text(self, name: str) -> str:
        """Return the string under a name; empty for null.

        Raises:
            FormatError: it is not a string.
        """
        part = self.get(name)
        return "" if part.value is None else str(part.require(str).value)

    def required_text(self, name: str) -> str:
        """Return the string under a name.

        Raises:
            FormatError: it is not a string, or is empty.
        """
        value: str = self.get(name).require(str).value
        if not value.strip():
            raise self.get(name).fail("must not be empty")
        return value

    def time(self, name: str) -> float | None:
        """Return the time under a name, in seconds since 1970-01-01 UTC; ``None`` for null.

        Raises:
            FormatError: it is not a number or an ISO 8601 text, or outside of the years 1 to 9999.
        """
        part = self.get(name)
        if part.value is None or part.value == "":
            return None
        try:
            at = world_time(part.require(str, int, float).value, 0.0)
        except FormatError:
            raise
        except (InputError, OverflowError) as error:
            raise part.fail(str(error)) from None
        if not _EARLIEST <= at < _LATEST:
            raise part.fail(f"the time {at:.16g} is outside of the years 1 to 9999")
        return at

    def last_change(self) -> float | None:
        """Return the time under ``updated_at``, else under ``created_at``; ``None`` when both are null.

        Raises:
            FormatError: one of them is not a time, see :meth:`time`.
        """
        created, updated = self.time("created_at"), self.time("updated_at")
        return created if updated is None else updated

    def fields(self, *without: str) -> tuple[Mapping[str, MetadataValue], str]:
        """Return the values of this mapping as metadata, and those that metadata cannot hold as a payload.

        Args:
            without: names that are left out.

        Raises:
            FormatError: this is neither a mapping nor null.
        """
        given = {} if self.value is None else self.require(dict).value
        wanted = {key: value for key, value in given.items() if key not in without and value not in (None, [], {}, "")}
        metadata, other = metadata_of(wanted)
        return metadata, write_json(other) if other else ""

    def plain(self, *names: str) -> dict[str, MetadataValue]:
        """Return those of the named values that metadata can hold as they are, by name."""
        found: dict[str, MetadataValue] = {}
        for name in names:
            value = self.get(name).value
            if isinstance(value, bool | int | float) or (isinstance(value, str) and value):
                found[name] = value[:LONGEST_VALUE].replace("\0", "") if isinstance(value, str) else value
        return found


def each_apart(
    parts: Iterable[JsonPart], read: Callable[[JsonPart], Iterable[DumpItem]], what: str
) -> Iterator[DumpItem]:
    """Yield what is read of each part of a file; a damaged part is left out and counted, and costs no other.

    Args:
        parts: the parts, such as conversations.
        read: reads one.
        what: what they are, in the plural.

    Yields:
        The items, and one for each damaged part.

    Raises:
        FormatError: every part is damaged; the first of them.
    """
    first: FormatError | None = None
    damaged, has_read = [], False
    for part in parts:
        try:
            items = list(read(part))
        except FormatError as error:
            first = first or error
            damaged.append(LeftOut(f"in damaged {what}", str(error)))
            continue
        has_read = True
        yield from items
    if first is not None and not has_read:
        raise first
    yield from damaged


class Spacing:
    """Gives messages of one time, or without one, times a millisecond apart, in their order in the file."""

    def __init__(self, start: float | None = None) -> None:
        self._given: Counter[float] = Counter()
        self._last = start

    def place(self, at: float | None) -> float | None:
        """Return the time of the next message.

        Args:
            at: its time in the file; ``None`` when it has none, for just after the message before.

        Returns:
            The time; ``None`` when no message before has one either.
        """
        if at is None:
            at = self._last
        if at is None:
            return None
        placed = at + self._given[at] * MESSAGE_GAP
        self._given[at] += 1
        self._last = at
        return placed


def _named(kind: type) -> str:
    names = {dict: "a mapping", list: "a list", str: "a string", int: "a number", float: "a number"}
    names |= {bool: "a truth value", type(None): "null"}
    return names.get(kind, kind.__name__)
