"""Names that are merged: statements of both count as statements of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread import Extraction, Fact, Memory, MergeSuggestion
from worldthread.errors import InputError


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m", model="none", embedder="fake") as opened:
        opened.remember("Anna lives in Rome.", at=1)
        opened.remember("Anna Rossi lives in Paris.", at=3)
        opened.remember("Anna Rossi works for Acme.", at=4)
        yield opened


def homes(memory: Memory, name: str, at: float | None = None) -> list[str]:
    return [fact.object for fact in memory.view(at).facts(name, "lives in")]


def test_statements_of_both_names_are_of_one_until_the_merge_is_forgotten(memory: Memory, tmp_path: Path) -> None:
    before = memory.record.state_hash()
    assert homes(memory, "Anna") == ["Rome"]
    episode = memory.merge("Anna", "Anna Rossi", "she said so", at=9)
    assert episode.text == '"Anna" means "Anna Rossi". she said so'
    for name in ("Anna", "anna rossi"):
        assert homes(memory, name) == ["Paris"], "the newer home ends the older one"
        assert homes(memory, name, 2) == ["Rome"]
        assert len(memory.timeline(name)) == len(memory.timeline("Anna Rossi")) > 0
        assert any(str(hit.item) == "Anna Rossi, works for, Acme" for hit in memory.recall(f"{name} Acme").facts)
    assert "anna" not in memory.entities()
    assert memory.record.view(2).facts("Anna")[0].subject == "Anna Rossi"
    assert memory.as_of(world_time=3).facts("Anna", "lives in") == [Fact("Anna Rossi", "lives in", "Paris")]
    assert memory.as_of(world_time=3, recorded_time=0).facts() == []
    assert next(e.text for e in memory.episodes()) == "Anna lives in Rome."
    merged = memory.record.state_hash()
    memory.checkpoint()
    memory.export(tmp_path / "export")
    with Memory(tmp_path / "m", readonly=True, model="none", embedder="fake") as again, Memory() as copy:
        assert again.record.state_hash() == merged
        copy.import_(tmp_path / "export")
        assert copy.record.state_hash() == merged
    memory.forget(episode)
    assert memory.record.state_hash() == before
    assert homes(memory, "Anna") == ["Rome"]


def test_the_canonical_name_does_not_depend_on_the_order(memory: Memory) -> None:
    memory.merge("@anna", "Anna", at=9)
    memory.merge("Anna", "Anna Rossi", at=10)
    assert {f.subject for f in memory.view().facts("@anna")} == {"Anna Rossi"}
    with Memory(model="none", embedder="fake") as other:
        for episode in reversed(list(memory.episodes())):
            other.record.add(episode)
        assert other.record.state_hash() == memory.record.state_hash()


def test_names_are_suggested_with_their_evidence(memory: Memory) -> None:
    memory.remember(
        [("Tom", "has sister", "Maria"), ("Tom's sister", "likes", "tea"), ("@maria", "likes", "jazz")], at=5
    )
    memory.remember([("Bob Hill", "likes", "tea"), ("Bob Stone", "likes", "tea"), ("Bob", "likes", "tea")], at=5)
    assert memory.suggest_merges() == [
        MergeSuggestion("@maria", "maria", "the same without @"),
        MergeSuggestion("anna", "anna rossi", '"anna" begins one name only'),
        MergeSuggestion("tom's sister", "maria", 'it is stated that "Tom has sister Maria"'),
    ]


def test_what_cannot_be_merged_is_refused(memory: Memory) -> None:
    with pytest.raises(InputError, match="one name already"):
        memory.merge("Anna", "the ANNA")
    with pytest.raises(InputError, match="pairs of names"):
        Extraction("x", same_names=(("a", "b", "c"),))  # type: ignore[arg-type]
