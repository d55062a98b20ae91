"""What a model is shown to answer from: passages first, then what they do not say, then talk by its days."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from worldthread.extract.model.stated_times import shown_date
from worldthread.extract.when import is_date, shown_time
from worldthread.extract.zones import local_time, shown_local_time
from worldthread.names import normalise_text
from worldthread.retrieve.text import (
    estimated_tokens,
    indented,
    shown_interval,
    shown_outdated,
    shown_source,
    shown_text,
    without_marks,
)
from worldthread.retrieve.words import content_words
from worldthread.types import Episode, Fact, Hit, Thesis, Version

PASSAGES: Final = 6
"""The most passages that are shown at first: of 205 that answers need, 2 are in seventh place."""
STATEMENTS: Final = 5
"""The most sentences and the most facts of one look-up that are shown."""

LOOK_UP_PASSAGES: Final = 4
"""The most passages of one further query that are shown: the first of them is nearly always what was missing."""
LOOK_UP_STATEMENTS: Final = 2
"""The most sentences and the most facts of one further query that are shown."""

_PASSAGE_SHARE: Final = 0.8  # of the limit, so that a long passage leaves room for statements
_DEPENDENT: Final = frozenset({
    "it", "its", "he", "his", "him", "she", "her", "hers", "they", "their", "them", "this", "that", "these", "those",
    "there", "here", "who", "which", "such", "then", "thus", "also", "however", "like", "and", "but", "or", "so",
    "er", "sie", "es", "ihr", "ihre", "sein", "seine", "dies", "diese", "dieser", "dort", "il", "elle", "ils", "elles",
    "son", "sa", "ses", "cela", "ce", "cette", "ella", "ellos", "ellas", "su", "sus", "esto", "este", "esta",
})  # fmt: skip
_GAP: Final = re.compile(r"\b(?:is|are|was|were|of|at|in|about|approximately|around|to|by) [.,;]", re.IGNORECASE)
_NAME_OR_NUMBER: Final = re.compile(r"[^\W_a-zß-öø-ÿ]|\d")  # a capital, a digit, or a letter of a script without cases
_ALIKE: Final = 0.85  # share of the words of two passages from which on they say the same
_ALIKE_WORDS: Final = 20  # in passages of fewer words, each word counts for too much
_FIRST_WORD: Final = re.compile(r"[\"'“‘(\[«]*([^\W_]+)")
_SENTENCE_END: Final = (".", "!", "?", "…", '"', "”", ")", "。", "！", "？")

_TALK_SHARE: Final = 1 / 3
"""How much of the limit turns of talk may take: of 3,000, about 700 tokens as models count them, or 18 turns."""
_LONGEST_BESIDE: Final = 400  # characters of a turn that is shown only to understand another
_LONGEST_TURN: Final = 800  # characters; of a longer one, the sentences with words of the question
_SENTENCES: Final = re.compile(r"[^.!?\n]*(?:[.!?]+(?=\s)|\n|.$)|[^.!?\n]+", re.DOTALL)
_FEW_WORDS: Final = 5  # with meaning: a turn with fewer is not understood without the one before
_ASKS: Final = re.compile(r"[?？][^.!?]{0,40}$")
_LEFT_OUT: Final = "..."

Outdated = Callable[[Episode], Sequence[Version]]
"""Returns the statements of an episode that do not hold any more, as their last versions."""


class Spot(NamedTuple):
    """Where a message stands in its talk.

    Args:
        session: the number of the talk; one begins after a long pause.
        place: the place of the message among all; neighbours in a talk have neighbouring places.
        before: the message before it in the talk; ``None`` for the first, and for one that must not be shown.
        after: the message after it; ``None`` likewise.
    """

    session: int
    place: int
    before: Episode | None
    after: Episode | None


Around = Callable[[Episode], "Spot | None"]
"""Returns where a message stands; ``None`` where that is not known."""


@dataclass(frozen=True)
class Quotation:
    """A hit as it is shown.

    Args:
        hit: the hit.
        text: its text, with what is no longer true of it, and with its time unless it is a turn of a talk.
        at: the world time by which it is put in order.
        spot: where a turn of a talk stands in it, as the numbers of its talk and its place; ``None`` for all others.
    """

    hit: Hit
    text: str
    at: float
    spot: tuple[int, int] | None = None


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence can be understood alone: it is whole, and does not begin with a word for its subject.

    Args:
        sentence: the sentence.

    Returns:
        ``False`` for "It lies in Rome.", "and went home.", "Gale Ann Benson (nee", "The river is long.", "Its
        area is .".
    """
    text = sentence.strip()
    first = _FIRST_WORD.match(text)
    if first is None or first[1].casefold() in _DEPENDENT or first[1][0].islower():
        return False
    if first[1].casefold() == "the" and _NAME_OR_NUMBER.search(text, first.end()) is None:
        return False  # which one?
    return text.endswith(_SENTENCE_END) and text.count("(") == text.count(")") and _GAP.search(text) is None


