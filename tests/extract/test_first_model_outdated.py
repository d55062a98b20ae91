"""The first version of reading with a model, whose recordings are still replayed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.extract.model import TEXT_LIMIT, FirstModelExtractor
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Ending, Statement

KEY_IN_CHEST = Fact("brass key", "is in", "oak chest")
KEY_IN_HAND = Fact("brass key", "is in", "inventory")
MINA_CARRIES = Thesis("Mina carries the brass key.", ("Mina", "brass key"))


def ended(*pairs: tuple[Any, Any, str]) -> str:
    return json.dumps({"ended": [{"old": old, "new": new, "reason": reason} for old, new, reason in pairs]})


def view_of(*groups: tuple[Statement, ...]) -> GraphView:
    """What holds after one episode for each group, at the times 0, 1, ..."""
    return TemporalGraph(
        Episode(f"e{at}", at, extraction=Extraction("t", group)) for at, group in enumerate(groups)
    ).view()


def sections(request: ChatRequest) -> tuple[list[str], list[str]]:
    """The numbered lists of a request about outdated statements: stored, new."""
    body = request.messages[-1].content
    stored, new = body.rsplit("Stored statements:\n", 1)[1].split("\n\nNew statements:\n")
    return stored.splitlines(), new.splitlines()


def test_the_model_ends_facts_and_theses_by_number() -> None:
    lies = Thesis("The brass key lies in the oak chest.", ("brass key", "oak chest"))
    view = view_of((KEY_IN_CHEST,), (lies,))
    model = FakeChat([ended((1, 2, "it was\n taken"), (2, 1, ""))])
    extractor = FirstModelExtractor(model)
    extraction = extractor.outdate("Mina took it.", Extraction("model/1", (KEY_IN_HAND, MINA_CARRIES)), view)
    assert sections(model.requests[0]) == (
        ["1. The brass key lies in the oak chest.", "2. brass key, is in, oak chest"],
        ["1. brass key, is in, inventory", "2. Mina carries the brass key."],
    )
    assert model.requests[0].purpose == "outdated"
    assert [(ending.statement, ending.reason) for ending in extraction.endings] == [
        (lies, "replaced by: Mina carries the brass key. (it was taken)"),
        (KEY_IN_CHEST, "replaced by: brass key, is in, inventory"),
    ]
    assert extraction.statements == (KEY_IN_HAND, MINA_CARRIES)
    assert extractor.dropped == {"blank": 1}


def test_endings_reach_the_graph() -> None:
    extractor = FirstModelExtractor(FakeChat([ended((1, 1, "it was taken"))]))
    with Memory() as memory:
        memory.record.add(Episode("The key is in the chest.", 1, extraction=Extraction("t", (KEY_IN_CHEST,))))
        extraction = extractor.outdate("Taken.", Extraction("model/1", (KEY_IN_HAND,)), memory.view())
        memory.record.add(Episode("Taken.", 2, extraction=extraction))
        assert memory.view().facts("brass key") == [KEY_IN_HAND]
        assert memory.view(1.5).facts("brass key") == [KEY_IN_CHEST]
        [version] = memory.record.graph.versions(KEY_IN_CHEST)
        assert version.reason == "replaced by: brass key, is in, inventory (it was taken)"


def test_candidates_come_by_shared_names_then_by_recency() -> None:
    both = Fact("brass key", "fits", "oak chest")
    late, plural = Fact("brass key", "is", "bent"), Fact("brass keys", "hang in", "hall")
    early = Fact("oak chest", "stands in", "cellar")
    stranger, only_by_relation = Fact("lamp", "is on", "desk"), Fact("lamp", "brass key", "desk")
    shut, open_ = Fact("oak chest", "is", "shut", "state of chest"), Fact("oak chest", "is", "open", "state of chest")
    view = view_of((both, stranger, only_by_relation, shut), (early, KEY_IN_CHEST), (plural,), (late, open_))
    new = Extraction("model/1", (Fact("The Brass Key", "is in", "oak chest"), open_))
    model = FakeChat([ended(), ended()])
    FirstModelExtractor(model).outdate("text", new, view)
    listed = [line.partition(". ")[2] for line in sections(model.requests[0])[0]]
    assert listed == [str(both), str(late), str(plural), str(early)]
    assert not {str(shut), str(KEY_IN_CHEST), str(open_)} & set(listed), "it has ended, or the extraction states it"
    FirstModelExtractor(model, max_candidates=2).outdate("text", new, view)
    assert len(sections(model.requests[1])[0]) == 2


def test_a_view_of_a_past_moment_gives_what_held_then() -> None:
    graph = TemporalGraph(
        [
            Episode("a", 1, extraction=Extraction("t", (Fact("door", "is", "shut", "state of door"),))),
            Episode("b", 5, extraction=Extraction("t", (Fact("door", "is", "open", "state of door"),))),
        ]
    )
    model = FakeChat([ended()])
    FirstModelExtractor(model).outdate("text", Extraction("r", (Fact("door", "is", "ajar"),)), graph.view(3))
    assert sections(model.requests[0])[0] == ["1. door, is, shut"]


def test_without_candidates_there_is_no_call() -> None:
    view = view_of((KEY_IN_CHEST,))
    silent = FakeChat([])
    for extraction in (
        Extraction("model/1"),
        Extraction("model/1", (Fact("lamp", "is on", "desk"),)),
        Extraction("model/1", (KEY_IN_CHEST,)),
        Extraction("model/1", (), (), ("unusable",)),
    ):
        assert FirstModelExtractor(silent).outdate("text", extraction, view) is extraction
    extraction = Extraction("model/1", (KEY_IN_HAND,))
    assert FirstModelExtractor(silent, outdated=False).outdate("text", extraction, view) is extraction
    assert silent.requests == []


def test_numbers_out_of_range_and_repeated_ones_are_counted() -> None:
    pairs = [(0, 1, "a"), (1, 0, "b"), (2, 1, "c"), (-1, 1, "d"), (10**30, 1, "e"), (1, 2, "f")]
    extractor = FirstModelExtractor(FakeChat([ended(*pairs, (1, 1, "moved"), (1, 1, "again"))]))
    extraction = extractor.outdate("text", Extraction("r", (KEY_IN_HAND,)), view_of((KEY_IN_CHEST,)))
    assert [ending.statement for ending in extraction.endings] == [KEY_IN_CHEST]
    assert extraction.endings[0].reason.endswith("(moved)")
    assert extractor.dropped == {"no such number": 6, "duplicate": 1}


@pytest.mark.parametrize("reason", ["\x00", "\x1b[2J", "r" * (TEXT_LIMIT + 1)])
def test_a_reason_that_cannot_be_kept_is_left_out(reason: str) -> None:
    extractor = FirstModelExtractor(FakeChat([ended((1, 1, reason))]))
    extraction = extractor.outdate("text", Extraction("r", (KEY_IN_HAND,)), view_of((KEY_IN_CHEST,)))
    assert [ending.reason for ending in extraction.endings] == ["replaced by: brass key, is in, inventory"]
    assert extractor.dropped.total() == 1


def test_an_unusable_answer_about_endings_keeps_the_statements() -> None:
    extractor = FirstModelExtractor(FakeChat(["none", "still none"]))
    extraction = extractor.outdate("text", Extraction("r", (KEY_IN_HAND,)), view_of((KEY_IN_CHEST,)))
    assert extraction == Extraction("r", (KEY_IN_HAND,), (), ("none", "still none"))


def test_endings_of_the_reading_itself_stay() -> None:
    before = Ending(Fact("old", "is", "gone"), "said so")
    extractor = FirstModelExtractor(FakeChat([ended((1, 1, "moved"))]))
    extraction = extractor.outdate("text", Extraction("r", (KEY_IN_HAND,), (before,)), view_of((KEY_IN_CHEST,)))
    assert extraction.endings[0] == before
    assert len(extraction.endings) == 2
