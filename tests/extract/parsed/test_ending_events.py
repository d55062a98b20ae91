"""How the events that end something are marked, whatever their words, and what they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Fact, Memory
from worldthread.extract.parsed.ending_events import with_events
from worldthread.models.fake import FakeEmbedder

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)


def _ended(before: str, later: str) -> list[Fact]:
    """Return the facts that held after the first message and do not hold after the second one."""
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": before}], at=_FIRST)
        held = set(memory.view().facts())
        assert held, "nothing was stated"
        memory.remember([{"role": "user", "content": later}], at=_FIRST + timedelta(days=1))
        return sorted(held - set(memory.view().facts()), key=str)


@pytest.mark.parametrize(
    "text",
    [
        "SUBJ pawned THING",
        "SUBJ had to pawn THING",
        "SUBJ've finally pawned THING",
        "SUBJ was forced to pawn THING",
        "SUBJ ended up pawning THING",
        "SUBJ recently managed to pawn all of the THING",
    ],
)
def test_one_event_in_several_aspects_is_marked_alike(text: str) -> None:
    words = [word for word in with_events(text).split() if word != "have"]
    assert words == ["SUBJ", "<S>ed", "THING"]


def test_a_particle_may_follow_the_object() -> None:
    assert with_events("SUBJ gave THING away") == with_events("SUBJ gave away THING")


def test_what_was_not_done_is_no_event_that_happened() -> None:
    assert "ed THING" not in with_events("SUBJ didn't pawn THING")
    assert "ed THING" not in with_events("SUBJ will pawn THING")


@pytest.mark.language
@pytest.mark.parametrize(
    ("before", "later"),
    [
        ("I own a cello.", "I ended up pawning my cello."),
        ("I keep chickens.", "A fox got all my chickens."),
        ("I work at a boatyard.", "They had to let half of us go at the boatyard, me included."),
        ("I'm on the parish council.", "I stood down from the parish council."),
        ("My wife is on a gluten-free diet.", "My wife's come off the gluten-free diet."),
        ("I'm a carpenter.", "My back forced me to give up carpentry."),
        ("My train leaves at 7:12.", "They've changed the timetable, my train leaves at 7:05 now."),
        ("Our team has eight people.", "Two people left, so we're six people in the team now."),
        ("My daughter is eleven.", "My daughter's twelve now, it was her birthday on Tuesday."),
        ("I have an elderly Labrador named Duke.", "We had to say goodbye to Duke today."),
        ("Grandad lives with us.", "Grandad's funeral was on Thursday."),
        ("Our local library is closed for refurbishment.", "The library has reopened."),
        ("The conference is in Berlin.", "The conference has been relocated to Vienna."),
        ("My wife is pregnant.", "Our son was born at 3 this morning!"),
    ],
)
def test_an_event_in_any_words_ends_what_it_is_about(before: str, later: str) -> None:
    assert _ended(before, later)


@pytest.mark.language
@pytest.mark.parametrize(
    ("before", "later"),
    [
        ("I own a cello.", "My brother took my cello to his concert."),
        ("I own a cello.", "I dropped my cello off at the repair shop."),
        ("I have a laptop.", "I closed my laptop and went to bed."),
        ("I'm a member of a chess club.", "I missed chess club on Tuesday."),
        ("I live in Lyon.", "My colleague moved from Lyon to Metz."),
        ("My daughter is 17.", "My daughter's friend turned eighteen."),
        ("My sister lives in Rome.", "We said goodbye to my sister at the airport."),
        ("I have a dog called Milo.", "Milo is dead tired."),
        ("The shop opens at 9.", "The shop next to ours opens at 8 now."),
        ("I drink tea.", "I finished my tea."),
        ("My husband is called Ted.", "Ted got kicked out of the pub last night."),
    ],
)
def test_what_passes_ends_nothing(before: str, later: str) -> None:
    assert not _ended(before, later)
