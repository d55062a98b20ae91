"""What clauses say of a time, where the other rules make nothing of them; 2024-05-15 is a Wednesday."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = datetime(2024, 5, 15, 10, tzinfo=UTC).timestamp()


def stated(sentence: str, at: float | None = AT) -> list[tuple[str, str, str]]:
    """Return the facts of a message with the days on which they begin and end."""

    def day(time: float | None) -> str:
        return "" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")

    found = ParsedExtractor().extract(f"Ana: {sentence}", "Ana", at).statements
    return [
        (f"{f.subject} | {f.relation} | {f.object}", day(f.valid_from), day(f.valid_to))
        for f in found
        if isinstance(f, Fact)
    ]


@pytest.mark.parametrize(
    ("sentence", "fact", "begin", "end"),
    [
        ("Last Sunday we went to a flea market.", "Ana | went to | flea market", "2024-05-12", "2024-05-13"),
        ("I went snorkelling yesterday.", "Ana | went | snorkelling", "2024-05-14", "2024-05-15"),
        (
            "My lease runs from May 2022 to June 2025.",
            "Ana's lease | runs from | 2022-05 to 2025-06",
            "2022-05-01",
            "2025-07-01",
        ),
        ("I have to submit a tax return by Monday.", "Ana | has to submit | tax return", "2024-05-15", "2024-05-21"),
        ("On April 2nd I became a godmother.", "Ana | became | godmother", "2024-04-02", ""),
        ("I used to coach rugby until 2018.", "Ana | used to coach | rugby", "2018-12-31", "2019-01-01"),
        ("I was ill last week.", "Ana | was | ill", "2024-05-06", "2024-05-13"),
        ("I've known Igor since 2011.", "Ana | knows | Igor", "2011-01-01", ""),
        ("My uncle retired in 2020.", "Ana's uncle | is | retired", "2020-01-01", ""),
        ("My essay is due on Friday.", "Ana's essay | is due on | 2024-05-17", "2024-05-17", "2024-05-18"),
        ("My sister is due in July.", "Ana's sister | is due in | 2024-07", "2024-07-01", "2024-08-01"),
        ("My contract runs until 30 June.", "Ana's contract | runs until | 2024-06-30", "2024-05-15", "2024-07-01"),
        ("The shop has been closed since Monday.", "shop | is | closed", "2024-05-13", ""),
        (
            "My brother's wedding is this Saturday.",
            "Ana's brother's wedding | is on | 2024-05-18",
            "2024-05-18",
            "2024-05-19",
        ),
        ("I've had this bike for two years.", "Ana | has | bike", "2022-05-15", ""),
        ("I've been jogging since Thursday.", "Ana | does | jog", "2024-05-09", ""),
        ("I've been a vegan since I turned 20 in 2011.", "Ana | is a | vegan", "2011-01-01", ""),
        ("I've got an exam in ten days.", "Ana | has | exam", "2024-05-25", ""),
        ("Next month I'm starting at Siemens.", "Ana | works at | Siemens", "2024-06-01", ""),
        ("My daughter was born in July 2018.", "Ana's daughter | born in | July 2018", "2018-07-01", ""),
        ("From next quarter I report to Helen.", "Ana | reports to | Helen", "2024-07-01", ""),
    ],
)
def test_a_time_makes_a_statement_of_what_happened(sentence: str, fact: str, begin: str, end: str) -> None:
    assert (fact, begin, end) in stated(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We went to a flea market.",
        "If I go to a flea market on Sunday, I'll tell you.",
        "Maybe we go to a concert tomorrow.",
        "I didn't go to a concert yesterday.",
        "I saw it yesterday.",
        "I thought about a concert yesterday.",
        "Did you go to a concert yesterday?",
        "I had fun yesterday.",
    ],
)
def test_nothing_is_stated_without_a_time_or_a_clear_statement(sentence: str) -> None:
    assert stated(sentence) == []


def test_a_purpose_is_not_a_habit_of_the_past() -> None:
    assert not any("used to" in fact for fact, _, _ in stated("I used an editor on May 11 to shorten a text."))


def test_nothing_happens_at_a_time_in_a_game() -> None:
    assert stated("Yesterday we went to a flea market.", at=12.0) == []


@pytest.mark.parametrize(
    ("sentence", "begin", "end"),
    [
        ("I visited Malta last month.", "2024-04-01", "2024-05-01"),  # an occasion
        ("I visited Malta three years ago.", "2021-01-01", "2022-01-01"),  # precise to a year
        ("I bought a boat last month.", "2024-04-01", ""),  # what comes of it lasts
        ("I was promoted to manager last month.", "2024-04-01", ""),
        ("I start a new job at Opel in June.", "2024-06-01", ""),
    ],
)
def test_an_occasion_is_over_and_a_result_lasts(sentence: str, begin: str, end: str) -> None:
    assert [(first, last) for _, first, last in stated(sentence)] == [(begin, end)]
