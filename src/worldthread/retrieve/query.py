"""What is asked, and how the answer of a method looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.names import normalise_name, number_variants

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*", re.UNICODE)
_LONGEST_NAME: Final = 8  # words

# words that stand in almost every question and name nothing in particular
_STOP: Final = frozenset({
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "down", "during",
    "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
    "how", "i", "if", "in", "into", "is", "it", "its", "just", "many", "me", "more", "most", "much", "my", "no", "nor",
    "not", "now", "of", "off", "on", "once", "one", "only", "or", "other", "our", "out", "over", "own", "same", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
})  # fmt: skip


@dataclass(frozen=True)
class Query:
    """A question as retrieval sees it.

    Args:
        text: in words.
        vector: its embedding, a unit vector, shape (dimensions,).
        names: the objects of the graph that it names: vertex numbers of the corpus, in order of mention.
    """

    text: str
    vector: NDArray[np.float32]
    names: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scores:
    """How well everything in a corpus fits a query; higher is better, ``-inf`` never fits.

    Args:
        episodes: shape (number of episodes,), by number.
        statements: shape (number of statements,), by number.
        paths: for some statements (by number) the names and relations that led there.
        episode_paths: the same for episodes.
    """

    episodes: NDArray[np.float32]
    statements: NDArray[np.float32]
    paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    episode_paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def names_in(text: str, find: Callable[[str], int | None]) -> tuple[int, ...]:
    """The known objects that ``text`` names, longest names first where they overlap.

    Args:
        text: a question or a sentence.
        find: the number of an object by its normalised name; ``None`` when there is none.
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


def content_words(text: str) -> frozenset[str]:
    """The normalised words of ``text`` that name something, each in its singular when that is plain."""
    words = (normalise_name(match[0].removesuffix("'s").removesuffix("’s")) for match in _WORD.finditer(text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words if word not in _STOP)


def _named(span: str, find: Callable[[str], int | None]) -> int | None:
    key = normalise_name(span)
    if key in _STOP:
        return None
    candidates = [key]
    for ending in ("'s", "'"):
        if key.endswith(ending):
            candidates.append(key[: -len(ending)])
    for candidate in candidates:
        number = find(candidate)
        if number is not None:
            return number
    for variant in sorted(variant for candidate in candidates for variant in number_variants(candidate)):
        number = find(variant)
        if number is not None:
            return number
    return None
