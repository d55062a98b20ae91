"""Names, templates and words from ``diaasq.toml``."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, Final

_DATA: Final[dict[str, Any]] = tomllib.loads((files(__package__) / "diaasq.toml").read_text("utf-8"))

NAMES: Final[list[str]] = _DATA["names"]
"""First names of the speakers."""

MONTHS: Final[list[str]] = _DATA["months"]
"""English names of the months, independent of the locale."""

TAKEN_BACK: Final[list[str]] = _DATA["taken_back"]
"""Templates of a change of opinion, with ``subject`` and ``words``."""

WORDS: Final[dict[str, list[str]]] = _DATA["words"]
"""Words of opinions by polarity."""

QUESTIONS: Final[dict[str, list[str]]] = _DATA["questions"]
"""Templates of questions by type."""