def quotations(
    question: str,
    hits: Sequence[Hit],
    *,
    max_tokens: int,
    known: Sequence[Quotation] = (),
    outdated: Outdated | None = None,
    around: Around | None = None,
    passages: int = PASSAGES,
    statements: int = STATEMENTS,
) -> list[Quotation]:
    """Choose and write what is shown of some hits.

    Passages come first, because they are what answers cite; one that says nearly the same as another of the same time
    is left out. A sentence is shown if it can be understood alone and no shown passage says it; a fact, if its relation
    or its subject is asked for, it is about something that is named in the question or in a passage, and its passage is
    not shown unless the fact has times of its own. What somebody said comes last, and takes a third of the limit:
    a turn with the one before that asks it or that a short one answers, a question with its answer.

    Args:
        question: the question.
        hits: the hits, best first within each kind.
        max_tokens: the most tokens, by a cautious estimate.
        known: what is shown already.
        outdated: finds what passages say that is no longer true; ``None`` marks nothing.
        around: finds where messages stand in their talk; ``None`` shows each alone.
        passages: the most passages that nobody said.
        statements: the most sentences, and the most facts.

    Returns:
        New quotations, at least one if there is a hit that is not shown yet and can be shown at all.
    """
    shown = {_identity(one.hit) for one in known}
    fresh = [hit for hit in hits if _identity(hit) not in shown]
    with_times = _have_times([*(one.hit for one in known), *fresh])
    talk = [hit for hit in fresh if isinstance(hit.item, Episode) and hit.item.speaker]
    chosen: list[Quotation] = []
    left = float(max_tokens)

    def add(hit: Hit, reserve: float = 0.0) -> bool:
        nonlocal left
        quotation = Quotation(hit, _written(hit, with_times, outdated), _time_of(hit))
        cost = estimated_tokens(quotation.text) + 4
        if cost > left - reserve and (chosen or known):
            return False
        left -= cost
        chosen.append(quotation)
        return True

    said = [(_time_of(one.hit), content_words(one.hit.item.text)) for one in known if isinstance(one.hit.item, Episode)]
    for hit in [hit for hit in fresh if isinstance(hit.item, Episode) and not hit.item.speaker]:
        words = content_words(hit.item.text) if isinstance(hit.item, Episode) else frozenset()
        if any(at == _time_of(hit) and _are_alike(words, other) for at, other in said):
            continue
        if len(chosen) == passages or not add(hit, (1 - _PASSAGE_SHARE) * max_tokens):
            break
        said.append((_time_of(hit), words))
    read = [one.hit.item for one in (*known, *chosen) if isinstance(one.hit.item, Episode)]
    ids, texts = {passage.id for passage in read}, "\n".join(passage.text for passage in read)
    asked = content_words(question)
    named = asked.union(*(words for _, words in said))
    labels = tuple({f"{hit.item.speaker}: " for hit in talk if isinstance(hit.item, Episode)})
    theses = [hit for hit in fresh if isinstance(hit.item, Thesis) and _adds(hit, ids, texts)]
    theses = _unlike([hit for hit in theses if not str(hit.item).startswith(labels)])
    facts = [hit for hit in fresh if isinstance(hit.item, Fact) and _fits(hit, hit.item, asked, named, ids)]
    if talk:  # nearly every fact is about one of those who talk
        facts = [hit for hit in facts if isinstance(hit.item, Fact) and _is_asked_for(hit.item, asked)]
    for hit in [*theses[:statements], *facts[:statements]]:
        add(hit)
    if not chosen and not talk and not known and fresh:  # nothing but facts that do not fit: better than none
        for hit in fresh[:statements]:
            add(hit)
    room = min(left, _TALK_SHARE * max_tokens)
    return [*chosen, *_of_talk(talk, (*known, *chosen), room, asked, outdated, around)]


