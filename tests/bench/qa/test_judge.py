"""The judge: what it is asked, and that nothing counts as a verdict that is none."""

from __future__ import annotations

import json

import pytest

from worldthread.errors import AnswerError, InputError
from worldthread.models.fake_chat import FakeChat
from worldthread.models.prompts import load_prompt
from worldthread_lab.bench.qa.judge import judge

QUESTION = "In how many volumes did the atlas appear?"


def said(*, right: bool) -> str:
    return json.dumps({"reasons": "Both say four.", "right": right})


@pytest.mark.parametrize("right", [True, False])
def test_a_verdict_has_reasons_and_a_judge(right: bool) -> None:
    verdict = judge(FakeChat([said(right=right)], name="referee"), QUESTION, ("four", "4 volumes"), "in four parts")
    assert (verdict.right, verdict.reasons, verdict.model) == (right, "Both say four.", "referee")


def test_the_request_is_the_same_every_time_and_deterministic() -> None:
    model = FakeChat([said(right=True)] * 2)
    for _ in range(2):
        judge(model, QUESTION, ("four", "4 volumes"), "five")
    first, second = model.requests
    assert first == second
    assert (first.temperature, first.seed, first.purpose, first.max_tokens) == (0.0, 42, "judge", 2048)
    shown = first.messages[-1].content
    for part in (QUESTION, "- four", "- 4 volumes", "five"):
        assert part in shown
    assert first.schema is not None
    assert list(first.schema["properties"]) == ["reasons", "right"], "reasons come before the verdict"


@pytest.mark.parametrize("bad", ["Right!", '{"right": "yes", "reasons": ""}', '{"reasons": "x"}', ""])
def test_what_is_no_verdict_is_never_taken_for_one(bad: str) -> None:
    with pytest.raises(AnswerError) as caught:
        judge(FakeChat([bad, bad]), QUESTION, ("four",), "five")
    assert caught.value.text == bad
    assert judge(FakeChat([bad, said(right=False)]), QUESTION, ("four",), "five").right is False, "one repair"


def test_an_answer_cannot_fill_in_the_prompt() -> None:
    model = FakeChat([said(right=False)])
    judge(model, QUESTION, ("four",), "$right $question")
    assert "To be marked: $right $question" in model.requests[0].messages[-1].content
    assert load_prompt("worldthread_lab.bench.qa", "judge", 1).placeholders == {"question", "right", "given"}


def test_there_must_be_something_to_compare() -> None:
    with pytest.raises(InputError, match="right answer"):
        judge(FakeChat([]), QUESTION, (), "five")
    with pytest.raises(InputError, match="without a judge"):
        judge(FakeChat([]), QUESTION, ("four",), " ")
