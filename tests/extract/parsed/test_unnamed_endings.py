"""Of all that is known of somebody, an event that names nothing ends only what it is about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Memory
from worldthread.models.fake import FakeEmbedder

pytestmark = pytest.mark.language

_TOLD = datetime(2024, 4, 10, 10, tzinfo=UTC)
_KNOWN = """
I live in Leeds.
I rent a flat with a balcony.
I'm a nurse at the General.
I'm an only child.
I'm a vegetarian.
I'm learning Spanish.
I'm studying law part-time.
I'm training for a marathon.
I'm saving for a car.
I'm looking for a new sofa.
I'm in the choir.
I volunteer at the shelter.
I go to yoga on Tuesdays.
I have a dog called Rex.
My sister Eva lives in Bath.
I have a bad knee.
I'm allergic to peanuts.
I take blood pressure tablets.
I wear glasses.
I drive a Fiat.
I'm married to Tom.
I subscribe to Netflix.
I'm planning a trip to Peru.
I'm a member of the chess club.
I'm writing a novel.
"""


@pytest.fixture
def memory() -> Iterator[Memory]:
    """A memory that knows much of its user."""
    with Memory(model="none", embedder=FakeEmbedder()) as opened:
        opened.remember([{"role": "user", "content": one} for one in _KNOWN.strip().split("\n")], at=_TOLD)
        assert len(opened.view().facts()) >= 25
        yield opened


@pytest.mark.parametrize(
    ("message", "ended"),
    [
        ("I graduated last week!", {"law part-time"}),
        ("I got my degree!", {"law part-time"}),
        ("I dropped out.", {"law part-time"}),
        ("I got fired.", {"nurse at the General"}),
        ("They let me go on Friday.", {"nurse at the General"}),
        ("I quit my job.", {"nurse at the General"}),
        ("I retired in May.", {"nurse at the General"}),
        ("I got a new job!", {"nurse at the General"}),
        ("We moved house.", {"Leeds", "flat with a balcony"}),
        ("I've moved to Hull.", {"Leeds", "flat with a balcony"}),
        ("We broke up.", {"Tom"}),
        ("I'm single again.", {"Tom"}),
        ("I'm fine again.", {"bad knee"}),
        ("I came off the tablets.", {"blood pressure tablets"}),
        ("They threw me out.", set()),
        ("I gave up.", set()),
        ("I finished it.", set()),
        ("I've had enough.", set()),
        ("It's over.", set()),
        ("I failed.", set()),
        ("We lost.", set()),
        ("They cancelled it.", set()),
    ],
)
def test_an_event_ends_what_it_is_about(memory: Memory, message: str, ended: set[str]) -> None:
    before = set(memory.view().facts())
    memory.remember([{"role": "user", "content": message}], at=_TOLD + timedelta(days=9))
    assert {fact.object for fact in before - set(memory.view().facts())} == ended
