"""Statements that the parser finds, and sentences that state nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

pytestmark = pytest.mark.language

STATED = [
    ("I live in a small flat in Bergen.", ["Tom, lives in, small flat in Bergen"]),
    ("Just moved to Leeds!", ["Tom, lives in, Leeds"]),
    ("I work as a plumber at Kessler and Sons.", ["Tom, works as, plumber", "Tom, works at, Kessler and Sons"]),
    ("I've been teaching maths for ten years.", ["Tom, is teaching, maths"]),
    ("My sister Clara is a vet.", ["Clara, is a, vet", "Tom, has sister, Clara"]),
    ("My uncle lives in Quebec.", ["Tom's uncle, lives in, Quebec"]),
    ("My favourite colour is dark blue.", ["Tom, has favourite colour, dark blue"]),
    ("My son is called Alex and his wife Nina.", ["Tom's son, has name, Alex", "Tom's son's wife, has name, Nina"]),
    ("I'm only 16.", ["Tom, has age, 16"]),
    ("I live on my own in Cork.", ["Tom, lives, alone", "Tom, lives in, Cork"]),
    ("Our parrot is called Polly.", ["Tom's parrot, has name, Polly"]),
    ("I have a whippet called Luna.", ["Tom, has, whippet called Luna", "Luna, is a, whippet"]),
    ("I'm allergic to shellfish.", ["Tom, is allergic to, shellfish"]),
    ("I don't drink alcohol.", ["Tom, does not drink, alcohol"]),
    ("I can't stand opera.", ["Tom, dislikes, opera"]),
    ("I love painting landscapes at night.", ["Tom, loves, painting landscapes at night"]),
    ("I turned 52 in May.", ["Tom, has age, 52"]),
    ("Hey Anna, I joined a rowing club last week!", ["Tom, joined, rowing club"]),
    ("I bought a second-hand kayak and sold my canoe.", ["Tom, bought, second-hand kayak", "Tom, sold, Tom's canoe"]),
    ("My birthday is on the 3rd of August.", ["Tom, has birthday, 3rd of August"]),
    ("My birthday is on 9 March", ["Tom, has birthday, 9 March"]),
    ("My job is in insurance.", ["Tom, has job, insurance"]),
    ("Our router password is on the shelf.", ["Tom's router password, is on, shelf"]),  # where it stands
    ("Anna works for a bank in Zurich.", ["Anna, works for, bank in Zurich"]),
    ("The meeting room is on the second floor.", ["meeting room, is on, second floor"]),
    ("I'm on parental leave.", ["Tom, is on, parental leave"]),
    ("I'm using Postgres 15.2.", ["Tom, is using, Postgres 15.2"]),
    ("I used to play the cello.", ["Tom, used to play, cello"]),
    ("I'm planning to open a bakery.", ["Tom, plans to open, bakery"]),
    ("My gym code is 5521.", ["Tom, has gym code, 5521"]),
    ("I have to take iron tablets.", ["Tom, has to take, iron tablets"]),
    ("I go swimming twice a week.", ["Tom, goes, swimming twice a week"]),
    ("I work for an organisation that helps abuse victims.", ["Tom, works for, organisation that helps abuse victims"]),
    ("I donated my car to a shelter I volunteer at.", ["Tom, donated, Tom's car to a shelter that Tom volunteers at"]),
    ("I collect old tools, such as planes and saws.", ["Tom, collects, old tools, such as planes and saws"]),
    ("I wanted to meet people and learn a trade.", []),
    ("I sorted my photos using a small program.", ["Tom, sorted, Tom's photos using a small program"]),
    ("I drew a plot with sides 15 m, 20 m and 25 m.", ["Tom, drew, plot with sides 15 m, 20 m and 25 m"]),
    ("I'm in hospital.", ["Tom, is in, hospital"]),
    ("I'm looking for a flat in Leeds.", ["Tom, is looking for, flat in Leeds"]),
    ("A beer costs 4 euros.", ["beer, costs, 4 euros"]),
    ("My e-mail is tom@example.org.", ["Tom, has email, tom@example.org"]),
    ("The shop is open on Mondays.", ["shop, is open, on Mondays"]),
    ("The shop is closed on Mondays.", ["shop, is closed, on Mondays"]),
    ("The museum is free on Sundays.", ["museum, is, free on Sundays"]),
    ("I manage a team of six.", ["Tom, manages, team of six"]),
    ("I'm left-handed.", ["Tom, is, left-handed"]),
    ("We pay 900 euros a month in rent.", ["Tom, pays, 900 euros a month in rent"]),
    ("I had a picnic last Sunday with friends from work.", ["Tom, had, picnic with friends from work"]),
    (
        "I want an app that allows users to track their meals.",
        ["Tom, wants, app that allows users to track their meals"],
    ),
    ("I'm using Flask 2.3, Chart.js 4.3, and Docker 24.", ["Tom, is using, Flask 2.3, Chart.js 4.3, and Docker 24"]),
    ("I drink my tea black.", ["Tom, drinks, Tom's tea black"]),
    ("I failed my driving test twice.", ["Tom, failed, Tom's driving test twice"]),
    ("My brother owes me 40 pounds.", ["Tom's brother, owes Tom, 40 pounds"]),
    ("I had my wisdom teeth removed in 2020.", ["Tom, had, Tom's wisdom teeth removed"]),
    ("We keep hens behind the shed.", ["Tom, keeps, hens behind the shed"]),
    ("I'm part of a choir that meets on Thursdays.", ["Tom, is part of, choir that meets on Thursdays"]),
    ("I've been sober since 2017.", ["Tom, is, sober"]),
]

EMPTY = [
    "Do you live in Bergen?",
    "I'm a 9, you're a 9.",
    "I'm up to 81.",
    "I'm down to 183 from 186.",
    "I need to tell my manager I'm quitting.",
    "Come and stay, Jen's got the sofa bed in the study now.",
    "If I lived in Bergen, I'd buy a boat.",
    "I think Anna lives in Rome.",
    "Anna said she works for a bank.",
    "I might move to Leeds.",
    "I wish I had a dog.",
    "I never lived in Rome.",
    "Sounds like a great plan!",
    "In the novel, Anna marries a sailor.",
    "Imagine I'm a pirate.",
    "Apparently I'm a genius.",
    "I nearly bought a boat.",
    "It is a lot of work.",
    "They sold everything.",
    "You have a lovely garden.",
    "Write me a poem about my garden.",
    "I just love waiting for the bus.",
    "Oh sure, I'm the Pope.",
    "The project is great.",
    "The meeting was long.",
    "Remember to water the plants.",
    "I'm based.",
    "She was available.",
    "I met a man who won in May.",
    "Ideas: more light, less noise.",
    "I need help with my homework.",
    "I'm looking for advice on gardens.",
    "I'm managing my time.",
    "I shared my own story.",
    "We played some games.",
    "We held some events.",
    "I met sponsors that made the event a hit.",
    "The probability is 1/2 or 0.5.",
    "Debugger prints the stack.",
    "I bought a flat here.",
    "We need better schools.",
    "I stored the last three visited cities.",
    "We have regular meetings.",
    "My shop has been a roller coaster.",
    "I'm considering pursuing painting full-time.",  # of which more is said than the object holds
    "I ran into a group of people who said something rude.",
    "I love being outdoors - going for hikes, picnics.",
]


def stated(text: str, at: float | None = None) -> list[Fact]:
    extraction = ParsedExtractor().extract(f"Tom: {text}", "Tom", at=at)
    return [statement for statement in extraction.statements if isinstance(statement, Fact)]


def facts(text: str) -> list[str]:
    return [str(fact) for fact in stated(text)]


@pytest.mark.parametrize(("text", "expected"), STATED)
def test_statements(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize("text", EMPTY)
def test_what_is_no_statement(text: str) -> None:
    assert facts(text) == []


def test_a_time_at_the_end_of_an_object_is_when_the_fact_holds() -> None:
    day = datetime(2023, 11, 12, tzinfo=UTC).timestamp()
    [fact] = stated("I went kayaking the day before yesterday.", day + 2.5 * 86_400)
    assert (str(fact), fact.valid_from, fact.valid_to) == ("Tom, went, kayaking", day, day + 86_400)


def test_a_fact_of_which_the_time_is_not_understood_is_not_stated() -> None:
    at = datetime(2023, 11, 15, tzinfo=UTC).timestamp()
    assert stated("Last week was wild - I volunteered at the animal shelter.", at) == []
    assert stated("Last week I retook the aptitude test with good results.", at) == []
    [fact] = stated("I'm planning a peer review for April 2, 2024.", at)
    assert str(fact) == "Tom, is planning, peer review on 2024-04-02"


def test_a_time_that_something_is_about_dates_nothing() -> None:
    assert all(fact.valid_from is None for fact in stated("I read a book about last summer.", 1.7e9))


def test_code_and_long_lists_give_no_cut_facts() -> None:
    for text in ("I'm using `fetch_data()` for that.", "I have sides 9, 12, 15 cm.", "I use a = b + c here."):
        assert not any(cut in fact for fact in facts(text) for cut in ("`", "sides 9", "=")), text


def test_any_text_is_read_without_an_error() -> None:
    for text in (
        "",
        " ",
        "...",
        "I",
        "I am",
        "?!",
        "My",
        "\u202eabc",
        "a" * 5000,
        "I am " * 300,
        "Tom's's 's",
        "is is is",
        "left in we @ for 3 flight ! no , Lima ) reads é and",
    ):
        facts(text)


def test_reading_ends_where_the_parser_takes_a_noun_for_the_root() -> None:
    assert facts("I'm playing in the chess tournament again and it's INTENSE!")
