"""What the answers of a model are made into: names and texts that can be kept, and what is wrong with the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from worldthread.errors import AnswerError, InputError
from worldthread.names import normalise_name, normalise_text
from worldthread.types import Fact, Statement

NAME_LIMIT: Final = 200
"""Longest name of a subject, relation or object, in characters. Anything longer is a piece of text, not a name."""

TEXT_LIMIT: Final = 1000
"""Longest text of a thesis, and of the reason of an ending, in characters."""

_BLANK: Final = frozenset({"", "none", "n/a", "null", "-", "?"})
_SPACE: Final = re.compile(r"[ \t\r\n]+")


def one_space(text: str) -> str:
    """Return a text in one line, with one space between its words."""
    return _SPACE.sub(" ", text).strip()


def problem_of(text: str, limit: int = NAME_LIMIT) -> str | None:
    """Return why a text cannot be a name or the text of a thesis; ``None`` when it can.

    Args:
        text: the text.
        limit: its most characters.

    Returns:
        ``"too long"``, ``"blank"``, ``"unusable"`` (control characters), or ``None``.
    """
    if len(text) > limit:
        return "too long"
    if normalise_text(text) in _BLANK:
        return "blank"
    try:
        Fact(text, "is", "name")
    except InputError:
        return "unusable"
    return None


def usable_names(names: Iterable[str], dropped: Counter[str]) -> Iterator[str]:
    """Yield the names that can be kept, each once; count the others in ``dropped``."""
    seen = set()
    for name in map(one_space, names):
        problem = problem_of(name) or ("duplicate" if normalise_name(name) in seen else None)
        if problem is None:
            seen.add(normalise_name(name))
            yield name
        else:
            dropped[problem] += 1


def names_in(statement: Statement) -> tuple[str, ...]:
    """Return the names that a statement is about."""
    return (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects


def numbered(statements: Sequence[Statement]) -> str:
    """Return statements as a numbered list, one a line."""
    return "\n".join(f"{number}. {_SPACE.sub(' ', str(s))}" for number, s in enumerate(statements, 1))


def verbatim(error: AnswerError) -> tuple[str, ...]:
    """Return an answer and its repair, with lone surrogates, which UTF-8 cannot hold, as escapes."""
    texts = dict.fromkeys((error.text, error.repair))
    return tuple(text.encode("utf-8", "backslashreplace").decode() for text in texts if text is not None)


def most_items(limit: int) -> int:
    """Return a limit rounded up to a power of two, at least 8: a server may take seconds to prepare a new schema."""
    return 1 << max(3, (limit - 1).bit_length())
