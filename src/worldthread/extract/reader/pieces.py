"""Words of a message, in pieces that are read at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

WORD: Final = re.compile(r"['’]s\b|\w+|[^\w\s]")
MOST_WORDS: Final = 110
"""Words of a message that are read at a time; a longer one is read in pieces that end with sentences."""
SEEN_BEFORE: Final = 110
"""Characters of an earlier turn that are read."""
TURN_END: Final = "\n"
OUTCOMES: Final = ("goes on", "ended", "never")
"""What a message says of a statement that was known before."""
_SENTENCE_ENDS: Final = frozenset(".!?…")
_LONGEST_TITLE: Final = 4  # letters of "Prof."
_FEWEST_WORDS: Final = 20
_KEPT_WORDS: Final = 60  # of a piece, before the next one


class MessageWord(NamedTuple):
    """A word or a sign with its place in the text.

    Args:
        text: the word.
        begin: where it begins.
        end: the place after it.
    """

    text: str
    begin: int
    end: int


class Piece(NamedTuple):
    """A part of a message to read at a time.

    Args:
        speaker: who says it.
        before: the words of the turns before it, each turn ended by a line break; or of the message's piece before it.
        words: the words of the piece.
        text: the text that the places of ``words`` belong to.
    """

    speaker: str
    before: tuple[str, ...]
    words: tuple[MessageWord, ...]
    text: str


def words_of(text: str) -> list[MessageWord]:
    """Return the words of a text; every sign is a word.

    >>> [word.text for word in words_of("Ida's van, 1:52")]
    ['Ida', "'s", 'van', ',', '1', ':', '52']

    Args:
        text: the text.
    """
    return [MessageWord(found.group(), *found.span()) for found in WORD.finditer(text)]


def pieces_of(speaker: str, before: Sequence[str], text: str) -> Iterator[Piece]:
    """Yield the pieces of a message.

    Args:
        speaker: who says it.
        before: earlier turns, each as "name: text".
        text: the message.

    Yields:
        The pieces in order, each with what was said before it.
    """
    earlier = [word for turn in before for word in (*(one.text for one in words_of(turn[:SEEN_BEFORE])), TURN_END)]
    words = words_of(text)
    while words:
        cut = len(words)
        if cut > MOST_WORDS:
            cut = _last_end(words, text) or MOST_WORDS
        yield Piece(speaker, tuple(earlier), tuple(words[:cut]), text)
        earlier = [word.text for word in words[:cut]][-_KEPT_WORDS:]
        words = words[cut:]


def sentences_of(piece: Piece) -> list[int]:
    """Return the number of the sentence of each word; -1 for the words before the piece.

    A sentence ends with a line, or with a sign for its end before a capital letter or a number. "St. Mary's" and
    "Dr. Rao" do not end after their first word.

    Args:
        piece: the piece.
    """
    numbers = [-1] * len(piece.before)
    number = 0
    for place, word in enumerate(piece.words):
        numbers.append(number)
        if place + 1 == len(piece.words):
            break
        following = piece.words[place + 1]
        gap = piece.text[word.end : following.begin]
        last = piece.words[place - 1].text if place else ""
        is_short = word.text == "." and last.istitle() and len(last) <= _LONGEST_TITLE
        is_end = word.text in _SENTENCE_ENDS and gap and not following.text.islower() and not is_short
        number += bool(is_end or "\n" in gap)
    return numbers


def paired(statement: str, speaker: str, text: str) -> Piece | None:
    """Return a statement that is known beside the beginning of a message, to be read together.

    Args:
        statement: a fact, or what was said.
        speaker: who says the message.
        text: the message.

    Returns:
        The piece; ``None`` for a message without words.
    """
    return next(pieces_of(speaker, [statement], text), None)


def _last_end(words: Sequence[MessageWord], text: str) -> int | None:
    """Return the number of words until the last end of a sentence or line that fits into a piece."""
    for place in range(MOST_WORDS - 1, _FEWEST_WORDS - 1, -1):
        if words[place].text in ".!?;" or "\n" in text[words[place].end : words[place + 1].begin]:
            return place + 1
    return None
