"""What is quoted, pasted or recalled states nothing of the user, and ends nothing."""

from __future__ import annotations

import pytest

from worldthread import Fact, Memory
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.recalled import without_recalled
from worldthread.models.fake import FakeEmbedder


def memory() -> Memory:
    return Memory(extractor=ProseExtractor(), embedder=FakeEmbedder(), model="none", user="Tom")


def facts(opened: Memory) -> list[str]:
    return [str(v.statement) for n in opened.entities() for v in opened.about(n) if isinstance(v.statement, Fact)]


@pytest.mark.parametrize(
    "said",
    [
        'Can you fix this email? "Hi, my name is Karl and I work for Acme."',
        'The book starts with: "My name is Ishmael. I live in Nantucket."',
        "She wrote: “I work for Acme. I live in Rome.”",
        "Shorten «I live in Rome» please.",
        "Check this:\n```\nI live in Rome.\nI work for Acme.\n```",
        "> I live in Rome.\nWhat does it mean?",
    ],
)
def test_quoted_words_state_nothing_of_the_user(said: str) -> None:
    with memory() as opened:
        opened.remember([{"role": "user", "content": said}], at="2024-03-01")
        assert [fact for fact in facts(opened) if fact.startswith("Tom, ")] == []


def test_a_quoted_title_is_a_value() -> None:
    with memory() as opened:
        opened.remember([{"role": "user", "content": 'I live in "Casa Verde".'}], at="2024-03-01")
        assert "Tom, lives in, Casa Verde" in facts(opened)


def test_what_was_recalled_states_and_ends_nothing() -> None:
    with memory() as opened:
        opened.remember([{"role": "user", "content": "I live in Rome."}], at="2024-03-01")
        before = facts(opened)
        recalled = opened.recall("Where do I live?").text
        assert "Rome" in recalled
        turns = [
            {"role": "system", "content": f"You are kind.\nUser memories:\n{recalled}"},
            {"role": "tool", "content": "Tom lives in Paris."},
            {"role": "user", "content": f"Context:\n{recalled}\n\nWhere do I live?"},
        ]
        result = opened.remember(turns, at="2024-03-02")
        assert (result.added, result.skipped) == (1, 2)
        assert facts(opened) == before
        assert [e.text for e in opened.episodes()] == ["Tom: I live in Rome.", "Tom: Context:\nWhere do I live?"]


def test_a_list_that_is_nobodys_recall_stays() -> None:
    text = "Facts:\n- the earth is round\n- water is wet"
    assert without_recalled(text) == text
