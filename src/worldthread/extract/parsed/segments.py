"""Divides a message of one long sentence into the clauses that may be read alone.

In "I wear hearing aids in both ears, so please keep it short" and "My tortoise is older than me, he's about 60" the
parser mistakes what the first clause says because of the second one, or a rule holds a remark for a part of it. Read by
itself, each clause is plain. Only clauses of the speaker and of theirs are, and none that another one denies, reports,
dates or makes a condition of.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.times import time_expressions

_LONGEST: Final = 45  # words of a message
_SHORTEST: Final = 3  # words of a clause
_OWN: Final = r"(?:i|i['’](?:m|ve|d|ll)|we|we['’](?:re|ve|ll|d)|my|our|me and|there['’]s|there are)\b"
_OTHER: Final = r"(?:he|she|it|they)(?:['’](?:s|re|ve|ll|d))?\b|(?:his|her|its|their)\b"
_JOINT: Final = re.compile(
    rf"\s*[,;]\s+(?:(?:and|but|so|because|as|since|cos|although|though|which|who|hence|therefore|plus)\s+)?|"
    rf"\s+[–—-]\s+|\s*\.\.\.\s*|\s+(?:so|but|because|cos|although|though|hence|therefore)\s+|"
    rf"\s+and\s+(?=(?:now |then |also |currently )?(?:{_OWN}|{_OTHER})|the \w+(?:['’]s| is| are) |halfway |still )",
    re.IGNORECASE,
)
_TOLD_JOINT: Final = re.compile(
    rf"{_JOINT.pattern}|\s+and\s+(?=(?:then |never |still |also )?(?:left|went|came|said|gave|did|got|had|was|were|is|has|"
    r"won|lost|took|made|found|started|stopped|bought|sold|ate|broke|fell|cried|loved|hated|it['’]s|nobody|no one|our|my)\b)",
    re.IGNORECASE,
)
_NAMES_AROUND: Final = re.compile(r"[A-Z][\w'’.-]+, (?!I\b)[A-Z]")
_BEGIN: Final = re.compile(rf"(?:now |currently |these days |also )?(?={_OWN})", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"(?:he|she|it)(?P<be>['’]s\b|(?= ))", re.IGNORECASE)
_KNOWN: Final = re.compile(r"(?P<who>(?:my|our) (?:[\w-]+ )?(?P<kind>[\w-]+))(?=['’]s|\s|$)", re.IGNORECASE)
_REFUSED: Final = re.compile(  # conditions, reports, questions, wishes, quotations
    r"[?\"“”:]|^(?:if|when|whenever|unless|suppose|imagine|had|were|should|let['’]?s|like|please|write|act|answer|reply|respond)\b|as though|i were\b|"
    r"\b(?:unless|whether|would|could|should|might|wish|as if|pretend\w*|supposed|hypothetical\w*|apparently|reckons?|"
    r"says|said|told|tells|claims?|swears?|thinks?|thought|(?<!can't )(?<!cannot )believes?|dreamt|dreamed|joking|kidding|lol|lmao|"
    r"either|neither|nor|rather than|instead of|not that)\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"\bif\b", re.IGNORECASE)
_PERSON: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, WORDS['relations'] | WORDS['pets']), key=len, reverse=True))})s?\b|"
    r"(?<!^)(?<!\. )\b(?!I\b)[A-Z][a-z]+|\b(?:he|she|him|her|his|they|them)\b"
)


def clauses_alone(text: str, at: float | None) -> tuple[str, ...]:
    """Return the clauses of a message of one sentence that may be read alone, each with its subject.

    >>> clauses_alone("My tortoise is older than me, he's about 60.", None)
    ('My tortoise is older than me', 'My tortoise is about 60')

    Args:
        text: the sentence, in the spelling that the parser knows.
        at: time of the sentence; ``None`` where that is not known.

    Returns:
        The clauses in order; none where the sentence is one clause, or a clause depends on another one.
    """
    pieces = _pieces(text)
    if len(pieces) < 2:
        return ()
    known = _KNOWN.match(pieces[0])
    found = []
    for index, piece in enumerate(pieces):
        if _is_dated_beside(pieces, index, at):
            continue
        begin = _BEGIN.match(piece)
        pronoun = _PRONOUN.match(piece)
        if begin is not None:
            found.append(piece[begin.end() :])
        elif pronoun is not None and index and known is not None and _is_only_one(pieces[0], known):
            found.append(f"{known['who']}{' is' if pronoun['be'] else ''}{piece[pronoun.end() :]}")
    return tuple(one for one in found if len(one.split()) >= _SHORTEST)


def clauses_with_times(text: str, at: float) -> tuple[str, ...]:
    """Return the clauses of a message of one sentence that name a time, each by itself.

    >>> clauses_with_times("The plumber came yesterday and left without a word", 1715767200.0)
    ('The plumber came yesterday',)

    Args:
        text: as for :func:`clauses_alone`.
        at: as for :func:`clauses_alone`.

    Returns:
        The clauses in order; none where the sentence is one clause, or a clause depends on another one.
    """
    pieces = _pieces(text, _TOLD_JOINT)
    if len(pieces) < 2:
        return ()
    return tuple(
        piece
        for index, piece in enumerate(pieces)
        if _has_time(piece, at)
        and not _is_dated_beside(pieces, index, at)
        and (not index or _is_clause(piece))
        and re.match(_OTHER, piece, re.IGNORECASE) is None
    )


def _pieces(text: str, joints: re.Pattern[str] = _JOINT) -> list[str]:
    """Return the text between its joints, of which none stands before a name: "Smith, Jones & Co".

    Nothing where a clause may be a condition, a report, a question or a wish.
    """
    if len(text.split()) > _LONGEST or _REFUSED.search(text) is not None or _CONDITION.search(text) is not None:
        return []
    text = text.rstrip(" .!")
    pieces, begin = [], 0
    for joint in joints.finditer(text):
        if "," in joint[0] and _NAMES_AROUND.match(text[text.rfind(" ", 0, joint.start()) + 1 :]) is not None:
            continue
        pieces.append(text[begin : joint.start()].strip())
        begin = joint.end()
    return [piece for piece in (*pieces, text[begin:].strip()) if piece]


def _has_time(piece: str, at: float | None) -> bool:
    return at is not None and any(time.role != "recurring" for time in time_expressions(piece, at))


def _is_dated_beside(pieces: list[str], index: int, at: float | None) -> bool:
    """Return whether a piece beside a clause may say its time: "On Tuesday, I fly to Rome"."""
    beside = (pieces[i] for i in (index - 1, index + 1) if 0 <= i < len(pieces))
    return any(not _is_clause(piece) and _has_time(piece, at) for piece in beside)


def _is_clause(piece: str) -> bool:
    """Return whether a piece has a subject of its own, so that a time in it is its own."""
    return re.match(rf"(?:{_OWN}|{_OTHER})", piece, re.IGNORECASE) is not None


def _is_only_one(piece: str, known: re.Match[str]) -> bool:
    """Return whether "he" can only be who the first clause is about."""
    if known["kind"].lower() not in WORDS["relations"] | WORDS["pets"]:
        return False
    return _PERSON.search(piece[known.end() :]) is None
