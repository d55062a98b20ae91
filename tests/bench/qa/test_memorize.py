"""How a model reads passages: one call or two, and where what is outdated is sought."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake import FakeEmbedder
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Episode, Extraction, Fact, Thesis
from worldthread_lab.bench.datasets import Dataset, Passage, Question
from worldthread_lab.bench.qa.dataset_memory import open_memory
from worldthread_lab.bench.qa.memorize import Memorize, neighbours

FIRST = "Anna works at the mill by the river."
SECOND = "Anna left the mill and bakes bread in Lind."
DATASET = Dataset(
    "tiny",
    "1",
    (Passage("p1", "", FIRST), Passage("p2", "", SECOND)),
    (Question("q", "Where is Anna?", ("Lind",)),),
)
MILL = Fact("Anna", "works at", "the mill")


class Reader:
    """Reads the two passages, and calls whatever is about the mill outdated."""

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> str:
        self.requests.append(request)
        text = request.messages[-1].content
        if request.purpose == "outdated":
            numbers = [n for n, line in enumerate(text.partition("Stored:\n")[2].splitlines(), 1) if "mill" in line]
            return json.dumps({"ended": [{"old": n, "until": None, "never": False, "reason": "left"} for n in numbers]})
        asked = (request.schema or {})["properties"]
        fact = {"subject": "Anna", "relation": "works at", "object": "the mill"}
        thesis = {"text": "Anna works at the mill by the river.", "objects": ["Anna", "the mill"]}
        if "left the mill" in text:
            fact = {"subject": "Anna", "relation": "bakes in", "object": "Lind"}
            thesis = {"text": "Anna bakes bread in Lind.", "objects": ["Anna", "Lind"]}
        answer: dict[str, Any] = {"facts": [fact], "theses": [thesis]}
        return json.dumps({name: value for name, value in answer.items() if name in asked})

    def count(self, outdated: bool) -> int:
        return sum((request.purpose == "outdated") is outdated for request in self.requests)


def remembered(folder: Path, reader: Reader, memorize: Memorize) -> tuple[set[str], set[str]]:
    """The statements that hold in the end, and those that ended."""
    memory, _, _ = open_memory(
        DATASET, "model", folder, FakeEmbedder(), FakeChat(reader, name="reader"), memorize=memorize
    )
    with memory:
        view = memory.view()
        holding = {*map(str, view.facts()), *map(str, view.theses())}
        ended = {str(version.statement) for version in view.timeline("Anna")} - holding
        return holding, ended


def test_theses_and_triples_come_from_one_call_or_two(tmp_path: Path) -> None:
    merged, separate = Reader(), Reader()
    one = remembered(tmp_path / "one", merged, Memorize(outdate="off"))
    two = remembered(tmp_path / "two", separate, Memorize("separate", "off"))
    assert one == two
    assert len(one[0]) == 4
    assert (merged.count(False), separate.count(False)) == (2, 4)
    kinds = [sorted({"facts", "theses"} & (r.schema or {})["properties"].keys()) for r in separate.requests]
    assert sorted(kinds) == [["facts"], ["facts"], ["theses"], ["theses"]]


def test_in_texts_without_dates_nothing_is_outdated_unless_asked_for(tmp_path: Path) -> None:
    reader = Reader()
    _, ended = remembered(tmp_path, reader, Memorize())
    assert (ended, reader.count(True)) == (set(), 0)
    assert not Memorize().outdates(dated=False)
    assert Memorize().outdates(dated=True)
    assert not Memorize(outdate="off").outdates(dated=True)


@pytest.mark.parametrize(("calls", "judged"), [("merged", 1), ("separate", 2)])
def test_neighbours_of_what_a_passage_names_are_judged(calls: Any, judged: int, tmp_path: Path) -> None:
    reader = Reader()
    holding, ended = remembered(tmp_path, reader, Memorize(calls, "neighbours"))
    assert ended == {"Anna, works at, the mill", "Anna works at the mill by the river."}
    assert holding == {"Anna, bakes in, Lind", "Anna bakes bread in Lind."}
    assert reader.count(True) == judged, "one call for theses and one for triples, when calls are separate"
    listed = [r.messages[-1].content.partition("Stored:\n")[2] for r in reader.requests if r.purpose == "outdated"]
    assert all(("works at, the mill" in text) + ("by the river" in text) == 3 - judged for text in listed)


def test_the_search_goes_breadth_first() -> None:
    facts = [Fact("a", "knows", "b"), Fact("b", "knows", "c"), Fact("c", "knows", "d")]
    thesis = Thesis("b and e once met", ("b", "e"))
    graph = TemporalGraph([Episode("x", 0.0, "s", Extraction("t", (*facts, thesis)))])
    graph.add(Episode("y", 1.0, "s", Extraction("t", (Fact("a", "likes", "z"),))))
    view = graph.view()
    assert set(neighbours(["A"], view)) == {facts[0], Fact("a", "likes", "z")}
    assert set(neighbours(["a"], view, 2)) == {facts[0], Fact("a", "likes", "z"), facts[1], thesis}
    assert set(neighbours(["a", "nobody"], view, 9)) == {*facts, thesis, Fact("a", "likes", "z")}
    assert neighbours(["nobody"], view) == []
    order = neighbours(["a"], view, 3)
    assert order.index(facts[0]) < order.index(facts[1]) < order.index(facts[2])


def test_labels_and_wrong_settings() -> None:
    assert Memorize().label == ""
    assert Memorize("separate", "off").label == "separate-current"
    assert Memorize("merged", "neighbours", 2).label == "neighbours-2"
    for wrong in ({"calls": "both"}, {"outdate": "all"}, {"depth": 0}):
        with pytest.raises(InputError, match="must be"):
            Memorize(**wrong)
