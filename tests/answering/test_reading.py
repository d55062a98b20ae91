"""Answers that stand in messages: which are read, what is said, and when it is no answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from worldthread import Episode, Extraction, Fact, Filter, Memory
from worldthread.answering import reading
from worldthread.answering.pointing import (
    LONGEST_ANSWER,
    MOST_WORDS,
    Pointed,
    PointedKind,
    Told,
    best_words,
    question_pair,
)
from worldthread.extract.reader.model import load_tokens

DAY = 86_400.0
TOLD = 1_717_200_000.0  # 2024-06-01
QUESTION = "Where is our hound kept?"  # no statement says so


class Pointer:
    """Points at given words in whichever message has them, and keeps what it was shown."""

    def __init__(self, words: str, is_sure: bool = True) -> None:
        self.words = words
        self.measures = (9.0, -9.0, 0.0, 0.0, 0.0) if is_sure else (-9.0, 9.0, 0.0, 0.0, 0.0)
        self.shown: list[str] = []
        self.now = 0.0

    def pointed(self, question: str, now: float, told: Sequence[Told]) -> Pointed | None:
        self.shown, self.now = [f"{one.by}: {one.text}" for one in told], now
        found = [(number, one.text.find(self.words)) for number, one in enumerate(told)]
        found = [(number, begin) for number, begin in found if begin >= 0]
        if not found:
            return None
        number, begin = found[-1]
        return Pointed("words", number, begin, begin + len(self.words), self.measures)


def pointer(monkeypatch: pytest.MonkeyPatch, words: str, is_sure: bool = True) -> Pointer:
    made = Pointer(words, is_sure)
    monkeypatch.setattr("worldthread.answering.pointing.answer_model", lambda: made)
    return made


def memory_of(*texts: str, **options: object) -> Memory:
    memory = Memory(model="none", embedder="fake", **options)  # type: ignore[arg-type]
    for day, text in enumerate(texts, 1):
        memory.remember(text, at=f"2024-05-{day:02}")
    return memory


def test_a_question_stands_beside_a_message_with_both_days() -> None:
    told = Told("user", "Biscuit sleeps at Kennel Nine.", 1_714_651_200.0)
    pair = question_pair(load_tokens(), "Where is Biscuit?", 1_717_200_000.0, told)
    assert [word.text for word in pair.words] == ["Biscuit", "sleeps", "at", "Kennel", "Nine", "."]
    assert len(pair.firsts) == len(pair.words)
    assert all(pair.parts[place] == 1 for place in pair.firsts)
    later = question_pair(load_tokens(), "Where is Biscuit?", 1_717_200_000.0, told._replace(at=told.at + 86_400))
    assert later.tokens != pair.tokens


def test_the_best_words_are_a_span_of_bounded_length() -> None:
    ends = np.zeros((40, 2), np.float32)
    ends[30, 0] = ends[3, 1] = 9  # would end before it begins
    ends[4, 0] = ends[6, 1] = 5
    assert best_words(ends) == (4, 6)
    ends[4 + LONGEST_ANSWER, 1] = 8
    assert best_words(ends)[1] != 4 + LONGEST_ANSWER or best_words(ends)[0] != 4


def test_words_of_a_message_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pointer(monkeypatch, "Kennel Nine")
    with memory_of("The greyhound will sleep at Kennel Nine.") as memory:
        answer = memory.ask(QUESTION)
        assert answer.text == "Kennel Nine"
        assert [hit.item for hit in answer.sources] == list(memory.episodes())
        assert reading.LEAST < answer.confidence <= 1
        assert made.shown == ["user: The greyhound will sleep at Kennel Nine."]
        assert memory.ask(QUESTION, as_of="2024-04-30").text is None
        assert made.shown == []


def test_an_answer_that_is_not_likely_enough_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer(monkeypatch, "Kennel Nine", is_sure=False)
    with memory_of("The greyhound will sleep at Kennel Nine.") as memory:
        assert memory.ask(QUESTION).text is None


@pytest.mark.parametrize("reader", ["reader", "prose"])
def test_every_reader_leaves_messages_to_be_read(monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    pointer(monkeypatch, "Kennel Nine")
    with memory_of("The greyhound will sleep at Kennel Nine.", extractor=reader) as memory:
        assert memory.ask(QUESTION).text == "Kennel Nine"


def test_a_statement_that_was_given_is_read_as_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pointer(monkeypatch, "Graz")
    with memory_of() as memory:
        memory.remember([("Vera", "lives in", "Graz"), ("user", "is afraid of", "geese")], at="2024-05-01")
        assert memory.ask("Where is Vera at home?").text == "Graz"
        made.words = "geese"
        assert memory.ask("What frightens me?").text == "geese"
    assert set(made.shown) == {"user: Vera lives in Graz.", "user: I am afraid of geese."}


@pytest.mark.parametrize(("kind", "said"), [("yes", "Yes: I smoke."), ("no", "No: I smoke.")])
def test_yes_and_no_are_said_with_the_message(kind: PointedKind, said: str) -> None:
    told = Told("user", "I smoke.", 1_714_651_200.0)
    found = Pointed(kind, 0, 0, len(told.text), ())
    assert reading.said_words("Do I smoke?", told, found) == said


def test_a_name_in_a_given_statement_is_answered_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer(monkeypatch, "Panic!")
    with memory_of() as memory:
        memory.remember([("Vera", "likes", "Panic! at the Disco")], at="2024-05-01")
        assert memory.ask("Which band is Vera fond of?").text == "Panic! at the Disco"


def test_what_a_fact_says_too_is_surer(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pointer(monkeypatch, "Graz")
    made.measures = (-1.0, 1.0, 0.0, 0.0, 0.0)
    with memory_of("Vera lives in Graz.") as memory:
        stated = memory.ask("Where does Vera live?").confidence
        alone = memory.ask("Where is Vera at home?").confidence
    assert stated is not None
    assert alone is not None
    assert stated > alone


def test_a_number_that_the_question_names_must_be_in_what_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer(monkeypatch, "Vera")
    with memory_of("Ticket OPS-77 is assigned to Vera.") as memory:
        assert memory.ask("Who has OPS-77?").text == "Vera"
        assert memory.ask("Who has OPS-7?").text is None
        assert memory.ask("Who had the ticket in 2024?").text == "Vera"


def test_facts_that_another_user_told_answer_only_about_others(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pointer(monkeypatch, "Graz")
    with memory_of() as memory:
        memory.remember([("user", "lives in", "Graz"), ("vera", "is from", "Graz")], at="2024-05-01", user="vera")
        memory.remember("Lena lives in Graz.", at="2024-05-02", user="vera")
        memory.ask("Where do I live?")
        assert set(made.shown) == {"user: vera is from Graz.", "user: Lena lives in Graz."}
        assert memory.ask("Where does Lena live?").text == "Graz"


def test_no_message_of_another_user_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pointer(monkeypatch, "Kennel")
    with memory_of("A greyhound lives here.") as memory:
        memory.remember("My greyhound sleeps at Kennel Nine.", at="2024-05-09", user="vera")
        assert memory.ask(QUESTION).text is None
        assert made.shown == ["user: A greyhound lives here."]
        assert memory.ask(QUESTION, where=Filter(user="vera")).text == "Kennel"


def test_of_a_long_message_parts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pointer(monkeypatch, "Kennel Nine")
    with memory_of("The greyhound will sleep at Kennel Nine. " + "It rained. " * MOST_WORDS) as memory:
        assert memory.ask(QUESTION).text == "Kennel Nine"
    assert max(len(one.split()) for one in made.shown) <= MOST_WORDS


def test_what_has_ended_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer(monkeypatch, "Kennel Nine")
    with memory_of("I work at Kennel Nine.") as memory:
        assert memory.ask(QUESTION).text == "Kennel Nine"
        memory.update(("user", "works at", "Kennel Nine"), at="2024-06-01")
        assert memory.ask(QUESTION).text is None
        assert memory.ask(QUESTION, as_of="2024-05-20").text == "Kennel Nine"
        assert memory.ask("Where was our hound kept?").text == "Kennel Nine"


def test_what_a_message_says_was_over_by_then_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer(monkeypatch, "Kennel Nine")
    with memory_of("It rains.", "It snows.") as memory:
        fact = Fact("user", "works at", "Kennel Nine", valid_from=TOLD, valid_to=TOLD + 90 * DAY)
        said = "I work at Kennel Nine for three months."
        memory.record.add(Episode(said, TOLD, extraction=Extraction("prose/8", (fact,))))
        assert memory.ask(QUESTION, as_of="2024-06-20").text == "Kennel Nine"
        assert memory.ask(QUESTION, as_of="2024-12-01").text is None
        assert memory.ask("Where was our hound kept in July 2024?").text == "Kennel Nine"
        assert memory.ask("Where was our hound kept in October 2024?").text is None


def test_a_period_is_answered_by_what_says_later_when_something_held(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer(monkeypatch, "Kennel Nine")
    with memory_of("It rains.", "It snows.") as memory:
        fact = Fact("user", "used to work at", "Kennel Nine", valid_from=TOLD - 900 * DAY, valid_to=TOLD - 100 * DAY)
        said = "I worked at Kennel Nine from late 2021 until early this year."
        memory.record.add(Episode(said, TOLD, extraction=Extraction("prose/8", (fact,))))
        assert memory.ask("Where was our hound kept in 2022?").text == "Kennel Nine"
        assert memory.ask("Where was our hound kept in 2020?").text is None


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("The greyhound went to the vet yesterday.", "yesterday", "2024-04-30"),
        ("The greyhound went to the vet on 3 April.", "the vet", "2024-04-03"),
        ("The greyhound went to the vet.", "the vet", None),
    ],
)
def test_a_time_is_answered_by_a_date(monkeypatch: pytest.MonkeyPatch, text: str, words: str, said: str | None) -> None:
    pointer(monkeypatch, words)
    with memory_of(text) as memory:
        messages = [(Told("user", one.text, one.at)) for one in memory.episodes()]
        begin = text.index(words)
        found = Pointed("words", 0, begin, begin + len(words), (9.0, -9.0, 0.0, 0.0, 0.0))
        assert reading.said_words("When was it?", messages[0], found) == said
