"""Tests of messages in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worldthread.extract.reader.pieces import MOST_WORDS, SEEN_BEFORE, pieces_of, sentences_of, words_of


@given(st.text(max_size=400))
def test_words_stand_where_they_say_and_leave_only_spaces_out(text: str) -> None:
    words = words_of(text)
    assert all(text[word.begin : word.end] == word.text for word in words)
    assert "".join(word.text for word in words) == "".join(text.split())


def test_a_short_message_is_one_piece_with_the_beginnings_of_the_turns_before() -> None:
    [piece] = pieces_of("Ida", ["Tom: where?", "x" * 500], "in Lyon, since May.")
    assert [word.text for word in piece.words] == ["in", "Lyon", ",", "since", "May", "."]
    assert piece.before == ("Tom", ":", "where", "?", "\n", "x" * SEEN_BEFORE, "\n")


def test_a_long_message_is_cut_at_the_ends_of_sentences_and_loses_nothing() -> None:
    text = " ".join(f"I have {number} cats and they all sleep in the kitchen." for number in range(40))
    pieces = list(pieces_of("Ida", [], text))
    assert len(pieces) > 3
    assert [word for piece in pieces for word in piece.words] == words_of(text)
    assert all(len(piece.words) <= MOST_WORDS and piece.words[-1].text == "." for piece in pieces)
    assert pieces[1].before[-1] == "."


def test_a_long_sentence_is_cut_anywhere() -> None:
    pieces = list(pieces_of("Ida", [], "and " * 300))
    assert [len(piece.words) for piece in pieces] == [MOST_WORDS, MOST_WORDS, 300 - 2 * MOST_WORDS]


def test_nothing_is_no_piece() -> None:
    assert not list(pieces_of("Ida", ["Tom: hi"], " \n "))


def test_sentences_end_with_signs_before_capitals_and_with_lines() -> None:
    [piece] = pieces_of(
        "Ida", ["Tom: hi. So"], "I'm at St. Mary's. Dr. Rao is not. ok\nno? Yes, 10.30 v. 5 etc. and so"
    )
    numbers = sentences_of(piece)
    assert numbers[: len(piece.before)] == [-1] * len(piece.before)
    parts: dict[int, list[str]] = {}
    for number, word in zip(numbers[len(piece.before) :], piece.words, strict=True):
        parts.setdefault(number, []).append(word.text)
    assert [" ".join(part) for part in parts.values()] == [
        "I ' m at St . Mary 's .", "Dr . Rao is not . ok", "no ?", "Yes , 10 . 30 v .", "5 etc . and so",
    ]  # fmt: skip
