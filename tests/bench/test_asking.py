"""The measurement of answers without a model, on a talk whose figures are plain."""

from __future__ import annotations

import math

import pytest

from worldthread.models.fake import FakeEmbedder
from worldthread_lab.bench.asking import AskedQuestion, curve, measure, rates
from worldthread_lab.bench.datasets.conversations import Conversation, ConversationQuestion, Session, Turn

pytest.importorskip("scipy", reason="intervals need the extra: pip install 'worldthread[report]'")


def asked(*, answerable: bool, answered: bool, right: bool, confidence: float) -> AskedQuestion:
    return AskedQuestion("talk", "kind", answerable, answered, right, confidence, 1.0)


QUESTIONS = (
    asked(answerable=True, answered=True, right=True, confidence=0.9),
    asked(answerable=True, answered=True, right=False, confidence=0.8),
    asked(answerable=False, answered=True, right=False, confidence=0.7),
    asked(answerable=False, answered=False, right=False, confidence=0.2),
    asked(answerable=True, answered=False, right=True, confidence=0.1),
)


def test_rates_are_shares_of_their_own_questions() -> None:
    found = rates(QUESTIONS)
    assert (found.refused_unanswerable.share, found.refused_unanswerable.questions) == (0.5, 2)
    assert found.refused_answerable.share == pytest.approx(1 / 3, abs=1e-4)
    assert found.right.share == pytest.approx(1 / 3, abs=1e-4)
    assert found.right_of_answerable.share == 0.5
    assert math.isnan(rates([]).right.share)


def test_the_curve_answers_the_most_confident_first() -> None:
    points = curve(QUESTIONS)
    assert [point.answered for point in points][-1] == 1
    assert points[1].right == 1, "one of five is answered, and rightly"
    assert points[1].refused_unanswerable == 1
    assert points[-1].refused_answerable == 0


def test_questions_of_a_conversation_are_asked() -> None:
    talk = Conversation(
        "talk",
        (Session("one", 1e9, (Turn("a", "Vera", "I live in Graz."), Turn("b", "Otto", "Nice, it rains here."))),),
        (
            ConversationQuestion("Where does Vera live?", "single-hop", frozenset({"a"})),
            ConversationQuestion("What is Otto allergic to?", "adversarial", frozenset({"b"})),
            ConversationQuestion("What is left out?", "single-hop", frozenset()),
        ),
    )
    report = measure("locomo", [talk], FakeEmbedder())
    assert report.by_category["single-hop"].refused_answerable.questions == 1
    assert report.all.refused_unanswerable.questions == 1
    assert report.by_category["single-hop"].right.share == 1
    assert len(report.curve) == 10
    assert report.to_dict()["by_conversation"].keys() == {"talk"}
