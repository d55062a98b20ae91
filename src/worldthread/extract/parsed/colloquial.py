"""Writes what people type in the words that the parser knows: "my anniversarys the 9th", "I dey stay for Yaba"."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Final

_TABLE: Final = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("colloquial.toml").read_text(encoding="utf-8")
)
_LISTS: Final = {name: "|".join(words.split()) if "\n" in words else words for name, words in _TABLE["lists"].items()}
_REQUEST: Final = re.compile(  # "work from home tips please"
    r"\?|\b(?:please|pls|tips|ideas|advice|suggestions|recommendations|jobs|meaning|definition|vs|quotes|synonyms?)\b",
    re.IGNORECASE,
)
_ADDED: Final = re.compile(r"^my [A-Z](?=[a-z]+(?:['’]s)? [a-z])")  # "Dad was a miner" with "my"


def _compiled(entries: list[list[str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    found = []
    for pattern, known in entries:
        for name, words in _LISTS.items():
            pattern = pattern.replace(f"<{name}>", f"(?:{words})")
        found.append((re.compile(pattern, re.IGNORECASE), known))
    return tuple(found)


_SPELLINGS: Final = _compiled(_TABLE["spellings"]["list"])
_LEFT_OUT: Final = _compiled(_TABLE["left_out"]["list"])


def standard(sentence: str) -> str:
    """Return a sentence in standard English, as far as the table knows its words.

    Args:
        sentence: a sentence as it was typed.
    """
    for pattern, known in _SPELLINGS:
        sentence = pattern.sub(known, sentence)
    return _ADDED.sub(lambda match: match[0].lower(), sentence)


def with_speaker(sentence: str) -> str:
    """Return a sentence that leaves out its speaker with "I": "I'm allergic to wasps" for "allergic to wasps".

    Args:
        sentence: a sentence that is all that a message says, so that nobody else can be meant.
    """
    if _REQUEST.search(sentence) is not None:
        return sentence
    for pattern, known in _LEFT_OUT:
        if (match := pattern.match(sentence)) is not None:
            rest = sentence[match.end() :]
            return known + (rest if match.end() else f"{rest[0].lower()}{rest[1:]}")
    return sentence


_OPENING: Final = (
    "what|where|when|why|how|which|who|whose|can|could|should|shall|would|will|do|does|did|is|are|may|any|anyone|"
    "anybody|wanna|want to|know any|know anyone|know anybody|got any|thoughts|ideas|tips|suggestions|so what|so how"
)
_ASKED_AFTER: Final = re.compile(  # a statement of the speaker, a comma, and a question about it
    r"(?P<stated>(?:^|(?<=[.!?:] )|(?<=\n))(?:(?:so|ok|okay|hi|hey|hello|well|also|btw),? )?"
    r"(?:I|I['’](?:m|ve|d)|we|we['’](?:re|ve)|my|our)(?= )[^.!?\n,]*(?:,(?! (?:" + _OPENING + r")\b)[^.!?\n,]*)*)"
    r",(?P<asked> (?:" + _OPENING + r")\b[^.!?\n,]{2,160}\?)",
    re.IGNORECASE,
)
# "do you?", "is it not?"
_TAG: Final = re.compile(r"\W*(?:\w+ )?\w+ (?:I|you|he|she|it|we|they|not)\W*", re.IGNORECASE)
_SUPPOSED: Final = re.compile(r"\b(?:if|suppose|supposing|whether|unless|wonder(?:ed|ing)?|imagine)\b", re.IGNORECASE)


def with_questions_apart(text: str) -> str:
    """Return a message in which a question after a statement is a sentence of its own.

    Args:
        text: the message.

    Returns:
        A text of the same length: "I'm allergic to nuts. What can I eat?" for "I'm allergic to nuts, what can I eat?".
        Questions after a supposition, and tags such as "do you?", are left as they are.
    """

    def apart(match: re.Match[str]) -> str:
        stated, asked = match["stated"], match["asked"]
        if _TAG.fullmatch(asked) is not None or _SUPPOSED.search(stated) is not None:
            return match[0]
        return f"{stated}. {asked[1].upper()}{asked[2:]}"

    return _ASKED_AFTER.sub(apart, text)
