"""Messages that sound like a change and are none, and facts that the parser alone would take wrongly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Fact, Memory
from worldthread.models.fake import FakeEmbedder

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)


@pytest.mark.language
@pytest.mark.parametrize(
    "message",
    [
        "I broke a string of my viola.",
        "My neighbour sold his viola.",
        "I had a long day at work.",
        "What if I gave up the viola?",
        "Sorry for the noise, I played the viola all night.",
    ],
)
def test_what_changes_nothing_ends_nothing(message: str) -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        for day, text in enumerate(("I play the viola.", message)):
            memory.remember([{"role": "user", "content": text}], at=_FIRST + day * timedelta(days=1))
        assert memory.view().holds(Fact("user", "plays", "viola"))


@pytest.mark.language
@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("I'm getting married in June.", Fact("user", "plans to get", "married")),
        ("My flight to Lima leaves at 6 am.", Fact("user's flight to Lima", "leaves at", "6 am")),
    ],
)
def test_what_the_parser_takes_wrongly_is_repaired(message: str, fact: Fact) -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": message}], at=_FIRST)
        assert [one.key for one in memory.view().facts(subject=fact.subject)] == [fact.key]
