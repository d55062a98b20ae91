"""JSON that other programs write: half a character in it does not make the rest unreadable."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

from worldthread.errors import InputError
from worldthread.support.arguments import whole_characters

_ESCAPES: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # both halves of a character
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


def read_json(data: bytes | str) -> Any:
    """Read JSON in UTF-8; half a character becomes U+FFFD: :func:`~worldthread.support.arguments.whole_characters`.

    Args:
        data: the JSON.

    Returns:
        The value.

    Raises:
        JSONDecodeError: it is not JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:
            text = data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise error from None
        mended = _ESCAPES.sub(lambda found: "\\ufffd" if found["half"] else found[0], whole_characters(text))
        if mended == text:
            raise
        return orjson.loads(mended)


def write_json(value: Any) -> str:
    """Return a value as JSON on one line; what JSON does not know, as text, and half a character as U+FFFD.

    Args:
        value: the value.

    Raises:
        InputError: its lists and objects are nested too deeply.
    """
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # half a character, a whole number of more than 64 bits, or more levels than orjson writes
        try:
            return whole_characters(json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":")))
        except RecursionError:
            raise InputError("lists and objects in it are nested too deeply to be kept") from None
