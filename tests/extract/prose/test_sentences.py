from __future__ import annotations

from collections.abc import Callable

import pytest

from worldthread.extract.prose.sentences import LONGEST_SENTENCE, split_sentences, title_of


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. No met Mrs. Hill at 5 p.m. in Rome.",
        "J. R. R. Tolkien wrote 3.50 pages, e.g. this one, see No. 5 and Fig. 2.",
        "The U.S. Army came to Washington D.C. in time.",
        "Visit https://example.org/a.b?x=1. today or write to a.b@example.org.",
        "He waited ... and waited.",
    ],
)
def test_a_full_stop_inside_ends_nothing(sentence: str) -> None:
    assert texts(sentence) == [sentence]


def test_sentences_of_running_text() -> None:
    text = (
        'It works. "Stop!" she said. (See below.) Why? He lives in the U.S. She left. Emoji 😀! Acme Inc. The end… Now.'
    )
    assert texts(text) == [
        "It works.",
        '"Stop!" she said.',
        "(See below.)",
        "Why?",
        "He lives in the U.S.",
        "She left.",
        "Emoji 😀!",
        "Acme Inc.",
        "The end…",
        "Now.",
    ]


def test_full_width_marks_end_sentences() -> None:
    assert texts("东京是首都。人口很多！真的？是") == ["东京是首都。", "人口很多！", "真的？", "是"]


def test_clauses_behind_a_semicolon_stand_alone_when_long_enough() -> None:
    assert texts("The shop in Rome is closed; the one in Milan is open.") == [
        "The shop in Rome is closed;",
        "the one in Milan is open.",
    ]
    assert texts("Milk; eggs; bread for all.") == ["Milk; eggs; bread for all."]


def test_wrapped_lines_join_and_others_do_not() -> None:
    text = "This line of a paragraph is long enough to have been wrapped by\nan editor. Next.\nShort line\nOther line"
    assert texts(text) == [
        "This line of a paragraph is long enough to have been wrapped by an editor.",
        "Next.",
        "Short line",
        "Other line",
    ]


def test_list_marks_and_headings_are_left_out() -> None:
    assert texts("- Milk\n* Eggs are 3.\n1. First\n## Later\nEnd.") == ["Milk", "Eggs are 3.", "First", "Later", "End."]


def test_chat_lines_have_speakers_and_labels_do_not() -> None:
    found = split_sentences(
        "Anna: I live in Rome. Nice!\n[10:30] Bob: Hi.\nBob: Hello.\nNote: this is none.\nCity: Rome"
    )
    assert [(s.speaker, s.text[s.body :]) for s in found] == [
        ("Anna", "I live in Rome."),
        ("Anna", "Nice!"),
        ("Bob", "Hi."),
        ("Bob", "Hello."),
        (None, "Note: this is none."),
        (None, "City: Rome"),
    ]


def test_places_are_those_of_the_text() -> None:
    text = "Heading\n\n- One thing.   Two\tthings.\nAnna: I am here."
    for sentence in split_sentences(text):
        assert " ".join(text[sentence.start : sentence.end].split()) == sentence.text


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Mercury (planet)\nMercury is small.", "Mercury (planet)"),
        ("# My notes\n\nThe shop is open.", "My notes"),
        ("Mercury is small.\nIt is hot.", None),
        ("Only one line", None),
        ("Anna: I am here\nBob: me too", None),
        ("Name: Anna\nCity: Rome", None),
        ("- Milk\n- Eggs", None),
        ("i went home\nand slept", None),
    ],
)
def test_titles(text: str, title: str | None) -> None:
    assert title_of(text)[0] == title


@pytest.mark.parametrize("piece", ["A. ", "(", "of the ", "a; ", "1. ", "x", '" ', "A: b\n", "a\n", "。", "... "])
def test_time_is_linear_and_no_sentence_too_long(piece: str, time_growth: Callable[..., float]) -> None:
    assert time_growth(lambda size: split_sentences(piece * size), 1_500) < 16
    text = piece * 10_000
    found = split_sentences(text)
    assert max(len(s.text) for s in found) <= LONGEST_SENTENCE
    assert "".join("".join(s.text.split()) for s in found).replace("1.", "") in "".join(text.split())


def test_a_long_sentence_is_cut_behind_a_clause() -> None:
    found = texts("word " * 150 + "clause, " + "word " * 150)
    assert found[0].endswith("clause,")
    assert len(found) == 2
