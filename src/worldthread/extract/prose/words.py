"""The word lists of ``english.toml``, loaded once."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Final

_LISTS: Final = tomllib.loads(files("worldthread.extract.prose").joinpath("english.toml").read_text(encoding="utf-8"))
WORDS: Final = {key: frozenset(value.split()) for key, value in _LISTS.items() if isinstance(value, str)}
"""The word lists by name; all words are in lower case."""

FAMILIES: Final = {word: family for family, words in _LISTS["families"].items() for word in words.split()}
"""Adjectives with the name of their family; adjectives of one family exclude each other ("open", "closed")."""
