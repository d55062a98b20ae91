"""What is left of a question without the phrases around its subject."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from worldthread.retrieve.question import asks_what_was_answered, subject_of


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Could you remind me where I parked the bicycle?", "where I parked the bicycle?"),
        ("Do you remember the name of my dentist?", "the name of my dentist?"),
        ("Give me a brief overview of my garden plans in our chats so far.", "my garden plans."),
        ("Can you list the order in which I talked about planting roses? Name only two.", "planting roses?"),
        ("What did I mention about the broken boiler?", "What about the broken boiler?"),
        ("Where does  Anna live ? ", "Where does  Anna live ? "),
        ("Who wrote the summary of the trial?", "Who wrote the summary of the trial?"),
    ],
)  # fmt: skip
def test_phrases_around_the_subject_are_left_out(question: str, subject: str) -> None:
    assert subject_of(question) == subject


@pytest.mark.parametrize("question", ["Can you give me a summary?", "What did I say?", "Tell me about Rome.", "", "  "])
def test_a_question_of_which_too_little_would_be_left_stays_as_it_is(question: str) -> None:
    assert subject_of(question) == question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did you suggest against the moths?", True),
        ("Which route was in your last recommendation?", True),
        ("Where is the hotel you told me about?", True),
        ("What did Anna suggest against the moths?", False),
        ("What would you do?", False),
        ("Can you give me the address?", False),
    ],
)
def test_what_the_assistant_said_is_asked_for(question: str, expected: bool) -> None:
    assert asks_what_was_answered(question) is expected


@pytest.mark.parametrize("phrase", ["can you ", "can you give me ", "a brief ", "in our ", " ", "Answer. Mention "])
def test_the_work_is_linear(phrase: str, time_growth: Callable[..., float]) -> None:
    assert time_growth(lambda size: subject_of(phrase * size), 300) < 16
