"""What a message of one short sentence says at the times that it names; 2024-05-15 is a Wednesday."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

pytestmark = pytest.mark.language

Stated: TypeAlias = Callable[..., list[tuple[str, str, str]]]


@pytest.mark.parametrize(
    ("sentence", "fact", "begin", "end"),
    [
        (
            "On June 3 I start as head of catering at Opel.",
            "Ana | starts as | head of catering at Opel",
            "2024-06-03",
            "",
        ),
        ("Last spring I hiked the Pennine Way.", "Ana | hiked | Pennine Way", "2023-03-01", "2023-06-01"),
        ("I'm minding the shop tonight.", "Ana | plans to mind | shop", "2024-05-15", "2024-05-16"),
        ("I'm gardening tomorrow.", "Ana | plans to | garden", "2024-05-16", "2024-05-17"),
        ("I'm fasting until Friday.", "Ana | is | fasting", "", "2024-05-18"),
        ("I'm not smoking until June.", "Ana | is not | smoking", "", "2024-06-01"),
        ("I haven't eaten fish since Easter.", "Ana | has not eaten | fish", "2024-03-31", ""),
        ("I haven't eaten fish in two years.", "Ana | has not eaten | fish", "2022-05-15", ""),
        ("It was six years ago that I moved to Graz.", "Ana | lives in | Graz", "2018-05-15", ""),
        ("It's been six years since I moved to Graz.", "Ana | lives in | Graz", "2018-05-15", ""),
        ("I learned to sail when I was ten, in 2001.", "Ana | learned | to sail", "2001-01-01", ""),
        (
            "Ever since the flood in 2018 I've walked with a stick.",
            "Ana | has walked with | stick",
            "2018-01-01",
            "",
        ),
        (
            "My uncle lived in Cork until his death in 2010.",
            "Ana's uncle | lived in | Cork",
            "2010-12-31",
            "2011-01-01",
        ),
        ("My sister got her diploma on Friday.", "Ana's sister | got | Ana's sister's diploma", "2024-05-10", ""),
        ("My brother's been unwell since Monday.", "Ana's brother | is | unwell", "2024-05-13", ""),
        ("Moving to Graz next month.", "Ana | plans to move to | Graz", "2024-06-01", ""),
        ("I'll be a grandmother in two months.", "Ana | plans to be | grandmother", "2024-07-15", ""),
        ("I'm back at work on Monday.", "Ana | is | back at work", "2024-05-20", ""),
        ("I went vegan last month.", "Ana | went | vegan", "2024-04-01", ""),
        ("We lost the signal for two hours last night.", "Ana | lost | signal", "2024-05-14", "2024-05-15"),
        ("I'm in Graz Monday to Wednesday next week.", "Ana | is in | Graz", "2024-05-20", "2024-05-23"),
        ("I had my ears pierced yesterday.", "Ana | had | Ana's ears pierced", "2024-05-14", "2024-05-15"),
        (
            "I passed my theory test on Monday, so happy.",
            "Ana | passed | Ana's theory test",
            "2024-05-13",
            "2024-05-14",
        ),
        ("crashed the van on Sunday", "Ana | crashed | van", "2024-05-12", "2024-05-13"),
        ("We're camping from Friday till Sunday.", "Ana | is | camping", "2024-05-17", "2024-05-20"),
        ("My boss goes on parental leave on Monday.", "Ana's boss | goes on | parental leave", "2024-05-20", ""),
        ("I met my husband ten years ago today.", "Ana | met | Ana's husband", "2014-05-15", "2014-05-16"),
        ("I fly to Lima in ten days.", "Ana | flies to | Lima", "2024-05-25", "2024-05-26"),
        ("I laid a wreath at eleven yesterday.", "Ana | laid | wreath", "2024-05-14", "2024-05-15"),
        ("I got a watch for Christmas.", "Ana | got | watch", "2023-12-25", ""),
        ("I'm at a fair in Graz from Friday to Sunday.", "Ana | is at | fair in Graz", "2024-05-17", "2024-05-20"),
    ],
)
def test_what_is_left_without_a_time_is_dated(stated: Stated, sentence: str, fact: str, begin: str, end: str) -> None:
    assert stated(sentence) == [(fact, begin, end)]


@pytest.mark.parametrize(
    ("sentence", "fact", "begin"),
    [
        ("It's my nan's 80th on Saturday week.", "Ana's nan's 80th | is on | 2024-05-25", "2024-05-25"),
        ("Dinner at Rosa's is the Sunday after next.", "dinner at Rosa's | is on | 2024-05-26", "2024-05-26"),
        ("Tomorrow's my last day at Opel.", "Ana's last day at Opel | is on | 2024-05-16", "2024-05-16"),
        ("There's a jumble sale on Sunday.", "jumble sale | is on | 2024-05-19", "2024-05-19"),
        ("The concert has been moved to 12 October.", "concert | is on | 2024-10-12", "2024-10-12"),
        ("The hearing is a week today.", "hearing | is on | 2024-05-22", "2024-05-22"),
        ("My scan was three weeks ago.", "Ana's scan | was on | 2024-04-24", "2024-04-24"),
        ("My ferry's at 6 on Monday morning.", "Ana's ferry | is on | 2024-05-20", "2024-05-20"),
    ],
)
def test_an_event_has_its_day(stated: Stated, sentence: str, fact: str, begin: str) -> None:
    assert [(shown, first) for shown, first, _ in stated(sentence)] == [(fact, begin)]


@pytest.mark.parametrize(
    ("sentence", "begin", "end"),
    [
        ("I have a call with the landlord at 4 pm.", "2024-05-15", "2024-05-16"),
        ("I have a call with the landlord at ten past five on Friday.", "2024-05-17", "2024-05-18"),
        ("I've been awake since 4 a.m.", "2024-05-15", ""),
    ],
)
def test_a_time_of_day_is_of_today_or_of_the_day_that_is_named(
    stated: Stated, sentence: str, begin: str, end: str
) -> None:
    assert [(first, last) for _, first, last in stated(sentence)] == [(begin, end)]


def test_each_of_several_times_belongs_to_what_stands_before_it(stated: Stated) -> None:
    assert stated("I moved to Graz in 2014 and to Cork in 2019.") == [
        ("Ana | lives in | Graz", "2014-01-01", ""),
        ("Ana | lives in | Cork", "2019-01-01", ""),
    ]
    assert stated("I worked at Opel from 2008 to 2012 and at Miele until 2018.") == [
        ("Ana | worked at | Opel", "2008-01-01", "2013-01-01"),
        ("Ana | worked at | Miele", "2018-12-31", "2019-01-01"),
    ]


@pytest.mark.parametrize(
    ("message", "fact", "begin"),
    [
        ("Big day tomorrow! I'm taking my driving test.", "Ana | plans to take | Ana's driving test", "2024-05-16"),
        ("Yesterday was busy. I had a job interview at Opel.", "Ana | had | job interview at Opel", "2024-05-14"),
        (
            "I'm seeing a lawyer about the will. It's on Thursday at ten.",
            "Ana | plans to see | lawyer about the will",
            "2024-05-16",
        ),
        ("We're moving to Graz. The move is on 1 August.", "Ana | plans to move to | Graz", "2024-08-01"),
    ],
)
def test_a_time_may_stand_in_the_sentence_beside(stated: Stated, message: str, fact: str, begin: str) -> None:
    assert (fact, begin) in [(shown, first) for shown, first, _ in stated(message)]


@pytest.mark.parametrize(
    "message",
    [
        "Call me tomorrow.",
        "Have a safe trip on Monday.",
        "I could start on Monday.",
        "I was supposed to fly to Graz yesterday.",
        "I had a great time last weekend.",
        "My hero died in the game last night.",
        "The meeting yesterday was a waste of time.",
        "We're toast on Monday.",
        "I was joking yesterday.",
        "It was fun last night.",
        "Came five days late, on the 19th.",
        "!" * 2000 + " tomorrow",
    ],
)
def test_what_tells_nothing_is_not_dated(stated: Stated, message: str) -> None:
    assert stated(message) == []


def test_nothing_is_dated_in_a_game(stated: Stated) -> None:
    assert stated("Last spring I hiked the Pennine Way.", at=12.0) == []


def test_a_verb_alone_is_read_only_where_nothing_else_is_said(stated: Stated) -> None:
    longer = (
        "I ate. You know how it is there. Last spring I hiked the Pennine Way, and the view was a dream for all of us."
    )
    assert not any("hiked" in fact for fact, _, _ in stated(longer))


@pytest.mark.parametrize(
    ("sentence", "who", "event"),
    [
        (
            "My brother Tom is coming on Friday.",
            "Ana | has brother | Tom",
            ("Tom | plans to | come", "2024-05-17", "2024-05-18"),
        ),
        (
            "My brother Tom was in Leeds on Friday.",
            "Ana | has brother | Tom",
            ("Tom | was in | Leeds", "2024-05-10", "2024-05-11"),
        ),
        (
            "I went to Rome with my colleague Marta in April.",
            "Ana | has colleague | Marta",
            ("Ana | went to | Rome with Ana's colleague Marta", "2024-04-01", "2024-05-01"),
        ),
        ("Our cat Tiger was born in 2019.", "Ana | has cat | Tiger", ("Tiger | born in | 2019", "2019-01-01", "")),
        ("My mum and my stepdad Ron are coming on the 24th, so be nice.", "Ana | has stepdad | Ron", None),
    ],
)
def test_who_somebody_is_holds_whenever_something_is_told_of_them(
    stated: Stated, sentence: str, who: str, event: tuple[str, str, str] | None
) -> None:
    found = stated(sentence)
    assert (who, "", "") in found
    assert event is None or event in found
