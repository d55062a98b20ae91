"""The letters of names in the Latin script, for patterns: "Łukasz" and "Matouš" are names as "Luke" is."""

from __future__ import annotations

from typing import Final

_EXTENDED: Final = [chr(code) for code in range(0x100, 0x250)]  # Latin Extended-A and -B
UPPER: Final = "A-ZÀ-Þ" + "".join(letter for letter in _EXTENDED if letter.isupper())
"""Capital letters, as the inside of a class of a pattern."""
LOWER: Final = "a-zà-ÿ" + "".join(letter for letter in _EXTENDED if letter.islower())
"""Small letters, likewise."""
