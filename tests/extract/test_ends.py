"""When something ended, by the text that ends it: text and day -> which statement ends when."""

from __future__ import annotations

import pytest

from worldthread import Memory
from worldthread.extract.base import Extractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.times import end_stated
from worldthread.extract.when import shown_time, world_time

SAID = "2024-06-10T12:00"


@pytest.mark.parametrize(
    ("sentence", "about", "end"),
    [
        ("I left Acme in March.", "Acme", "2024-04-01"),
        ("In February I left the choir.", "choir", "2024-03-01"),
        ("I left Acme and joined Globex in March.", "Acme", "2024-04-01"),
        ("Eva quit Bosch last Friday.", "Bosch", "2024-06-08"),
        ("Jonas and I broke up in May.", "Jonas", "2024-06-01"),
        ("I stopped being a vegetarian two years ago.", "vegetarian", "2023-01-01"),
        ("I no longer live in Rome since May.", "Rome", "2024-05-01"),
        ("I worked at Acme until March.", "Acme", "2024-04-01"),
        ("My last day at Acme was yesterday.", "Acme", "2024-06-10"),
        ("I'm leaving Acme at the end of June.", "Acme", "2024-07-01"),
        ("I left Acme on 3 March 2023, and Tom started there on 5 May.", "Acme", "2023-03-04"),
        ("I left Acme because my uncle died in 2021.", "Acme", None),  # the time of another clause
        ("I left Acme today.", "Acme", None),
        ("I left Acme this month.", "Acme", None),
        ("I left Acme.", "Acme", None),
        ("I sold the Volvo in the year 3000.", "Volvo", None),
    ],
)
def test_the_time_of_the_clause_that_ends_it(sentence: str, about: str, end: str | None) -> None:
    found = end_stated(sentence, world_time(SAID, 0.0), [about])
    assert (None if found is None else shown_time(found)) == end
    assert end_stated(sentence, 7.0, [about]) is None, "turns have no months"


CHANGES = [
    ("I work at Acme.", "I left Acme in March.", ("works at", "Acme"), "2024-04-01"),
    ("I work at Acme.", "I quit my job at Acme two weeks ago.", ("works at", "Acme"), "2024-05-28"),
    ("I live in Rome.", "I no longer live in Rome since May.", ("lives in", "Rome"), "2024-05-01"),
    ("I live in Rome.", "I moved to Paris in March.", ("lives in", "Rome"), "2024-03-01"),
    ("I work at Acme.", "I left Acme.", ("works at", "Acme"), "2024-06-10T12:00:00Z"),
]


def ended(extractor: Extractor, before: str, said: str, fact: tuple[str, str], told: str = "2024-01-05") -> str | None:
    with Memory(model="none", embedder="fake", extractor=extractor) as memory:
        memory.remember([{"role": "user", "content": before}], at=told)
        memory.remember([{"role": "user", "content": said}], at=SAID)
        found = [
            v for v in memory.timeline("user") if getattr(v.statement, "key", ())[1:] == (fact[0], fact[1].lower())
        ]
        assert len(found) == 1
        assert found[0].interval.valid_from == world_time(told, 0.0)
        return None if found[0].interval.is_open else shown_time(found[0].interval.valid_to)


@pytest.mark.parametrize(("before", "said", "fact", "end"), CHANGES)
def test_rules_end_it_then(before: str, said: str, fact: tuple[str, str], end: str) -> None:
    assert ended(ProseExtractor(), before, said, fact) == end


def test_nothing_ends_before_it_was_known_to_hold() -> None:
    end = ended(ProseExtractor(), "I work at Acme.", "I left Acme in March.", ("works at", "Acme"), told="2024-05-02")
    assert end == "2024-06-10T12:00:00Z"
