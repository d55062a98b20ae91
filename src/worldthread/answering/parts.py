"""The part of a sentence that answers: a name, a date, a place or a number."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from worldthread.answering.details import asked_detail, lacks_detail
from worldthread.answering.question import LISTS, ParsedQuestion
from worldthread.errors import MissingExtraError
from worldthread.extract.prose.entities import NamedEntity, annotated_passages
from worldthread.extract.times import time_expressions
from worldthread.extract.when import shown_time
from worldthread.retrieve.words import STOP_STEMS, words_of

_DIGIT: Final = re.compile(r"\d")
_PLACE_BEFORE: Final = re.compile(
    r"\b(?:in|at|to|from|near|into|through|around|down|along|across|of)\s+(?:the\s+)?$", re.IGNORECASE
)
_MANY: Final = re.compile(r"\bhow many\s+(?P<noun>\w+)", re.IGNORECASE)
_JOINED: Final = 5  # characters between a day and its hour
_NEAR: Final = 20  # characters after a number in which what is counted stands
_CAPITAL: Final = re.compile(r"\b[A-Z]")
_PLACE_RELATION: Final = re.compile(r"\b(?:in|at|on|near|to|from|into|through|down|up|of|by|address|home|residence)\b")


def fits_kind(question: ParsedQuestion, answer: str, relation: str) -> bool:
    """Return whether the end of a fact is of the kind that a question asks for.

    Args:
        question: the question.
        answer: the end.
        relation: the relation of the fact.

    Returns:
        ``False`` when it is certainly not of that kind.
    """
    if question.kind == "number":
        return has_number(answer)
    if question.kind == "person":
        return bool(_CAPITAL.search(answer)) and not _DIGIT.search(answer)
    if question.kind == "place":
        return bool(_PLACE_RELATION.search(relation)) and not _DIGIT.fullmatch(answer[:1])
    return True


def has_number(text: str) -> bool:
    """Return whether a text has a number, in digits or in words."""
    return bool(_DIGIT.search(text)) or bool(LISTS["number_words"] & set(re.findall(r"\w+", text.casefold())))


def lacks_kind(question: ParsedQuestion, sentence: str) -> bool:
    """Return whether a sentence certainly has nothing of the kind that a question asks for.

    Only numbers and some details are certain: a person may be "my sister", a time is that of the message, a place may
    be "home".

    Args:
        question: the question.
        sentence: a sentence, without the label of a speaker.

    Returns:
        ``True`` for a question for a number and a sentence without one, or without what is counted; and for a sentence
        without the detail that is asked for.
    """
    if lacks_detail(question, sentence):
        return True
    if question.kind != "number" or asked_detail(question) is not None:
        return False
    counted = _counted(question)
    return not has_number(sentence) or not (not counted or counted & set(words_of(sentence)))


def answering_part(question: ParsedQuestion, sentence: str) -> str | None:
    """Return the part of a sentence that is of the kind that a question asks for.

    Args:
        question: the question.
        sentence: a sentence that fits the question, without the label of a speaker.

    Returns:
        The part as written; ``None`` when there is none or more than one, or the question asks for no such part.
    """
    if question.kind not in ("person", "time", "place", "number"):
        return None
    asked = set(words_of(question.text))
    found: list[tuple[NamedEntity, str]] = []
    for passage in annotated_passages(sentence):
        for part, entities in passage.sentences:
            for entity in entities:
                written = part.text[entity.start : entity.end]
                if _is_of_kind(question, entity, part.text) and not set(words_of(written)) - STOP_STEMS <= asked:
                    found.append((entity, written))
    if any(entity.kind == "person" for entity, _ in found):
        found = [(entity, written) for entity, written in found if entity.kind == "person"]
    if question.kind == "time" and len(found) > 1:
        return _one_time(sentence, [entity for entity, _ in found])
    distinct = list(dict.fromkeys(written for _, written in found))
    return distinct[0] if len(distinct) == 1 else None


def answering_time(sentence: str, at: float) -> str | None:
    """Return the time that a sentence names, such as "last Friday", as a date.

    Args:
        sentence: a sentence, without the label of a speaker.
        at: world time of the sentence.

    Returns:
        A day, a month, a year, or the first and the last day, in ISO 8601; ``None`` when the sentence names no time or
        more than one, or the memory counts turns.
    """
    try:
        named = [time for time in time_expressions(sentence, at) if time.role in ("at", "during")]
    except MissingExtraError:  # what "last Friday" means is understood with the extra `language`
        return None
    if len(named) != 1 or named[0].valid_from is None or named[0].valid_to is None:
        return None
    first, last = shown_time(named[0].valid_from)[:10], shown_time(named[0].valid_to - 1)[:10]
    if named[0].precision in ("year", "month"):
        return first[: 4 if named[0].precision == "year" else 7]
    return first if first == last else f"{first} to {last}"


def _one_time(sentence: str, times: list[NamedEntity]) -> str | None:
    """Return a day and an hour that stand side by side as one; ``None`` for times that do not."""
    if any(after.start - before.end > _JOINED for before, after in pairwise(times)):
        return None
    return sentence[times[0].start : times[-1].end]


def _is_of_kind(question: ParsedQuestion, entity: NamedEntity, sentence: str) -> bool:
    written = sentence[entity.start : entity.end]
    after_preposition = bool(_PLACE_BEFORE.search(sentence[: entity.start]))
    if question.kind == "time":
        return entity.kind == "date"
    if question.kind == "number":
        counted = _counted(question)
        near = set(words_of(f"{written} {sentence[entity.end : entity.end + _NEAR]}"))
        return has_number(written) and entity.kind in ("number", "phrase") and (not counted or bool(counted & near))
    if question.kind == "person":
        return entity.kind == "person" or (entity.kind == "name" and not after_preposition)
    return entity.kind in ("name", "person") and after_preposition


def _counted(question: ParsedQuestion) -> frozenset[str]:
    """Return the stems of what is counted in "how many cars", empty where nothing is."""
    match = _MANY.search(question.text)
    if match is None or match["noun"].casefold() in LISTS["auxiliaries"]:
        return frozenset()
    return frozenset(words_of(match["noun"]))
