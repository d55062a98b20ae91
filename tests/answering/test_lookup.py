"""The missing part of a given fact: which questions ask for it, and which only look so."""

from __future__ import annotations

import pytest

from worldthread import Fact, Memory
from worldthread.answering.lookup import missing_part

OWN = frozenset({"user", "marta"})


@pytest.mark.parametrize(
    ("question", "fact", "part"),
    [
        ("Where does Anna live?", ("Anna", "lives in", "Graz"), "Graz"),
        ("What does Anna live in?", ("Anna", "lives in", "a boat"), "a boat"),
        ("Who lives in Graz?", ("Anna", "lives in", "Graz"), "Anna"),
        ("Who is Anna's sister?", ("Anna", "has sister", "Eva Berg"), "Eva Berg"),
        ("What is the capital of France?", ("France", "has capital", "Paris"), "Paris"),
        ("What stands near the old door?", ("'; DROP TABLE facts; --", "stands near", "the old door"), "'; DROP"),
        ("Where do I live?", ("user", "lives in", "Graz"), "Graz"),
        ("Where does Marta live?", ("Marta", "lives in", "Graz"), "Graz"),
        ("Who likes me?", ("Anna", "likes", "user"), "Anna"),
        ("Where do I live?", ("Anna", "lives in", "Graz"), None),
        ("Where did I meet Anna?", ("Anna", "meets", "Tom"), None),
        ("Where does Anna work?", ("Anna", "works as", "a nurse"), None),
        ("Where does Anna work?", ("Anna", "works for", "Tom"), None),
        ("With whom does Anna live?", ("Anna", "lives in", "Graz"), None),
        ("Why does Anna live in Graz?", ("Anna", "lives in", "Graz"), None),
        ("Who is Anna?", ("Anna", "lives in", "Graz"), None),
        ("What is Anna?", ("Anna", "has", "a dog"), None),
        ("Where doesn't Anna live?", ("Anna", "lives in", "Graz"), None),
        ("Where does Anna Berg live?", ("Anna", "lives in", "Graz"), None),
        ("Where does Anna live?", ("Anna Berg", "lives in", "Graz"), None),
        ("Who likes Anna?", ("Anna", "likes", "Tom"), None),
        ("Who does Anna like?", ("Tom", "likes", "Anna"), None),
        ("What do I like?", ("Anna", "likes", "user"), None),
        ("Who is Anna's mother?", ("Eva", "has mother", "Anna"), None),
        ("Who is Anna's mother?", ("Anna", "is mother of", "Eva"), None),
        ("Who is the mother of Eva?", ("Anna", "is mother of", "Eva"), "Anna"),
        ("Who is my mother?", ("user", "has mother", "Anna"), "Anna"),
        ("Where am I?", ("user", "is in", "the kitchen"), "the kitchen"),
        ("Where is the lamp?", ("lamp", "is in", "the chest"), "the chest"),
        ("Where?", ("...", "is in", "Graz"), None),
        ("", ("Anna", "lives in", "Graz"), None),
    ],
)
def test_a_question_with_the_words_of_the_rest(question: str, fact: tuple[str, str, str], part: str | None) -> None:
    found = missing_part(question, Fact(*fact), OWN)
    assert found is None if part is None else str(found).startswith(part)


def test_given_facts_answer_all_at_once_for_the_time_that_is_asked_about() -> None:
    with Memory(model="none", embedder="fake") as memory:
        memory.remember([("Anna", "has friend", "Eva"), ("Anna", "lives in", "Graz")], at="2020-01-01")
        memory.remember([("Anna", "has friend", "Tom"), ("Anna", "lives in", "Wels")], at="2022-01-01")
        answer = memory.ask("Where does Anna live?")
        assert (answer.text, answer.confidence, len(answer.sources)) == ("Wels", 1.0, 1)
        assert memory.ask("Where does Anna live?", as_of="2021-01-01").text == "Graz"
        assert memory.ask("Where did Anna live in 2021?").text == "Graz"
        friends = memory.ask("Who is Anna's friend?")
        assert sorted(str(friends.text).split(", ")) == ["Eva", "Tom"]
        assert len(friends.sources) == 2


def test_either_name_of_what_was_merged_finds_given_facts() -> None:
    with Memory(model="none", embedder="fake") as memory:
        memory.remember([("Nils Holm", "works for", "Vik Boatyard"), ("Nisse", "lives in", "Vik")], at="2024-01-01")
        memory.merge("Nisse", "Nils Holm", at="2024-02-01")
        for name in ("Nisse", "Nils Holm"):
            assert memory.ask(f"Where does {name} live?").text == "Vik"
            assert memory.ask(f"Who does {name} work for?").text == "Vik Boatyard"
