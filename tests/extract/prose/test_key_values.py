"""Lines of notes that give a value for a key."""

from __future__ import annotations

import pytest

from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.prose.key_values import heading_of, key_values
from worldthread.types import Fact


@pytest.mark.parametrize(
    ("sentence", "about", "stated"),
    [
        ("Wifi password: tulip-77", None, ["wifi password | is | tulip-77"]),
        ("Bike lock code 4482.", None, ["bike lock code | is | 4482"]),
        ("Karin's new number 0171 5550123", None, ["Karin | has phone number | 0171 5550123"]),
        ("Owner: Mrs Falk", "Viewing Mill Lane", ["owner (Viewing Mill Lane) | is | Mrs Falk"]),
        ("Mo's sizes: shoe 27, trousers 104", None, ["Mo | has sizes | shoe 27, trousers 104"]),
        ("Weight: 17.2 kg", "Brisa 40", ["weight (Brisa 40) | is | 17.2 kg"]),
        ("Bedtime 7:30", "Mo's sizes", ["bedtime (Mo's sizes) | is at | 7:30"]),
        ("Budget: 12,000", None, []),
        ("Check: does she cite it?", "Book", []),
        ("Note: the port is closed", "Server", []),
        ("Jamal: login bug fixed, waiting for review", "Standup", []),
        ("Miss Yip (art): a pleasure", "Evening", []),
        ("It is nine.", None, []),
    ],
)
def test_a_value_for_a_key_is_a_fact(sentence: str, about: str | None, stated: list[str]) -> None:
    assert [f"{f.subject} | {f.relation} | {f.object}" for f in key_values(sentence, about)] == stated


def test_a_heading_says_what_a_note_is_about() -> None:
    assert heading_of("Viewing 14 Albert Tce.") == "Viewing 14 Albert Tce"
    assert heading_of("Server: db2 runs Postgres 15.") == "Server"
    assert heading_of("The spare key is at Gerda's.") is None
    assert heading_of("...") is None


def test_the_rules_read_notes_without_a_parser() -> None:
    found = ProseExtractor().extract("Alarm code 4711. The spare key is at Gerda's.").statements
    assert Fact("alarm code", "is", "4711") in found
