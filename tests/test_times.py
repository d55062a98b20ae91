"""Times of a memory: what is a time, clocks that are set back, and what was known before something was read again."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Document, Episode, Extraction, Fact, Memory
from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.stores.codec import decode_episode, encode_episode

DAY = 86_400.0


@pytest.fixture(autouse=True)
def _fast_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")


class Clock:
    """A clock that tests set."""

    def __init__(self, time: float = 1.7e9) -> None:
        self.time = time

    def __call__(self) -> float:
        return self.time


@pytest.mark.parametrize(
    "time", [True, False, np.True_, math.nan, math.inf, -math.inf, np.float64("nan"), "True", "nan"]
)
def test_what_is_not_a_time_is_refused_everywhere(time: Any) -> None:
    with Memory(model="none") as memory:
        memory.remember("Anna lives in Rome.", at=0)
        before = memory.record.state_hash()
        calls = [
            lambda: memory.remember("Anna lives in Oslo.", at=time),
            lambda: memory.remember_many(["Anna lives in Oslo."], at=time),
            lambda: memory.remember(Document("Anna lives in Oslo.", at=time)),
            lambda: memory.remember([{"role": "Anna", "content": "I live in Oslo.", "at": time}]),
            lambda: memory.recall("Where does Anna live?", as_of=time),
            lambda: memory.about("Anna", as_of=time),
            lambda: memory.view(time),
            lambda: memory.as_of(time),
            lambda: memory.as_of(recorded_time=time),
            lambda: memory.record.view(time),
            lambda: memory.record.graph.view(time),
            lambda: memory.record.graph.as_of(time),
            lambda: memory.record.graph.as_of(recorded_time=time),
            lambda: Episode("x", time),
            lambda: Episode("x", 0, recorded_at=time),
            lambda: Episode("x", 0, extracted_at=time),
        ]
        for call in calls:
            with pytest.raises(InputError):
                call()
        assert memory.record.state_hash() == before


@pytest.mark.mcp
def test_tools_take_no_truth_value_for_a_time() -> None:
    import pydantic

    from worldthread.schemas.arguments import AsOf, ChatMessage

    assert ChatMessage(role="Anna", content="Hello", at=1).at == 1.0
    assert ChatMessage(role="Anna", content="Hello", at="2024-05-01").at == "2024-05-01"
    with pytest.raises(pydantic.ValidationError):
        ChatMessage(role="Anna", content="Hello", at=True)
    with pytest.raises(pydantic.ValidationError):
        pydantic.TypeAdapter(AsOf).validate_json("true")
    assert pydantic.TypeAdapter(AsOf).validate_json("42") == 42


# -- a clock that is set back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("back", [1e-3, 3600.0, DAY - 60])
def test_what_is_remembered_after_the_clock_was_set_back_is_later(tmp_path: Path, back: float) -> None:
    clock = Clock()
    file = tmp_path / "memory.worldthread"
    with Memory(file, model="none", clock=clock) as memory:
        memory.remember("Anna lives in Rome.")
        clock.time -= back
        memory.remember("# News\n\nAnna lives in Paris.\n\n# Weather\n\nIt rains.\n\n# Sport\n\nNothing happened.")
        assert memory.view().value("Anna", "lives in") == "Paris"
        memory.remember([{"role": "Anna", "content": "I live in Oslo."}, {"role": "Bob", "content": "I see."}])
        assert memory.view().value("Anna", "lives in") == "Oslo"
    with Memory(file, model="none", clock=clock) as memory:
        memory.remember([("Anna", "lives in", "Lima")])
        assert memory.view().value("Anna", "lives in") == "Lima"
        memory.remember("Anna lives in Bonn.", at=clock.time)
        assert memory.view().value("Anna", "lives in") == "Lima", "a time that is given is taken as it is"
        recorded = [memory.record.graph.episode(id_).recorded_at or 0 for id_ in memory.record.graph.episodes()]
        assert all(1.7e9 <= time < 1.7e9 + 0.001 for time in recorded)
        clock.time = 1.7e9 + 60
        (id_,) = memory.remember("Anna lives in Kiel.").episodes
        assert memory.episode(id_).at == memory.episode(id_).recorded_at == clock.time, "the clock is right again"


def test_a_clock_that_was_days_ahead_is_not_followed() -> None:
    clock = Clock()
    with Memory(model="none", clock=clock) as memory:
        clock.time = 4.07e9  # the year 2099
        memory.remember("Anna lives in Rome.")
        clock.time = 1.7e9
        (id_,) = memory.remember("Anna lives in Paris.").episodes
        assert memory.episode(id_).at == memory.episode(id_).recorded_at == 1.7e9


def test_a_time_that_is_given_does_not_move_the_clock() -> None:
    clock = Clock()
    with Memory(model="none", clock=clock) as memory:
        memory.remember("Anna moves to Rome.", at=1.7e9 + 3600)
        (id_,) = memory.remember("Anna lives in Paris.").episodes
        assert memory.episode(id_).at == 1.7e9


def test_recorded_times_never_fall_while_a_clock_is_bridged() -> None:
    graph = TemporalGraph()
    assert graph.recorded_time(5) == 5
    for clock in (1e9, 1e9 - 5, 1e9 - 5, 1e9 - 4, 1e9):
        graph.add(Episode(f"{len(graph)}", 0, recorded_at=graph.recorded_time(clock)))
    times = [graph.episode(id_).recorded_at or 0 for id_ in graph.episodes()]
    assert sorted(times)[0] == 1e9
    assert len(set(times)) == 5
    assert max(times) < 1e9 + 1e-4
    restored = TemporalGraph.from_arrays(graph.to_arrays())
    assert restored.recorded_time(1e9 - 9) == graph.recorded_time(1e9 - 9) > max(times)
    assert restored.recorded_time(1e9 - 2 * DAY) == 1e9 - 2 * DAY


# -- an extraction that was replaced --------------------------------------------------------------------------------


def test_before_an_episode_was_read_again_it_is_unread(tmp_path: Path) -> None:
    clock = Clock(100.0)
    file = tmp_path / "memory.worldthread"
    home = "home of anna"
    with Memory(file, model="none", clock=clock) as memory:
        anna = Extraction("test/1", (Fact("Anna", "lives in", "Rome", home),))
        first = memory.record.add(Episode("Anna lives in Rom.", 1, extraction=anna))
        memory.record.add(Episode("Bob is here.", 2, extraction=Extraction("test/1", (Fact("Bob", "is", "here"),))))
        assert first.extracted_at is None
        assert b"extracted_at" not in encode_episode(first)
        clock.time = 200.0
        later = replace(first, extraction=Extraction("test/2", (Fact("Anna", "lives in", "Oslo", home),)))
        assert memory.record.replace(later).extracted_at == 200
        assert memory.record.episode(first.id).recorded_at == 100
        hash_ = memory.record.state_hash()
    with Memory(file, model="none", clock=clock) as memory:
        for _ in range(2):  # from the record, then from a snapshot
            then, now = memory.as_of(recorded_time=150), memory.as_of(recorded_time=200)
            assert then.value("Anna", "lives in") is None, "what was read then is not known"
            assert then.value("Bob", "is") == "here"
            assert memory.record.graph.as_of(recorded_time=150).unread() == [first.id]
            assert now.value("Anna", "lives in") == memory.view().value("Anna", "lives in") == "Oslo"
            assert memory.as_of(world_time=1).value("Anna", "lives in") == "Oslo"
            assert memory.record.state_hash() == hash_
            memory.checkpoint()
            restored = TemporalGraph.from_arrays(memory.record.graph.to_arrays())
            assert restored.episode(first.id) == memory.record.graph.episode(first.id)
            assert restored.as_of(recorded_time=150).unread() == [first.id]
        graph = memory.record.graph
        graph.compact()
        assert graph.as_of(recorded_time=150).unread() == [first.id]
        lines = io.BytesIO()
        memory.export(lines)
    with Memory(model="none") as copy:
        copy.import_(io.BytesIO(lines.getvalue()))
        assert copy.episode(first.id).extracted_at == 200
        assert copy.record.graph.as_of(recorded_time=150).unread() == [first.id]
        assert copy.record.graph.as_of().episode(first.id).extracted_at == 200
        copy.record.forget(first.id)
        assert first.id not in copy.record.graph
        assert copy.record.graph.as_of(recorded_time=150).unread() == []


def test_documents_of_older_releases_stay_as_they_are() -> None:
    document = b'{"text":"x","at":1.0,"recorded_at":2.0}'
    assert encode_episode(decode_episode(document)) == document
