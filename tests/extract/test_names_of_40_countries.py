"""What was said of somebody is found under the name, whatever the country and the script."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.extract.base import Extractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.models.fake import FakeEmbedder
from worldthread.names import normalise_name, unmarked

TOLD = (
    "My neighbour {} moved to Leeds.",
    "{} and I play chess on Fridays.",
    "Yesterday I had lunch with {}.",
    "{}, my colleague, is leaving.",
    "{} called me this morning.",
    "I gave the keys to {} last night.",
    "I still have {}'s umbrella.",
    "We are visiting my aunt {} in spring.",
    "{} has not answered yet.",
    "I don't trust {} with money.",
)
FILE = Path(__file__).with_name("names_of_40_countries.toml")
COUNTRIES: dict[str, list[str]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["names"]


def told(extractor: Extractor, *messages: str) -> Memory:
    memory = Memory(extractor=extractor, embedder=FakeEmbedder())
    memory.remember_many([[{"role": "user", "content": message}] for message in messages], at="2024-03-01")
    return memory


def not_found(extractor: Extractor, names: list[str], shift: int) -> list[str]:
    missing = []
    for number, name in enumerate(names):
        message = TOLD[(number + shift) % len(TOLD)].format(name)
        with told(extractor, message, "The weather is fine.") as memory:
            shown = [str(version.statement) for version in memory.about(name)]
            is_told = f"user: {message}" in shown and "user: The weather is fine." not in shown
            if not is_told or normalise_name(name) not in memory.entities() or not memory.timeline(name):
                missing.append(message)
    return missing


def test_there_are_two_hundred_names_of_forty_countries() -> None:
    assert len(COUNTRIES) == 40
    assert len({name for names in COUNTRIES.values() for name in names}) == 200


@pytest.mark.parametrize("shift", [0, 3])
def test_every_name_is_found_by_rule(shift: int) -> None:
    names = [name for names in COUNTRIES.values() for name in names]
    assert not_found(ProseExtractor(), names, shift) == []


LIFE = (
    "I will go home.",
    "Will moved to Leeds.",
    "Will you come?",
    "I met Will yesterday.",
    "May is warm.",
    "I may go.",
    "Mark the date.",
    "Mark came by.",
    "I will mark it.",
    "my friend bjorn moved to leeds",
    "Andreas called me.",
    "Anna Lindqvist called.",
    "Anna called.",
    "Łukasz lives in Kraków.",
    "Lukasz called.",
    "Søren is here.",
    "\u200fשירה\u200e called me.",
)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Will", ["Will moved to Leeds.", "I met Will yesterday."]),
        ("will", ["Will moved to Leeds.", "I met Will yesterday."]),
        ("May", ["May is warm."]),
        ("Mark", ["Mark came by."]),
        ("Bjorn", ["my friend bjorn moved to leeds"]),
        ("Andreas", ["Andreas called me."]),
        ("Łukasz", ["Łukasz lives in Kraków."]),
        ("Lukasz", ["Lukasz called."]),
        ("Soren", ["Søren is here."]),
        ("שירה", ["\u200fשירה\u200e called me."]),
        ("Anna", ["Anna Lindqvist called.", "Anna called."]),
    ],
)
def test_a_name_is_no_verb_and_is_found_without_its_marks(name: str, texts: list[str]) -> None:
    with told(ProseExtractor(), *LIFE) as memory:
        found = memory.record.episodes_about(name)
        assert {memory.episode(one).text for one in found} == {f"user: {text}" for text in texts}
        told_of = {str(version.statement) for version in memory.about(name)}
        whole = {f"user: {text}" for text in texts if name != "Anna" or "Lindqvist" not in text}
        assert whole <= told_of
        assert memory.forget(entity=name) == len(texts)
        assert len(list(memory.episodes())) == len(LIFE) - len(texts)


def test_marks_are_left_out_for_finding_only() -> None:
    assert unmarked("Łukasz, Søren, Đặng, Þórunn") == "lukasz, soren, dang, thorunn"
    assert unmarked("ƛ") == "ƛ", "there is no letter without its stroke"
    assert normalise_name("Søren") != normalise_name("Soren")
    assert normalise_name("\u200eRome\u200f") == "rome"
    assert normalise_name("Ro\u00adme") == "rome"
    assert normalise_name("\u200e") == "\u200e"
