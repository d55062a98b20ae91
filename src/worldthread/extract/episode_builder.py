"""Builds episodes from the contents that a memory is given to remember."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, Final, NamedTuple

from worldthread.errors import InputError
from worldthread.extract.base import USER
from worldthread.extract.chunks import chunk
from worldthread.extract.diary import days_of, with_headings
from worldthread.extract.documents import Document
from worldthread.extract.prose.patterns import aspect_of
from worldthread.extract.recalled import without_recalled
from worldthread.extract.records import documents_of, time_given
from worldthread.extract.when import is_date, world_time
from worldthread.extract.zones import zone_named, zone_of
from worldthread.provenance import NO_LABELS, TIMEZONE, Labels, require_metadata
from worldthread.support.arguments import require_query, require_string, whole_characters
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis, TimeLike

GIVEN_EXTRACTOR: Final = "given/1"
"""The extractor recorded for statements that were given as such."""

MESSAGE_GAP: Final = 1e-3
"""World time between two messages of one list without times: a millisecond, where world time counts seconds."""

PART_GAP: Final = 1e-6
"""World time between two passages of one text, and between documents of one source without times: a microsecond."""

_WANTED: Final = (
    "a text, a Document, an Episode, messages (mappings with 'role' and 'content'), or statements (Fact, Thesis, or "
    "triples of strings)"
)


RECALLED: Final = "recalled"
OF_A_PROGRAM: Final = "instructions and results of tools"
"""Why a turn of a conversation is skipped, beside :data:`~worldthread.extract.records.NO_TEXT`."""

_OF_PROGRAMS: Final = frozenset(["system", "developer", "tool", "function"])


class EpisodeBuilder:
    """Builds episodes from contents, one content after the other.

    A later passage of a text can end what an earlier one states, and the graph does not order episodes of the same
    world time. So they are spaced: passages of one text by :data:`PART_GAP`, the last at the time of the text; messages
    of one list without times by :data:`MESSAGE_GAP`, the last at ``at``; documents of one source without a time by
    :data:`PART_GAP`, the first at ``at``. Where floats are too coarse for these gaps, which happens to microseconds
    above 8e9, the next float is taken.

    Args:
        at: world time of contents without a time.
        source: the source of contents without one.
        user: the name of the speaker whose role is "user", where the labels name none.
        labels: labels of contents that bring none of their own.
        one_by_one: every passage without a time, of whatever content, comes :data:`PART_GAP` after the one before; the
            first is at ``at``, and nothing is before it.
        is_present: ``at`` is only the time of the call, and nobody named it.
        held: returns what was said in the session of an episode, with its user, agent and source, in order; a list of
            messages that begins with all of that is the same conversation, and its episodes are those.
        given: ``at`` as it was given; ``None`` when it was not.
        timezone: the time zone of the memory; empty for none. A text keeps it, or the offset of its time, as metadata.

    Attributes:
        skipped: what had no text, by the reason.
    """

    def __init__(
        self,
        at: float,
        source: str = "",
        user: str = USER,
        *,
        labels: Labels = NO_LABELS,
        one_by_one: bool = False,
        is_present: bool = False,
        held: Callable[[Episode], Iterable[Episode]] = lambda episode: (),
        given: TimeLike | None = None,
        timezone: str = "",
    ) -> None:
        self._at = at
        self._timezone = timezone
        self._zone = zone_of(given, at, timezone)
        self._source = source
        self._user = user
        self._labels = labels
        self._one_by_one = one_by_one
        self._documents_of_source: Counter[str] = Counter()
        self._latest_of_source: dict[str, float] = {}
        self._is_present = is_present
        self._held = held
        self._said: dict[tuple[str, ...], list[Episode]] = {}  # by session, of what is built here
        self.skipped: Counter[str] = Counter()

    def build(self, content: object) -> Episode | list[Episode]:
        """Return the episodes of one content, checked.

        Args:
            content: a text, a ``Document``, an ``Episode``, messages (mappings with ``role`` and ``content``), or
                statements (``Fact``, ``Thesis``, or triples of strings).

        Returns:
            One episode when its statements are given; else a list with an episode for each passage, whose statements
            are still to be extracted. It is empty for turns of a conversation of which none has a text.

        Raises:
            InputError: the content is none of these, or is empty.
        """
        return self._given_episode(content) or self._passages(content)

    def _given_episode(self, content: object) -> Episode | None:
        """Return the episode of a content that brings its statements; ``None`` for any other content."""
        if isinstance(content, Episode):
            if self._labels:
                raise InputError(
                    "an Episode brings its own user, agent, session and metadata: set them there (dataclasses.replace)"
                )
            return content if content.extraction.extractor else None
        if isinstance(content, Fact | Thesis) or _is_triple(content):
            content = (content,)
        if not isinstance(content, list | tuple | set | frozenset) or not content:
            return None
        if not all(isinstance(item, Fact | Thesis | tuple) for item in content):
            return None
        statements = tuple(_statement(item) for item in content)
        return Episode(
            "\n".join(map(_sentence, statements)),
            self._next_time(),
            self._source,
            Extraction(GIVEN_EXTRACTOR, statements),
            **_fields(_with_zone(self._labels, self._zone)),
        )

    def _next_time(self) -> float:
        """Return the time of the next content or passage without one."""
        at = self._at
        if self._one_by_one:
            self._at = max(at + PART_GAP, math.nextafter(at, math.inf))
        return at

    def _passages(self, content: object) -> list[Episode]:
        if isinstance(content, Episode):
            return [content]
        skipped = self.skipped.total()
        placed = [(one, chunk(_readable(one.document))) for one in self._new_documents(content)]
        found = [
            self._episode(one, part, at, is_first=not number)
            for (one, parts), times in zip(placed, self._times(placed), strict=True)
            for number, (part, at) in enumerate(zip(parts, times, strict=True))
        ]
        if not found and self.skipped.total() == skipped:
            raise InputError("there is nothing to remember: no text is in it")
        is_conversation = not isinstance(content, str | Document) and all(one.position is not None for one, _ in placed)
        return self._continued(found) if found and found[0].session and is_conversation else found

    def _continued(self, episodes: list[Episode]) -> list[Episode]:
        """Return the episodes of a list of messages, with those that its session holds already in their places.

        Programs send the whole conversation with each turn. What comes after what is known comes later, too.
        """
        first = episodes[0]
        key = (first.source, first.user, first.agent, first.session)
        is_one_session = all((one.source, one.user, one.agent, one.session) == key for one in episodes)
        said = self._said.setdefault(key, [])
        known = _places_of(chain(self._held(first), said), episodes) if is_one_session and len(episodes) > 1 else {}
        if len(known) == len(episodes) and not self._is_present and known[len(known) - 1].at != episodes[-1].at:
            known = {}  # the same once more, and at another time that somebody named
        found = [known.get(place, episode) for place, episode in enumerate(episodes)]
        if known and self._is_present:
            latest = max(one.at for one in known.values())
            for place, episode in enumerate(found):
                if place not in known:
                    later = max(latest + PART_GAP, math.nextafter(latest, math.inf))
                    latest = max(episode.at, later)
                    found[place] = replace(episode, at=latest)
        said += [episode for place, episode in enumerate(found) if place not in known]
        return found

    def _episode(self, one: _Placed, part: str, at: float, *, is_first: bool) -> Episode:
        """Return the episode of one passage of a document, the first of which has the payload."""
        document, labels = one.document, self._labels
        if document.user or document.agent or document.session or document.metadata:
            own = Labels(document.user, document.agent, document.session, require_metadata(document.metadata))
            labels = own.or_else(labels)
        speaker = (labels.user or self._user) if document.speaker.lower() == USER else document.speaker
        text = f"{speaker}: {part}" if speaker else part
        source, payload = document.source or self._source, document.payload if is_first else ""
        return Episode(text, at, source, speaker=speaker, payload=payload, **_fields(_with_zone(labels, one.zone)))

    def _times(self, placed: Sequence[tuple[_Placed, Sequence[str]]]) -> list[list[float]]:
        """Return the times of the passages of each document."""
        times: list[list[float]] = []
        if self._one_by_one:
            for one, parts in placed:
                has_own = one.position is None
                times.append(_times_until(one.at, len(parts)) if has_own else [self._next_time() for _ in parts])
            return self._times_of_entries(placed, times)
        position: int | None = None
        end = start = math.inf  # a message ends before the first passage of the next one
        for one, parts in reversed(placed):
            if one.position is None:
                times.append(_times_until(one.at, len(parts)))
                continue
            if one.position != position:
                position, end = one.position, start
            times.append(_times_until(one.at, len(parts), end))
            start = min([start, *times[-1]])
        return self._times_of_entries(placed, times[::-1])

    def _times_of_entries(
        self, placed: Sequence[tuple[_Placed, Sequence[str]]], times: list[list[float]]
    ) -> list[list[float]]:
        """Return the times of passages; those of entries of a diary are of the days of their headings."""
        for (one, parts), own in zip(placed, times, strict=True):
            if one.document.speaker or not is_date(one.at):
                continue
            latest: dict[datetime, float] = {}
            for number, day in enumerate(days_of(parts)):
                if day is None:
                    continue
                begin = day.replace(tzinfo=zone_named(one.zone)).timestamp()
                if begin < one.at:  # what is headed by a day to come is a plan
                    later = latest.get(day, begin) + PART_GAP
                    own[number] = latest[day] = later
        return times

    def _new_documents(self, content: object) -> Iterator[_Placed]:
        """Yield the documents of a content without what the memory has recalled itself."""
        for one in self._placed_documents(content):
            text = without_recalled(one.document.text)
            if text is one.document.text:
                yield one
            elif text.strip():
                yield one._replace(document=replace(one.document, text=text))
            else:
                self.skipped[RECALLED] += 1

    def _placed_documents(self, content: object) -> Iterator[_Placed]:
        """Yield the documents of a content with their world times."""
        if isinstance(content, str):
            yield _Placed(Document(content), self._at, 0, self._zone)
        elif isinstance(content, Document):
            require_string(content.text, "text of a document")
            require_string(content.source, "source of a document")
            if require_string(content.speaker, "speaker of a document"):
                require_query(content.speaker, "the speaker of a document")
            if content.at is not None:
                yield self._placed(content, content.at)
            else:
                yield _Placed(content, self._time_in_source(content.source), 0, self._zone)
        elif isinstance(content, Mapping):
            yield from self._messages([content])
        elif isinstance(content, Iterable):
            yield from self._messages(list(content))
        else:
            raise InputError(f"cannot remember {type(content).__name__}: give {_WANTED}")

    def _time_in_source(self, source: str) -> float:
        if not source:
            return self._at
        at = self._at + self._documents_of_source[source] * PART_GAP
        at = max(at, math.nextafter(self._latest_of_source.get(source, -math.inf), math.inf))
        self._documents_of_source[source] += 1
        self._latest_of_source[source] = at
        return at

    def _messages(self, messages: list[Any]) -> Iterator[_Placed]:
        # objects of the packages of model makers, such as the message of an answer
        messages = [message.model_dump() if hasattr(message, "model_dump") else message for message in messages]
        if not all(isinstance(message, Mapping) for message in messages):
            raise InputError(f"cannot remember a list of these things: give {_WANTED}")
        for position, message in enumerate(messages):
            role = message.get("role")
            if isinstance(role, str) and role.lower() in _OF_PROGRAMS and message.get("speaker") is None:
                self.skipped[OF_A_PROGRAM] += 1
                continue
            for document in documents_of(message, "", keep_fields=True, skipped=self.skipped):
                if document.at is not None:
                    yield self._placed(document, time_given(message) or document.at)
                else:
                    at = self._at - (len(messages) - 1 - position) * MESSAGE_GAP
                    yield _Placed(document, at, position, self._zone)

    def _placed(self, document: Document, given: Any) -> _Placed:
        """Return a document at its own time, as it was given."""
        at = world_time(given, self._at, zone=zone_named(self._timezone))
        return _Placed(document, at, None, zone_of(given, at, self._timezone))


def _places_of(held: Iterable[Episode], episodes: Sequence[Episode]) -> dict[int, Episode]:
    """Find all of what is held, in its order, among episodes that begin with it.

    Args:
        held: what was said.
        episodes: what is said now; between what is held, it may have messages that were forgotten.

    Returns:
        What is held, by its place among the episodes; empty unless all of it is there, from the first place on.
    """
    found: dict[int, Episode] = {}
    place = last = -1
    for one in held:
        is_next = place + 1 < len(episodes) and _says_the_same(one, episodes[place + 1])
        if last >= 0 and not is_next and _says_the_same(one, episodes[last]):
            continue  # stored twice, when a first call was repeated
        place += 1
        while place < len(episodes) and not _says_the_same(one, episodes[place]):
            place += 1
        if place == len(episodes) or (not found and place > 0):
            return {}
        found[place], last = one, place
    return found


def _says_the_same(episode: Episode, other: Episode) -> bool:
    return (episode.speaker, episode.text) == (other.speaker, other.text)


def _readable(document: Document) -> str:
    """Return the text of a document, in which the days of a diary are headings."""
    text = whole_characters(document.text)
    return text if document.speaker else with_headings(text)


class _Placed(NamedTuple):
    """A document at its world time, and its position among the messages; ``None`` when it brings its own time."""

    document: Document
    at: float
    position: int | None
    zone: str


def _with_zone(labels: Labels, zone: str) -> Labels:
    """Return labels with the time zone of a text, unless they name one."""
    if not zone or TIMEZONE in labels.metadata:
        return labels
    return replace(labels, metadata=require_metadata({**labels.metadata, TIMEZONE: zone}))


def _fields(labels: Labels) -> dict[str, Any]:
    """Return the fields of an episode that hold labels."""
    return {
        "user": labels.user,
        "agent": labels.agent,
        "session": labels.session,
        "metadata": labels.metadata,
    }


def _times_until(at: float, count: int, end: float = math.inf) -> list[float]:
    """Return ``count`` rising times, the last one at ``at``, all before ``end``."""
    times = []
    for until_last in range(count):
        time = at - until_last * PART_GAP
        end = time if time < end else math.nextafter(end, -math.inf)
        times.append(end)
    return times[::-1]


def _is_triple(content: object) -> bool:
    return isinstance(content, tuple) and len(content) == 3 and all(isinstance(part, str) for part in content)


def _statement(item: object) -> Statement:
    if isinstance(item, Fact | Thesis):
        return item
    assert isinstance(item, tuple)
    if len(item) != 3:
        raise InputError(f"a fact is three strings (subject, relation, object), not {item!r}")
    fact = Fact(*item)
    return replace(fact, aspect=aspect_of(fact))


def _sentence(statement: Statement) -> str:
    if isinstance(statement, Thesis):
        return statement.text
    return f"{statement.subject} {statement.relation} {statement.object}."
