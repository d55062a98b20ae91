"""What persons are called beside their names, in reports and beside quotations too."""

from __future__ import annotations

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = 1715767200.0  # 2024-05-15


def facts(text: str) -> list[str]:
    """Return the facts of a news report, which has a title."""
    found = ParsedExtractor().extract(f"Council meets\n\n{text}", "", AT).statements
    return [f"{f.subject} | {f.relation} | {f.object}" for f in found if isinstance(f, Fact)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "Harbour Trust spokeswoman Ines Vidal said the quay may close.",
            "Ines Vidal | is | Harbour Trust spokeswoman",
        ),
        ("Norway's Prime Minister Kari Lund says nothing is decided.", "Kari Lund | is | Norway's Prime Minister"),
        ("The talks failed, said Portuguese negotiator Rui Prado.", "Rui Prado | is | Portuguese negotiator"),
        ('"We are late," said Orkla chairman Nils Berg on Monday.', "Nils Berg | is | Orkla chairman"),
        ("The Swedish captain, Moa Ek, says the boat was slow.", "Moa Ek | is | Swedish captain"),
        ("They met former Leeds coach Paul Hart.", "Paul Hart | is | former Leeds coach"),
        (
            "The Northern Rivers Land Council (NRLC) says it has not decided.",
            "NRLC | stands for | Northern Rivers Land Council",
        ),
        ("Police say 31-year-old Carla Mora may have left.", "Carla Mora | has age | 31"),
    ],
)
def test_what_a_person_is_called(text: str, fact: str) -> None:
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Health Minister Kari Lund says nothing is decided.",
        '"I met Orkla chairman Nils Berg," she said.'[:-1] + " twice.",
        "Then Leeds coaches Paul Hart and Tom Ray were called.",
        "The Swedish captain, Moa Ek, and Lars Holm say the boat was slow.",
        "World champion Moa Ek says the boat was slow.",
        "The Northern Rivers Council (NRLC) says it has not decided.",
        "The Leeds captain Street shop may close.",
    ],
)
def test_what_says_too_little_or_another_thing_is_not_stated(text: str) -> None:
    assert facts(text) == []


def test_a_raised_digit_is_no_age() -> None:
    assert not any("has age" in fact for fact in facts("The court is 3², said Ines Vidal, 4², on Monday."))
