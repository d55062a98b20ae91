"""The closed classes of English words of ``words.toml``, as alternatives for patterns."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

_FILE: Final = "words.toml"


@cache
def words(name: str) -> frozenset[str]:
    """Return the words of a class.

    Args:
        name: the name of the class in ``words.toml``.

    Returns:
        The words, in lower case.
    """
    return frozenset(_read()[name])


def one_of(*names: str) -> str:
    """Return a pattern that matches any word of some classes."""
    found = sorted({word for name in names for word in words(name)})
    return f"(?:{'|'.join(map(re.escape, found))})"


@cache
def _read() -> dict[str, list[str]]:
    text = files("worldthread_lab.game").joinpath(_FILE).read_text(encoding="utf-8")
    return tomllib.loads(text)
