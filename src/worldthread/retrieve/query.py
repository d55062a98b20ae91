"""The input and output of every retrieval method."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.names import normalise_name, number_variants
from worldthread.retrieve.question import QuestionKind
from worldthread.retrieve.words import STOP

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*", re.UNICODE)
_LONGEST_NAME: Final = 8  # words
_FIRST_PERSON: Final = re.compile(r"\bI\b(?!\.)|\b[Mm](?:e|y|ine|yself)\b")


@dataclass(frozen=True)
class Query:
    """The question that a retrieval method answers.

    Args:
        text: the question in words.
        vector: its embedding, a unit vector, shape (dimensions,).
        names: the names that the question mentions word for word: their numbers in the index, in order of mention.
        at: the world time that the question is about; ``None`` for now. Methods that follow statements from one to
            the next use those that hold at this time. Methods that score everything ignore it: the caller selects.
        only_current: whether methods that follow statements leave out those that do not hold at that time.
        kind: what kind of answer the question wants.
        asked_at: the world time against which "yesterday" in the question is read; ``None`` for ``at``, or the latest.
    """

    text: str
    vector: NDArray[np.float32]
    names: tuple[int, ...] = ()
    at: float | None = None
    only_current: bool = True
    kind: QuestionKind = QuestionKind.PLAIN
    asked_at: float | None = None


@dataclass(frozen=True)
class Scores:
    """The scores of all episodes and statements of an index for a query.

    Higher is better; ``-inf`` is no hit. Scores of different methods are not comparable.

    Args:
        episodes: float32, by number of the episode, shape (number of episodes,).
        statements: float32, by number of the statement, shape (number of statements,).
        paths: by number of the statement, the names and relations that lead to it, where the method has them.
        episode_paths: the same for episodes.
    """

    episodes: NDArray[np.float32]
    statements: NDArray[np.float32]
    paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    episode_paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def as_asked_by(user: str, question: str) -> str:
    """Return a question with the name of the user in place of "I", "me" and "my".

    >>> as_asked_by("Tom", "Where did I leave my keys?")
    "Where did Tom leave Tom's keys?"

    Args:
        user: the name of the person who asks.
        question: the question.

    Returns:
        The question; the verb keeps its form, because only words and meaning are compared.
    """
    return _FIRST_PERSON.sub(lambda match: f"{user}'s" if match[0].lower() in ("my", "mine") else user, question)


def is_first_person(text: str) -> bool:
    """Return whether a text says "I", "me" or "my"."""
    return _FIRST_PERSON.search(text) is not None


def names_in(text: str, find: Callable[[str], int | None]) -> tuple[int, ...]:
    """Return the known objects that a text names; where names overlap, the longest counts.

    Args:
        text: a question or a sentence.
        find: returns the number of an object by its normalised name; ``None`` when there is none.

    Returns:
        Numbers in order of first mention, without repetition.
    """
    words = list(_WORD.finditer(text))
    found: dict[int, None] = {}
    start = 0
    while start < len(words):
        for size in range(min(_LONGEST_NAME, len(words) - start), 0, -1):
            span = text[words[start].start() : words[start + size - 1].end()]
            number = _named(span, find)
            if number is not None:
                found[number] = None
                start += size
                break
        else:
            start += 1
    return tuple(found)


def _named(span: str, find: Callable[[str], int | None]) -> int | None:
    for key in _keys(span):
        number = find(key)
        if number is not None:
            return number
    return None


@lru_cache(maxsize=8192)
def _keys(span: str) -> tuple[str, ...]:
    """Return the normalised names that ``span`` may stand for, the likeliest first.

    Cached, since the texts of an agent's prompts repeat each other.
    """
    key = normalise_name(span)
    if key in STOP:
        return ()
    exact = [key, *(key[: -len(ending)] for ending in ("'s", "'") if key.endswith(ending))]
    return (*exact, *sorted(variant for candidate in exact for variant in number_variants(candidate)))
