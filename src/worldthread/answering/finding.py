"""Finds the answer to a question in what is remembered, without a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.answering.decision import THRESHOLD, probability
from worldthread.answering.details import is_beside_the_point
from worldthread.answering.evidence import Evidence, EvidenceCandidate, candidates, is_about_another, measured
from worldthread.answering.facts import stated_answer
from worldthread.answering.parts import answering_part, answering_time, lacks_kind
from worldthread.answering.persons import asks_who_somebody_is, says_who_somebody_is, tells_relative
from worldthread.answering.question import ParsedQuestion, analysed
from worldthread.extract.when import shown_time
from worldthread.extract.zones import local_time
from worldthread.names import normalise_name
from worldthread.retrieve.text import shown_hit
from worldthread.types import KINDS, Episode, Fact, Hit, Kind, Recall, Thesis

WIDTH: Final = 40
"""How many hits of each kind are compared: those that could mislead are among them."""

NEAREST: Final = 3
"""How many hits are shown apart when there is not enough information."""


@dataclass(frozen=True)
class MemoryAccess:
    """What finding an answer needs of a memory.

    Args:
        recall: recalls hits for a question, at the time that is asked about: the question, how many hits of each kind
            at most, and which kinds.
        embed: returns unit vectors of remembered texts, shape (texts, dimensions).
        embed_question: returns the unit vectors of questions, of which no trace stays.
        rarities: returns, for stems, how rare each is among the episodes: 0 (in each) to 1 (in none).
    """

    recall: Callable[[str, int, Collection[Kind]], Recall]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    embed_question: Callable[[Sequence[str]], NDArray[np.float32]]
    rarities: Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class Found:
    """What was found for a question.

    Args:
        text: the answer; ``None`` when there is not enough information.
        sources: what the answer is taken from, best first; empty without an answer.
        nearest: what comes nearest, best first; empty with an answer.
        confidence: the probability that the memory can answer the question; 0..1.
        recall: what was recalled for the question.
        evidence: the measures behind the probability; ``None`` when nothing was found.
    """

    text: str | None
    sources: tuple[Hit, ...]
    nearest: tuple[Hit, ...]
    confidence: float
    recall: Recall
    evidence: Evidence | None


def find_answer(text: str, memory: MemoryAccess) -> Found:
    """Find the answer to a question.

    Args:
        text: the question, with the name of the person who asks in place of "I" unless nobody is named.
        memory: gives what is needed of the memory.

    Returns:
        The answer, or what comes nearest.
    """
    recall = memory.recall(text, WIDTH, KINDS)
    if not recall.hits:
        return Found(None, (), (), 0.0, recall, None)
    question = analysed(text, _speakers(recall.hits), _names(recall.hits))
    more = memory.recall(question.blind, WIDTH, ("fact", "thesis")).hits if question.blind != text else ()
    hits = [*recall.hits, *_others(more, recall.hits)]
    both = memory.embed_question([text, question.blind])
    rarities = dict(zip(question.words, memory.rarities(question.words), strict=True))
    found = candidates(question, hits, memory.embed, (both[0], both[1]), rarities.__getitem__)
    evidence = measured(question, found, _unknown(rarities))
    confidence = probability(evidence)
    own = found[: len(recall.hits)]
    for one in own:
        if isinstance(one.hit.item, Fact):
            part = stated_answer(question, one.hit.item)
            if part is not None:
                return Found(part, (one.hit,), (), max(confidence, THRESHOLD), recall, evidence)
    ranked = _ranked(own)
    answering = _answering(question, found, ranked) if confidence >= THRESHOLD else None
    if answering is None:
        return Found(None, (), tuple(ranked[:NEAREST]), confidence, recall, evidence)
    source, sentence = answering
    return Found(_part(question, sentence, source), (source,), (), confidence, recall, evidence)


def _part(question: ParsedQuestion, sentence: str, source: Hit) -> str:
    """Return the part of a sentence that answers; the whole sentence when no part does it alone."""
    if asks_who_somebody_is(question) or tells_relative(question, sentence) == "as a whole":
        return sentence
    if question.kind != "time" or not isinstance(source.item, Episode):
        return answering_part(question, sentence) or sentence
    at = local_time(source.item.at, source.item.metadata)
    return answering_time(sentence, at) or answering_part(question, sentence) or f"{sentence} ({shown_time(at)})"


def _speakers(hits: Sequence[Hit]) -> set[str]:
    return {normalise_name(hit.item.speaker) for hit in hits if isinstance(hit.item, Episode) and hit.item.speaker}


def _names(hits: Sequence[Hit]) -> set[str]:
    """Return the normalised names that a question may mention in any spelling: those written with a capital."""
    found = set()
    for hit in hits:
        item = hit.item
        if isinstance(item, Episode):
            continue
        names = (item.subject, item.object) if isinstance(item, Fact) else item.objects
        found |= {normalise_name(name) for name in names if name[:1].isupper() and "'" not in name}
    return found


def _others(hits: Sequence[Hit], known: Sequence[Hit]) -> list[Hit]:
    seen = {hit.item.id for hit in known}
    return [hit for hit in hits if hit.item.id not in seen]


def _unknown(rarities: dict[str, float]) -> float:
    return float(any(rarity >= 1 for rarity in rarities.values()))


def _ranked(found: Sequence[EvidenceCandidate]) -> list[Hit]:
    """Return the passages, and without any the statements, that may answer a question, best first."""
    passages = [one.hit for one in found if one.hit.kind == "episode"]
    return passages or [one.hit for one in sorted(found, key=lambda one: -one.fit)]


def _answering(
    question: ParsedQuestion, found: Sequence[EvidenceCandidate], ranked: Sequence[Hit]
) -> tuple[Hit, str] | None:
    """Return the first of the best hits that can answer a question, and its sentence that does; ``None`` without one.

    Of a sentence that fits less, the part that is asked for counts more: "Who painted it?" asks for a name.
    """
    for hit in ranked[:NEAREST]:
        if not isinstance(hit.item, Episode):
            continue
        sentences = [one for one in found if _is_of(one.hit, hit) and not lacks_kind(question, one.text)]
        sentences = [one for one in sentences if not _misses(question, hit.item.text, one)]
        telling = {one.text: tells_relative(question, one.text) for one in sentences}
        sentences = [one for one in sentences if telling[one.text] != "no"]
        if sentences and "in part" not in telling.values():
            return hit, " ".join(dict.fromkeys(one.text for one in sentences))
        if asks_who_somebody_is(question) and sentences:
            saying = [one for one in sentences if says_who_somebody_is(question, one.text)]
            return hit, max(saying or sentences, key=lambda one: one.fit).text
        if sentences:
            with_part = [one for one in sentences if answering_part(question, one.text) is not None]
            return hit, max(with_part or sentences, key=lambda one: one.fit).text
        statements = hit.item.extraction.statements
        if not statements and not lacks_kind(question, hit.item.text):
            return hit, shown_hit(hit)
    return None


def _misses(question: ParsedQuestion, passage: str, one: EvidenceCandidate) -> bool:
    """Return whether a sentence of a passage certainly is about something else than the question."""
    return is_about_another(question, one) or is_beside_the_point(question, passage, one.text)


def _is_of(hit: Hit, passage: Hit) -> bool:
    """Return whether a hit is a sentence of a passage."""
    return isinstance(hit.item, Thesis) and hit.version is not None and passage.item.id in hit.version.sources