def _of_talk(
    hits: Sequence[Hit],
    known: Sequence[Quotation],
    left: float,
    asked: frozenset[str],
    outdated: Outdated | None,
    around: Around | None,
) -> list[Quotation]:
    """Return turns of talks, with those that they are understood by, as many as fit."""
    shown = {_identity(one.hit) for one in known}
    chosen: list[Quotation] = []
    for hit in hits:
        if not isinstance(hit.item, Episode) or hit.item.id in shown:
            continue
        spot = None if around is None else around(hit.item)
        session, place, before, after = spot if spot is not None else (0, -1, None, None)
        scene = [(place, hit.item)]
        if before is not None and (_asks(before) or len(content_words(hit.item.said)) < _FEW_WORDS):
            scene.insert(0, (place - 1, before))
        if after is not None and _asks(hit.item):
            scene.append((place + 1, after))
        new = []
        for there, item in scene:
            if item.id in shown or (item is not hit.item and len(item.text) > _LONGEST_BESIDE):
                continue
            one = hit if item is hit.item else Hit(item, hit.score, "episode")
            text = f"{_excerpt(shown_text(item), asked)}{shown_outdated(() if outdated is None else outdated(item))}"
            new.append(Quotation(one, text, item.at, (session, there)))
        cost = sum(estimated_tokens(one.text) + 4 for one in new)
        if cost > left and (chosen or known):
            break
        left -= cost
        chosen += new
        shown |= {_identity(one.hit) for one in new}
    return chosen


def _asks(message: Episode) -> bool:
    """Return whether a message ends with a question."""
    return _ASKS.search(message.text.rstrip()) is not None


def _is_asked_for(fact: Fact, asked: frozenset[str]) -> bool:
    """Return whether a question has a word of the relation or the object of a fact, and not of its subject alone."""
    return bool((content_words(f"{fact.relation} {fact.object}") - content_words(fact.subject)) & asked)


def without_repeated(shown: Sequence[Quotation]) -> list[Quotation]:
    """Leave out sentences and facts that a passage says which was found later.

    Args:
        shown: quotations of several queries.

    Returns:
        The others, in the same order.
    """
    passages = [one.hit.item for one in shown if isinstance(one.hit.item, Episode)]
    ids, texts = {passage.id for passage in passages}, "\n".join(passage.text for passage in passages)
    return [one for one in shown if isinstance(one.hit.item, Episode) or _is_new(one.hit, ids, texts)]


def listed_quotations(shown: Sequence[Quotation]) -> tuple[list[Quotation], str]:
    """Return quotations in the order in which they are numbered, and as a numbered list.

    Talk comes last, in order of time, under its days; three dots stand for turns that are left out.

    Args:
        shown: the quotations.

    Returns:
        The quotations and their text. Further lines are indented, so that no passage can imitate another or a day.
    """
    ordered = [one for one in shown if one.spot is None]
    ordered += sorted((one for one in shown if one.spot is not None), key=lambda one: (one.at, one.spot))
    lines: list[str] = []
    last: Quotation | None = None
    for number, one in enumerate(ordered, 1):
        if one.spot is not None:
            day = _day_of(one)
            if last is None or last.spot is None or last.spot[0] != one.spot[0] or _day_of(last) != day:
                lines.append(f"-- {day} --")
            elif one.spot[1] != last.spot[1] + 1:
                lines.append(_LEFT_OUT)
        lines.append(f"{number}. {indented(one.text)}")
        last = one
    return ordered, "\n".join(lines)


def _day_of(quotation: Quotation) -> str:
    """Return the day of a turn, where it was said; its time where turns are counted."""
    item = quotation.hit.item
    at = local_time(quotation.at, item.metadata) if isinstance(item, Episode) else quotation.at
    return shown_date(at) or shown_time(at)


