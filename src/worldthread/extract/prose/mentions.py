"""Finds where a text names somebody or something of a given name: "Will" is a name, and "will" is a verb."""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.prose.naming import NamingContext
from worldthread.extract.prose.spans import tokens_of
from worldthread.extract.prose.words import WORDS
from worldthread.names import as_seen, marks, normalise_name, normalise_text

_M: Final = marks()
_NEW_SENTENCE: Final = re.compile(r"(?:^|[.!?…:;\n]\W*|^[^\n:]{1,60}: \W*)$")
_LABEL: Final = re.compile(r"[^\n:]{1,60}: ")
_OTHER_CAPITAL: Final = re.compile(r"(?!I\b)[^\W\d_a-z]")
# before these words no name stands, and none after those
_NO_NAME_BEFORE: Final = WORDS["determiners"] | frozenset(
    ["i", "me", "you", "he", "she", "it", "we", "they", "us", "them", "these", "those"]
)
_NO_NAME_AFTER: Final = _NO_NAME_BEFORE | frozenset(
    [
        "to",
        "will",
        "would",
        "can",
        "could",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "do",
        "does",
        "did",
        "not",
        "don't",
        "doesn't",
        "didn't",
        "won't",
        "can't",
    ]
)
_WORD: Final = re.compile(r"[\w'’]+")


class Mentions:
    """Finds the mentions of one name in texts.

    A mention is written as a name: with a capital letter inside a sentence; at the beginning of one if it is no common
    word, or what follows can only follow a name; in small letters only where the text has no capitals at all, or the
    name was given so, and the word is no function word; in scripts without capitals always.

    Args:
        name: the name, as somebody types it.
    """

    def __init__(self, name: str) -> None:
        self.key = normalise_name(name)
        """The normalised name."""
        words = r"\s+".join(map(re.escape, self.key.split()))
        self._pattern = re.compile(rf"(?<![\w]){words}(?![\w{_M}])", re.IGNORECASE)
        self._is_capitalised = as_seen(name).strip()[:1].isupper()

    def may_be_in(self, text: str) -> bool:
        """Return whether a text has the words of the name, however they are written."""
        return self._pattern.search(normalise_text(text)) is not None

    def are_in(self, text: str, *, is_common: bool = False) -> bool:
        """Return whether a text names it.

        Args:
            text: a sentence or a longer text, perhaps with the label of its speaker.
            is_common: whether the same word is known as a common word, so that a capital at a beginning says nothing.
        """
        if not self.may_be_in(text):
            return False
        shown = as_seen(text)
        found = list(self._pattern.finditer(shown))
        return not found or any(self._is_name(shown, one, is_common=is_common) for one in found)

    def is_common_in(self, text: str) -> bool:
        """Return whether a text has the word in small letters, though it has capitals."""
        shown = as_seen(text)
        return self._has_capitals(shown) and any(one[0][:1].islower() for one in self._pattern.finditer(shown))

    def _has_capitals(self, text: str) -> bool:
        label = _LABEL.match(text)
        letters = _OTHER_CAPITAL.finditer(text, label.end() if label is not None else 0)
        return any(one[0].isupper() for one in letters)

    def _is_name(self, text: str, found: re.Match[str], *, is_common: bool) -> bool:
        word, low = found[0], found[0].lower()
        if word[:1].isupper():
            if text[: found.start()] and _NEW_SENTENCE.search(text[max(found.start() - 80, 0) : found.start()]) is None:
                return not text.isupper() or low not in WORDS["function"]
            if " " in word or not (is_common or low in WORDS["function"]):
                return " " in word or self._next(text, found) not in _NO_NAME_BEFORE
            begin = found.start()
            context = NamingContext([(text, tokens_of(text, begin), begin)])
            return context.opens_with_name(word, text, found.end())
        if word[:1].islower() and word[:1] != word[:1].title():
            if low in WORDS["function"]:
                return False
            before = _WORD.findall(text[max(found.start() - 40, 0) : found.start()].lower())
            is_noun = not self._is_capitalised
            return is_noun or (not self._has_capitals(text) and not (before and before[-1] in _NO_NAME_AFTER))
        return True

    def _next(self, text: str, found: re.Match[str]) -> str:
        following = _WORD.match(text, found.end() + 1) if text[found.end() : found.end() + 1] == " " else None
        return "" if following is None else following[0].lower()
