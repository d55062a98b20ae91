"""Corrections by hand, and what a memory shows of stated times."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from worldthread import AsyncMemory, Fact, Memory, Thesis
from worldthread.errors import InputError, NotFoundError


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(model="none", embedder="fake") as opened:
        for at, city in ((1, "Oslo"), (3, "Rome"), (6, "Paris")):
            opened.remember(f"Anna lives in {city}.", at=at)
        yield opened


def home(memory: Memory, at: float | None = None) -> str | None:
    return memory.view(at).value("Anna", "lives in")


def shown(memory: Memory, name: str) -> list[tuple[str, float, float]]:
    return [(str(v.statement), v.interval.valid_from, v.interval.valid_to) for v in memory.timeline(name)]


def test_the_replacement_takes_the_place_of_what_was_never_true(memory: Memory) -> None:
    before = memory.record.state_hash()
    episode = memory.correct(("Anna", "lives in", "Rome"), ("Anna", "lives in", "Milan"), "I mixed them up", at=9)
    assert episode.text == (
        "Correction: it was never true that Anna lives in Rome. True is: Anna lives in Milan. I mixed them up"
    )
    assert [home(memory, at) for at in (1, 2, 3, 5, 6, None)] == ["Oslo", "Oslo", "Milan", "Milan", "Paris", "Paris"]
    assert memory.view(2.9).facts("Anna", "lives in") == [Fact("Anna", "lives in", "Oslo")]
    assert memory.view(4).facts("Anna", "lives in") == [Fact("Anna", "lives in", "Milan")], "Oslo did not come back"
    assert all(start == end for _, start, end in shown(memory, "Rome")), "the sentence that says the same went with it"
    reasons = {version.reason for version in memory.timeline("Rome")}
    assert reasons == {"never true: I mixed them up; true is: Anna lives in Milan"}
    assert memory.as_of(world_time=4).about("Rome") == []
    assert "Rome" not in [hit.item.object for hit in memory.recall("Anna", as_of=4).facts if isinstance(hit.item, Fact)]
    memory.forget(episode)
    assert memory.record.state_hash() == before


def test_without_a_replacement_what_it_had_ended_goes_on(memory: Memory) -> None:
    memory.correct(Fact("anna", "LIVES IN", "Paris"), at=9)
    assert home(memory) == "Rome"
    memory.correct(("Anna", "lives in", "Rome"), at=10)
    assert home(memory) == "Oslo"
    memory.remember("Anna lives in Paris.", at=11)
    assert home(memory) == "Paris", "what is said later counts again"
    assert home(memory, 8) == "Oslo"


def test_a_replacement_keeps_the_times_that_it_states(memory: Memory) -> None:
    memory.correct(("Anna", "lives in", "Paris"), Fact("Anna", "lives in", "Lyon", valid_from=4), at=9)
    assert [home(memory, at) for at in (2, 3.5, 4, 9)] == ["Oslo", "Rome", "Lyon", "Lyon"]


def test_a_thesis_is_corrected_too() -> None:
    with Memory(model="none", embedder="fake") as memory:
        memory.remember([Thesis("The bridge is safe.", ("bridge",))], at=1)
        memory.correct(Thesis("the bridge is SAFE", ("bridge",)), Thesis("The bridge is closed.", ("bridge",)), at=2)
        assert [str(v.statement) for v in memory.about("bridge", as_of=1)] == ["The bridge is closed."]


def test_what_cannot_be_corrected_is_refused(memory: Memory) -> None:
    before = memory.record.state_hash()
    rome = ("Anna", "lives in", "Rome")
    with pytest.raises(NotFoundError, match="no episode before 9 states 'Anna lives in Bonn'"):
        memory.correct(("Anna", "lives in", "Bonn"), at=9)
    with pytest.raises(NotFoundError, match="no episode before 3 states"):
        memory.correct(rome, at=3)
    with pytest.raises(InputError, match="says the same"):
        memory.correct(rome, ("anna", "lives in", "rome"), at=9)
    with pytest.raises(InputError, match="three strings"):
        memory.correct(("Anna", "lives in"), at=9)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError, match="no episode states anything with the id 'Anna lives in Rome'"):
        memory.correct("Anna lives in Rome", at=9)
    assert memory.record.state_hash() == before


def test_the_twin_corrects_too() -> None:
    async def run() -> list[str]:
        async with AsyncMemory(model="none", embedder="fake") as memory:
            await memory.remember("Anna lives in Rome.", at=1)
            await memory.correct(("Anna", "lives in", "Rome"), ("Anna", "lives in", "Milan"), at=2)
            return [str(v.statement) for v in await memory.about("Anna", as_of=1) if isinstance(v.statement, Fact)]

    assert asyncio.run(run()) == ["Anna, lives in, Milan"]


def test_recall_and_about_show_what_is_announced_with_its_times() -> None:
    with Memory(model="none", embedder="fake") as memory:
        old = Fact("Tom", "works for", "Siemens", "employer of tom")
        new = Fact("Tom", "works for", "Airbus", "employer of tom", valid_from=6)
        memory.remember([old], at=1)
        memory.remember([new], at=5)
        assert [(str(v.statement), v.interval.valid_to) for v in memory.about("Siemens")] == [
            ("Tom, works for, Siemens", 6)
        ]
        text = memory.recall("Where does Tom work?").text
        assert "Tom works for Siemens (known since 1, true until 6)" in text
        assert "Tom works for Airbus (from 6)" in text
        assert "Airbus" not in [hit.item.object for hit in memory.recall("Tom", as_of=5).facts if hit.kind == "fact"]
        [said] = memory.episode(memory.record.graph.episodes()[1]).extraction.statements
        assert (said.valid_from, said.valid_to) == (6, None)
