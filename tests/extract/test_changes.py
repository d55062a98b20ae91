"""Which older statements a message ends: changes in a life, pairs that look alike, and corrections."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worldthread import Fact, Memory
from worldthread.extract.parsed.idioms import without_idioms
from worldthread.extract.parsed.parser import parse
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


def test_what_was_so_once_is_corrected_too() -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": "I was born in 1990."}], at=_FIRST)
        memory.remember([{"role": "user", "content": "I made a mistake, I was born in 1991."}], at=_LATER)
        intervals = [v.interval for v in memory.timeline("user") if str(v.statement) == "user, born in, 1990"]
        assert intervals
        assert all(interval.valid_from == interval.valid_to for interval in intervals)


@pytest.mark.parametrize(
    ("sentence", "plain"),
    [
        ("They gave me the boot.", "They dismissed me ."),
        ("I've finally said goodbye to Leeds.", "I 've finally abandoned Leeds ."),
        ("Nina and I are history.", "Nina and I separated ."),
        ("I live in Leeds.", None),
    ],
)
def test_idioms_are_replaced_by_plain_verbs(sentence: str, plain: str | None) -> None:
    found = without_idioms(parse([sentence])[0])
    assert (None if found is None else " ".join(token.text for token in parse([found])[0])) == plain
