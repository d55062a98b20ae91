"""How people introduce themselves: names, families, addresses, habits, and what only sounds like it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = datetime(2024, 6, 5, 10, tzinfo=UTC).timestamp()  # a Wednesday


def facts(text: str, speaker: str = "user") -> list[str]:
    extraction = ParsedExtractor().extract(f"{speaker}: {text}", speaker, at=AT)
    return [str(statement) for statement in extraction.statements if isinstance(statement, Fact)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call me Rika, everybody does.", ["user, is called, Rika"]),
        ("I'm Oskar and I'm 31.", ["user, has age, 31", "user, is called, Oskar"]),
        (
            "We have two sons, Ivo (9) and Max (6).",
            ["user, has son, Ivo", "Ivo, has age, 9", "user, has son, Max", "Max, has age, 6"],
        ),
        ("You can e-mail me at rika@example.org.", ["user, has email, rika@example.org"]),
        ("Favourite food: lasagna.", ["user, has favourite food, lasagna"]),
        ("I use emacs btw", ["user, uses, emacs"]),
        ("I rarely eat lunch.", ["user, rarely eats, lunch"]),
        ("I usually skip breakfast.", ["user, skips, breakfast"]),
        ("I don't believe in ghosts.", ["user, does not believe in, ghosts"]),
        ("My goal is to swim across the lake.", ["user, has goal, to swim across the lake"]),
        ("I'm 1.70 m tall.", ["user, is, 1.70 m tall"]),
        ("I play bridge online.", ["user, plays, bridge online"]),
        ("My van broke down.", ["user's van, broke, down"]),
        ("Every Friday I call my aunt.", ["user, calls, user's aunt every Friday"]),
        ("i got promoted to team lead", ["user, was promoted to, Team Lead"]),
        ("I'm a dog person.", ["user, is a, dog person"]),
        ("I don't have any cousins.", ["user, does not have, cousins"]),
        ("I'm not religious.", ["user, is not, religious"]),
        ("I can't eat gluten.", ["user, cannot eat, gluten"]),
        ("I'm learning how to juggle knives.", ["user, is learning, to juggle knives"]),
        ("My father is 80. He lives in Bath.", ["user's father, has age, 80", "user's father, lives in, Bath"]),
    ],
)
def test_what_newcomers_say(text: str, expected: list[str]) -> None:
    found = facts(text)
    assert [fact for fact in expected if fact not in found] == []


@pytest.mark.parametrize(
    "text",
    [
        "Call me crazy, but I like it.",
        "Call me later.",
        "I have butterflies in my stomach.",
        "I have bigger fish to fry.",
        "I'm trying to understand this.",
        "The probability of two sixes is 1/36, and I want to check that. Can you help?",
        "We have two sons, Ivo, Max and Bo, or so they say.",
    ],
)
def test_what_only_sounds_like_it(text: str) -> None:
    assert [fact for fact in facts(text) if "two sons" not in fact] == []


@pytest.mark.parametrize("text", ["I'm German.", "I'm Catholic.", "I'm Ann's neighbour.", "I'm HR."])
def test_who_says_what_they_are_says_no_name(text: str) -> None:
    assert not any("is called" in fact for fact in facts(text))


def test_who_is_known_by_a_name_needs_no_second_one() -> None:
    assert facts("I'm Oskar.", "Oskar") == []


def test_another_pronoun_means_another_person() -> None:
    assert not any("Bath" in fact for fact in facts("My father is 80. She lives in Bath."))


def test_the_day_of_what_is_planned_is_kept() -> None:
    [fact] = [
        s
        for s in ParsedExtractor().extract("user: I have a talk with Jo planned for June 9.", "user", at=AT).statements
        if isinstance(s, Fact)
    ]
    assert (fact.object, fact.valid_from) == ("talk with Jo", datetime(2024, 6, 9, tzinfo=UTC).timestamp())


def test_a_wedding_does_not_date_a_brother() -> None:
    extraction = ParsedExtractor().extract("user: My brother Owen is getting married next June.", "user", at=AT)
    [kin] = [s for s in extraction.statements if isinstance(s, Fact) and s.relation == "has brother"]
    assert (kin.object, kin.valid_from, kin.valid_to) == ("Owen", None, None)
