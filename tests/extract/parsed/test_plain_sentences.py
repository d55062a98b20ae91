"""What a message of one short sentence says plainly, and that nothing else is taken for such a sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = datetime(2024, 6, 5, 10, tzinfo=UTC).timestamp()  # a Wednesday


def facts(text: str) -> list[str]:
    extraction = ParsedExtractor().extract(f"Ana: {text}", "Ana", at=AT)
    return [str(statement) for statement in extraction.statements if isinstance(statement, Fact)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm on Mastodon.", "Ana, is on, Mastodon"),
        ("im on antibiotics", "Ana, is on, antibiotics"),
        ("I'm with Telekom.", "Ana, is with, Telekom"),
        ("My husband's in the fire brigade.", "Ana's husband, is in, fire brigade"),
        ("I'm dating a guy called Finn.", "Ana, is dating, Finn"),
        ("Finn and I are an item.", "Ana, is together with, Finn"),
        ("I live with my boyfriend Tim.", "Ana, has boyfriend, Tim"),
        ("i've got covid", "Ana, has, covid"),
        ("I'm interning at a radio station.", "Ana, is interning at, radio station"),
        ("School starts at 8.", "school, starts at, 8"),
        ("The monthly pass costs £60.", "monthly pass, costs, £60"),
        ("A day pass is 7 euros.", "day pass, is, 7 euros"),
        ("I'm @kite_runner on Twitter.", "Ana, has twitter handle, @kite_runner"),
        ("Home is a houseboat in Utrecht.", "Ana, lives in, houseboat in Utrecht"),
        ("Olives are my favourite snack.", "Ana, has favourite snack, Olives"),
        ("I owe my uncle 300 euros.", "Ana, owes, 300 euros to Ana's uncle"),
        ("I've got my grandmother's ring.", "Ana, has, Ana's grandmother's ring"),
        ("Our company is called Brightly.", "Ana's company, has name, Brightly"),
        ("we order pizza every friday", "Ana, orders, pizza every friday"),
        ("My hair is blue.", "Ana's hair, is, blue"),
        ("I run 5 km every day.", "Ana, runs, 5 km every day"),
    ],
)
def test_a_short_sentence_states_what_its_form_says(text: str, expected: str) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm on my way.",
        "I'm on it!",
        "I'm with you on that.",
        "I'm on Monday duty if nobody else can.",
        "Are you on Mastodon?",
        "If I'm on Mastodon, so is he.",
        "I'm having something with that.",
        "It is 7 euros.",
        "I'm in over my head.",
    ],
)
def test_what_only_sounds_like_such_a_sentence_states_nothing(text: str) -> None:
    assert not facts(text)


def test_a_sentence_among_others_is_judged_beside_them() -> None:
    assert "Ana, is on, Mastodon" in facts("I'm on Mastodon. It was a slow day, and nobody wrote much.")
    assert not facts("I'm on fire today. It was a slow start, and then everything went well.")


def test_a_progressive_after_a_time_to_come_is_a_plan() -> None:
    assert not facts("This weekend we're off to the coast. We're trying out a surf school.")
