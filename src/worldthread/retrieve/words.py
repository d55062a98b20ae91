"""The words of texts and names that retrieval counts."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from worldthread.names import stream_safe

_WORD: Final = re.compile(r"[^\W_]+")
_PLURALS: Final = (("ies", "y"), ("es", ""), ("s", ""))
_SHORTEST: Final = 3  # letters that must remain before an ending

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
    """Return the words of a text in order, without case, accents and plural endings.

    Args:
        text: any text.

    Returns:
        The words.

    >>> words_of("The Cafés of São Paulo")
    ['the', 'cafe', 'of', 'sao', 'paulo']
    """
    folded = unicodedata.normalize("NFKD", stream_safe(text.casefold()))
    if not folded.isascii():
        folded = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return [_singular(word) for word in _WORD.findall(folded)]


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that are not :data:`STOP` words."""
    return frozenset(words_of(text)) - STOP


def _singular(word: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):
        for ending, replacement in _PLURALS:
            if word.endswith(ending) and len(word) >= len(ending) + _SHORTEST:
                return word[: -len(ending)] + replacement
    return word
