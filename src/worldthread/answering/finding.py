"""Finds the answer to a question in what is remembered, without a model.

A statement answers only if it agrees with the question in whom and whose it is about, in negation, in numbers and in
the kind of what is asked for, and if it is likely enough that it says what is asked. Everything else is evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.answering.agreement import MEASURES, asks_for_subject, disagreement, measures, words_to_embed
from worldthread.answering.candidates import EvidenceCandidate, candidates, learned_persons, names_in, own_names_in
from worldthread.answering.decision import THRESHOLD, Evidence, best_evidence, rank
from worldthread.answering.question import ParsedQuestion, parsed
from worldthread.answering.reading import Messages, read_answer
from worldthread.answering.replies import reply
from worldthread.answering.wording import ME, Persons
from worldthread.retrieve.words import words_of
from worldthread.types import KINDS, AskedTime, Episode, Hit, Kind, Recall

WIDTH: Final = 40
"""How many hits of each kind are compared."""

COMPARED: Final = 20
"""How many candidates are compared with the question word by word."""

COVERAGE: Final = 0.5
"""What having all words of a question weighs against a cosine similarity of 1, before that."""

NEAREST: Final = 3
"""How many hits are shown apart when there is not enough information."""

_MAY_CHANGE: Final = ("name", "negation", "over", "kind", "month")
_INTRODUCTION: Final = "My name is"


@dataclass(frozen=True)
class MemoryAccess:
    """What finding an answer needs of a memory.

    Args:
        recall: recalls hits for a question, at the time that is asked about: the question, how many hits of each kind
            at most, and which kinds.
        embed: returns unit vectors of remembered texts, shape (texts, dimensions).
        embed_question: returns the unit vectors of questions, of which no trace stays.
        rarities: returns, for stems, how rare each is among the episodes: 0 (in each) to 1 (in none).
        episode: returns an episode by its id.
        own_names: normalised names of the person who asks, as the graph has them.
        messages: returns messages in which the answer to a question may stand, given the time that it names; ``None``
            where nothing reads them.
    """

    recall: Callable[[str, int, Collection[Kind]], Recall]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    embed_question: Callable[[Sequence[str]], NDArray[np.float32]]
    rarities: Callable[[Sequence[str]], Sequence[float]]
    episode: Callable[[str], Episode]
    own_names: frozenset[str]
    messages: Callable[[str, AskedTime | None], Messages | None] | None = None


@dataclass(frozen=True)
class Found:
    """What was found for a question.

    Args:
        text: the answer; ``None`` when there is not enough information.
        sources: what the answer is taken from, best first; empty without an answer.
        nearest: what comes nearest, best first; empty with an answer.
        confidence: the probability that what comes first answers the question; 0..1.
        recall: what was recalled for the question.
        evidence: the measures behind the probability; ``None`` when nothing agrees with the question.
    """

    text: str | None
    sources: tuple[Hit, ...]
    nearest: tuple[Hit, ...]
    confidence: float
    recall: Recall
    evidence: Evidence | None


@dataclass(frozen=True)
class Judged:
    """A question with the candidates that agree with it.

    Args:
        question: the question.
        recall: what was recalled for it.
        found: the candidates, best first.
        table: their measures, shape (candidates, measures).
        scores: the logarithm of the odds that each says what is asked.
    """

    question: ParsedQuestion
    recall: Recall
    found: list[EvidenceCandidate]
    table: NDArray[np.float64]
    scores: NDArray[np.float64]


def find_answer(text: str, memory: MemoryAccess) -> Found:
    """Find the answer to a question.

    Args:
        text: the question, as it was asked.
        memory: gives what is needed of the memory.

    Returns:
        The answer, or what comes nearest.
    """
    judged = judge(text, memory)
    if not judged.found:
        return Found(None, (), judged.recall.hits[:NEAREST], 0.0, judged.recall, None)
    evidence = evidence_of(judged)
    answer = reply(judged.question, judged.found[0])
    nearest = tuple({one.hit.item.id: one.hit for one in judged.found}.values())[:NEAREST]
    if answer is None or evidence.probability < THRESHOLD:
        return Found(None, (), nearest, evidence.probability, judged.recall, evidence)
    answer, source = _fullest(judged, answer)
    return Found(answer, (source,), (), evidence.probability, judged.recall, evidence)


def find_in_messages(text: str, memory: MemoryAccess, found: Found) -> Found:
    """Find the answer to a question in messages themselves.

    Args:
        text: the question, as it was asked.
        memory: gives what is needed of the memory.
        found: what statements say, which is no answer.

    Returns:
        The answer, or what statements say.
    """
    messages = None if memory.messages is None else memory.messages(text, found.recall.asked_time)
    read = None if messages is None else read_answer(parsed(text), messages)
    if read is None:
        return found
    return Found(read.text, (read.source,), (), read.probability, found.recall, found.evidence)


def _fullest(judged: Judged, answer: str) -> tuple[str, Hit]:
    """Return the answer and its source: the end of a fact, or the sentence where that names more of what is asked for.

    A fact answers for the best sentence if its end has all names and numbers that the sentence tells. A sentence
    answers for the best fact if the end of that repeats the question ("my old bike" for "Which bike?") and tells more.
    """
    question, best = judged.question, judged.found[0]
    if question.kind in ("yes-no", "time") or (best.fact is not None and not question.asked_noun & _words(answer)):
        return answer, best.hit
    for number in np.flatnonzero(judged.table[:, MEASURES.index("exact")]).tolist():
        one = judged.found[number]
        other = reply(question, one)
        if other is None or one.at != best.at or (one.fact is None) == (best.fact is None):
            continue
        names_more = bool(_new_names(judged, best if one.fact else one) - _words(other if one.fact else answer))
        if names_more == (one.fact is None) and (one.fact is None or other in answer):
            return other, one.hit
    return answer, best.hit


def _words(text: str) -> set[str]:
    return set(words_of(text))


def _new_names(judged: Judged, one: EvidenceCandidate) -> set[str]:
    """Return the stems of names and numbers that a sentence tells, without those of the question and its subject."""
    named = [word.text for word in one.wording.words if word.is_name or word.low[:1].isdigit()]
    return _words(" ".join(named)) - _words(judged.question.text) - _words(one.wording.subjects[0] or "")


def evidence_of(judged: Judged) -> Evidence:
    """Return the measures of the best candidate of a question that has one."""
    return best_evidence(
        judged.question.kind,
        judged.scores.tolist(),
        [reply(judged.question, one) for one in judged.found],
        [one.at for one in judged.found],
        [one.fact is not None for one in judged.found],
        judged.table[0].tolist(),
    )


def judge(text: str, memory: MemoryAccess) -> Judged:
    """Return the candidates for a question, best first.

    Args:
        text: the question, as it was asked.
        memory: gives what is needed of the memory.
    """
    recall = memory.recall(text, WIDTH, KINDS)
    hits = list(recall.hits)
    own_names = set(memory.own_names)
    names = names_in(hits)
    time = recall.asked_time
    question = parsed(text, names, "" if time is None else time.words)
    if question.names or question.asks_name:
        hits += _others(memory.recall(_INTRODUCTION, 8, ("fact", "thesis")).hits, hits)
    found = candidates(hits, own_names, names, memory.episode)
    own_names |= own_names_in(found)
    persons = learned_persons(question.names, found, own_names)
    resolved = _resolved(question, persons)
    if resolved:
        more = _others(memory.recall(resolved, WIDTH, ("fact", "thesis")).hits, hits)
        found += candidates(more, own_names, names, memory.episode)
    reasons = [disagreement(question, one, persons) for one in found]
    set_aside = [one for one, reason in zip(found, reasons, strict=True) if reason in _MAY_CHANGE]
    found = [one for one, reason in zip(found, reasons, strict=True) if reason is None]
    # a fact that says all of the question but what is asked for leaves nothing to weigh
    found = [one for one in found if asks_for_subject(question, one)] or found
    if not found:
        return Judged(question, recall, [], np.zeros((0, 0)), np.zeros(0))
    rarities = dict(zip(question.words, memory.rarities(question.words), strict=True))
    texts = memory.embed([_embedded(one.hit) for one in found])
    similarities = texts @ memory.embed_question([text])[0]
    shares = np.array([sum(rarities[word] for word in question.words if word in one.stems) for one in found])
    order = np.argsort(-(similarities + COVERAGE * shares / (sum(rarities.values()) or 1.0)), kind="stable")[:COMPARED]
    found, similarities = [found[i] for i in order], similarities[order]
    words = words_to_embed(question, found)
    vectors = dict(zip(words, memory.embed_question(words), strict=True)) if words else {}
    table = measures(question, found, similarities.tolist(), vectors, rarities.__getitem__, persons, set_aside)
    scores = rank(table)
    order = np.argsort(-scores, kind="stable")
    return Judged(question, recall, [found[i] for i in order], table[order], scores[order])


def _embedded(hit: Hit) -> str:
    return hit.item.text if isinstance(hit.item, Episode) else str(hit.item)


def _resolved(question: ParsedQuestion, persons: Persons) -> str:
    """Return a question with the names of those whom it describes, "my sister" as "Ella"; empty where none is known."""
    keys = {word.owner for word in question.wording.words if word.owner} | {question.subject or ME}
    names = [persons.of(key) for key in sorted(keys) if persons.of(key) not in (key, ME)]
    return f"{' '.join(name.title() for name in names)}: {question.text}" if names else ""


def _others(hits: Sequence[Hit], known: Sequence[Hit]) -> list[Hit]:
    seen = {hit.item.id for hit in known}
    return [hit for hit in hits if hit.item.id not in seen]
