"""Decodes and checks plain data as the types that describe it, safely from any thread.

``msgspec`` reads the description of a type when it first sees the type and keeps it with the class. Two threads that do
so together can end the process: the second may use the description while the first is still writing it. So every type
is described under a lock here, once; what follows needs none.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

_Value = TypeVar("_Value")

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_describing = threading.Lock()  # types share the types of their fields, so one lock serves all


def convert(value: object, into: type[_Value]) -> _Value:
    """Check plain data, and convert it.

    Args:
        value: numbers, strings, lists and mappings, as JSON or TOML has them.
        into: the type of the result.

    Returns:
        The value as that type.

    Raises:
        msgspec.ValidationError: the data is not of that type; the message says where.
    """
    decoder_of(into)
    return msgspec.convert(value, into)


def decode_json(text: bytes | str, into: type[_Value]) -> _Value:
    """Decode JSON, and check it.

    Args:
        text: the JSON text, in UTF-8 if it is bytes.
        into: the type of the result.

    Returns:
        The value as that type.

    Raises:
        msgspec.DecodeError: the text is not JSON; its subclass ``ValidationError`` if it is not of that type.
    """
    return decoder_of(into).decode(text)


def decoder_of(into: type[_Value]) -> msgspec.json.Decoder[_Value]:
    """Return the JSON decoder of a type; every thread may use it.

    Args:
        into: the type of the results.

    Returns:
        The decoder.
    """
    try:
        decoder = _decoders.get(into)
    except TypeError:  # not hashable, as a type with a constraint that holds a mapping
        with _describing:
            return msgspec.json.Decoder(into)
    if decoder is None:
        with _describing:
            decoder = _decoders.setdefault(into, msgspec.json.Decoder(into))
    return decoder
