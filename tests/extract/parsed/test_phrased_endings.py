"""What short messages end, by patterns over the words that mean a fact, and what only looks alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Fact, Memory
from worldthread.extract.parsed.phrased_endings import phrased_endings
from worldthread.models.fake import FakeEmbedder

pytestmark = pytest.mark.language

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)


def _ended(*messages: str) -> list[Fact]:
    """Return the facts that held before the last message and do not hold after it."""
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        for day, message in enumerate(messages[:-1]):
            memory.remember([{"role": "user", "content": message}], at=_FIRST + timedelta(days=day))
        before = set(memory.view().facts())
        assert before, "nothing was stated"
        memory.remember([{"role": "user", "content": messages[-1]}], at=_FIRST + timedelta(days=9))
        return sorted(before - set(memory.view().facts()), key=str)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm based in Tallinn.", "I packed up and left Tallinn for good."),
        ("I work for Lego.", "Lego and I parted ways."),
        ("My wife works for Nestlé.", "They made my wife redundant."),
        ("I have a rowing machine.", "My rowing machine went to the dump."),
        ("My uncle has a caravan.", "My uncle got rid of his caravan."),
        ("I dislike opera.", "I've come to love opera."),
        ("I'm planning a trip to Oslo.", "I'm not going to Oslo after all."),
        ("My best friend is Ida.", "Ida and I fell out and don't talk any more."),
        ("I weigh 92 kilos.", "I'm down to 86 kilos."),
        ("I'm looking for a job.", "I found a job at last!"),
        ("The printer is broken.", "They fixed the printer."),
        ("My dad drives a lorry for a living.", "Dad has retired."),
        ("I'm on Mastodon.", "I deleted my Mastodon account."),
        ("I've been seeing a woman named Rosa.", "Rosa isn't with me any more, she dumped me."),
        ("Our choir is called The Larks.", "We renamed the choir Night Owls."),
        ("My email is ina@example.org.", "I've got a new email address: ina@example.net."),
        ("The bakery opens at 7.", "From Monday the bakery opens at 8."),
        ("The chemist's is open until 7.", "The chemist's shuts at 5 these days."),
        ("Our bike shed code is 4711.", "They changed the bike shed code to 1234."),
        ("I make 18 dollars an hour.", "I got a raise to 20 dollars an hour."),
        ("I run 5 km every day.", "I run 8 km every day now."),
        ("I'm unemployed.", "I've started working at a sawmill."),
        ("My husband is a plumber.", "He gave up plumbing and drives a bus now."),
        ("I have a glass of wine with dinner every night.", "No more wine with dinner for me."),
        ("I've got my grandmother's ring.", "I lost grandma's ring."),
        ("My aunt has breast cancer.", "My aunt is cancer-free."),
        ("Our family's home is in Porto.", "We packed up and left Porto for good."),
        ("My name is Anna Berg.", "Since the wedding I'm Anna Holm."),
        ("I'm waiting for a new passport.", "The passport arrived."),
        ("I have a loom.", "sold the loom at last"),
        ("I'm abroad for work.", "I'm home again."),
        ("I'm the goalkeeper of our team.", "They made Jo goalkeeper instead of me."),
        ("I'm a nurse.", "They fired me on Tuesday."),
        ("I'm a nurse.", "I've been made manager."),
        ("I live in Leeds.", "They moved me to the Bergen office, so I live there now."),
        ("I have a dog called Luna.", "Luna passed on Friday."),
        ("I have a bad knee.", "My knee is fine again."),
        ("My son is taking driving lessons.", "My son passed his test first time."),
        ("I give five tours a day.", "They cut us to four tours."),
    ],
)
def test_a_fact_ends_whatever_the_verb_is(before: str, now: str) -> None:
    assert _ended(before, now)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm based in Tallinn.", "My cousin packed up and left Tallinn for good."),
        ("I have a rowing machine.", "His rowing machine went to the dump."),
        ("I have a rowing machine.", "I might get rid of my rowing machine."),
        ("I have a rowing machine.", "I left my rowing machine at the club."),
        ("I dislike opera.", "My husband has come to love opera."),
        ("I'm planning a trip to Oslo.", "My boss cancelled her trip to Oslo."),
        ("I weigh 92 kilos.", "My brother is down to 86 kilos."),
        ("I have a dog.", "My dog ran off but came back an hour later."),
        ("I have a guitar.", "I gave the guitar to Tom so that he could tune it."),
        ("I earn 2000 euros a month.", "My rent went up to 900 euros a month."),
        ("I work for Spotify.", "I stopped using Spotify."),
        ("I live in Leeds.", "I got a room at the Hilton."),
        ("I rent a flat.", "We bought a house for my parents."),
        ("I'm a teacher.", "My cousin left teaching."),
        ("My boss is Rolf.", "Rolf left for lunch."),
        ("I'm in a band.", "No more band for my sister."),
        ("I go to yoga.", "I'm no longer sore after yoga."),
        ("I play bass in a band called Rust.", "Rust cancelled a gig."),
        ("I run 5 km every day.", "My brother runs 8 km every day now."),
        ("I have two kids.", "I have two cats now."),
        ("The printer is broken.", "They fixed the scanner."),
        ("I'm a member of the tennis club.", "I left the tennis club early tonight."),
        ("My flatmate is Ali.", "Ali left for work early."),
        ("I have a Kindle.", "Did somebody steal my Kindle?"),
        ("I'm an only child.", "They fired me on Tuesday."),
        ("I'm a Chelsea fan.", "The boss sacked me this morning."),
        ("I live in Leeds.", "They moved me to the 23rd, so I have more time."),
        ("I live in Leeds.", "I was moved to tears by the choir."),
        ("I live in Leeds.", "Moved up to the second team this week!"),
        ("I live in Leeds.", "I moved out for two nights while they painted."),
        ("I'm a guide at the mill.", "They cut us to three days a week."),
        ("I have a sister called Ida.", "Ida fell into the pond at the party."),
        ("My brother is Max.", "Max finished third in the relay."),
        ("I have a dog called Bo.", "Bo passed too, the trainer was pleased."),
        ("I have a son called Leo.", "Leo was run off his feet at the bakery."),
        ("I run an orchard.", "Our club elected a new treasurer last night."),
        ("I have a bike.", "Somebody drove into us, but the bike is fine."),
        ("I have a girlfriend called Mia.", "Mia passed anatomy with a 5."),
    ],
)
def test_what_looks_alike_ends_nothing(before: str, now: str) -> None:
    assert _ended(before, now) == []


def test_one_of_two_things_ends_only_by_its_name() -> None:
    both = ("I have a red canoe.", "I have a green canoe.")
    assert _ended(*both, "I got rid of the canoe.") == []
    assert [fact.object for fact in _ended(*both, "I got rid of the green canoe.")] == ["green canoe"]


def test_a_message_of_any_length_is_read() -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": "I have a canoe."}], at=_FIRST)
        view = memory.view()
        assert phrased_endings(["", "a" * 100_000, "sold " * 1000, "'s 's 's"], "user", [], view) == []
        assert [fact.object for fact, _ in phrased_endings(["I sold my canoe"], "user", [], view)] == ["canoe"]


@pytest.mark.parametrize(
    ("before", "correction"),
    [
        ("My niece is 12.", "No wait, my niece is 13."),
        ("I have a cat named Flops.", "That was wrong, the cat's name is Flopsy."),
        ("I'm allergic to walnuts.", "Actually I'm not allergic to walnuts, it's hazelnuts."),
    ],
)
def test_what_is_corrected_was_never_so(before: str, correction: str) -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": before}], at=_FIRST)
        wrong = {fact for fact in memory.view().facts() if fact.subject != "Flops"}
        memory.remember([{"role": "user", "content": correction}], at=_FIRST + timedelta(days=1))
        then = memory.view((_FIRST + timedelta(hours=1)).timestamp())
        assert wrong
        assert not [fact for fact in wrong if then.holds(fact)]


@pytest.mark.parametrize(
    ("before", "now", "ended"),
    [
        (["I live in Cork.", "I work for Dell."], "Handed in my notice and I'm off.", "Dell"),
        (["My number is 07700 900222.", "My office number is 0161 496 0100."], "New number: 07700 900999", "07700"),
        (
            ["My number is 07700 900222.", "My office number is 0161 496 0100."],
            "New office number: 0161 496 01",
            "0161",
        ),
        (["I have a passport that runs out in May.", "I have a visa for India."], "My new visa arrived.", "visa"),
        (["I work for Aldi."], "I've resigned... from Aldi, after nine years.", "Aldi"),
        (["I drink coffee."], "I gave up coffee once and for all.", "coffee"),
    ],
)
def test_of_two_things_that_a_message_may_mean_the_one_that_it_says_ends(
    before: list[str], now: str, ended: str
) -> None:
    found = _ended(*before, now)
    assert found
    assert all(ended in str(fact) for fact in found)
