"""Helpers for English sentences about a level."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldthread_lab.envs.nethack.engine import COLUMNS

_HAS_ARTICLE = re.compile(r"^(?:an?|the|some|\d+|your)\s", re.I)


def with_article(name: str) -> str:
    """Return ``"a jackal"`` for ``"jackal"``; a name with an article or a number is unchanged."""
    if _HAS_ARTICLE.match(name):
        return name
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def without_article(name: str) -> str:
    """Return ``"jackal"`` for ``"a jackal"``."""
    return _HAS_ARTICLE.sub("", name)


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def enumerate_words(words: Sequence[str]) -> str:
    """Return ``"a, b and c"`` for three words."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def offset(origin: int, target: int) -> str:
    """Return the place of a square relative to another, such as ``"3 east and 1 north"``; empty for the same."""
    down = target // COLUMNS - origin // COLUMNS
    right = target % COLUMNS - origin % COLUMNS
    parts = [f"{abs(right)} {'east' if right > 0 else 'west'}"] if right else []
    parts += [f"{abs(down)} {'south' if down > 0 else 'north'}"] if down else []
    return " and ".join(parts)
