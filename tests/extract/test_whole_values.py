"""A value that a fact names is whole, or the fact is not stated, with either reader."""

import pytest

from worldthread.extract.base import Extractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.reader.extractor import ReaderExtractor
from worldthread.extract.whole_values import value_at, whole_value
from worldthread.types import Fact

READERS = [
    pytest.param(ProseExtractor(), id="prose"),
    pytest.param(ReaderExtractor(), id="reader"),
]
WHOLE = [
    ("My phone number is +43 (0)664 555-0199.", "+43 (0)664 555-0199"),
    ("My phone number is (020) 7946 0018.", "(020) 7946 0018"),
    ("My phone number is +1 (212) 555-0147, call me.", "+1 (212) 555-0147"),
    ("My IBAN is FR76 3000 6000 0112 3456 7890 189.", "FR76 3000 6000 0112 3456 7890 189"),
    ("My IBAN is NL91 ABNA 0417 1643 00.", "NL91 ABNA 0417 1643 00"),
    ("My licence plate is HH-AB 1234.", "HH-AB 1234"),
    ("My favourite language is F#.", "F#"),
    ("My favourite language is C++.", "C++"),
    ("My favourite band is Wham! from the eighties.", "Wham! from the eighties"),
    ("My favourite band is AC/DC.", "AC/DC"),
    ("My wifi password is Winter1999!", "Winter1999!"),
    ("My password is otter7!k.", "otter7!k"),
    ("My rent is $1,450/month.", "$1,450/month"),
    ("I work for Yahoo! and I am happy there.", "Yahoo!"),
    ("My husband is Piet in Utrecht.", "Piet"),
    ("I live in Bonn!", "Bonn"),
    ("I live in Bonn! It is a fine city.", "Bonn"),
    ("My name is Nadia! Hello!", "Nadia"),
    ("My flat number is 12.", "12"),
    ("My favourite film is Sense and the City.", "Sense and the City"),
    ("My favourite play is Lady to Rent.", "Lady to Rent"),
    ("My name is Nadia and I live in Bonn.", "Nadia"),
    ("My boyfriend is Jan from work.", "Jan"),
    ("My room is 14C.", "14C"),
]
CUT = [
    ("I like Wham! from before.", "Wham"),
    ("My favourite site is Yahoo! Japan.", "Yahoo"),
    ("My favourite band is Godspeed You! Black Emperor.", "Godspeed You"),
    ("I work at Jeopardy! as a writer.", "Jeopardy"),
    ("My booking code is KX7PQ2!", "KX7PQ2"),
    ("I live in OsloI work for Acme.", "OsloI"),
    ("I live in OsloI work for Acme.", "OsloI work for Acme"),
    ("I have a dog named Rex and a cat named Mia.", "Rex and a cat named Mia"),
    ("My dog is Rex and my cat is Mia.", "Rex and user's cat"),
    ("My husband is Piet in Utrecht.", "Piet in Utrecht"),
]


def values_of(reader: Extractor, text: str) -> set[str]:
    """Return what the facts of a message name beside the user."""
    facts = [s for s in reader.extract(f"user: {text}", "user", 1709251200.0).statements if isinstance(s, Fact)]
    return {name for fact in facts for name in (fact.subject, fact.object)}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("text", "value"), WHOLE, ids=[text for text, _ in WHOLE])
def test_a_value_is_whole(reader: Extractor, text: str, value: str) -> None:
    found = values_of(reader, text)
    assert value in found or (
        isinstance(reader, ReaderExtractor) and not any(one in value for one in found - {"user"})
    ), "the trained reader may leave it out"


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("text", "value"), CUT, ids=[f"{text} {value}" for text, value in CUT])
def test_no_fact_has_a_value_that_is_cut_or_joined(reader: Extractor, text: str, value: str) -> None:
    assert value not in values_of(reader, text)


@pytest.mark.parametrize("reader", READERS)
def test_what_has_digits_is_a_value_and_not_a_person(reader: Extractor) -> None:
    statements = reader.extract("user: My IBAN is NL91 ABNA 0417 1643 00.", "user", 1709251200.0).statements
    assert {s.object for s in statements if isinstance(s, Fact)} == {"NL91 ABNA 0417 1643 00"}


@pytest.mark.parametrize(
    ("value", "text", "whole"),
    [
        ("dog", "I have two dogs.", "dog"),
        ("2024-05-03", "It is on 3 May.", "2024-05-03"),
        ("Rome", "Rome, Italy", "Rome"),
        ("Anna", "Anna's dog is old.", "Anna"),
        ("Anna", "Anna—my sister—left.", "Anna"),
        ("30", "I pay 30% of it.", "30%"),
        ("3 March", "It is on 3 March 14:00.", "3 March"),
        ("rome", "i live in rome! it is great", "rome"),
        ("Rome", "i live in Rome! it is great", "Rome"),
        ("1,200", "It costs 1,200 a month.", "1,200"),
        ("Beauty and the Beast", "I like Beauty and the Beast.", "Beauty and the Beast"),
        ("&T", "I work at AT&T.", "AT&T"),
        ("192.168", "It listens on 192.168.7.3:8080.", "192.168.7.3:8080"),
    ],
)
def test_whole_value(value: str, text: str, whole: str) -> None:
    assert whole_value(value, text) == whole


@pytest.mark.parametrize("text", ["so-so.", "great!", ":)", '"quoted"', "Smith-Jones"])
def test_plain_words_are_no_values_of_their_own(text: str) -> None:
    assert value_at(text, 0) is None
