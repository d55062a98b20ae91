from __future__ import annotations

import pytest

from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.prose.patterns import aspect_of
from worldthread.types import Fact


def facts(text: str) -> dict[str, str | None]:
    """The facts of a text, each with its aspect."""
    return {str(s): s.aspect for s in ProseExtractor().extract(text).statements if isinstance(s, Fact)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna lives in Rome.", {"Anna, lives in, Rome": "residence of anna"}),
        ("Anna moved to Paris.", {"Anna, lives in, Paris": "residence of anna"}),
        ("In 1920 Anna moved to Paris.", {"Anna, moved to, Paris": None}),
        (
            "Anna works for Acme as a clerk.",
            {"Anna, works for, Acme": "employer of anna", "Anna, works as, clerk": "job of anna"},
        ),
        ("Anna is married to Bob.", {"Anna, married to, Bob": "spouse of anna"}),
        ("Anna is 30 years old.", {"Anna, has age, 30": "age of anna"}),
        ("Anna's phone number is 555 0100.", {"Anna, has phone number, 555 0100": "phone number of anna"}),
        ("Anna's favourite colour is blue.", {"Anna, has favourite colour, blue": "favourite colour of anna"}),
        ("Bob is the CEO of Acme.", {"Bob, is CEO of, Acme": "ceo of acme"}),
        ("Acme's CEO is Bob.", {"Bob, is CEO of, Acme": "ceo of acme"}),
        ("The capital of France is Paris.", {"Paris, is capital of, France": "capital of france"}),
        ("The price of the lamp is 5 euros.", {"lamp, costs, 5 euros": "price of lamp"}),
        ("The lamp costs 5 euros.", {"lamp, costs, 5 euros": "price of lamp"}),
        (
            "The meeting is on Friday at 5 pm.",
            {"meeting, is on, Friday": "day of meeting", "meeting, is at, 5 pm": "time of meeting"},
        ),
        ("The meeting was moved to Monday.", {"meeting, is on, Monday": "day of meeting"}),
        ("The keys are in the drawer.", {"keys, is in, drawer": "place of keys"}),
        ("Nashville is in Tennessee.", {"Nashville, is in, Tennessee": None}),
        (
            "The door is open and the light is off.",
            {"door, is, open": "open or closed state of door", "light, is, off": "on or off state of light"},
        ),
        (
            "Anna loves tea and coffee.",
            {"Anna, loves, tea": "feeling of anna about tea", "Anna, loves, coffee": "feeling of anna about coffee"},
        ),
        ("Rome is a city in Italy.", {"Rome, is a, city": None, "Rome, is city in, Italy": None}),
        ("Heat is a film directed by Jo Lee.", {"Heat, is a, film": None, "Heat, directed by, Jo Lee": None}),
        (
            '"Heat" was directed by Jo Lee in 1997.',
            {"Heat, directed by, Jo Lee": None, "Heat, directed in, 1997": None},
        ),
        ("James Lee directed Heat.", {"Heat, directed by, James Lee": None}),
        (
            "Anna was born in Rome on 5 May 1990.",
            {"Anna, born in, Rome": None, "Anna, born on, 1990-05-05": None},
        ),
        (
            "Anna Lee (born 5 May 1990) is an actress.",
            {"Anna Lee, is a, actress": None, "Anna Lee, born on, 1990-05-05": None},
        ),
        ("Anna, who lives in Rome, is a doctor.", {"Anna, is a, doctor": None}),
        ("Anna studied at MIT.", {"Anna, studied at, MIT": None}),
        ("Karl was a painter.", {"Karl, was a, painter": None}),
        ("I'm a teacher.", {"user, is a, teacher": None}),
        ("My name is Tom.", {"user, has name, Tom": "name of user"}),
        (
            "My sister Maria lives in Oslo.",
            {"Maria, lives in, Oslo": "residence of maria", "Maria, is sister of, user": None},
        ),
        ("Anna: I live in Rome.", {"Anna, lives in, Rome": "residence of anna"}),
        (
            "Anna and Bob live in Rome.",
            {"Anna, lives in, Rome": "residence of anna", "Bob, lives in, Rome": "residence of bob"},
        ),
        (
            "Anna Smith is a doctor. She lives in Rome.",
            {"Anna Smith, is a, doctor": None, "Anna Smith, lives in, Rome": "residence of anna smith"},
        ),
    ],
)
def test_plain_statements(text: str, expected: dict[str, str | None]) -> None:
    assert {k.casefold(): v for k, v in facts(text).items()} == {k.casefold(): v for k, v in expected.items()}


