"""What a question is about, without the words around it that say how to answer or refer to the conversation.

The phrases are those of ``question.toml``, for English.
"""

from __future__ import annotations

import re
import tomllib
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


def asks_for_overview(question: str) -> bool:
    """Return whether a question asks for a summary of what was discussed.

    >>> asks_for_overview("Can you summarize how my garden developed?")
    True

    Args:
        question: the question, as asked.

    Returns:
        Whether it names a summary, an overview or a recap as the answer.
    """
    return _OVERVIEW.search(question) is not None
