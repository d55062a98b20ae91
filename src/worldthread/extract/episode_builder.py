"""Builds episodes from the contents that a memory is given to remember."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from worldthread.arguments import require_query, require_string
from worldthread.errors import InputError
from worldthread.extract.base import USER
from worldthread.extract.chunks import chunk
from worldthread.extract.documents import Document
from worldthread.extract.prose.patterns import aspect_of
from worldthread.extract.records import documents_of
from worldthread.extract.when import world_time
from worldthread.provenance import NO_LABELS, Labels, require_metadata
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis

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
    """

    def __init__(
        self,
        at: float,
        source: str = "",
        user: str = USER,
        *,
        labels: Labels = NO_LABELS,
        one_by_one: bool = False,
    ) -> None:
        self._at = at
        self._source = source
        self._user = user
        self._labels = labels
        self._one_by_one = one_by_one
        self._documents_of_source: Counter[str] = Counter()
        self._latest_of_source: dict[str, float] = {}

    def build(self, content: object) -> Episode | list[Episode]:
        """Return the episodes of one content, checked.

        Args:
            content: a text, a ``Document``, an ``Episode``, messages (mappings with ``role`` and ``content``), or
                statements (``Fact``, ``Thesis``, or triples of strings).

        Returns:
            One episode when its statements are given; else a list with an episode for each passage, whose statements
            are still to be extracted.

        Raises:
            InputError: the content is none of these, or has no text.
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
            **_fields(self._labels),
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
        placed = [(one, chunk(one.document.text)) for one in self._placed_documents(content)]
        found = [
            self._episode(one.document, part, at)
            for (one, parts), times in zip(placed, self._times(placed), strict=True)
            for part, at in zip(parts, times, strict=True)
        ]
        if not found:
            raise InputError("there is nothing to remember: no text is in it")
        return found

    def _episode(self, document: Document, part: str, at: float) -> Episode:
        """Return the episode of one passage of a document."""
        labels = self._labels
        if document.user or document.agent or document.session or document.metadata:
            own = Labels(document.user, document.agent, document.session, require_metadata(document.metadata))
            labels = own.or_else(labels)
        speaker = (labels.user or self._user) if document.speaker.lower() == USER else document.speaker
        text = f"{speaker}: {part}" if speaker else part
        return Episode(text, at, document.source or self._source, speaker=speaker, **_fields(labels))

    def _times(self, placed: Sequence[tuple[_Placed, Sequence[str]]]) -> list[list[float]]:
        """Return the times of the passages of each document."""
        times: list[list[float]] = []
        if self._one_by_one:
            for one, parts in placed:
                has_own = one.position is None
                times.append(_times_until(one.at, len(parts)) if has_own else [self._next_time() for _ in parts])
            return times
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
        return times[::-1]

    def _placed_documents(self, content: object) -> Iterator[_Placed]:
        """Yield the documents of a content with their world times."""
        if isinstance(content, str):
            yield _Placed(Document(content), self._at, 0)
        elif isinstance(content, Document):
            require_string(content.text, "text of a document")
            require_string(content.source, "source of a document")
            if require_string(content.speaker, "speaker of a document"):
                require_query(content.speaker, "the speaker of a document")
            if content.at is not None:
                yield _Placed(content, world_time(content.at, self._at), None)
            else:
                yield _Placed(content, self._time_in_source(content.source), 0)
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
        if not all(isinstance(message, Mapping) for message in messages):
            raise InputError(f"cannot remember a list of these things: give {_WANTED}")
        for position, message in enumerate(messages):
            for document in documents_of(message, "", keep_fields=True):
                if document.at is not None:
                    yield _Placed(document, document.at, None)
                else:
                    yield _Placed(document, self._at - (len(messages) - 1 - position) * MESSAGE_GAP, position)


class _Placed(NamedTuple):
    """A document at its world time, and its position among the messages; ``None`` when it brings its own time."""

    document: Document
    at: float
    position: int | None


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
