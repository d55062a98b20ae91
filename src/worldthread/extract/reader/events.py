"""Events out of what the model says of the words of a piece."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.reader.pieces import Piece, sentences_of

KINDS: Final = ("state", "begins", "ends", "never", "happened", "planned")
ENDING_KINDS: Final = ("ends", "never")
TIME_KINDS: Final = ("", "on", "since", "for", "until", "span", "from", "by", "during")
SUBJECTS: Final = ("speaker", "span", "speaker's span", "span's span", "other")
POINTERS: Final = ("head begin", "head end", "owner begin", "owner end", "time begin", "time end")
LONGEST_OBJECT: Final = 28
"""Words of an object."""
_LONGEST_NAME: Final = 8
_LONGEST_TIME: Final = 12
_LEAST_JUDGED: Final = 0.01  # the product of the parts of an event that is judged
_ARTICLES: Final = ("a", "an", "the")
_TRIED: Final = 3  # beginnings of a span, the likeliest ones
_OF_SPEAKER: Final = re.compile(r"\b(?:(?P<own>(?i:my|mine|our))|I|[Mm]e|myself|us)\b")
_SPACE_BEFORE_SIGN: Final = re.compile(r" (['’]s\b|[.,;:!?])")


class MessageEvent(NamedTuple):
    """What a message tells.

    Args:
        kind: one of :data:`KINDS`.
        subject: who or what it is about.
        relation: what holds or happened.
        object: the other end of the relation.
        when: the words of its time, as the message has them; empty where it tells none.
        time_kind: one of :data:`TIME_KINDS`.
        begin: where the object begins in the text of the message.
        end: the place after the object.
        confidence: how sure the model is that all of its parts are right, in [0, 1].
    """

    kind: str
    subject: str
    relation: str
    object: str
    when: str
    time_kind: str
    begin: int
    end: int
    confidence: float


class Confidence:
    """How sure the reader is of an event, learned from events that people judged.

    A logistic regression on the logarithms of the probabilities of the parts and of the judgement, on the kind, the
    kind of subject, and the length of the object.

    Args:
        weights: one for each feature.
        bias: the constant.
    """

    def __init__(self, weights: Sequence[float], bias: float) -> None:
        self._weights, self._bias = np.asarray(weights, np.float64), bias

    def __call__(self, parts: Sequence[float], kind: str, subject_kind: str, words: int, judged: float) -> float:
        """Return the probability that an event is right, in (0, 1); the arguments are those of :func:`features_of`."""
        score = float(features_of(parts, kind, subject_kind, words, judged) @ self._weights) + self._bias
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def features_of(parts: Sequence[float], kind: str, subject_kind: str, words: int, judged: float) -> NDArray[np.float64]:
    """Return what the confidence in an event is computed from, shape (18,).

    Args:
        parts: probabilities that the object begins and ends there, of kind, subject, relation, time, and of the words
            of the subject that are pointed at.
        kind: one of :data:`KINDS`.
        subject_kind: one of :data:`SUBJECTS` but the last.
        words: the number of words of the object.
        judged: how probably the event is right, read beside its message.
    """
    logs = np.log(np.maximum([*parts, judged], 1e-6))
    kinds = [float(kind == one) for one in KINDS]
    return np.array([*logs, *kinds, *(float(subject_kind == one) for one in SUBJECTS[1:4]), words / 10], np.float64)


class EventScores(NamedTuple):
    """Probabilities of F events in a piece of W words, those before it counted.

    Args:
        begin: the word at which each object begins, shape (F,).
        begins: that an object begins there, shape (F,).
        end: the last word of each object, shape (F,).
        ends: that it ends there, shape (F,).
        kind: shape (F, 6).
        relation: shape (F, number of relations); the first one stands for none of them.
        subject: shape (F, 5).
        time_kind: shape (F, 9).
        pointers: shape (F, 6, W).
    """

    begin: NDArray[np.int64]
    begins: NDArray[np.float32]
    end: NDArray[np.int64]
    ends: NDArray[np.float32]
    kind: NDArray[np.float32]
    relation: NDArray[np.float32]
    subject: NDArray[np.float32]
    time_kind: NDArray[np.float32]
    pointers: NDArray[np.float32]


def events_of(
    piece: Piece,
    scores: EventScores,
    relations: Sequence[str],
    confidence: Confidence | None = None,
    judge: Callable[[str], float] | None = None,
    least: float = 0.0,
) -> Iterator[MessageEvent]:
    """Yield the events of a piece in the order of their objects.

    None whose subject the model cannot point at.

    Args:
        piece: the piece.
        scores: what the model says of it.
        relations: the relations, in the order of their scores.
        confidence: says how sure an event is; ``None`` for the product of the probabilities of its parts.
        judge: returns how probably a fact, "subject | relation | object", is right, read beside the message.
        least: events that would be less sure than this whatever the judge says are not judged.
    """
    known = frozenset(relations)
    sentences = np.array(sentences_of(piece))
    for number, begin in enumerate(scores.begin.tolist()):
        subject_kind = SUBJECTS[int(scores.subject[number].argmax())]
        if subject_kind == "other":
            continue
        pointers = scores.pointers[number]
        relation = 1 + int(scores.relation[number, 1:].argmax())
        time_kind = int(scores.time_kind[number].argmax())
        pointed, timed = 1.0, float(scores.time_kind[number, time_kind])
        subject, when = piece.speaker, ""
        if subject_kind != "speaker":
            head, probability = _span(pointers[0], pointers[1], _LONGEST_NAME, sentences)
            pointed *= probability
            subject = text_of(piece, *head)
            if subject_kind == "speaker's span":
                subject = f"{piece.speaker}'s {subject}"
            elif subject_kind == "span's span":
                owner, probability = _span(pointers[2], pointers[3], _LONGEST_NAME, sentences)
                pointed *= probability
                subject = f"{text_of(piece, *owner)}'s {subject}"
        if time_kind:
            span, probability = _span(pointers[4], pointers[5], _LONGEST_TIME, sentences)
            timed *= probability
            when = text_of(piece, *span)
            time_kind = _time_kind_as_said(time_kind, piece, span[0])
        end = int(scores.end[number])
        begin = _with_bracket(piece, begin, end)
        relation_said = _as_said(relations[relation], piece, begin, known)
        first = len(piece.before)
        if begin < end and piece.words[begin - first].text.lower() == relation_said.rpartition(" ")[2]:
            begin += 1  # "lives in", "in Rome"
        thing = text_of(piece, begin, end)
        kind = int(scores.kind[number].argmax())
        parts = [float(scores.begins[number]), float(scores.ends[number]), float(scores.kind[number, kind])]
        parts += [float(scores.subject[number].max()), float(scores.relation[number, relation]), timed, pointed]
        sure = math.prod(parts)
        if confidence is not None:
            is_fact = sure >= _LEAST_JUDGED and KINDS[kind] not in ENDING_KINDS  # what is over is no fact
            said = partial(confidence, parts, KINDS[kind], subject_kind, end + 1 - begin)
            sure = said(1.0)
            if judge is not None and is_fact and sure >= least:
                sure = said(judge(f"{subject} | {relation_said} | {thing}"))
        yield MessageEvent(
            KINDS[kind],
            subject,
            relation_said,
            thing,
            when,
            TIME_KINDS[time_kind],
            piece.words[begin - first].begin,
            piece.words[end - first].end,
            sure,
        )


def _time_kind_as_said(time_kind: int, piece: Piece, begin: int) -> int:
    """Return the kind of a time by the word of the message before it, where that is the name of one: "until 2015"."""
    place = begin - len(piece.before) - 1
    said = piece.words[place].text.lower() if place >= 0 else ""
    is_span = TIME_KINDS[time_kind] in ("span", "during")  # "from Monday to Friday"
    return TIME_KINDS.index(said) if said in TIME_KINDS[2:] and not is_span else time_kind


def _with_bracket(piece: Piece, begin: int, end: int) -> int:
    """Return where an object begins whose first bracket was left out: "(020) 7946 0018"."""
    first = len(piece.before)
    inside = [word.text for word in piece.words[begin - first : end + 1 - first]]
    is_open = begin > first and piece.words[begin - 1 - first].text == "("
    return begin - 1 if is_open and inside.count(")") > inside.count("(") else begin


def _as_said(relation: str, piece: Piece, begin: int, known: frozenset[str]) -> str:
    """Return a relation with its last word as the message has it before the object: "works for" for "works at"."""
    place = begin - len(piece.before) - 1
    while place > 0 and piece.words[place].text.lower() in _ARTICLES:
        place -= 1
    rest = relation.rpartition(" ")[0]
    said = f"{rest} {piece.words[place].text.lower()}" if rest and place >= 0 else relation
    return said if said in known else relation


def distinct(events: Iterable[MessageEvent]) -> list[MessageEvent]:
    """Return events without those whose object overlaps that of a surer one about the same subject.

    Args:
        events: events of one text.

    Returns:
        The rest, in the order of their objects.
    """
    kept: list[MessageEvent] = []
    for event in sorted(events, key=lambda one: -one.confidence):
        beside = (one for one in kept if one.subject == event.subject)
        if event.subject != event.object and not any(one.begin < event.end and event.begin < one.end for one in beside):
            kept.append(event)
    return sorted(kept, key=lambda one: (one.begin, one.end))


def _span(
    begins: NDArray[np.float32], ends: NDArray[np.float32], longest: int, sentences: NDArray[np.int64]
) -> tuple[tuple[int, int], float]:
    """Return the likeliest span within a sentence, both ends within it, and its probability."""
    begins, ends = begins[: len(sentences)], ends[: len(sentences)]  # without the padding of a batch
    best, probability = (0, 0), -1.0
    for begin in np.argsort(-begins, kind="stable")[:_TRIED].tolist():
        is_near = sentences[begin : begin + longest] == sentences[begin]
        end = begin + int((ends[begin : begin + longest] * is_near).argmax())
        score = float(begins[begin]) * float(ends[end])
        if score > probability:
            best, probability = (begin, end), score
    return best, probability


def text_of(piece: Piece, begin: int, end: int) -> str:
    """Return the text of a span of a piece, with the speaker's name for "I" and "my".

    Args:
        piece: the piece.
        begin: its first word, counted with those before the piece.
        end: its last word.
    """
    first = len(piece.before)
    if begin >= first:
        text = piece.text[piece.words[begin - first].begin : piece.words[end - first].end]
    else:
        end = min(end, first - 1)
        text = _SPACE_BEFORE_SIGN.sub(r"\1", " ".join(piece.before[begin : end + 1]))
    return _OF_SPEAKER.sub(lambda found: f"{piece.speaker}'s" if found["own"] else piece.speaker, text)
