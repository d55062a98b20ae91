"""The measurement of answers about conversations: what is asked, marked, counted and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="intervals need the extra: pip install 'worldthread[report]'")

from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.errors import FormatError, InputError
from worldthread.models.chat import ChatRequest
from worldthread.models.fake import FakeEmbedder
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.bench.datasets.conversations import (
    Conversation,
    ConversationQuestion,
    Session,
    Turn,
    load_longmemeval,
)
from worldthread_lab.bench.talk_answers import SYSTEMS, TalkModels, measure, read_answers, sampled, scores

DAY = 1_714_600_000.0
CANOE = ConversationQuestion("What did Jon buy?", "single-hop", frozenset({"b"}), "a canoe")
CELLO = ConversationQuestion("Where is the cello?", "adversarial", frozenset())
TALK = Conversation(
    "talk",
    (Session("1", DAY, (Turn("a", "Gina", "My cello came today!"), Turn("b", "Jon", "I have bought a canoe."))),),
    (CANOE, CELLO),
)


class Answers:
    """Answers "a canoe" where it is shown, and keeps what it was asked."""

    def __init__(self, answer: str = "a canoe") -> None:
        self.answer = answer
        self.asked: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> str:
        self.asked.append(request)
        text = request.messages[-1].content
        answer = self.answer if "canoe" in text and "cello?" not in text else None
        if request.schema is None or "reasoning" not in request.schema["properties"]:
            return json.dumps({"answer": answer})
        sources = [1] if answer else []
        rest: dict[str, object] = {"support": "stated", "compute": None, "look_up": []}
        return json.dumps({"reasoning": "", "answer": answer, "sources": sources, **rest})


def marks(*right: bool) -> FakeChat:
    """A judge that gives these marks by turns."""
    given = [json.dumps({"reasons": "so", "right": one}) for one in right]
    return FakeChat(lambda request: given[(request.seed or 0) % len(given)])


def test_answers_of_other_models_are_not_mixed(tmp_path: Path) -> None:
    path, answers = tmp_path / "answers.jsonl", FakeChat(Answers())
    measure([TALK], TalkModels(answers, marks(True), FakeEmbedder()), path, ["nearest"])
    other = FakeChat(Answers(), name="other")
    with pytest.raises(InputError, match="is of other models"):
        measure([TALK], TalkModels(other, marks(True), FakeEmbedder()), path, ["nearest"])


def test_every_system_is_asked_marked_twice_and_counted(tmp_path: Path) -> None:
    model = Answers()
    rows = measure([TALK], TalkModels(FakeChat(model), marks(True, False), FakeEmbedder()), tmp_path / "answers.jsonl")
    assert [(row.system, row.question) for row in rows] == [(s, q.text) for q in (CANOE, CELLO) for s in SYSTEMS]
    assert [row.answer for row in rows] == ["a canoe"] * 3 + [""] * 3
    assert {row.marks for row in rows[:3]} <= {(True, False), (False, True)}
    assert {row.marks for row in rows[3:]} == {(True, True)}  # rightly declined, without a judge
    assert all(row.tokens > 0 for row in rows)
    assert rows[0].evidence == ("Gina: My cello came today!",)  # the first line, which the model named
    whole = next(one for one in model.asked if one.messages[-1].content.startswith("["))
    assert "Gina: My cello came today!\nJon: I have bought a canoe." in whole.messages[-1].content
    found = scores(rows)["memory"]
    assert (found["all"].strict.right, found["all"].lenient.right, found["all"].strict.of) == (1, 2, 2)
    assert (found["single-hop"].strict.right, found["adversarial"].declined) == (0, 1)


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "answers.jsonl"
    models = TalkModels(FakeChat(Answers()), marks(True), FakeEmbedder())
    first = measure([TALK], models, path, ["nearest"])
    again = Answers()
    done: list[int] = []
    both = measure(
        [TALK], TalkModels(FakeChat(again), marks(True), FakeEmbedder()), path, ["nearest", "whole"], done.append
    )
    assert [row for row in both if row.system == "nearest"] == first
    assert len(again.asked) == 2
    assert sum(done) == 4
    assert len(read_answers(path)) == 4


def test_a_model_that_gives_no_usable_answer_is_wrong_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    models = TalkModels(FakeChat(lambda request: "no JSON"), marks(True), FakeEmbedder())
    rows = measure([TALK], models, tmp_path / "answers.jsonl", ["whole"])
    assert [row.marks for row in rows] == [(False, False)] * 2
    assert all(row.problem for row in rows)
    assert scores(rows)["whole"]["all"].problems == 2


def test_a_damaged_file_of_answers_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"system": "memory"}\n')
    with pytest.raises(FormatError, match="line 1 is no answer"):
        read_answers(path)


def test_questions_are_drawn_evenly_over_their_kinds() -> None:
    many = tuple(ConversationQuestion(f"{n}?", "a" if n < 20 else "b", frozenset()) for n in range(23))
    drawn = sampled([Conversation("x", TALK.sessions, many)], 8, 0)[0].questions
    assert sorted(one.category for one in drawn) == ["a"] * 5 + ["b"] * 3
    assert sampled([Conversation("x", TALK.sessions, many)], 8, 0)[0].questions == drawn
    assert sampled([Conversation("x", TALK.sessions, many)], 8, 1)[0].questions != drawn


def entry(**changed: object) -> dict[str, object]:
    turns = [{"role": "user", "content": "I have a canoe.", "has_answer": True}]
    row = {
        "question_id": "q1", "question_type": "single-session-user", "question": "What do I have?", "answer": "a canoe",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/21 (Sun) 01:12", "2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s1", "s2"], "haystack_sessions": [turns, [{"role": "user", "content": "Hello."}]],
    }  # fmt: skip
    return row | changed


def test_longmemeval_is_read(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps([entry(), entry(question_id="q2_abs")]))
    first, second = load_longmemeval(path)
    assert [one.name for one in first.sessions] == ["1:s2", "0:s1"]
    question = first.questions[0]
    assert (question.evidence, question.answer, question.at) == (frozenset({"0:0"}), "a canoe", 1_685_490_000.0)
    assert second.questions[0].answer == ""
    path.write_text(json.dumps([entry(haystack_dates=[])]))
    with pytest.raises(FormatError, match="a date and an id for each session"):
        load_longmemeval(path)


def test_the_command_shows_a_table_and_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "longmemeval_s.json"
    data.write_text(json.dumps([entry()]))
    monkeypatch.setattr(
        "worldthread_lab.cli.bench.chat_model_named",
        lambda name: marks(True) if name == "judge" else FakeChat(Answers()),
    )
    monkeypatch.chdir(tmp_path)
    command = ["bench", "conversations", "--dataset", "longmemeval", "--data", str(data), "--model", "one"]
    found = CliRunner().invoke(app, [*command, "--judge", "judge", "--embedder", "fake", "--no-cache"])
    assert found.exit_code == 0, found.output
    assert "longmemeval, memory" in found.output
    assert "[0.21, 1.00]" in found.output
    assert "You mark one answer" in found.output
    assert len(read_answers(tmp_path / "runs" / "conversations" / "one" / "longmemeval.jsonl")) == 3
    assert CliRunner().invoke(app, command).exit_code != 0
    wrong = CliRunner().invoke(app, [*command, "--judge", "judge", "--system", "oracle"])
    assert wrong.exit_code != 0
