from __future__ import annotations

import pytest

from worldthread.extract.prose.dates import iso_date
from worldthread.extract.prose.entities import entities


def names(text: str, *kinds: str) -> list[str]:
    return [e.name for e in entities(text) if not kinds or e.kind in kinds]


def test_a_question_names_its_objects() -> None:
    assert names("Who is the wife of the director of Titanic?") == ["wife", "director", "Titanic"]
    assert names("What is Anna's phone number?") == ["Anna", "phone number"]


@pytest.mark.parametrize(
    "name",
    [
        "University of Cape Town",
        "Ludwig van Beethoven",
        "Mary O'Brien-Smith",
        "J. R. R. Tolkien",
        "AT&T",
        "U.S. Army",
        "Xiaomi 12 Pro",
        "k30u",
        "10U",
        "iPhone 13",
        "World War II",
        "São Paulo",
        "Émile Zola",
        "McDonald",
    ],
)
def test_names(name: str) -> None:
    assert names(f"They spoke of {name} there.", "name", "person") == [name]
    assert names(f"This is {name}'s day.", "name", "person") == [name]


def test_dates_have_one_form() -> None:
    text = "On 25.11.2020, 25 November 2020, Nov 25, 2020, the 25th of November 2020, 2020-11-25 and 11/25/2020."
    assert names(text, "date") == ["2020-11-25"] * 6
    assert names("In January 1960, in 1960, on 5 May, at 5 pm and on Friday.", "date") == [
        "1960-01",
        "1960",
        "--05-05",
        "5 pm",
        "Friday",
    ]
    assert iso_date("03/04/2020") == "03/04/2020", "either order is possible"
    assert iso_date("45.11.2020") == "45.11.2020"


def test_numbers_keep_their_units_and_titles_their_words() -> None:
    assert names("It has 1,200 km of road, costs $3.50 and took 5 million years.", "number") == [
        "1,200 km",
        "$3.50",
        "5 million years",
    ]
    assert names('She wrote "The Old House" and said "come here now, please".', "title") == ["The Old House"]


def test_a_common_word_at_the_beginning_is_no_name() -> None:
    assert names("However, water is wet. Critics praised it. In the end they left.", "name", "person") == []
    assert names("Nashville is large. The Bank of Ruritania failed.", "name") == ["Nashville", "Bank of Ruritania"]
    assert names("Reading is fun. They went to Reading.", "name").count("Reading") == 2


def test_parts_of_a_name_mean_the_whole() -> None:
    text = "Barack Obama was born in Hawaii. Obama likes tea. Barack Hussein Obama was president."
    assert names(text, "person") == ["Barack Obama"] * 3
    assert "Jackson" in names("Anna Jackson met Tom Jackson. Jackson left."), "two could be meant"


def test_the_title_is_found_in_lower_case_and_without_its_bracket() -> None:
    found = names("Client-centered therapy (psychology)\nMany use client-centered therapy today.")
    assert found[0] == "Client-centered therapy"
    assert found.count("Client-centered therapy") == 2


def test_common_noun_phrases() -> None:
    found = names("The old wooden bridge crosses a river, and monetary policy failed.", "phrase")
    assert "river" in found
    assert "monetary policy" in found
    assert any(name.startswith("old wooden bridge") for name in found)


def test_places_are_those_of_the_text() -> None:
    text = "Anna Lee\n\nAnna  Lee lives\n in New\n York. She met Bob on 5 May 1990."
    for entity in entities(text):
        surface = " ".join(text[entity.start : entity.end].split())
        assert surface == entity.name or entity.kind == "date"
