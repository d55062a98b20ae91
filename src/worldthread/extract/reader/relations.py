"""The relations that events can have, and the words of a text that say them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_FUNCTION_WORDS: Final = frozenset([
    "a", "about", "after", "against", "an", "and", "are", "as", "at", "be", "been", "before", "by", "down", "for",
    "from", "had", "has", "have", "his", "her", "in", "into", "is", "it", "its", "of", "off", "on", "onto", "or",
    "out", "over", "the", "their", "to", "under", "up", "was", "were", "with", "without",
])  # fmt: skip
_ENDINGS: Final = ("ing", "ed", "es", "s", "e")
_SHORTEST: Final = 3  # letters that are left


def stem_of(word: str) -> str:
    """Return what the forms of a regular word have in common.

    >>> [stem_of(word) for word in ("lives", "living", "runs", "running", "sister")]
    ['liv', 'liv', 'run', 'run', 'sister']

    Args:
        word: the word.
    """
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word[: -len(ending)]
            if ending in ("ing", "ed") and word[-1] == word[-2] and word[-1] not in "aeiouls":
                word = word[:-1]
            break
    return word


class RelationWords:
    """Finds which words of a text are words of which relations.

    Args:
        relations: the relations, in the order of their scores.
    """

    def __init__(self, relations: Sequence[str]) -> None:
        self.count = len(relations)
        self._content: dict[str, list[int]] = defaultdict(list)
        self._function: dict[str, list[int]] = defaultdict(list)
        for number, relation in enumerate(relations):
            for word in set(relation.split()):
                if word in _FUNCTION_WORDS:
                    self._function[word].append(number)
                else:
                    self._content[stem_of(word)].append(number)

    def matches(self, words: Iterable[str]) -> NDArray[np.float32]:
        """Return 1 where a word is one of a relation: content words by their stems, function words as they are.

        Args:
            words: W words.

        Returns:
            Shape (2, W, number of relations): content words and function words.
        """
        said = list(words)
        found = np.zeros((2, len(said), self.count), np.float32)
        for place, word in enumerate(said):
            found[0, place, self._content.get(stem_of(word), ())] = 1
            found[1, place, self._function.get(word.lower(), ())] = 1
        return found
