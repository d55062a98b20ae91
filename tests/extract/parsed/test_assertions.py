"""What people plainly assert of themselves and theirs is stated whole; figures, moods and reports are not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.parsed.parser import normalised
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = datetime(2024, 6, 5, 10, tzinfo=UTC).timestamp()  # a Wednesday


def facts(text: str) -> list[str]:
    extraction = ParsedExtractor().extract(f"Ana: {text}", "Ana", at=AT)
    return sorted(str(statement) for statement in extraction.statements if isinstance(statement, Fact))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm right-handed but I bat left.", "Ana, is, right-handed"),
        ("I'm about six foot one.", "Ana, is, about six foot one"),
        ("I'm two thirds of the way through Dune.", "Ana, is, two thirds of the way through Dune"),
        ("my brother lives round the corner from us", "Ana's brother, lives round, corner from Ana"),
        ("I don't do spicy food.", "Ana, does not do, spicy food"),
        ("I never got my degree.", "Ana, never got, Ana's degree"),
        ("I was raised in Cork.", "Ana, was raised in, Cork"),
        ("My grandparents came from Malta.", "Ana's grandparents, came from, Malta"),
        ("My hair is naturally red.", "Ana's hair, is, naturally red"),
        ("I'm bad with names.", "Ana, is, bad with names"),
        ("I've been to Iceland twice.", "Ana, has been to, Iceland twice"),
        ("our youngest has a peanut allergy", "Ana's youngest, has, peanut allergy"),
        ("I keep quails, six of them.", "Ana, keeps, quails"),
        ("I'd rather have tea than coffee.", "Ana, would rather have, tea than coffee"),
        ("I'm working on a book about moss", "Ana, is working on, book about moss"),
        ("me dad drives a lorry", "Ana's dad, drives, lorry"),
        ("ive got hayfever", "Ana, has, hayfever"),
        ("i aint got a car", "Ana, does not have, car"),
        ("I practise aikido twice a week", "Ana, practises, aikido twice a week"),
        ("My laptop runs Fedora.", "Ana's laptop, runs, Fedora"),
        ("my sister have a shop in Hull", "Ana's sister, has, shop in Hull"),
        ("My mother-in-law is a nurse.", "Ana's mother-in-law, is a, nurse"),
    ],
)
def test_what_somebody_asserts_is_stated_as_it_was_said(text: str, expected: str) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        # moods and moments
        "I'm bored.", "I'm on my way.", "I'm just leaving.", "I'm knackered.", "I'm torn between the two.",
        "I'm off to bed.", "My battery is about to die.", "hey im back", "hi im skint", "hello im lost",
        # figures of speech and exaggerations
        "My head's killing me.", "I'm in two minds about it.", "I'm dying of boredom.", "I'm literally a potato today.",
        "I've told him a thousand times.", "My heart sank.", "I smell a rat.", "My mind plays tricks.",
        "I live for Fridays.", "My house is a zoo.", "My ex is a nightmare.", "I'm married to my job.",
        "I'm freezing to death in here.",
        # reports, wishes, guesses, fiction, irony
        "My neighbour reckons the shed is haunted.", "They say my village is cursed.", "I'd love to live on a boat.",
        "I might move to Spain one day.", "Apparently I snore.", "My avatar is an elf.", "My character is a butcher.",
        "Fantastic, my flight is cancelled again, love that.", "Oh great, my train is late again.",
        "I'm Batman, obviously.",
        # what never happened is no state
        "I've never been to Rome.", "I have never owned a boat.",
    ],
)  # fmt: skip
def test_what_is_not_meant_as_it_is_said_gives_no_fact(text: str) -> None:
    assert facts(text) == []


def test_a_verb_without_a_subject_of_its_own_is_not_of_the_speaker() -> None:
    assert facts("I hate coriander, tastes like soap to me") == ["Ana, hates, coriander"]


def test_the_only_relative_of_a_sentence_is_whom_its_pronouns_mean() -> None:
    assert facts("my nan lives in a care home in Hull, she's 91") == [
        "Ana's nan, has age, 91",
        "Ana's nan, lives in, care home in Hull",
    ]
    assert "Ana's brother, lives in, Leeds" in facts("my brother moved out, he lives in Leeds")
    assert facts("my sister told my aunt she's divorced") == []
    assert not any("brother, has age" in fact for fact in facts("my brother lives in a flat in Hull, she's 91"))


def test_typing_without_apostrophes_is_read() -> None:
    assert normalised("hes a vet") == "he's a vet"
    assert normalised("were expecting our second") == "We're expecting our second"
    assert normalised("i hav two cats an a dog") == "I have two cats and a dog"
    assert normalised("it was given to me mum says") != "it was given to my mum says"
    assert normalised("my wife's vegan, i'm not") == "my wife is vegan, I'm not"
