"""What embedding models want written before questions and before passages; the table is ``prefixes.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from worldthread.files.decoding import convert


class _Prefixes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: str
    query: str
    passage: str


class _PrefixFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prefixes: list[_Prefixes]


def prefixes_of(model: str) -> tuple[str, str]:
    """Return the prefixes that a model was trained with.

    Args:
        model: name of the model.

    Returns:
        What is written before a question, and before any other text; empty for models that are not in the table.
    """
    name = model.lower()
    return next(((entry.query, entry.passage) for entry in _table() if entry.model in name), ("", ""))


@cache
def _table() -> list[_Prefixes]:
    text = files("worldthread.models").joinpath("prefixes.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), _PrefixFile).prefixes
