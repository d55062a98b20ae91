"""However long a message is, a bounded part of it is read; the rest stays text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from worldthread import Fact
from worldthread.extract.parsed import extractor
from worldthread.extract.parsed.extractor import ParsedExtractor

pytestmark = pytest.mark.language

AT = 1_700_000_000.0


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed."""
    texts: list[str] = []
    real = extractor.parse

    def parse(some: Iterable[str]) -> Any:
        asked = list(some)
        texts.extend(asked)
        return real(asked)

    monkeypatch.setattr(extractor, "parse", parse)
    return texts


def facts_of(message: str) -> set[tuple[str, str, str]]:
    stated = ParsedExtractor().extract(f"user: {message}", "user", AT).statements
    return {(fact.subject, fact.relation, fact.object) for fact in stated if isinstance(fact, Fact)}


@pytest.mark.parametrize(
    "sentence", ["I live in Rome but my sister works at Acme, and ", "My sister Anna lives in Oslo. ", "Rome is nice! "]
)
def test_a_message_costs_a_bounded_time(sentence: str, parsed: list[str]) -> None:
    facts_of(sentence * (12_000 // len(sentence)))
    once = sum(len(text.split()) for text in parsed)
    parsed.clear()
    facts_of(sentence * (60_000 // len(sentence)))
    assert sum(len(text.split()) for text in parsed) <= once <= 8 * extractor._LONGEST_MESSAGE


def test_what_stands_beside_an_endless_sentence_is_read() -> None:
    endless = "we walked on and on " * 40
    assert facts_of(f"I live in Rome. Then {endless}.") == {("user", "lives in", "Rome")}


def test_what_is_read_first_is_known(parsed: list[str]) -> None:
    filler = "The weather was fine and we walked along the river. " * 120
    assert ("user", "lives in", "Rome") in facts_of(f"I live in Rome. {filler} I work at Acme.")
    assert not any("Acme" in text for text in parsed)
