"""A question that follows a statement of the speaker after a comma is read as a sentence of its own."""

from __future__ import annotations

import pytest

from worldthread.extract.parsed.colloquial import with_questions_apart

pytestmark = pytest.mark.language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm allergic to nuts, what can I eat?", "I'm allergic to nuts. What can I eat?"),
        ("Hi! My rent goes up, any tips?", "Hi! My rent goes up. Any tips?"),
        ("user: We have a dog, a cat and a hen, can we fly?", "user: We have a dog, a cat and a hen. Can we fly?"),
        ("I live in Rome, where can I swim? Thanks.", "I live in Rome. Where can I swim? Thanks."),
        ("I sold it, did I not?", None),
        ("I don't own a car, do I?", None),
        ("If I move, can I keep my flat?", None),
        ("I wonder if I'm ill, should I rest?", None),
        ("Anna moved, did you know that she would?", None),
        ("I live in Rome, where I swim.", None),
        ("You moved to Leeds, when did that happen?", None),
    ],
)
def test_a_question_after_a_statement_is_apart(text: str, expected: str | None) -> None:
    found = with_questions_apart(text)
    assert found == (expected or text)
    assert len(found) == len(text)
