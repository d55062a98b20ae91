"""Checks of arguments: each returns the value, or raises an InputError that says what is expected."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from worldthread.errors import InputError

_CONTROL: Final = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_Item = TypeVar("_Item")


def whole_characters(text: str) -> str:
    """Return a text with U+FFFD for each half of a character (a lone surrogate), which UTF-8 cannot encode.

    A stream that is cut, a model or JSON may bring one. This is the one policy for every text that enters a memory:
    half a character never costs the rest. What a person types as the name of a setting is refused instead, see
    :func:`require_unicode`.
    """
    if text.isascii():  # isascii does not look at the letters
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two halves in a row are one whole
    return text


def require_unicode(value: object, what: str) -> str:
    """Require a string that can be encoded as UTF-8, such as the name of a setting."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {type(value).__name__}")
    if not value.isascii():  # isascii does not look at the letters
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(f"{what} is not valid Unicode: {error.reason} at position {error.start}") from None
    return value


def require_string(value: object, what: str) -> str:
    """Require a string without NUL, and return it as it is recorded: see :func:`whole_characters`."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {type(value).__name__}")
    checked = whole_characters(value)
    if "\0" in checked:
        raise InputError(f"{what} must not contain the character NUL")
    return checked


def require_text(value: object, what: str) -> str:
    """Require a string that can be recorded and is not only white space."""
    checked = require_string(value, what)
    if not checked.strip():
        raise InputError(f"{what} must not be empty")
    return checked


def require_name(value: object, what: str) -> str:
    """Require a text without control characters other than white space."""
    checked = require_text(value, what)
    if _CONTROL.search(checked):
        raise InputError(f"{what} must not contain control characters: {checked!r}")
    return checked


def require_query(value: object, what: str) -> str:
    """Require a text to search for: any string that is not empty; one that cannot be recorded is just not found."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {type(value).__name__}")
    if not value.strip():
        raise InputError(f"{what} must not be empty")
    return whole_characters(value)


def require_tuple(value: object, kinds: type[_Item] | tuple[type[_Item], ...], what: str) -> tuple[_Item, ...]:
    """Require a tuple or a list of items of the given types, and return a tuple."""
    if not isinstance(value, tuple | list):
        raise InputError(f"{what} must be a tuple, not {type(value).__name__}")
    for item in value:
        if not isinstance(item, kinds):
            wanted = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
            raise InputError(f"{what} must hold {wanted} only, not {type(item).__name__}")
    return tuple(value)


def require_iterable(value: Iterable[_Item], what: str) -> Iterable[_Item]:
    """Require a list or an iterator; not a text, which would be taken letter by letter."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        raise InputError(
            f"{what} must be a list or an iterator, not {type(value).__name__}: put a single one in a list"
        )
    return value


def require_subset(value: Collection[_Item], allowed: Collection[_Item], what: str) -> Collection[_Item]:
    """Require a collection of allowed values."""
    if isinstance(value, str | bytes) or not isinstance(value, Collection) or any(one not in allowed for one in value):
        raise InputError(f"{what} must be some of {', '.join(map(str, allowed))}, as a list, not {value!r}")
    return value


def require_count(value: object, what: str) -> int:
    """Require a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} must be a whole number of at least 1, not {value!r}")
    return value


def require_finite(value: object, what: str) -> float:
    """Require a finite number, and return it as a float; -0.0 becomes 0.0, so that both give the same ids."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what} must be a number, not {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{what} must be finite, not {number}")
    return number + 0.0


def require_methods(value: Any, methods: Collection[str], what: str, wanted: str) -> None:
    """Require an object that has certain methods.

    Args:
        value: the object.
        methods: the names of the methods.
        what: the name of the argument.
        wanted: what the argument may be, in words.

    Raises:
        InputError: a method is missing.
    """
    if not all(callable(getattr(value, name, None)) for name in methods):
        raise InputError(f"{what} must be {wanted}, not {type(value).__name__}")


def require_path(value: object, what: str) -> Path:
    """Require the name of a file, whether it exists or not."""
    name = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(name, str):
        raise InputError(f"{what} must be the name of a file, not {type(value).__name__}")
    try:
        usable = bool(name) and "\0" not in name and bool(os.fsencode(name))
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InputError(f"{what} must be the name of a file, not {name!r}")
    return Path(name)
