"""Tests of events out of scores."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread.extract.reader.events import (
    KINDS,
    POINTERS,
    SUBJECTS,
    TIME_KINDS,
    Confidence,
    EventScores,
    MessageEvent,
    distinct,
    events_of,
    features_of,
    text_of,
)
from worldthread.extract.reader.pieces import Piece, pieces_of

RELATIONS = ("", "has", "lives in")


def piece_of(text: str, before: tuple[str, ...] = ()) -> Piece:
    [piece] = pieces_of("Ida", before, text)
    return piece


def one_hot(size: int, place: int, probability: float = 1.0) -> NDArray[np.float32]:
    scores = np.full(size, (1 - probability) / max(size - 1, 1), np.float32)
    scores[place] = probability
    return scores


def scores(
    piece: Piece,
    begin: int,
    end: int,
    *,
    kind: str = "state",
    relation: str = "lives in",
    subject: str = "speaker",
    time_kind: str = "",
    pointers: dict[str, int] | None = None,
) -> EventScores:
    """Return the scores of one event whose parts are certain, but for its end (.5)."""
    words = len(piece.before) + len(piece.words)
    pointed = np.stack([one_hot(words, (pointers or {}).get(name, 0)) for name in POINTERS])
    return EventScores(
        np.array([begin]),
        np.array([1.0], np.float32),
        np.array([end]),
        np.array([0.5], np.float32),
        one_hot(len(KINDS), KINDS.index(kind))[None],
        one_hot(len(RELATIONS), RELATIONS.index(relation))[None],
        one_hot(len(SUBJECTS), SUBJECTS.index(subject))[None],
        one_hot(len(TIME_KINDS), TIME_KINDS.index(time_kind))[None],
        pointed[None],
    )


def only(piece: Piece, found: EventScores) -> MessageEvent:
    [event] = events_of(piece, found, RELATIONS)
    return event


def test_an_event_of_the_speaker_has_its_parts_and_the_product_of_their_probabilities() -> None:
    piece = piece_of("I live in Old Lyon since May.")
    place = {"time begin": 6, "time end": 6}
    event = only(piece, scores(piece, 3, 4, time_kind="since", pointers=place))
    assert event == MessageEvent("state", "Ida", "lives in", "Old Lyon", "May", "since", 10, 18, 0.5)
    assert piece.text[event.begin : event.end] == event.object


@pytest.mark.parametrize(
    ("subject", "pointers", "expected"),
    [
        ("span", {"head begin": 1, "head end": 2}, "sister Ana"),
        ("speaker's span", {"head begin": 1, "head end": 1}, "Ida's sister"),
        ("span's span", {"head begin": 1, "head end": 1, "owner begin": 2, "owner end": 2}, "Ana's sister"),
    ],
)
def test_a_subject_is_pointed_at(subject: str, pointers: dict[str, int], expected: str) -> None:
    piece = piece_of("My sister Ana lives in Rome")
    assert only(piece, scores(piece, 5, 5, subject=subject, pointers=pointers)).subject == expected


def test_a_subject_may_stand_in_an_earlier_turn() -> None:
    piece = piece_of("in Rome", ("Tom: and Ana's brother?",))
    event = only(piece, scores(piece, 9, 9, subject="span", pointers={"head begin": 3, "head end": 5}))
    assert (event.subject, event.object) == ("Ana's brother", "Rome")


def test_an_event_whose_subject_cannot_be_pointed_at_is_left_out() -> None:
    piece = piece_of("in Rome")
    assert not list(events_of(piece, scores(piece, 1, 1, subject="other"), RELATIONS))


def test_no_relation_is_never_chosen() -> None:
    piece = piece_of("in Rome")
    found = scores(piece, 1, 1)
    found.relation[0] = [0.9, 0.06, 0.04]
    assert only(piece, found).relation == "has"


@pytest.mark.parametrize(
    ("said", "expected"), [("my van", "Ida's van"), ("OUR house", "Ida's house"), ("for me", "for Ida"), ("I", "Ida")]
)
def test_the_speaker_stands_for_the_words_of_the_speaker(said: str, expected: str) -> None:
    piece = piece_of(said)
    assert text_of(piece, 0, len(piece.words) - 1) == expected


def test_the_name_of_a_speaker_is_no_pattern() -> None:
    [piece] = pieces_of(r"\1 \g<0>", [], "my van")
    assert text_of(piece, 0, 1) == r"\1 \g<0>'s van"


def test_a_span_ends_within_its_piece_and_after_its_beginning() -> None:
    piece = piece_of("in Rome with Ana")
    found = scores(piece, 1, 1, subject="span", pointers={"head begin": 3, "head end": 0})
    assert only(piece, found).subject == "Ana"


def told(subject: str, begin: int, end: int, confidence: float, name: str = "x") -> MessageEvent:
    return MessageEvent("state", subject, "has", name, "", "", begin, end, confidence)


def test_of_overlapping_objects_of_one_subject_the_surest_stays() -> None:
    events = [told("Ida", 10, 30, 0.3), told("Ida", 20, 25, 0.6), told("Ida", 40, 50, 0.2), told("Ana", 22, 24, 0.1)]
    assert distinct(events) == [events[1], events[3], events[2]]


def test_nothing_is_related_to_itself() -> None:
    assert not distinct([told("Ana", 0, 3, 0.9, "Ana")])


def test_confidence_is_a_probability_of_what_was_judged() -> None:
    parts = (0.9, 0.8, 1.0, 1.0, 0.5, 1.0, 1.0)
    product = Confidence([1.0] * 8 + [0.0] * 10, 0.0)
    assert product(parts, "state", "span", 3, 1.0) == pytest.approx(0.36 / 1.36)
    assert product(parts, "state", "span", 3, 0.5) == pytest.approx(0.18 / 1.18)
    assert features_of(parts, "ends", "span", 3, 1.0)[7:].tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0.3]
    piece = piece_of("in Rome")
    [event] = events_of(piece, scores(piece, 1, 1), RELATIONS, Confidence([0.0] * 18, 1000.0))
    assert 0.999 < event.confidence < 1


@pytest.mark.parametrize(("kind", "judged"), [("state", ["Ida | lives in | Rome"]), ("ends", [])])
def test_a_fact_is_judged_and_what_is_over_is_not(kind: str, judged: list[str]) -> None:
    seen: list[str] = []

    def judge(fact: str) -> float:
        seen.append(fact)
        return 0.25

    piece = piece_of("I live in Rome")
    [event] = events_of(
        piece, scores(piece, 3, 3, kind=kind), RELATIONS, Confidence([0.0] * 7 + [1.0] + [0.0] * 10, 0.0), judge
    )
    assert seen == judged
    assert event.confidence == pytest.approx(0.2 if judged else 0.5)


@pytest.mark.parametrize(
    ("text", "begin", "relation"),
    [("I live at Orbis", 3, "lives at"), ("I live in Rome", 3, "lives in"), ("I live near the sea", 4, "lives in")],
)
def test_a_relation_ends_with_the_word_of_the_message(text: str, begin: int, relation: str) -> None:
    piece = piece_of(text)
    [event] = events_of(piece, scores(piece, begin, begin), (*RELATIONS, "lives at"))
    assert event.relation == relation


@pytest.mark.parametrize(("said", "kind"), [("until", "until"), ("since", "since"), ("around", "since")])
def test_the_word_before_a_time_says_its_kind(said: str, kind: str) -> None:
    piece = piece_of(f"I lived in Rome {said} 2015")
    [event] = events_of(
        piece, scores(piece, 3, 3, time_kind="since", pointers={"time begin": 5, "time end": 5}), RELATIONS
    )
    assert (event.time_kind, event.when) == (kind, "2015")


def test_an_object_has_its_first_bracket() -> None:
    piece = piece_of("I have (020) 7946")
    [event] = events_of(piece, scores(piece, 3, 5), RELATIONS)
    assert event.object == "(020) 7946"


def test_a_subject_stands_within_one_sentence() -> None:
    piece = piece_of("Ida left. Tom is in Rome")
    found = scores(piece, 6, 6, subject="span", pointers={"head begin": 0, "head end": 3})
    assert only(piece, found).subject != "Ida left. Tom"


def test_an_object_does_not_repeat_the_end_of_its_relation() -> None:
    piece = piece_of("Where does Ana live? In Rome")
    event = only(piece, scores(piece, 5, 6))
    assert (event.relation, event.object, event.begin) == ("lives in", "Rome", 24)


@pytest.mark.parametrize(("least", "count"), [(0.4, 1), (0.6, 0)])
def test_what_cannot_be_sure_enough_is_not_judged(least: float, count: int) -> None:
    piece, judged = piece_of("I live in Rome"), []

    def judge(fact: str) -> float:
        judged.append(fact)
        return 0.25

    confidence = Confidence([0.0] * 7 + [1.0] + [0.0] * 10, 0.0)  # at most .5
    assert len([*events_of(piece, scores(piece, 3, 3), RELATIONS, confidence, judge, least)]) == 1
    assert len(judged) == count
