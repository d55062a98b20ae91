"""Which older statements a message ends: changes in a life, pairs that look alike, and corrections."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worldthread import Fact, Memory
from worldthread.models.fake import FakeEmbedder
from worldthread.names import normalise_text

pytestmark = pytest.mark.language

_PAIRS = tomllib.loads((Path(__file__).parent / "changes.toml").read_text(encoding="utf-8"))
_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)
_LATER = _FIRST + timedelta(days=1)


def _facts_before_and_after(before: str, later: str) -> tuple[set[Fact], set[Fact]]:
    """Return the facts that hold after each of two messages of one user."""
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": before}], at=_FIRST)
        first = set(memory.view().facts())
        memory.remember([{"role": "user", "content": later}], at=_LATER)
        return first, set(memory.view().facts())


@pytest.mark.parametrize(("before", "later", "words"), _PAIRS["changes"] + _PAIRS["corrections"])
def test_what_a_message_changes_or_corrects_has_ended(before: str, later: str, words: str) -> None:
    first, second = _facts_before_and_after(before, later)
    held = {fact for fact in first if normalise_text(words) in normalise_text(str(fact).replace(",", ""))}
    assert held
    assert not held & second


@pytest.mark.parametrize(("before", "later"), _PAIRS["look_alikes"] + _PAIRS["no_corrections"])
def test_what_only_looks_like_a_change_ends_nothing(before: str, later: str) -> None:
    first, second = _facts_before_and_after(before, later)
    assert first
    assert first <= second
