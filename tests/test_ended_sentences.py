"""A sentence ends with the facts that were read from it, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from worldthread import Ending, Episode, Extraction, Fact, Filter, Memory, Thesis
from worldthread.models.fake import FakeEmbedder

DAY = 86_400.0
TOLD = 1_700_000_000.0
FIANCE = Fact("Vera", "is engaged to", "Anton")
BAKER = Fact("Anton", "is a", "baker")
TRIP = Fact("Vera", "visited", "Lucca", valid_from=TOLD - 2 * DAY, valid_to=TOLD - DAY)
SENTENCE = Thesis("Vera's fiancé Anton is a baker.", ("Vera", "Anton", "baker"))
ENGAGED = Thesis("Vera is engaged to Anton!", ("Vera", "Anton"))
VISIT = Thesis("Vera visited Lucca last weekend.", ("Vera", "Lucca"))


def told(text: str, at: float, *statements: Fact | Thesis, ends: tuple[Fact, ...] = ()) -> Episode:
    endings = tuple(Ending(fact, "they parted") for fact in ends)
    return Episode(text, at, extraction=Extraction("test/1", statements, endings))


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(model="none", embedder=FakeEmbedder()) as opened:
        opened.record.add(told(f"{ENGAGED.text} {SENTENCE.text}", TOLD, FIANCE, BAKER, ENGAGED, SENTENCE))
        opened.record.add(told(VISIT.text, TOLD + DAY, TRIP, VISIT))
        yield opened


def part(memory: Memory) -> None:
    memory.record.add(told("Vera and Anton parted.", TOLD + 9 * DAY, ends=(FIANCE,)))


def theses(memory: Memory, question: str = "Vera Anton baker engaged Lucca") -> dict[str, tuple[str, ...]]:
    found = memory.recall(question, k=20)
    return {str(hit.item): tuple(str(gone.statement) for gone in hit.outdated) for hit in found.theses}


def test_a_sentence_holds_while_one_of_its_facts_does(memory: Memory) -> None:
    assert theses(memory) == {ENGAGED.text: (), SENTENCE.text: (), VISIT.text: ()}
    part(memory)
    assert theses(memory) == {SENTENCE.text: (str(FIANCE),), VISIT.text: ()}
    memory.record.add(told("Anton is no baker any more.", TOLD + 10 * DAY, ends=(BAKER,)))
    assert theses(memory) == {VISIT.text: ()}
    assert not [hit for hit in memory.recall("engaged to Anton", k=20).episodes if "fiancé" in str(hit.item)]


def test_lists_and_pages_agree_with_recall(memory: Memory) -> None:
    part(memory)
    assert [str(v.statement) for v in memory.about("Anton")] == [str(BAKER), SENTENCE.text]
    listed = {str(v.statement) for v in memory.list_statements(Filter(kind="thesis")).items}
    assert listed == {SENTENCE.text}  # the visit is over, too
    everything = memory.list_statements(Filter(kind="thesis"), only_current=False).items
    assert {str(v.statement): v.interval.valid_to for v in everything}[ENGAGED.text] == TOLD + 9 * DAY
    ended = next(v for v in memory.timeline("Vera") if v.statement == ENGAGED)
    assert (ended.interval.valid_to, ended.reason) == (TOLD + 9 * DAY, "they parted")
    assert [str(v.statement) for v in memory.about("Anton", as_of=TOLD + DAY)].count(ENGAGED.text) == 1


def test_a_passage_names_what_of_it_has_ended_and_no_event(memory: Memory) -> None:
    part(memory)
    found = {hit.item.text: hit.outdated for hit in memory.recall("Vera", k=20).episodes}  # type: ignore[union-attr]
    assert [str(v.statement) for v in found[f"{ENGAGED.text} {SENTENCE.text}"]] == [str(FIANCE)]
    assert found[VISIT.text] == ()
    then = memory.recall("Vera", k=20, as_of=TOLD + DAY)
    assert not any(hit.outdated for hit in then.hits)


def test_an_event_holds_when_it_was(memory: Memory) -> None:
    visit = next(v for v in memory.timeline("Lucca") if v.statement == VISIT)
    assert (visit.interval.valid_from, visit.interval.valid_to) == (TOLD - 2 * DAY, TOLD - DAY)
    assert visit.ended_by in visit.sources
    assert VISIT.text in theses(memory, "Who went to Lucca?")


def test_forgetting_what_ended_a_fact_lets_its_sentences_hold_again(memory: Memory) -> None:
    before = memory.record.state_hash()
    part(memory)
    memory.forget(next(e.id for e in memory.episodes() if "parted" in e.text))
    assert theses(memory) == {ENGAGED.text: (), SENTENCE.text: (), VISIT.text: ()}
    assert memory.record.state_hash() == before


def test_a_filter_hides_why_a_sentence_ended() -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.record.add(
            Episode(ENGAGED.text, TOLD, session="spring", extraction=Extraction("test/1", (FIANCE, ENGAGED)))
        )
        gone = Extraction("test/1", (), (Ending(FIANCE, "a secret"),))
        memory.record.add(Episode("They parted.", TOLD + DAY, session="summer", extraction=gone))
        shown = memory.list_statements(Filter(session="spring", kind="thesis"), only_current=False).items
        assert [(v.interval.valid_to, v.ended_by, v.reason) for v in shown] == [(TOLD + DAY, None, None)]


def test_who_holds_a_place_is_not_told_by_a_sentence_that_is_over() -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.record.add(told("Vera is engaged to Anton!", TOLD, FIANCE, ENGAGED))
        part(memory)
        assert "Anton" not in (memory.ask("Who is Vera engaged to?").text or "")
