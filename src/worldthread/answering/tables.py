"""The tables of words by which questions are understood."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, Final

TABLES: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.answering").joinpath("words.toml").read_text(encoding="utf-8")
)
"""The tables of ``words.toml``."""

LISTS: Final[dict[str, frozenset[str]]] = {name: frozenset(words.split()) for name, words in TABLES["lists"].items()}
"""The lists of words of ``words.toml``."""
