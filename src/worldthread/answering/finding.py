"""Finds the answer to a question in what is remembered, without a chat model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final, NamedTuple

from worldthread.answering.lookup import missing_part
from worldthread.answering.pointing import MOST_WORDS, AnswerModel, Told
from worldthread.answering.reading import LEAST, MESSAGES, PASSAGES, ReadAnswer, ReadPassage, read_answer
from worldthread.extract.base import USER, is_of_text_reader
from worldthread.extract.prose.words import first_person
from worldthread.extract.reader.pieces import words_of
from worldthread.names import normalise_name
from worldthread.retrieve.query import is_first_person
from worldthread.types import Episode, Fact, Hit, Interval, Recall, Statement, Version

SHORTEST_PERIOD: Final = 28 * 86_400.0
"""Seconds."""
NEAREST: Final = 3
"""How many hits are shown apart when there is not enough information."""


@dataclass(frozen=True)
class MemoryAccess:
    """What finding an answer needs of a memory.

    Args:
        now: the time that is asked about.
        user: whose memory is asked; no message of another user is read.
        own_names: normalised names of the person who asks.
        own_name: the name under which the graph has that person.
        episodes: recalls the given number of episodes, also those that tell what is over.
        episode: returns an episode by its id.
        over_in: returns the facts of an episode that were over by the time that is asked about.
        versions_in: returns the versions of a fact that rest on an episode.
        canonical: the question without the words for its time, and with the names that others were merged into.
        model: points at answers.
    """

    now: float
    user: str
    own_names: frozenset[str]
    own_name: str
    episodes: Callable[[int], Sequence[Hit]]
    episode: Callable[[str], Episode]
    over_in: Callable[[Episode], Sequence[Version]]
    versions_in: Callable[[Episode, Fact], Sequence[Version]]
    canonical: str
    model: AnswerModel


@dataclass(frozen=True)
class Found:
    """What was found for a question.

    Args:
        text: the answer; ``None`` when there is not enough information.
        sources: what the answer is taken from; empty without an answer.
        nearest: what comes nearest, best first; empty with an answer.
        confidence: the probability that what comes first answers the question; 0..1.
    """

    text: str | None
    sources: tuple[Hit, ...]
    nearest: tuple[Hit, ...]
    confidence: float


class StatedPart(NamedTuple):
    """The part of a fact that a question asks for.

    Args:
        part: the part.
        hit: the fact.
        is_given: whether the fact was given as it is; what was read of a text may be wrong.
    """

    part: str
    hit: Hit
    is_given: bool


def find_answer(question: str, recalled: Recall, memory: MemoryAccess) -> Found:
    """Find the answer to a question.

    Args:
        question: the question, as it was asked.
        recalled: what was recalled for it, of what holds.
        memory: gives what is needed of the memory.

    Returns:
        The answer, or what comes nearest.
    """
    time = recalled.asked_time
    stated = list(_looked_up(memory.canonical, recalled, memory))
    if given := {one.part: one.hit for one in stated if one.is_given}:
        return Found(", ".join(given), tuple(given.values()), (), 1.0)
    passages, now = passages_of(question, recalled, memory), memory.now
    if time is not None and time.interval is not None and _is_period(time.interval):
        # what was told by its end tells what held then, and what says since when something held
        now = min(now, time.interval.valid_to - 1)
        passages = (told for one in passages if (told := _told_by(one, now, time.interval, memory)) is not None)
        question = time.without_words(question)
    time_words, parts = "" if time is None else time.words, [one.part for one in stated]
    shown = list(passages)
    read = read_answer(question, now, shown, memory.model, time_words, parts)
    if parts and (read is None or read.stated is None):
        # a fact says otherwise than the message that is chosen: is it in its own?
        texts = {memory.episode(one.hit.version.sources[-1]).said for one in stated if one.hit.version is not None}
        alone = read_answer(
            question, now, [one for one in shown if one.told.text in texts], memory.model, time_words, parts
        )
        read = alone if alone is not None and alone.stated is not None and alone.is_sure else read
    if read is not None and read.text is not None and read.is_sure:
        same = (one.hit for one in stated if one.part == read.stated)
        return Found(read.text, (next(same, read.source),), (), read.probability)
    return Found(None, (), _nearest(recalled, read), 0.0 if read is None else min(read.probability, LEAST))


def _told_by(passage: ReadPassage, now: float, interval: Interval, memory: MemoryAccess) -> ReadPassage | None:
    """Return a passage as if it was told by a time; ``None`` where it says nothing of that time."""
    item, told = passage.hit.item, passage.told
    if told.at <= now:
        return passage
    if isinstance(item, Episode):
        facts = [one for one in item.extraction.statements if isinstance(one, Fact)]
        versions = [version for fact in facts for version in memory.versions_in(item, fact)]
    else:
        versions = [] if passage.hit.version is None else [passage.hit.version]
    held = (one.interval for one in versions)
    is_of_then = any(one.valid_from < interval.valid_to and interval.valid_from < one.valid_to for one in held)
    return replace(passage, told=told._replace(at=now)) if is_of_then else None


def _is_period(interval: Interval) -> bool:
    """Return whether something may hold all through a time, as in "in 2023"; what was on a day is told afterwards."""
    return isfinite(interval.valid_to) and interval.valid_to - interval.valid_from >= SHORTEST_PERIOD


def _looked_up(question: str, recalled: Recall, memory: MemoryAccess) -> Iterator[StatedPart]:
    """Yield what facts say in answer to a question that has the words of the rest."""
    for hit in recalled.hits:
        if isinstance(hit.item, Fact) and hit.version is not None:
            part = missing_part(question, hit.item, memory.own_names)
            source = memory.episode(hit.version.sources[-1])
            if part and _may_state(hit.item, source, memory):
                yield StatedPart(part, hit, not is_of_text_reader(source.extraction.extractor))


def passages_of(question: str, recalled: Recall, memory: MemoryAccess) -> Iterator[ReadPassage]:
    """Yield what may answer a question: messages, and statements that were given or stand in long texts.

    Args:
        question: the question.
        recalled: what was recalled for it, of what holds.
        memory: gives what is needed of the memory.
    """
    is_own = is_first_person(question)
    messages: dict[str, ReadPassage] = {}
    statements: list[ReadPassage] = []
    for hit in memory.episodes(MESSAGES):
        if isinstance(hit.item, Episode) and _is_message(hit.item, memory):
            messages[hit.item.id] = _message(hit, hit.item, memory, is_own)
    for hit in recalled.hits:
        if isinstance(hit.item, Episode) or hit.version is None or len(messages) + len(statements) >= PASSAGES:
            continue
        source = memory.episode(hit.version.sources[-1])
        if source.id in messages or not _may_state(hit.item, source, memory):
            continue
        if _is_message(source, memory):
            messages[source.id] = _message(hit, source, memory, is_own)
        else:
            parts = (hit.item.subject, hit.item.object) if isinstance(hit.item, Fact) else ()
            told = Told(_by(source, memory, is_own), _as_said(hit, memory), source.at)
            statements.append(ReadPassage(hit, told, parts=parts))
    yield from messages.values()
    yield from statements


def _may_state(item: Statement, source: Episode, memory: MemoryAccess) -> bool:
    """Return whether a statement may answer: what another user told is nothing about the person who asks."""
    if source.at > memory.now or source.user in ("", memory.user):
        return source.at <= memory.now
    return isinstance(item, Fact) and memory.own_names.isdisjoint(map(normalise_name, (item.subject, item.object)))


def _is_message(episode: Episode, memory: MemoryAccess) -> bool:
    """Return whether a text was said to this user and can be read whole; a correction is no message."""
    is_own = episode.at <= memory.now and episode.user in ("", memory.user)
    return is_own and is_of_text_reader(episode.extraction.extractor) and len(words_of(episode.said)) <= MOST_WORDS


def _message(hit: Hit, episode: Episode, memory: MemoryAccess, is_own: bool) -> ReadPassage:
    over = tuple(one.statement.object for one in memory.over_in(episode) if isinstance(one.statement, Fact))
    return ReadPassage(hit, Told(_by(episode, memory, is_own), episode.said, episode.at), over)


def _by(episode: Episode, memory: MemoryAccess, is_own: bool) -> str:
    """Return who said something; the person who asks is "user" where the question says "I", else the name in use."""
    name = episode.speaker or USER
    if normalise_name(name) not in memory.own_names:
        return name
    return USER if is_own else memory.own_name


def _as_said(hit: Hit, memory: MemoryAccess) -> str:
    """Return a statement as a sentence; what it says of the person who asks, as they would say it."""
    item = hit.item
    if not isinstance(item, Fact):
        return item.text
    is_own = normalise_name(item.subject) in memory.own_names
    subject, relation = ("I", first_person(item.relation)) if is_own else (item.subject, item.relation)
    end = "me" if normalise_name(item.object) in memory.own_names else item.object
    return f"{subject} {relation} {end}."


def _nearest(recalled: Recall, read: ReadAnswer | None) -> tuple[Hit, ...]:
    hits = [*(() if read is None else (read.source,)), *recalled.hits]
    return tuple({hit.item.id: hit for hit in hits}.values())[:NEAREST]
