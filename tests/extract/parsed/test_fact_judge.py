"""Facts of messages are judged beside their message by a trained model."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files

import pytest

from worldthread import Fact
from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.parsed.fact_judge import WEIGHTS, FactJudge, described, evidence_of, fact_judge

DAY = 86_400.0
NOON = datetime(2025, 6, 4, 12, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def judge() -> FactJudge:
    found = fact_judge()
    assert found is not None
    return found


def test_a_short_text_is_read_whole() -> None:
    fact = Fact("user", "lives in", "Rome")
    assert evidence_of(fact, "Hi!\nI live in  Rome. And you?") == "Hi! I live in Rome. And you?"


def test_of_a_long_text_the_sentence_of_the_fact_and_the_one_before_are_read() -> None:
    filler = "Nothing of note happened for a while, so there is little to tell about those quiet days. " * 4
    text = f"{filler}We have a sister city. Anna lives in Rome. {filler}"
    assert evidence_of(Fact("Anna", "lives in", "Rome"), text) == "We have a sister city. Anna lives in Rome."


def test_a_long_sentence_stands_alone() -> None:
    long = "word " * 30
    text = f"First {long}. Anna lives in Rome {long}."
    assert evidence_of(Fact("Anna", "lives in", "Rome"), text).startswith("Anna lives in Rome word")


@pytest.mark.parametrize(
    ("begin", "end", "words"),
    [
        (None, None, "Anna, visits, Rome"),
        (NOON, None, "Anna, visits, Rome, from now"),
        (NOON - DAY, NOON, "Anna, visits, Rome, from 1 days ago, until now"),
        (NOON + 3 * DAY, NOON + 4 * DAY, "Anna, visits, Rome, from in 3 days, until in 4 days"),
        (NOON - 304 * DAY, None, "Anna, visits, Rome, from 10 months ago"),
    ],
)
def test_intervals_are_told_as_seen_from_the_message(begin: float | None, end: float | None, words: str) -> None:
    assert described(Fact("Anna", "visits", "Rome", valid_from=begin, valid_to=end), NOON) == words


def test_without_a_time_of_the_message_the_year_is_told() -> None:
    assert described(Fact("Anna", "visits", "Rome", valid_from=NOON), None) == "Anna, visits, Rome, from 2025"


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (
            "Maud: My brother Piet is a welder in Gent. He came by and we talked like two old ducks.",
            "Piet, is a, welder in Gent",
            "Maud, talked like, two old ducks",
        ),
        (
            "user: I'm allergic to penicillin, and honestly I could murder a curry right now.",
            "user, is allergic to, penicillin",
            "user, could murder, curry",
        ),
        (
            "Sol: I've moved to Lyon for the job. It was the third one.",
            "Sol, moved to, Lyon for the job",
            "It, was, third one",
        ),
    ],
)
def test_what_is_said_is_more_probable_than_what_is_not_meant(
    judge: FactJudge, text: str, right: str, wrong: str
) -> None:
    assert judge.probability(right, text) > judge.probability(wrong, text)
    assert judge.probability(right, text) > judge.thresholds["talk"]


def test_a_probability_does_not_depend_on_what_was_asked_before(judge: FactJudge) -> None:
    other = FactJudge(files("worldthread.extract.parsed").joinpath(WEIGHTS).read_bytes())
    asked = [("Ann, owns, boat", "Ann: I own a boat."), ("Ann, owns, canoe", "Ann: I sold the canoe and own a boat.")]
    assert [judge.probability(*one) for one in asked] == [other.probability(*one) for one in reversed(asked)][::-1]


def test_long_texts_and_no_text_have_a_probability(judge: FactJudge) -> None:
    for fact, text in (("", ""), ("Ann, owns, boat", "boat " * 2000), ("x" * 5000, "Ann: I own a boat.")):
        assert 0 <= judge.probability(fact, text) <= 1


@pytest.mark.language
@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("Zsofi is a plumber.", ["Zsofi, is a, plumber"]),
        ("I'm allergic to nuts.", ["Ana, is allergic to, nuts"]),
        ("My sister lives in Porto. She hates the rain there.", ["Ana's sister, lives in, Porto"]),
        ("We make a great team. It was fun. Let's do that again.", []),
    ],
)
def test_what_is_plainly_meant_is_stated_and_the_rest_is_not(message: str, facts: list[str]) -> None:
    stated = ParsedExtractor().extract(f"Ana: {message}", "Ana", NOON).statements
    assert [str(one) for one in stated if isinstance(one, Fact) and "hates" not in one.relation] == facts


@pytest.mark.language
@pytest.mark.parametrize("speaker", ["42", "-1", "7 8", "x" * 90])
def test_the_name_of_the_speaker_does_not_decide(speaker: str) -> None:
    for text in ("I live in Rome.", "I live in Rome. After a while I liked it."):
        stated = ParsedExtractor().extract(f"{speaker}: {text}", speaker, NOON).statements
        assert f"{speaker}, lives in, Rome" in map(str, stated)


@pytest.mark.language
def test_a_number_as_a_name_leaves_the_numbers_of_a_fact_alone() -> None:
    stated = ParsedExtractor().extract("1: I'm 41 years old. My sister lives in Porto.", "1", NOON).statements
    assert {"1, has age, 41", "1's sister, lives in, Porto"} <= set(map(str, stated))
