"""What is asked, and how the answer of a method looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.names import normalise_name, number_variants
from worldthread.retrieve.words import STOP

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*", re.UNICODE)
_LONGEST_NAME: Final = 8  # words


@dataclass(frozen=True)
class Query:
    """A question as retrieval sees it.

    Args:
        text: in words.
        vector: its embedding, a unit vector, shape (dimensions,).
        names: the objects of the graph that it names word for word: numbers of the index, in order of mention.
        at: the moment of world time that it asks about; ``None`` for now. Methods that follow statements from one to
            the next follow what holds then.
        only_current: whether they leave out what does not hold at that moment.
    """

    text: str
    vector: NDArray[np.float32]
    names: tuple[int, ...] = ()
    at: float | None = None
    only_current: bool = True


@dataclass(frozen=True)
class Scores:
    """How well everything in a corpus fits a query; higher is better, ``-inf`` never fits.

    Args:
        episodes: shape (number of episodes,), by number.
        statements: shape (number of statements,), by number.
        paths: for statements, by number, the names and relations that led there, where the method knows.
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


def _named(span: str, find: Callable[[str], int | None]) -> int | None:
    for key in _keys(span):
        number = find(key)
        if number is not None:
            return number
    return None


@lru_cache(maxsize=65536)
def _keys(span: str) -> tuple[str, ...]:
    """The keys under which an object may be known that ``span`` names, the likeliest first.

    Kept, since the texts of an agent's prompts repeat each other.
    """
    key = normalise_name(span)
    if key in STOP:
        return ()
    exact = [key, *(key[: -len(ending)] for ending in ("'s", "'") if key.endswith(ending))]
    return (*exact, *sorted(variant for candidate in exact for variant in number_variants(candidate)))
