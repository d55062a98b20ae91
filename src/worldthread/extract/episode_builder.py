"""Builds episodes from the contents that a memory is given to remember."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from worldthread.arguments import require_query, require_string
from worldthread.errors import InputError
from worldthread.extract.base import USER
from worldthread.extract.chunks import chunk
from worldthread.extract.documents import Document
from worldthread.extract.prose.patterns import aspect_of
from worldthread.extract.records import documents_of
from worldthread.extract.when import world_time
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
    :data:`PART_GAP`, the first at ``at``.

    Args:
        at: world time of contents without a time.
        source: the source of contents without one.
        user: the name of the speaker whose role is "user".
    """

    def __init__(self, at: float, source: str = "", user: str = USER) -> None:
        self._at = at
        self._source = source
        self._user = user
        self._documents_of_source: Counter[str] = Counter()

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
            return content if content.extraction.extractor else None
        if isinstance(content, Fact | Thesis) or _is_triple(content):
            content = (content,)
        if not isinstance(content, list | tuple | set | frozenset) or not content:
            return None
        if not all(isinstance(item, Fact | Thesis | tuple) for item in content):
            return None
        statements = tuple(_statement(item) for item in content)
        return Episode(
            "\n".join(map(_sentence, statements)), self._at, self._source, Extraction(GIVEN_EXTRACTOR, statements)
        )

    def _passages(self, content: object) -> list[Episode]:
        if isinstance(content, Episode):
            return [content]
        found = []
        for document, at in self._documents_with_times(content):
            parts = chunk(document.text)
            speaker = self._user if document.speaker.lower() == USER else document.speaker
            label = f"{speaker}: " if speaker else ""
            for until_last, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
                part_at = at - until_last * PART_GAP
                found.append(Episode(label + part, part_at, document.source or self._source, speaker=speaker))
        if not found:
            raise InputError("there is nothing to remember: no text is in it")
        return found

    def _documents_with_times(self, content: object) -> Iterator[tuple[Document, float]]:
        """Yield the documents of a content with their world times."""
        if isinstance(content, str):
            yield Document(content), self._at
        elif isinstance(content, Document):
            require_string(content.text, "text of a document")
            require_string(content.source, "source of a document")
            if require_string(content.speaker, "speaker of a document"):
                require_query(content.speaker, "the speaker of a document")
            yield content, self._time_of(content)
        elif isinstance(content, Mapping):
            yield from self._messages([content])
        elif isinstance(content, Iterable):
            yield from self._messages(list(content))
        else:
            raise InputError(f"cannot remember {type(content).__name__}: give {_WANTED}")

    def _time_of(self, document: Document) -> float:
        if document.at is not None:
            return world_time(document.at, self._at)
        if not document.source:
            return self._at
        self._documents_of_source[document.source] += 1
        return self._at + (self._documents_of_source[document.source] - 1) * PART_GAP

    def _messages(self, messages: list[Any]) -> Iterator[tuple[Document, float]]:
        if not all(isinstance(message, Mapping) for message in messages):
            raise InputError(f"cannot remember a list of these things: give {_WANTED}")
        for position, message in enumerate(messages):
            for document in documents_of(message, ""):
                until_last = (len(messages) - 1 - position) * MESSAGE_GAP
                yield document, self._at - until_last if document.at is None else document.at


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
