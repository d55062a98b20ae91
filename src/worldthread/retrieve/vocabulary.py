"""The numbers of the words of texts and names."""

from __future__ import annotations

from typing import Any, Final

from worldthread.graph.strings import StringTable
from worldthread.retrieve.words import stems_of

_MOST_TOKENS: Final = 1 << 16


class Vocabulary(StringTable):
    """Every stem once, numbered from 0 in order of arrival.

    Texts repeat the same words, so what a word is stemmed to is kept until :meth:`forget_tokens`.
    """

    __slots__ = ("_tokens",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._tokens: dict[str, int] = {}  # a word as written in lower case -> number of its stem

    def numbers_of(self, tokens: list[str]) -> list[int]:
        """Return the numbers of the stems of some words; new stems are added.

        Args:
            tokens: as :func:`~worldthread.retrieve.words.tokens_of` returns them.

        Returns:
            One number for each.
        """
        known = self._tokens
        try:
            return list(map(known.__getitem__, tokens))
        except KeyError:
            if len(known) > _MOST_TOKENS:
                known.clear()
            unknown = [token for token in dict.fromkeys(tokens) if token not in known]
            for token, stem in zip(unknown, stems_of(unknown), strict=True):
                known[token] = self.intern(stem)
            return list(map(known.__getitem__, tokens))

    def forget_tokens(self) -> None:
        """Forget what words were stemmed to, which takes RAM, after many texts were added."""
        self._tokens = {}
