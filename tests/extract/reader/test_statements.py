"""Tests of facts and endings out of events."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.reader.events import MessageEvent
from worldthread.extract.reader.statements import ended_by, fact_of, with_its_time

AT = datetime(2024, 5, 15, 10, tzinfo=UTC).timestamp()


def event(kind: str, relation: str = "works at", name: str = "Orbis", when: str = "") -> MessageEvent:
    time_kind, _, words = when.partition(": ")
    return MessageEvent(kind, "Ida", relation, name, words, time_kind, 0, 1, 0.9)


def day(time: float | None) -> str | None:
    return None if time is None else datetime.fromtimestamp(time, UTC).date().isoformat()


@pytest.mark.parametrize(
    ("kind", "when", "begin", "end"),
    [
        ("state", "", None, None),
        ("state", "since: 2019", "2019-01-01", None),
        ("state", "for: six years", "2018-05-15", None),
        ("state", "until: Friday", None, "2024-05-18"),
        ("state", "until: 2015", "2015-12-31", "2016-01-01"),
        ("state", "during: 1984 to 1995", "1984-01-01", "1996-01-01"),
        ("begins", "on: last week", "2024-05-06", None),
        ("begins", "from: June", "2024-06-01", None),
        ("begins", "on: 3 June", "2024-06-03", None),
        ("happened", "on: Saturday", "2024-05-11", "2024-05-12"),
        ("happened", "during: 2010", "2010-01-01", "2011-01-01"),
        ("planned", "on: the 14th", "2024-06-14", "2024-06-15"),
        ("planned", "by: Friday", None, "2024-05-18"),
        ("state", "on: one of these days", None, None),
    ],
)
def test_a_fact_holds_when_its_words_say(kind: str, when: str, begin: str | None, end: str | None) -> None:
    fact = fact_of(event(kind, when=when), AT)
    assert fact is not None
    assert (day(fact.valid_from), day(fact.valid_to)) == (begin, end)


@pytest.mark.parametrize(
    ("text", "kind", "relation", "object_", "when", "found", "begin"),
    [
        ("Last Friday I adopted a cat.", "happened", "adopted", "cat", "on: Last Friday", "adopted cat", "2024-05-10"),
        ("We sold it the day before yesterday.", "happened", "sold", "it", "on: yesterday", "sold it", "2024-05-13"),
        ("Two weeks ago I sold it.", "happened", "sold", "it", "", "sold it", "2024-05-01"),
        ("Two weeks ago I liked it.", "state", "likes", "it", "", "likes it", None),
        ("My exam is in two weeks.", "planned", "is", "two weeks", "", "is on 2024-05-29", "2024-05-29"),
        (
            "My sister arrives on the 20th.",
            "planned",
            "arrives",
            "on the 20th",
            "on: 20th",
            "arrives on 2024-05-20",
            "2024-05-20",
        ),
        ("My birthday is on 3 May.", "state", "is on", "3 May", "", "is on 3 May", None),
        ("My visa expires on 3 June.", "planned", "expires", "on 3 June", "", "expires on 3 June", "2024-06-03"),
        (
            "I was born on 14 March 1990.",
            "happened",
            "was born",
            "on 14 March 1990",
            "",
            "was born on 14 March 1990",
            "1990-03-14",
        ),
        ("I sold it. Two weeks ago it rained.", "happened", "sold", "it", "", "sold it", None),
    ],
)
def test_an_event_has_the_whole_time_of_its_sentence(
    text: str, kind: str, relation: str, object_: str, when: str, found: str, begin: str | None
) -> None:
    time_kind, _, words = when.partition(": ")
    place = text.index(object_)
    told = MessageEvent(kind, "Ida", relation, object_, words, time_kind, place, place + len(object_), 0.9)
    fact = fact_of(with_its_time(told, text, AT, is_alone=True), AT)
    assert fact is not None
    assert (f"{fact.relation} {fact.object}".removeprefix("will "), day(fact.valid_from)) == (found, begin)
    assert with_its_time(told, text, None, is_alone=True) == told


def test_the_only_time_of_a_sentence_is_left_where_it_tells_more() -> None:
    text = "Two weeks ago I met Tom, who sold it."
    told = MessageEvent("happened", "Tom", "sold", "it", "", "", text.index("it"), text.index("it") + 2, 0.9)
    assert with_its_time(told, text, AT, is_alone=False) == told


def test_a_month_begins_by_its_end() -> None:
    fact = fact_of(event("begins", when="on: March"), AT)
    assert fact is not None
    assert (day(fact.valid_from), day(fact.begins_by)) == ("2024-03-01", "2024-04-01")


@pytest.mark.parametrize("at", [None, 12.0])
def test_without_a_calendar_nothing_has_a_time(at: float | None) -> None:
    fact = fact_of(event("state", when="since: 2019"), at)
    assert fact is not None
    assert fact.valid_from is None
    ended = ended_by(event("ends", when="on: yesterday"), at)
    assert ended is not None
    assert ended.at is None


@pytest.mark.parametrize(
    ("relation", "expected"),
    [("visits", "will visit"), ("is in", "will be in"), ("has", "will have"), ("flies to", "will fly to"),
     ("goes to", "will go to"), ("watches", "will watch"), ("plays", "will play"), ("uses", "will use"),
     ("ought", "ought")],
)  # fmt: skip
def test_a_plan_without_a_day_is_told_as_one(relation: str, expected: str) -> None:
    fact = fact_of(event("planned", relation), AT)
    assert fact is not None
    assert fact.relation == expected


def test_a_plan_with_a_day_holds_on_it() -> None:
    fact = fact_of(event("planned", "visits", when="on: next month"), AT)
    assert fact is not None
    assert (fact.relation, day(fact.valid_from), day(fact.valid_to)) == ("visits", "2024-06-01", "2024-07-01")


def test_what_lasts_has_an_aspect_and_what_happened_has_none() -> None:
    aspects = [fact.aspect if (fact := fact_of(event(kind), AT)) else "" for kind in ("state", "begins", "happened")]
    assert aspects == ["employer of ida", "employer of ida", None]


@pytest.mark.parametrize(
    ("kind", "when", "at", "never"),
    [
        ("ends", "", None, False),
        ("ends", "on: yesterday", "2024-05-15", False),
        ("ends", "on: March", "2024-04-01", False),
        ("ends", "on: next month", "2024-07-01", False),
        ("never", "on: yesterday", None, True),
    ],
)
def test_an_ending_has_its_own_time(kind: str, when: str, at: str | None, never: bool) -> None:
    ended = ended_by(event(kind, when=when), AT)
    assert ended is not None
    assert str(ended.fact) == "Ida, works at, Orbis"
    assert (day(ended.at), ended.never) == (at, never)
    assert fact_of(event(kind, when=when), AT) is None
    assert ended_by(event("state"), AT) is None


def test_what_is_no_name_states_nothing() -> None:
    assert fact_of(event("state", name=" "), AT) is None
    assert ended_by(event("ends", name=" "), AT) is None


@pytest.mark.parametrize(
    ("relation", "said", "stated", "begin", "end"),
    [
        ("is on", "Friday", "is on 2024-05-17", "2024-05-17", "2024-05-18"),
        ("is on", "Friday at ten", "is on 2024-05-17 at ten", "2024-05-17", "2024-05-18"),
        ("is", "in two weeks", "is on 2024-05-29", "2024-05-29", "2024-05-30"),
        ("is", "next week", "is in 2024-05-20 to 2024-05-26", "2024-05-20", "2024-05-27"),
        ("is on", "12 October", "is on 12 October", None, None),
        ("is at", "half past nine", "is at half past nine", None, None),
        ("lives in", "Rome", "lives in Rome", None, None),
    ],
)
def test_a_day_that_is_told_from_the_message_is_stated_by_its_date(
    relation: str, said: str, stated: str, begin: str | None, end: str | None
) -> None:
    fact = fact_of(event("state", relation, said), AT)
    assert fact is not None
    assert f"{fact.relation} {fact.object}" == stated
    assert (day(fact.valid_from), day(fact.valid_to)) == (begin, end)


def test_an_attribute_is_said_as_the_rules_say_it() -> None:
    told = event("state", "is", "82 kg")._replace(subject="Ida's weight")
    fact = fact_of(told, AT)
    assert fact is not None
    assert (fact.subject, fact.relation, fact.object, fact.aspect) == ("Ida", "has weight", "82 kg", "weight of ida")
