"""The time zone of a person: texts are read on the days of whoever wrote them, and recorded in UTC.

The zone stands in the metadata of an episode, so that it is part of the record and of every export. Extractors know
nothing of it: they are given the time on the person's clock, as if that were UTC, and what they find is moved to UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from worldthread.errors import InputError
from worldthread.extract.when import is_date, shown_time, time_of_saying
from worldthread.provenance import TIMEZONE
from worldthread.types import Ending, Episode, Extraction, Interval, Statement, Version

_UTC_MARK: Final = re.compile(r"(?<=\d\d:\d\d)Z")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def zone_named(name: str) -> tzinfo:
    """Return a time zone.

    Args:
        name: an IANA name, such as "Europe/Rome", or an offset from UTC, such as "-08:00"; empty for UTC.

    Raises:
        InputError: there is no such zone.
    """
    if not name:
        return UTC
    try:
        if name[0] in "+-":
            found = datetime.fromisoformat(f"2024-01-01T00:00:00{name}").tzinfo
            return UTC if found is None else found
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise InputError(
            f"{name!r} is not a time zone: give a name such as 'Europe/Rome', or an offset such as '-08:00'"
        ) from None


def zone_of(value: object, at: float, setting: str) -> str:
    """Return the time zone of a text.

    Args:
        value: the time of the text as it was given.
        at: the same as world time.
        setting: the zone of the memory; empty for none.

    Returns:
        The offset or the zone of ``value``, unless it names none, or UTC, or has the same offset as the setting: then
        the setting. Empty for UTC, and where times are turns.
    """
    if not is_date(at):
        return ""
    given = value
    if isinstance(value, str):
        try:
            given = datetime.fromisoformat(value.strip())
        except ValueError:
            return setting
    offset = given.utcoffset() if isinstance(given, datetime) else None
    if not offset or offset == (_EPOCH + timedelta(seconds=at)).astimezone(zone_named(setting)).utcoffset():
        return setting
    assert isinstance(given, datetime)
    name = getattr(given.tzinfo, "key", None)
    return name if isinstance(name, str) else str(timezone(offset)).removeprefix("UTC")


def time_of_reading(episode: Episode) -> float:
    """Return the time against which a text is read: that on the clock of who wrote it, to the second.

    Args:
        episode: the text with its metadata.
    """
    return local_time(time_of_saying(episode.at), episode.metadata)


def local_time(at: float, metadata: Mapping[str, Any]) -> float:
    """Return a world time as the time that a clock shows in the zone of some metadata, counted as if in UTC."""
    zone = _zone(metadata)
    if zone is None or not is_date(at):
        return at
    try:
        offset = (_EPOCH + timedelta(seconds=at)).astimezone(zone).utcoffset()
    except (OverflowError, ValueError):
        return at
    return at + (offset.total_seconds() if offset else 0)


def shown_local_time(at: float, metadata: Mapping[str, Any]) -> str:
    """Return a world time as text for people, with the day and hour of who wrote a text.

    Args:
        at: world time.
        metadata: of the text, with its zone.
    """
    return with_offset(shown_time(local_time(at, metadata)), local_time(at, metadata) - at)


def with_offset(text: str, offset: float) -> str:
    """Return a text in which times of day have an offset from UTC, in seconds, in place of "Z"."""
    shown = str(timezone(timedelta(seconds=offset))).removeprefix("UTC")
    return _UTC_MARK.sub(shown, text) if shown else text


def local_version(version: Version) -> Version:
    """Return a version with the times that a clock shows where its first text was written, counted as if in UTC."""
    if not version.timezone:
        return version
    metadata = {TIMEZONE: version.timezone}
    begin, end = version.interval.valid_from, version.interval.valid_to
    times = (None if time is None else local_time(time, metadata) for time in _times(version.statement))
    valid_from, valid_to, begins_by = times
    statement = replace(version.statement, valid_from=valid_from, valid_to=valid_to, begins_by=begins_by)
    return replace(
        version, statement=statement, interval=Interval(local_time(begin, metadata), local_time(end, metadata))
    )


def _zone(metadata: Mapping[str, Any]) -> tzinfo | None:
    name = metadata.get(TIMEZONE)
    try:
        return zone_named(name) if isinstance(name, str) and name else None
    except InputError:  # a key that a program uses for something else
        return None


def in_world_time(extraction: Extraction, read: Extraction, metadata: Mapping[str, Any]) -> Extraction:
    """Return an extraction with world times in place of those on the clock of who wrote the text.

    Args:
        extraction: what the text states and ends.
        read: what was read in the text alone: other times of its statements are those of older statements, which are
            world times.
        metadata: of the text, with its zone.
    """
    zone = _zone(metadata)
    if zone is None:
        return extraction
    as_read = {one: _times(one) for one in read.statements}

    def moved(time: float | None) -> float | None:
        if time is None or not is_date(time):
            return time
        try:
            return ((_EPOCH + timedelta(seconds=time)).replace(tzinfo=zone) - _EPOCH).total_seconds()
        except (OverflowError, ValueError):
            return time

    def statement(one: Statement) -> Statement:
        if as_read.get(one) != (times := _times(one)) or not any(times):
            return one
        valid_from, valid_to, begins_by = map(moved, times)
        return replace(one, valid_from=valid_from, valid_to=valid_to, begins_by=begins_by)

    def ending(one: Ending) -> Ending:
        return one if one.at is None else replace(one, at=moved(one.at))

    return replace(
        extraction,
        statements=tuple(map(statement, extraction.statements)),
        endings=tuple(map(ending, extraction.endings)),
    )


def _times(statement: Statement) -> tuple[float | None, float | None, float | None]:
    return statement.valid_from, statement.valid_to, statement.begins_by
