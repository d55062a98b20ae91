"""Questions answered as AriGraph does: a graph for each question, crucial items with depths of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.errors import AnswerError, InputError
from worldthread.models import embedder
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Extraction, Fact
from worldthread_lab.bench.arigraph.questions import (
    PUBLISHED,
    PassageGraph,
    QuestionReader,
    crucial_items,
    log_figures,
    passages_of,
)
from worldthread_lab.bench.datasets import Dataset, Passage, Question
from worldthread_lab.bench.qa.results import QuestionResults
from worldthread_lab.published.arigraph import episodic_relevance

pytestmark = pytest.mark.model

PASSAGES = (
    Passage("p1", "The Tin Drummer", "The Tin Drummer is a novel by Ada Lorn."),
    Passage("p2", "Ada Lorn", "Ada Lorn was born in Port Lind and wrote eight books."),
    Passage("p3", "Copper", "Copper is a metal."),
    Passage("p4", "Elsewhere", "A passage of another question."),
)
TRIPLETS = {
    "The Tin Drummer": "the tin drummer, is a, novel; the tin drummer, was written by, ada lorn",
    "Ada Lorn": "ada lorn, was born in, port lind; ada lorn, wrote, eight books",
    "Copper": "copper, is a, metal; copper, has colour, red; copper, melts at, 1085 degrees",
}
QUESTION = Question(
    "q1", "Where was the writer of The Tin Drummer born?", ("Port Lind",), context_ids=("p1", "p2", "p3")
)
DATASET = Dataset("tiny", "1", PASSAGES, (QUESTION,))


class Model:
    """Answers by purpose, and keeps the requests."""

    def __init__(self, **changes: Any) -> None:
        self.requests: list[ChatRequest] = []
        self.changes = changes

    def __call__(self, request: ChatRequest) -> str:
        self.requests.append(request)
        text = request.messages[-1].content
        if request.purpose in self.changes:
            return str(self.changes[request.purpose])
        if request.purpose == "items":
            return json.dumps({"items": [{"name": "The Tin Drummer", "depth": 2}]})
        if request.purpose == "extract":
            return next(answer for title, answer in TRIPLETS.items() if f"Passage:\n{title}\n" in text)
        if request.purpose == "outdated":
            return "[]"
        return json.dumps({"reasoning": "the writer is Ada Lorn", "answer": "Port Lind"})

    def asked(self, purpose: str) -> list[str]:
        return [request.messages[-1].content for request in self.requests if request.purpose == purpose]


def record(model: Model, **options: Any) -> dict[str, Any]:
    return QuestionReader(FakeChat(model), embedder(), **options).record(DATASET, QUESTION)


def test_a_question_is_answered_from_the_graph_of_its_own_passages() -> None:
    model = Model()
    found = record(model, width=2)
    assert len(model.asked("extract")) == 3, "not the passage of another question"
    assert "the tin drummer, was written by, ada lorn" in model.asked("extract")[1], "the example for the next passage"
    assert found["items"] == {"The Tin Drummer": 2}
    assert set(found["triplets"][:2]) == {"the tin drummer, is a, novel", "the tin drummer, was written by, ada lorn"}
    assert "ada lorn, was born in, port lind" in found["triplets"], "the second level starts at what the first found"
    assert found["passages"][0].startswith("The Tin Drummer\n")
    assert (found["answer"], found["exact"], found["f1"], found["problem"]) == ("Port Lind", True, 1.0, None)
    assert found["facts"] == 7
    (asked,) = model.asked("answer")
    assert "ada lorn, was born in, port lind" in asked
    assert QUESTION.text in asked
    assert {request.temperature for request in model.requests if request.purpose in ("extract", "outdated")} == {0.001}


def test_the_depth_of_an_item_is_its_own() -> None:
    shallow = record(Model(items=json.dumps({"items": [{"name": "The Tin Drummer", "depth": 1}]})), width=2)
    assert len(shallow["triplets"]) == 2
    both = [{"name": "The Tin Drummer", "depth": 1}, {"name": "copper", "depth": 1}]
    assert len(record(Model(items=json.dumps({"items": both})), width=2)["triplets"]) == 4


def test_without_episodic_memory_no_passage_is_recalled() -> None:
    model = Model()
    assert record(model, passages=0)["passages"] == []
    assert "Passages:\n(none)" in model.asked("answer")[0]


def test_passages_are_ranked_by_equation_1() -> None:
    graph = PassageGraph(embedder(), width=9, passages=1)
    one, two, three = (Fact("ada lorn", "wrote", f"book {n}") for n in range(3))
    graph.add("One fact of one.", Extraction("given", (one,)))
    graph.add("Two facts of two.", Extraction("given", (two, three)))
    graph.add("Nothing.", Extraction("given", ()))
    found = graph.search({"Ada Lorn": 1, "ada lorn ": 1})
    assert set(found.triplets) == {one, two, three}
    assert found.passages == ("Two facts of two.",), "of one fact: 1/1 x ln 1 = 0; of two: 2/2 x ln 2"
    assert graph.search({}).triplets == ()
    assert episodic_relevance(2, 2) == pytest.approx(0.6931, abs=1e-4)
    assert episodic_relevance(1, 4) == pytest.approx(0.3466, abs=1e-4)
    assert episodic_relevance(0, 0) == 0


def test_what_a_passage_replaces_ends() -> None:
    changes = {"outdated": '[["ada lorn, wrote, eight books" -> "copper, is a, metal"]]'}
    triplets = {**TRIPLETS, "Copper": "ada lorn, wrote, nine books"}

    class Later(Model):
        def __call__(self, request: ChatRequest) -> str:
            answer = super().__call__(request)
            copper = request.purpose == "extract" and "Passage:\nCopper" in request.messages[-1].content
            return triplets["Copper"] if copper else answer

    model = Later(**changes)
    found = record(model)
    assert "ada lorn, wrote, nine books" in found["triplets"]
    assert "ada lorn, wrote, eight books" not in found["triplets"]
    assert '"ada lorn, wrote, eight books"' in model.asked("outdated")[-1]


@pytest.mark.parametrize("purpose", ["items", "answer"])
def test_an_unusable_answer_is_recorded_as_such(purpose: str) -> None:
    found = record(Model(**{purpose: "no idea"}))
    assert found["answer"] is None
    assert found["problem"]
    assert not found["exact"]


def test_depths_are_bounded() -> None:
    answer = json.dumps({"items": [{"name": "x", "depth": 4}]})
    with pytest.raises(AnswerError):
        crucial_items(FakeChat(lambda request: answer), "Who?")


def test_questions_without_passages_of_their_own_are_refused() -> None:
    with pytest.raises(InputError, match="no passages of their own"):
        passages_of(DATASET, Question("q", "Who?", ("he",)))
    with pytest.raises(InputError, match="width must be at least 1"):
        QuestionReader(FakeChat([]), embedder(), width=0)


def test_a_measurement_continues(tmp_path: Path) -> None:
    model = Model()
    reader = QuestionReader(FakeChat(model), embedder())
    done: list[Any] = []
    for _ in range(2):
        with QuestionResults(tmp_path / "results.jsonl") as results:
            assert reader.measure(DATASET, DATASET.questions, results, "1", lambda *each: done.append(each)) == {}
            assert results.records(reader.configuration(DATASET, "1"))["q1"]["answer"] == "Port Lind"
    assert [problem for _, problem in done] == [None], "no question is asked twice"
    assert len(model.asked("answer")) == 1


def test_the_published_logs_are_scored_and_searched(shared: Path) -> None:
    folder = shared / "data" / "musique_logs"
    if not folder.is_dir():
        pytest.skip(f"needs the published logs {folder}")
    first = Question("q", "Who did the creator of Derech Mitzvosecha follow?", ("Dovber Schneuri",))
    figures = log_figures(folder, [first], embedder(), limit=5)
    assert (figures.questions, figures.exact, round(figures.f1, 3)) == (200, 0.23, 0.353), "Table 1: 23.0 and 35.1"
    assert (figures.same, figures.same_exact, figures.same_f1) == (1, 0.0, 0.8)
    assert figures.searched == 5
    assert figures.published > 20
    assert 0.2 < figures.shared < 1, "another embedder finds other triplets, but not quite others"
    assert PUBLISHED["musique"]["AriGraph (GPT-4o-mini)"] == (23.0, 35.1)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread_lab.bench.datasets.load", lambda *_: DATASET)
    monkeypatch.setattr("worldthread_lab.cli.answering.chat_model_named", lambda name: FakeChat(Model()))
    words = ["bench", "arigraph-qa", "--dataset", "musique", "--model", "x", "--no-cache", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[-1])
    assert (found["ours"]["questions"], found["ours"]["exact"]) == (1, 1.0)
    shown = CliRunner().invoke(app, words, catch_exceptions=False).output
    assert "published: HOLMES (GPT-4)" in shown
    assert "100.0" in shown
