"""Names and reasons as people write them."""

from __future__ import annotations

import pytest

from worldthread import Extraction, Fact, Memory
from worldthread.extract.when import shown_name
from worldthread.retrieve.text import HEADS, WORDS, shown_reason, shown_statement
from worldthread.types import KINDS, Episode


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("--09-02", "2 September"),
        ("--12-31", "31 December"),
        ("--06", "June"),
        ("--13-01", "--13-01"),
        ("--force", "--force"),
        ("2024-09-02", "2024-09-02"),
        ("September", "September"),
    ],
)
def test_a_day_without_a_year_is_shown_in_words(name: str, shown: str) -> None:
    assert shown_name(name) == shown


def test_a_statement_and_what_replaced_it_are_sentences() -> None:
    assert shown_statement(Fact("Rui", "has birthday", "--03-17")) == "Rui has birthday 17 March"
    assert shown_reason("replaced by: Rui, has birthday, --03-17") == "replaced by: Rui has birthday 17 March"
    assert shown_reason("replaced by: Rui, likes, tea, coffee") == "replaced by: Rui, likes, tea, coffee"
    assert shown_reason("he ran away") == "he ran away"


def test_recalled_text_shows_days_in_words_and_the_record_keeps_them() -> None:
    with Memory(model="none", embedder="fake") as memory:
        born = Fact("Rui", "has birthday", "--03-17")
        memory.record.add(Episode("Rui was born on 17 March.", 1.0, extraction=Extraction("given/1", (born,))))
        text = memory.recall("When is the birthday of Rui?").text
        assert "Rui has birthday 17 March" in text
        assert "--03-17" not in text
        assert memory.about("Rui")[0].statement == born
    assert set(HEADS) == set(WORDS) == set(KINDS)
