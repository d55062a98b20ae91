"""A kept index in pieces: the first holds a whole index, each other what the index gained after the one before it.

So a growing index is written as it grows, and an index that is being made is not lost with the process that makes it. A
piece names the one that it follows by a random number; those that do not follow are ignored, as if they were not there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]

MOST_PIECES: Final = 32
"""When there are so many pieces, the index is written as a whole again."""

EPISODES: Final = "episodes", "episodes_factors", "episodes_filled", "episode_ties", "speakers"
"""The arrays with one row for each episode."""

STATEMENTS: Final = "statements", "statements_factors", "statements_filled", "are_facts", "statement_ties", "forms"
"""The arrays with one row for each statement."""

_TABLES: Final = (
    "asserted",
    "mentioned",
    "episode_words",
    "name_words",
    "within",
    "vocabulary",
    "names",
    "speaker_names",
)


@dataclass(frozen=True)
class KeptPart:
    """How much of an index the pieces hold that were written.

    Args:
        token: of the last piece.
        pieces: how many there are.
        episodes: number of episodes.
        statements: number of statements.
        asserted: rows of this table; so do the others.
        mentioned: see ``asserted``.
        name_words: see ``asserted``.
        within: see ``asserted``.
        words: number of words.
        names: number of names.
        speakers: number of speakers.
    """

    token: int
    pieces: int
    episodes: int
    statements: int
    asserted: int
    mentioned: int
    name_words: int
    within: int
    words: int
    names: int
    speakers: int


def new_token() -> int:
    """Return a random number that names a piece."""
    return secrets.randbits(63)


def token_of(arrays: Arrays, name: str = "token") -> int | None:
    """Return the number that names a piece, or that of the piece which it follows; ``None`` without one."""
    found = arrays.get(name)
    return int(found[0]) if found is not None and found.shape == (1,) and found.dtype == np.int64 else None


def follows(piece: Arrays, before: Arrays) -> bool:
    """Return whether a piece follows another one."""
    token = token_of(before)
    return token is not None and token_of(piece, "follows") == token


def chained(pieces: Iterable[Arrays]) -> list[Arrays]:
    """Return the first pieces that follow each other."""
    found: list[Arrays] = []
    for piece in pieces:
        if found and not follows(piece, found[-1]):
            break
        found.append(piece)
    return found


def merged(pieces: Sequence[Arrays]) -> Arrays:
    """Return the arrays of the index that some pieces hold together.

    Args:
        pieces: from :func:`chained`; at least one.

    Returns:
        The arrays, as if the index had been written as a whole.

    Raises:
        KeyError: an array is not there.
        ValueError: the arrays do not fit each other.
        IndexError: the arrays refer to something that is not there.
    """
    first, *others = pieces
    if not others:
        return first
    found = dict(first)
    for name in (*EPISODES, *_TABLES):
        if name in first:
            found[name] = np.concatenate([piece[name] for piece in pieces])
    count = int(others[-1]["count"][0])
    if not len(first["forms"]) <= count < 2**31:
        raise ValueError("a piece has fewer statements than the one before it")
    words = [first["statement_words"]]
    for piece in others:
        if len(piece["rewritten"]):
            is_rewritten = np.zeros(count, bool)
            is_rewritten[piece["rewritten"]] = True
            words = [rows[~is_rewritten[rows[:, 0]]] for rows in words]
        words.append(piece["statement_words"])
    found["statement_words"] = np.concatenate(words)
    for name in STATEMENTS:
        if name in first:
            rows = np.zeros((count, *first[name].shape[1:]), first[name].dtype)
            rows[: len(first[name])] = first[name]
            for piece in others:
                rows[piece["numbers"]] = piece[name]
            found[name] = rows
    found["name_df"] = others[-1]["name_df"]
    for name in ("vocabulary", "names"):  # the strings are hashed anew
        found.pop(f"{name}_index", None)
    return found