def _excerpt(text: str, asked: frozenset[str]) -> str:
    """Return a long turn as its sentences that have most words of a question, in their order."""
    if len(text) <= _LONGEST_TURN:
        return text
    sentences = _SENTENCES.findall(text)
    ranked = sorted(range(len(sentences)), key=lambda number: -len(content_words(sentences[number]) & asked))
    kept: set[int] = {0}
    room = _LONGEST_TURN - len(sentences[0])
    for number in ranked:
        if number not in kept and len(sentences[number]) <= room:
            kept.add(number)
            room -= len(sentences[number])
    parts = [
        sentence.strip() if number in kept else "[...]" if number - 1 in kept else ""
        for number, sentence in enumerate(sentences)
    ]
    return " ".join(part for part in parts if part)


def are_dated(shown: Sequence[Quotation]) -> bool:
    """Return whether any quotation has a date."""
    return any(is_date(one.at) for one in shown)


def _identity(hit: Hit) -> str:
    return hit.item.id


def _time_of(hit: Hit) -> float:
    if isinstance(hit.item, Episode):
        return hit.item.at
    if hit.version is not None:
        return hit.version.interval.valid_from
    return 0.0 if hit.item.valid_from is None else hit.item.valid_from


def _have_times(hits: Sequence[Hit]) -> bool:
    """Return whether times say anything: they are dates, or not all the same."""
    times = {_time_of(hit) for hit in hits}
    return len(times) > 1 or any(map(is_date, times))


def _are_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two passages with these words say nearly the same."""
    return min(len(words), len(others)) >= _ALIKE_WORDS and len(words & others) >= _ALIKE * len(words | others)


def _unlike(hits: Sequence[Hit]) -> list[Hit]:
    """Return sentences, each once by its words and time."""
    first: dict[tuple[str, float], Hit] = {}
    for hit in hits:
        first.setdefault((normalise_text(str(hit.item)), _time_of(hit)), hit)
    return list(first.values())


def _is_new(hit: Hit, ids: set[str], texts: str) -> bool:
    """Return whether no passage says a sentence or a fact; a fact with times of its own says more than its passage."""
    if isinstance(hit.item, Fact):
        return _has_own_source(hit, hit.item, ids)
    return (hit.version is None or ids.isdisjoint(hit.version.sources)) and str(hit.item) not in texts


def _adds(hit: Hit, ids: set[str], texts: str) -> bool:
    """Return whether a thesis says something that no shown passage says, and can be understood alone."""
    return _is_new(hit, ids, texts) and stands_alone(str(hit.item))


def _fits(hit: Hit, fact: Fact, asked: frozenset[str], named: frozenset[str], ids: set[str]) -> bool:
    subject, object_ = content_words(fact.subject), content_words(fact.object)
    is_asked_about = bool(subject) and subject <= asked
    if not is_asked_about and not (content_words(fact.relation) & asked and (subject <= named or object_ & asked)):
        return False
    return _has_own_source(hit, fact, ids)


def _has_own_source(hit: Hit, fact: Fact, ids: set[str]) -> bool:
    if hit.version is None or ids.isdisjoint(hit.version.sources):
        return True
    return fact.valid_from is not None or not hit.version.interval.is_open


def _written(hit: Hit, with_times: bool, outdated: Outdated | None) -> str:
    item = hit.item
    if isinstance(item, Episode):
        origin = _origin(item, with_times)
        return f"{origin}{shown_text(item)}{shown_outdated(() if outdated is None else outdated(item))}"
    sentence = f"{item.subject} {item.relation} {item.object}" if isinstance(item, Fact) else item.text
    sentence = without_marks(sentence)
    if hit.version is None or not with_times:
        return sentence
    return f"{sentence} ({shown_interval(hit.version)}){shown_outdated(hit.outdated)}"


def _origin(episode: Episode, with_times: bool) -> str:
    parts = [shown_local_time(episode.at, episode.metadata)] if with_times else []
    if any(letter.isalpha() for letter in episode.source):
        parts.append(shown_source(episode.source))
    return f"({', '.join(parts)}) " if parts else ""
