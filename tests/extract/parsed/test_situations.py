"""What ends without being named, because somebody has only one of its kind, and what only looks alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Fact, Memory
from worldthread.models.fake import FakeEmbedder

pytestmark = pytest.mark.language

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)


def _ended(*messages: str) -> list[Fact]:
    """Return the facts that held before the last message and do not hold after it."""
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        for message in messages[:-1]:
            memory.remember([{"role": "user", "content": message}], at=_FIRST)
        before = set(memory.view().facts())
        assert before, "nothing was stated"
        memory.remember([{"role": "user", "content": messages[-1]}], at=_FIRST + timedelta(days=1))
        return sorted(before - set(memory.view().facts()), key=str)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm unemployed.", "First day at the new job today!"),
        ("I'm single.", "Me and Robin are official since Sunday."),
        ("I weigh 91 kilos.", "The scales said 86 this morning."),
        ("My 5k best is 24:10.", "Ran 23:48 today, new best!"),
        ("I smoke ten a day.", "Not one cigarette in five weeks."),
        ("I don't drink.", "I've been drinking again since March."),
        ("I'm vegan.", "I'm back on cheese, sorry."),
        ("I live alone.", "My niece is living with me since Friday."),
        ("I live with my parents.", "Finally out of my parents' place!"),
        ("I'm staying in a hostel.", "Back in my own bed at last."),
        ("I'm doing a nursing course.", "Got my nursing certificate in the post."),
        ("I owe my cousin 80 euros.", "Paid my cousin back, we're square."),
        ("I have a cast on my arm.", "The cast came off on Monday."),
        ("I'm captain of the chess team.", "Gave the captaincy to Ola."),
        ("My rent is 900 a month.", "My landlord put it up to 980 a month."),
        ("I'm building a shed.", "The shed is finished and painted."),
        ("I get a veg box each week.", "Told the veg box people to stop, cancelled the veg box."),
    ],
)
def test_the_only_fact_of_a_kind_ends(before: str, now: str) -> None:
    assert _ended(before, now)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm unemployed.", "My brother got a job at the docks."),
        ("I'm single.", "My sister got engaged on Sunday!"),
        ("I weigh 80 kilos.", "My suitcase weighed in at 23."),
        ("My 10k best is 48:10.", "Ran 52:30 today, legs like lead."),
        ("I don't drink.", "My brother is drinking again, it worries me."),
        ("I live alone.", "My cousin is staying with me for the weekend."),
        ("I live with my parents.", "I moved the sofa out of my parents' room."),
        ("I'm doing a nursing course.", "Got a certificate for swimming today."),
        ("I work as a nurse.", "My last shift was hell, fourteen hours."),
        ("I owe my brother 300 euros.", "Paid my sister back for the tickets."),
        ("I have three cats.", "Only two left of the chocolates."),
        ("My rent is 900 a month.", "The gym is 30 a month now."),
        ("My brother plays for Leeds.", "He signed for the parcel."),
        ("The shop is closed on Mondays.", "The bakery is open on Mondays now."),
        ("I sing in a choir.", "The pianist left the choir."),
        ("I'm reading Emma.", "Finished chapter two of Emma."),
    ],
)
def test_what_another_does_or_what_only_looks_alike_ends_nothing(before: str, now: str) -> None:
    assert _ended(before, now) == []


def test_of_two_facts_of_a_kind_none_ends_that_is_not_named() -> None:
    assert _ended("I owe 50 euros to my mum.", "I owe 5000 euros to the bank.", "Squared up with my brother.") == []
