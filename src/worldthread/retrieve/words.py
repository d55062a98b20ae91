"""The words of texts and names that retrieval counts."""

from __future__ import annotations

import re
import threading
from typing import Final

import Stemmer

from worldthread.names import unmarked

_WORD: Final = re.compile(r"[^\W_]+")
# words of almost every question that name nothing in particular
STOP: Final = frozenset({
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "down", "during",
    "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
    "how", "i", "if", "in", "into", "is", "it", "its", "just", "many", "me", "more", "most", "much", "my", "no", "nor",
    "not", "now", "of", "off", "on", "once", "one", "only", "or", "other", "our", "out", "over", "own", "same", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
})  # fmt: skip


def words_of(text: str) -> list[str]:
    """Return the stems of the words of a text in order, without case and accents.

    The stems are those of Snowball's stemmer for English (Porter2).

    Args:
        text: any text.

    Returns:
        The stems.

    >>> words_of("The Cafés of São Paulo, where he lives")
    ['the', 'cafe', 'of', 'sao', 'paulo', 'where', 'he', 'live']
    """
    return stems_of(tokens_of(text))


def tokens_of(text: str) -> list[str]:
    """Return the words of a text in order, without case and accents, before they are stemmed."""
    folded = unmarked(text)
    found: list[str] = _WORD.findall(folded)
    return found


def stems_of(tokens: list[str]) -> list[str]:
    """Return the stem of each of some words as :func:`tokens_of` returns them."""
    stems: list[str] = _stemmers.english.stemWords(tokens)
    return stems


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are not :data:`STOP` words."""
    return frozenset(words_of(text)) - STOP_STEMS


class _Stemmers(threading.local):
    """The stemmer of each thread: one must not serve two at once."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")


_stemmers: Final = _Stemmers()

STOP_STEMS: Final = frozenset(_stemmers.english.stemWords(sorted(STOP)))
"""The stems of :data:`STOP`."""
