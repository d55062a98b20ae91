"""What a message takes back by a cue, a value that it denies and a value that it gives, and what only looks alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Fact, Memory
from worldthread.extract.parsed.amended_facts import is_near_spelling, kind_of
from worldthread.extract.parsed.amendments import Cue, amendment_of
from worldthread.models.fake import FakeEmbedder

pytestmark = pytest.mark.language

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)


def _told(*messages: str, days: float = 1, speaker: str = "user") -> tuple[list[Fact], list[Fact]]:
    """Return the facts before the last message that were never so after it, and those that hold from the first on."""
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        for message in messages[:-1]:
            memory.remember([{"role": speaker, "content": message}], at=_FIRST)
        before = memory.view(_FIRST.timestamp()).facts()
        assert before, "nothing was stated"
        memory.remember([{"role": speaker, "content": messages[-1]}], at=_FIRST + timedelta(days=days))
        after = memory.view(_FIRST.timestamp()).facts()
        return [fact for fact in before if fact not in after], [fact for fact in after if fact not in before]


@pytest.mark.parametrize(
    ("before", "correction", "wrong", "right"),
    [
        ("The order number is KX-4419.", "Transposed that. KX-4491.", "KX-4419", None),
        ("My bike is a Gazelle.", "I had a look at the frame and it's a Batavus. Told you a fib.", "Gazelle", None),
        ("I'm the eldest of six.", "We were seven. I stand corrected.", "eldest of six", None),
        ("My son is allergic to nuts.", "I mixed them up, it's my daughter who can't have nuts.", "nuts", None),
        ("My aunt is from Malta.", "My aunt isn't from Malta, she's from Gozo.", "Malta", "Gozo"),
        ("My brother is a baker.", "He isn't a baker, he's a butcher.", "baker", "butcher"),
        ("I weigh 64 kilos.", "I fibbed, I weigh 69 kilos.", "64 kilos", "69 kilos"),
        ("My wedding anniversary is 6 May.", "No hang on, it's 7 May.", "6 May", "7 May"),
        ("My mother's maiden name is Reid.", "It's Reed with two e's, sorry.", "Reid", "Reed"),
        ("My boss is called Henrik.", "Her name is actually spelled Henrike.", "Henrik", "Henrike"),
        ("My rent is 700 euros.", "Sorry, 750 euros, not 700.", "700 euros", "750 euros"),
        ("The bakery opens at six.", "I was wrong about the bakery, it opens at seven.", "six", None),
        ("I'm 31.", "I'm not 31, I'm 13. Fat fingers.", "31", "13"),
        ("My hamster is a girl.", "The vet says the hamster's a boy, and always was.", "girl", None),
        ("I work for Bosch.", "It's actually Siemens I work for.", "Bosch", "Siemens"),
        ("I live in Ghent.", "I wrote Ghent by accident, I live in Bruges.", "Ghent", "Bruges"),
        ("I have two nieces.", "I don't have two nieces, I have two nephews.", "two nieces", None),
        ("My uncle is a baker.", "Mix-up on my part! He's a butcher.", "baker", None),
        ("I take 30mg of iron.", "The bottle says 20mg, told you wrong.", "30mg of iron", None),
        ("My pension is 900 euros.", "Correction, the actual figure always was 870 euros.", "900 euros", None),
        ("Our printer has 2GB.", "My mistake, 2 was the old one, it has 4.", "2GB", None),
        (
            "My gran was from Sligo.",
            "I was wrong about Gran: the parish records say she came from Mayo.",
            "Sligo",
            None,
        ),
    ],
)
def test_what_was_said_lately_is_taken_back(before: str, correction: str, wrong: str, right: str | None) -> None:
    taken_back, stated = _told(before, correction)
    assert [fact.object for fact in taken_back] == [wrong]
    assert right is None or [fact.object for fact in stated] == [right], "it holds in the interval of the other"


@pytest.mark.parametrize(
    "messages",
    [
        ("My sister lives in Bonn.", "Sorry, my brother lives in Trier."),
        ("My daughter is called Ella.", "I mixed up the salt and the sugar. It's awful."),
        ("I live in Leeds.", "I'm not in Leeds this week, I'm in York."),
        ("I live in Leeds.", "Actually, I've moved to York."),
        ("My wife is a teacher.", "No, she's a star."),
        ("I take 20mg of iron.", "The label says 60 tablets."),
        ("My cousin is a barrister.", "Misunderstanding at the shop, they gave me the wrong bread."),
        ("I have a Volvo.", "Checked the tyres, it's a Michelin set."),
        ("My sister is a doctor.", "Double-checked with her, it's a virus."),
        ("My phone number is 0151 4432.", "I switched numbers, it's 0151 9987 now."),
        ("I'm 34.", "My wife isn't 34, she's 36."),
        ("My cat is 12 years old.", "My dog is 12 years old.", "Sorry, I meant 13."),
        ("My meeting is at 3.", "Sorry, 5 more minutes."),
        ("I play the viola.", "Oops, I played the viola all night."),
        ("My mum lives in Cork.", "Oops, it's Dublin time, I have to run."),
        ("I have a brother in Utrecht.", "If he isn't in Utrecht, he's in Maastricht."),
        ("I'm from Portugal.", "No, not from Lisbon."),
        ("I play the piano.", "I misspoke, I play the violin too."),
        ("My boss is called Martin.", "Oops, I called Marvin by mistake."),
        ("My wife is a doctor.", "She's not only a doctor, she's a mother of four."),
        ("The shop opens at 9.", "I told you the shop opens at 9, but it opens at 10 on Sundays."),
    ],
)
def test_what_fits_nothing_or_two_things_or_is_a_change_takes_nothing_back(messages: tuple[str, ...]) -> None:
    assert _told(*messages)[0] == []


def test_a_plain_denial_corrects_only_what_was_said_lately() -> None:
    messages = ("My aunt is a cook.", "She isn't a cook, she's a baker.")
    assert [fact.object for fact in _told(*messages)[0]] == ["cook"]
    assert _told(*messages, days=90)[0] == [], "in three months she may have changed"


def test_the_correction_of_one_speaker_leaves_what_another_said() -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "Ida", "content": "My rent is 900 euros."}], at=_FIRST)
        memory.remember([{"role": "Olaf", "content": "Sorry, it's 950 euros."}], at=_FIRST + timedelta(minutes=1))
        assert [fact.object for fact in memory.view().facts("Ida's rent")] == ["900 euros"]


def test_an_amendment_has_a_cue_and_values() -> None:
    amendment = amendment_of("I was wrong about the pool, it opens at 8, not 7.")
    assert amendment is not None
    assert amendment.cue is Cue.ERROR
    assert amendment.object == "the pool"
    assert [value.words for value in amendment.denied] == ["7"]
    assert [(value.words, value.about, value.verb) for value in amendment.given] == [("8", "it", "opens at")]
    assert amendment_of("I bought a pair of shoes.") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4 May", "date"), ("2024-05-09", "date"), ("the 9th", "date"), ("8:05", "time"), ("2 pm", "time"),
        ("six", "number"), ("82 kilos", "number"), ("tom@example.com", "address"), ("Mrs Field", "name"),
        ("nurse", "common"),
    ],
)  # fmt: skip
def test_a_value_has_a_kind(text: str, kind: str) -> None:
    assert kind_of(text).name == kind


def test_a_spelling_is_near_another_one() -> None:
    assert is_near_spelling("Browne", "Brown")
    assert is_near_spelling("0129", "0192")
    assert not is_near_spelling("Tuesday", "Thursday")
    assert not is_near_spelling("Rome", "Milan")