@pytest.mark.parametrize(
    "text",
    [
        "Anna may live in Rome.",
        "Anna could be the CEO of Acme.",
        "If Anna lives in Rome, she is happy.",
        "Does Anna live in Rome?",
        "Anna lives in Rome?",
        "Bob said that Anna lives in Rome.",
        'Bob said: "Anna lives in Rome. She is a doctor."',
        "Anna lives in Rome, I think.",
        "Maybe Anna lives in Rome.",
        "According to Bob, Anna lives in Rome.",
        "Anna wants to live in Rome.",
        "Anna lived in Rome until 2019.",
        "Anna used to live in Rome.",
        "Anna formerly worked for Acme.",
        "Anna was married to Bob.",
        "Anna never lives in Rome.",
        "Nobody lives in Rome.",
        "Anna lives in Rome or in Paris.",
        "Anna has no dog.",
        "The firm was owned by Acme.",
        "It is a pity.",
        "He was elected by Brown and Adams counties.",
        "Anna met Eva. She lives in Rome.",
    ],
)
def test_no_facts(text: str) -> None:
    assert facts(text) == {}


def test_it_means_the_title_and_the_film_too() -> None:
    text = "Heat (1995 film)\nHeat is a film. It was written by Jo Lee. The film won the Golden Lion."
    assert facts(text) == {"Heat, is a, film": None, "Heat, written by, Jo Lee": None, "Heat, won, Golden Lion": None}


@pytest.mark.parametrize("text", ["Anna lives in Rome. It was a long day.", "Ravi moved to Pune. It is a mess."])
def test_it_is_nobody_of_whom_nothing_tells_that_it_is_a_thing(text: str) -> None:
    assert not [fact for fact in facts(text) if ", was a, " in fact or ", is a, " in fact]


def test_in_a_text_about_something_the_rest_has_no_name_of_its_own() -> None:
    text = "Acme Tools\nAcme Tools is a company. The headquarters is in Rome. The shop is closed."
    assert facts(text) == {"Acme Tools, is a, company": None}
    assert facts("Notes\nThe shop is closed.") == {"shop, is, closed": "open or closed state of shop"}


LONG = "Nettle is a library. " + "Every release is tested on many machines before it is signed. " * 8


def test_in_a_long_text_what_was_spoken_of_before_has_no_name() -> None:
    assert facts("The gym is closed.") == {"gym, is, closed": "open or closed state of gym"}
    for sentence in (
        "The gym is closed.",
        "The name of this extension is DPMS.",
        "I own a boat.",
        "This API is stable.",
    ):
        assert facts(f"{LONG}{sentence}") == {"Nettle, is a, library": None}, sentence
    assert facts(f"{LONG}Nettle is written in C and") == {"Nettle, is a, library": None}  # the text was cut here


@pytest.mark.parametrize(
    "text",
    [
        "The library name is libnettle.so.2.6.",
        "SVG feature names were wrong.",
        "Make Ctrl-L work in recent mode.",
        "Avahi is a free, LGPL implementation.",
        "GnuPG is a complete and free implementation.",
        "LZMA is a key to the performance.",
        "The program is distributed in the hope that it is useful.",
        "The method contains a special `mock` property.",
        "Minilib is now 0.2.17.",
        "Jo Lee has ported Make to Linux.",
        "GDB has two new commands: on and off.",
    ],
)
def test_a_phrase_that_is_broken_off_is_no_object(text: str) -> None:
    assert facts(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Anna lives in Rome.",
        "Anna works for Acme as a clerk.",
        "Anna is married to Bob.",
        "Anna is 30 years old.",
        "Anna's phone number is 555 0100.",
        "Anna's favourite colour is blue.",
        "Bob is the CEO of Acme.",
        "The capital of France is Paris.",
        "The lamp costs 5 euros.",
        "The door is open and the light is off.",
        "Anna loves tea and coffee.",
        "Anna owns a dog.",
        "Anna speaks French.",
        "Anna reports to Bob.",
        "Rome is a city in Italy.",
        "Anna is a doctor.",
        "Nashville is in Tennessee.",
    ],
)
def test_a_fact_alone_has_the_aspect_that_its_sentence_has(text: str) -> None:
    extracted = [s for s in ProseExtractor().extract(text).statements if isinstance(s, Fact)]
    assert extracted
    assert [aspect_of(fact) for fact in extracted] == [fact.aspect for fact in extracted]


def test_what_a_sentence_would_say_otherwise_has_its_aspect_too() -> None:
    assert aspect_of(Fact("Anna", "is", "30 years old")) == "age of anna"
    assert aspect_of(Fact("Anna", "is", "30")) is None
    assert aspect_of(Fact("Bob", "is the CEO of", "Acme")) == "ceo of acme"
    assert aspect_of(Fact("Anna", "IS MARRIED TO", "Bob")) == "spouse of anna"
    assert aspect_of(Fact("keys", "is in", "drawer")) is None
