"""Small functions for the texts that people read."""

from __future__ import annotations

from typing import Final

OMISSION: Final = " [...]"
"""Ends a text that was cut where the text itself may hold ellipses."""


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space, line breaks included, as one space."""
    return " ".join(text.split())


def cut(text: str, limit: int, ellipsis: str = "…") -> str:
    """Shorten a text that is too long at its end.

    Args:
        text: the text.
        limit: the most characters of the result, the ellipsis included.
        ellipsis: ends a text that was shortened.

    Returns:
        ``text`` if it is short enough, else its beginning without trailing white space, and the ellipsis.
    """
    return text if len(text) <= limit else text[: limit - len(ellipsis)].rstrip() + ellipsis


def count_of(number: int, noun: str, separator: str = "") -> str:
    """Return a count with its noun: "1 step", "2 steps".

    Args:
        number: the count.
        noun: the noun in the singular; its plural must be formed with "s".
        separator: between groups of three digits: ``","``, ``"_"``, or nothing.

    Returns:
        The number, a space, and the noun in the right form.
    """
    return f"{number:{separator}} {noun}{'' if number == 1 else 's'}"
