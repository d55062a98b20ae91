"""What speaks for it that a memory can answer a question: how well statements about its subject fit, and about others.

A question about one person is often answered, wrongly, by what another one did. So what is remembered is compared with
the question twice: about whom it is, and how well it fits when the person does not count ("someone").
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.answering.question import ParsedQuestion
from worldthread.names import normalise_name
from worldthread.retrieve.words import words_of
from worldthread.types import Episode, Fact, Hit, Thesis

COVERAGE: Final = 0.5
"""What covering all words of a question weighs against a cosine similarity of 1."""

_FIRST_PERSON: Final = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_SECOND_PERSON: Final = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"\b(?:he|she|it|they|who|which|this|that|these|those)\b", re.IGNORECASE)
_BEST: Final = 5  # the mean of so many is more certain than the best alone


@dataclass(frozen=True)
class EvidenceCandidate:
    """Something remembered that may answer a question.

    Args:
        hit: what was recalled.
        text: its words, without the label of a speaker.
        speaker: the normalised name of who says it; empty when nobody does.
        about: normalised names of what it is about.
        words: the stems of its words.
        similarity: its cosine similarity with the question; 0 for a passage, which counts by its sentences.
        blind: its cosine similarity with the question about "someone"; 0 for a passage.
        coverage: the share of the question's words that it has, each weighted by its rarity; 0..1.
    """

    hit: Hit
    text: str
    speaker: str
    about: frozenset[str]
    words: frozenset[str]
    similarity: float
    blind: float
    coverage: float

    @property
    def fit(self) -> float:
        """How well it fits the question, by meaning and by words."""
        return self.similarity + COVERAGE * self.coverage


@dataclass(frozen=True)
class Evidence:
    """Measures of what was found for a question; they mean the same in every memory.

    The *fit* of a sentence is its similarity with the question about "someone", plus :data:`COVERAGE` times the share
    of the question's words that it has. ``own`` are the sentences about the subject of the question, ``others`` the
    sentences about somebody or something else. A margin is 0 for a question without a subject, or without others.

    Args:
        margin: the mean fit of the five best own sentences, less that of the others.
        said_margin: the best fit of what the subject says, less that of what others say.
        fit: the mean fit of the five best own sentences.
        similarity: the highest similarity of any sentence with the question as asked.
        unknown: 1 when the question has a word that the memory has never seen, else 0.
        several: 1 when the question names more than one, else 0.
        dated: 1 when the question asks for a time, since everything remembered has one; else 0.
    """

    margin: float
    said_margin: float
    fit: float
    similarity: float
    unknown: float
    several: float
    dated: float

    def values(self) -> tuple[float, ...]:
        """Return the measures, in the order of the fields."""
        return astuple(self)


def candidates(
    question: ParsedQuestion,
    hits: Iterable[Hit],
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    vectors: tuple[NDArray[np.float32], NDArray[np.float32]],
    rarity: Callable[[str], float],
) -> list[EvidenceCandidate]:
    """Return hits with their measures.

    Args:
        question: the question.
        hits: what was recalled.
        embed: returns unit vectors of texts, shape (texts, dimensions).
        vectors: of the question, and of the question about "someone"; shape (dimensions,) each.
        rarity: returns how rare a stem is in the memory; 0 or more.

    Returns:
        A candidate for each hit, in the same order.
    """
    chosen = list(hits)
    texts = [hit.item.text if isinstance(hit.item, Episode) else str(hit.item) for hit in chosen]
    statements = [number for number, hit in enumerate(chosen) if hit.kind != "episode"]
    similar, blind = np.zeros(len(chosen)), np.zeros(len(chosen))
    if statements:
        rows = embed([texts[number] for number in statements])
        similar[statements], blind[statements] = (rows @ vector for vector in vectors)
    speakers = {normalise_name(hit.item.speaker) for hit in chosen if isinstance(hit.item, Episode)} - {""}
    weights = {word: rarity(word) for word in question.words}
    total = sum(weights.values())
    found = []
    for number, hit in enumerate(chosen):
        speaker, text = _said(hit, texts[number])
        words = frozenset(words_of(text))
        covered = sum(weight for word, weight in weights.items() if word in words)
        about = _about(hit, text, speaker, question, speakers)
        share = covered / total if total else 0.0
        similarity = float(similar[number])
        found.append(EvidenceCandidate(hit, text, speaker, about, words, similarity, float(blind[number]), share))
    return found


def is_about_another(question: ParsedQuestion, one: EvidenceCandidate) -> bool:
    """Return whether a written sentence certainly says something about somebody or something else.

    Args:
        question: the question.
        one: a sentence. What somebody says often leaves out whom it is about, so it is never certain.

    Returns:
        ``True`` for "What does Emil study?" and "Their daughter Freja studies medicine".
    """
    item = one.hit.item
    if question.subject is None or one.speaker or not isinstance(item, Thesis) or _PRONOUN.search(one.text):
        return False
    names = {normalise_name(name) for name in item.objects if name[:1].isupper()}
    return bool(names) and question.subject not in one.text.casefold() and names.isdisjoint(question.named)


def measured(question: ParsedQuestion, found: Iterable[EvidenceCandidate], unknown: float) -> Evidence:
    """Return the measures of what was found for a question.

    Args:
        question: the question.
        found: the candidates; passages count by their sentences, so they are left out.
        unknown: see :class:`Evidence`.

    Returns:
        The measures.
    """
    sentences = [one for one in found if one.hit.kind != "episode"]
    subject = question.subject
    own = [one for one in sentences if subject is None or subject in one.about]
    others = [] if subject is None else [one for one in sentences if one.about - {subject}]
    said = [one for one in sentences if one.hit.kind == "thesis" and one.speaker]
    said_by_others = [one for one in said if subject is not None and one.speaker != subject]
    return Evidence(
        margin=_margin(own, others, _BEST),
        said_margin=_margin([one for one in said if one.speaker == subject], said_by_others, 1),
        fit=_best(own, _blind_fit, _BEST),
        similarity=_best(sentences, lambda one: one.similarity, 1),
        unknown=unknown,
        several=float(len(question.named) > 1),
        dated=float(question.kind == "time"),
    )


def _blind_fit(one: EvidenceCandidate) -> float:
    return one.blind + COVERAGE * one.coverage


def _margin(own: Sequence[EvidenceCandidate], others: Sequence[EvidenceCandidate], count: int) -> float:
    return _best(own, _blind_fit, count) - _best(others, _blind_fit, count) if others else 0.0


def _best(found: Sequence[EvidenceCandidate], value: Callable[[EvidenceCandidate], float], count: int) -> float:
    """Return the mean of the highest values; 0 when there are none."""
    highest = sorted(map(value, found), reverse=True)[:count]
    return math.fsum(highest) / len(highest) if highest else 0.0


def _said(hit: Hit, text: str) -> tuple[str, str]:
    """Return who says a hit, normalised, and its words without the label."""
    item = hit.item
    if isinstance(item, Episode):
        return normalise_name(item.speaker) if item.speaker else "", text.removeprefix(f"{item.speaker}: ")
    if isinstance(item, Thesis):
        for name in item.objects:
            if text.startswith(f"{name}: "):
                return normalise_name(name), text.removeprefix(f"{name}: ")
    return "", text


def _about(hit: Hit, text: str, speaker: str, question: ParsedQuestion, speakers: set[str]) -> frozenset[str]:
    """Return whom a hit is about, of those who matter to the question: its names and the speakers."""
    item = hit.item
    if isinstance(item, Fact):
        ends = (normalise_name(item.subject), normalise_name(item.object))
        return frozenset(name for end in ends for name in _within(end, (*question.named, *speakers), end))
    objects = {normalise_name(name) for name in item.objects} - {speaker} if isinstance(item, Thesis) else set()
    about = {name for name in (*question.named, *speakers) if name in objects}
    about |= set(_within(text.casefold(), (*question.named, *speakers - {speaker})))
    if speaker:
        if _SECOND_PERSON.search(text):
            about |= speakers - {speaker}
        if not about or _FIRST_PERSON.search(text):
            about.add(speaker)
    return frozenset(about) or frozenset(objects) or frozenset({""})


def _within(text: str, names: Iterable[str], otherwise: str | None = None) -> list[str]:
    """Return the names that a text has as whole words; ``otherwise`` when it has none."""
    found = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    return found or ([] if otherwise is None else [otherwise])
