"""What clauses say of a time, where the other rules make nothing of them; 2024-05-15 is a Wednesday."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from worldthread import Memory

pytestmark = pytest.mark.language

Stated: TypeAlias = Callable[..., list[tuple[str, str, str]]]


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
        ("I have to submit a tax return by Monday.", "Ana | has to submit | tax return", "", "2024-05-21"),
        ("On April 2nd I became a godmother.", "Ana | became | godmother", "2024-04-02", ""),
        ("I used to coach rugby until 2018.", "Ana | used to coach | rugby", "2018-12-31", "2019-01-01"),
        ("I was ill last week.", "Ana | was | ill", "2024-05-06", "2024-05-13"),
        ("I've known Igor since 2011.", "Ana | knows | Igor", "2011-01-01", ""),
        ("My uncle retired in 2020.", "Ana's uncle | is | retired", "2020-01-01", ""),
        ("My essay is due on Friday.", "Ana's essay | is due on | 2024-05-17", "2024-05-17", "2024-05-18"),
        ("My sister is due in July.", "Ana's sister | is due in | 2024-07", "2024-07-01", "2024-08-01"),
        ("My contract runs until 30 June.", "Ana's contract | runs until | 2024-06-30", "", "2024-07-01"),
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
        ("I've got an exam in ten days.", "Ana | has | exam", "2024-05-25", "2024-05-26"),
        ("Next month I'm starting at Siemens.", "Ana | works at | Siemens", "2024-06-01", ""),
        ("My daughter was born in July 2018.", "Ana's daughter | born in | July 2018", "2018-07-01", ""),
        ("From next quarter I report to Helen.", "Ana | reports to | Helen", "2024-07-01", ""),
        ("I lived abroad for most of 2022.", "Ana | lived | abroad", "2022-01-01", "2023-01-01"),
        ("I signed the lease on May 3rd.", "Ana | signed | lease", "2024-05-03", "2024-05-04"),
        ("I called the bank yesterday.", "Ana | called | bank", "2024-05-14", "2024-05-15"),
        ("I'm seeing the vet this coming Monday.", "Ana | plans to see | vet", "2024-05-20", "2024-05-21"),
        ("My cousins visited us over Easter 2022.", "Ana's cousins | visited | Ana", "2022-04-17", "2022-04-18"),
        ("My aunt is picking me up on Friday.", "Ana's aunt | plans to pick up | Ana", "2024-05-17", "2024-05-18"),
        ("I hurt my back on Sunday.", "Ana | hurt | Ana's back", "2024-05-12", "2024-05-13"),
        ("I roasted a goose on Easter Sunday.", "Ana | roasted | goose", "2024-03-31", "2024-04-01"),
        ("I learned to sail in 2001.", "Ana | learned | to sail", "2001-01-01", ""),
        ("We opened the shop in 1998.", "Ana | opened | shop", "1998-01-01", ""),
        ("It was in 1998 that my parents opened the shop.", "Ana's parents | opened | shop", "1998-01-01", ""),
        ("In April next year I take over my uncle's farm.", "Ana | takes over | Ana's uncle's farm", "2025-04-01", ""),
        ("Ran my first marathon last Saturday.", "Ana | ran | Ana's first marathon", "2024-05-11", "2024-05-12"),
        ("I quit sugar on New Year's Day.", "Ana | quit | sugar", "2024-01-01", ""),
        ("My uncle flies to Oslo on Friday.", "Ana's uncle | flies to | Oslo", "2024-05-17", "2024-05-18"),
        ("My niece was born in the spring of 2019.", "Ana's niece | born in | 2019-03 to 2019-05", "2019-03-01", ""),
        ("I'm off work till Friday.", "Ana | is off | work", "", "2024-05-18"),
        ("I've been out of work since February.", "Ana | is out of | work", "2024-02-01", ""),
        ("I was off sick from Monday to Tuesday.", "Ana | was off | sick", "2024-05-13", "2024-05-15"),
        ("We're away over Christmas.", "Ana | is | away", "2024-12-25", "2024-12-26"),
        ("My permit runs out in 2027.", "Ana's permit | runs out in | 2027", "2027-01-01", "2028-01-01"),
        ("My lease runs until the end of July.", "Ana's lease | runs until | 2024-07-31", "", "2024-08-01"),
        ("I've been single since the beginning of 2022.", "Ana | is | single", "2022-01-01", ""),
        ("I've been a member of the choir since the 1990s.", "Ana | is a | member of the choir", "1990-01-01", ""),
        ("My niece lived with me for most of 2021.", "Ana's niece | lived with | Ana", "2021-01-01", "2022-01-01"),
        (
            "Our dog ran away the Monday before last.",
            "Ana's dog | ran away on | 2024-05-06",
            "2024-05-06",
            "2024-05-07",
        ),
        (
            "My sister is getting married on the 25th.",
            "Ana's sister | plans to get | married",
            "2024-05-25",
            "2024-05-26",
        ),
    ],
)
def test_a_time_makes_a_statement_of_what_happened(
    stated: Stated, sentence: str, fact: str, begin: str, end: str
) -> None:
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
        "My boss set the place up on Monday, I guess.",
        "She began it, but I stopped in 2019.",
    ],
)
def test_nothing_is_stated_without_a_time_or_a_clear_statement(stated: Stated, sentence: str) -> None:
    assert stated(sentence) == []


def test_a_purpose_is_not_a_habit_of_the_past(stated: Stated) -> None:
    assert not any("used to" in fact for fact, _, _ in stated("I used an editor on May 11 to shorten a text."))


def test_nothing_happens_at_a_time_in_a_game(stated: Stated) -> None:
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
def test_an_occasion_is_over_and_a_result_lasts(stated: Stated, sentence: str, begin: str, end: str) -> None:
    assert [(first, last) for _, first, last in stated(sentence)] == [(begin, end)]


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("I joined a gym last week.", "joined gym (between 2024-05-06 and 2024-05-12)"),
        ("I joined the choir on Monday.", "joined choir (on 2024-05-13)"),
        ("We bought a house in March.", "bought house (in 2024-03)"),
        ("I've worked at Acme since March.", "works at Acme (from 2024-03)"),
        ("I moved to Oslo three years ago.", "lives in Oslo (from 2021)"),
        ("I start at Airbus in June.", "works at Airbus (from 2024-06)"),
        ("I start at Airbus on 3 June.", "works at Airbus (from 2024-06-03)"),
        ("I'm working at Target on Friday.", "plans to work at Target (on 2024-05-17)"),
        ("I'm in Lyon until Friday.", "is in Lyon (known since 2024-05-15, true until 2024-05-17)"),
        ("I'm vegetarian now since like March.", "is vegetarian (from 2024-03)"),
        ("I want to go to Japan in 2026.", "wants to go to Japan in 2026 (known since 2024-05-15)"),
        ("My sister Maria's flat burned down.", "sister Maria's flat burned down (known since 2024-05-15)"),
    ],
)
def test_times_are_shown_as_they_were_told(sentence: str, shown: str) -> None:
    with Memory(embedder="fake", model="none", user="Ana") as memory:
        memory.remember([{"role": "user", "content": sentence}], at="2024-05-15")
        assert shown in memory.recall(sentence, kinds=["fact"]).text
