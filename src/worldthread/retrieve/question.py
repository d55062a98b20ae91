"""What a question is about, without the words around it that say how to answer or refer to the conversation.

The phrases are those of ``question.toml``, for English.
"""

from __future__ import annotations

import re
import tomllib
from enum import Enum
from importlib.resources import files
from typing import Final

from worldthread.retrieve.words import STOP_STEMS, words_of

_LEAST_WORDS: Final = 2  # that must be left of a question
_EDGE: Final = " \t\n,;:"

_TABLE: Final = tomllib.loads(files("worldthread.retrieve").joinpath("question.toml").read_text(encoding="utf-8"))


def _pattern(sources: list[str]) -> re.Pattern[str]:
    joined = "|".join(source.replace("'", "['’]").replace(" ", r"\s{1,4}") for source in sources)
    return re.compile(rf"\b(?:{joined})(?!\w)", re.IGNORECASE)


_SUMMARY: Final = _TABLE["summary"]
_FRAMES: Final = _pattern(
    [rf"(?<!\S)(?<!.){_SUMMARY}", *(frame.replace("SUMMARY", _SUMMARY) for frame in _TABLE["frames"])]
)
_INSTRUCTION: Final = re.compile(_TABLE["instruction"].replace(" ", r"\s{1,4}"), re.IGNORECASE)
_OVERVIEW: Final = _pattern(_TABLE["overview"])
_PROCEDURE: Final = _pattern(_TABLE["procedure"])
_HELP: Final = _pattern(_TABLE["help"])
_LOOKS_BACK: Final = _pattern(_TABLE["looks_back"])
_ASKS_WHAT_WAS_ANSWERED: Final = _pattern(_TABLE["asks_what_was_answered"])

STANDING_WORDS: Final = tuple(dict.fromkeys(word for text in _TABLE["standing"] for word in words_of(text)))
"""The stems of words of what somebody wants to be heeded from now on."""


def subject_of(question: str) -> str:
    """Return a question without the phrases that say nothing about its subject.

    >>> subject_of("Can you give me a short summary of what I learned about tides in our chats? Name only two.")
    'what I learned about tides?'

    Args:
        question: the question.

    Returns:
        What is left; the question itself when that is less than two telling words.
    """
    left = _FRAMES.sub(" ", _INSTRUCTION.sub("", question))
    if left == question:
        return question
    left = re.sub(r"\s+", " ", left)
    left = re.sub(r"[\s,;:]+(?=[,.?!])", "", left).strip(_EDGE)
    telling = [word for word in words_of(left) if word not in STOP_STEMS]
    return left if len(telling) >= _LEAST_WORDS else question


def asks_what_was_answered(question: str) -> bool:
    """Return whether a question asks for what the assistant said before.

    >>> asks_what_was_answered("Which book did you recommend?")
    True

    Args:
        question: the question.

    Returns:
        Whether it addresses the assistant as the one who said it.
    """
    return _ASKS_WHAT_WAS_ANSWERED.search(question) is not None


class QuestionKind(Enum):
    """What kind of answer a question to an assistant wants, as its words say."""

    PLAIN = "plain"
    """Anything but the others."""

    OVERVIEW = "overview"
    """A summary of what was discussed."""

    PROCEDURE = "procedure"
    """How something was done, planned or shown."""

    HELP = "help"
    """Help with something now."""


def kind_of(question: str) -> QuestionKind:
    """Return what kind of answer a question wants.

    >>> kind_of("Can you summarize how my garden developed?").name
    'OVERVIEW'
    >>> kind_of("How did we solve the problem with the lock?").name
    'PROCEDURE'

    Args:
        question: the question, as asked.

    Returns:
        The kind; :attr:`QuestionKind.PLAIN` where no words say another.
    """
    if _OVERVIEW.search(question):
        return QuestionKind.OVERVIEW
    if _PROCEDURE.search(question):
        return QuestionKind.PROCEDURE
    if _HELP.search(question) and not _LOOKS_BACK.search(question):
        return QuestionKind.HELP
    return QuestionKind.PLAIN
