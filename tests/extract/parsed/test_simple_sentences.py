"""A message says the same as the sentences in it, whatever greeting, thanks or question stands beside them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.parsed.parser import parse
from worldthread.extract.parsed.simple_facts import states_nothing
from worldthread.extract.parsed.simple_sentences import SimpleSentences
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = datetime(2025, 3, 10, 12, tzinfo=UTC).timestamp()  # a Monday

PLAIN = [
    "I live in Kettering.",
    "I'm allergic to peanuts.",
    "My sister lives in Leeds.",
    "I have two grandsons.",
    "My brother is a plumber.",
    "We bought the canoe.",
    "I work nights at the hospital.",
    "My dog is called Rex.",
    "I'm a PhD student in hydrology.",
    "My daughter has asthma.",
    "I play the cello.",
    "My mother is on warfarin.",
    "I'm vegetarian.",
    "My son is nine.",
    "My boss is Sheldon.",
    "I drive a white van.",
    "My wife works at the library.",
    "I speak Portuguese.",
    "I've got type 2 diabetes.",
    "My flight leaves at 7:40.",
    "The spare key is under the blue pot.",
    "My gran keeps bees.",
    "I'm left-handed.",
    "We live in a terraced house.",
    "I don't eat pork.",
    "My name is Maureen.",
    "My car is a grey Skoda.",
    "I've been diagnosed with osteoporosis.",
    "My nephew studies law in Leiden.",
    "Our cat hates the vet.",
]
CARRIERS = ["Hi! {}", "Haha thanks. {}", "{} Thanks!", "{} What would you suggest?", "Pretty good. {}"]


def facts(text: str, at: float | None = AT) -> list[str]:
    extraction = ParsedExtractor().extract(f"Ana: {text}", "Ana", at=at)
    return sorted(str(statement) for statement in extraction.statements if isinstance(statement, Fact))


@pytest.mark.parametrize("sentence", PLAIN)
def test_a_sentence_says_the_same_inside_a_message(sentence: str) -> None:
    alone = facts(sentence)
    assert alone
    assert {carrier: facts(carrier.format(sentence)) for carrier in CARRIERS} == dict.fromkeys(CARRIERS, alone)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My name is Jo, I'm 51 and I live in Ayr", "Ana, has age, 51"),
        ("Otto's nine now and stiff, so the vet's put him on a joint supplement", "Otto, has age, nine"),
        ("Freya's been made redundant from the council after 12 years", "redundant from the council"),
        ("My dog is called Rex. He takes prednisolone 5 mg first thing.", "takes, prednisolone 5 mg"),
        ("My dad had a stroke. He takes clopidogrel 75 mg every evening.", "takes, clopidogrel 75 mg"),
        ("I'm vegan and allergic to sesame so keep that in mind", "allergic to, sesame"),
        ("My son is called Nils and his wife Petra", "wife, has name, Petra"),
        ("The treasurer is Mrs Anneke Bos.", "treasurer, is, Mrs Anneke Bos"),
        ("The vet has put Otto on a low-fat diet", "Otto, is on, low-fat diet"),
        (
            "The stopcock is behind the washing machine",
            "stopcock, is behind, washing machine",
        ),
    ],
)
def test_the_simple_sentences_of_a_message_are_stated(text: str, expected: str) -> None:
    assert any(expected in fact for fact in facts(text))


@pytest.mark.parametrize(
    "text",
    [
        "She said her brother's called Tom and he's 40.",
        "If my dog was called Rex and he was nine, would that be old?",
        "Herself and Paul are sick of it.",
        "Pete did yes.",
        "I think my sister's 40 and she lives in Leeds.",
    ],
)
def test_reports_wishes_and_conditions_state_nothing(text: str) -> None:
    assert facts(text) == []


def test_no_relative_shares_the_name_of_another() -> None:
    assert not [fact for fact in facts("My daughter is called Camille and her husband Fraser") if " and " in fact]


def test_a_pronoun_that_may_mean_two_people_is_not_resolved() -> None:
    assert not [fact for fact in facts("Tom met Sam. He's 40.") if "has age" in fact]


def test_sentences_are_divided_at_their_subjects() -> None:
    doc = parse(["Meg's twelve now and stiff in the mornings, so the vet's started her on a monthly injection."])[0]
    assert [one.text for one in SimpleSentences().of(doc, frozenset())] == [
        "Meg is twelve now",
        "Meg is stiff in the mornings",
        "The vet has started Meg on a monthly injection",
    ]


@pytest.mark.parametrize("text", ["Pretty good.", "That makes sense.", "Thanks so much!", "What would you suggest?"])
def test_reactions_state_nothing(text: str) -> None:
    assert states_nothing(parse([text])[0])


@pytest.mark.parametrize("text", ["It's on the 29th.", "My cat died.", "Two kids.", "You know I live in Hull."])
def test_other_sentences_state_something(text: str) -> None:
    assert not states_nothing(parse([text])[0])
