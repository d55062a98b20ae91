"""Tests of what a message is asked about: which facts are read beside it."""

from __future__ import annotations

import numpy as np
import pytest

from worldthread import Episode, Extraction, Fact, Memory
from worldthread.extract.reader.endings import MOST_ASKED, Outcome, facts_in_question, outcome_of
from worldthread.extract.reader.extractor import ReaderExtractor
from worldthread.extract.reader.model import ReaderModel
from worldthread.extract.reader.pieces import Piece
from worldthread.models.fake import FakeEmbedder

JOB = Fact("Ida", "works at", "Orbis")
ANA = Fact("Ana", "lives in", "Rome")
OTHERS = [
    Fact("Ida", "likes", thing)
    for thing in (
        "tea",
        "plums",
        "chess",
        "rain",
        "jazz",
        "figs",
        "hiking",
        "opera",
        "mosaics",
        "owls",
        "comics",
        "soup",
    )
]


def asked(message: str, *held: Fact, new: tuple[Fact, ...] = (), names: tuple[str, ...] = ()) -> list[Fact]:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.record.add(Episode("told", 1.0, extraction=Extraction("test/1", held)))
        return facts_in_question(message, "Ida", names, new, memory.view())


def test_facts_of_the_speaker_and_of_whom_a_message_names_are_in_question() -> None:
    assert asked("Ana moved.", JOB, ANA) == [JOB]
    assert asked("Ana moved.", JOB, ANA, names=("Ana",)) == [JOB, ANA]
    assert asked("I work at Orbis.", JOB, ANA, new=(JOB,)) == []


def test_of_many_facts_those_are_asked_for_that_are_nearest_to_the_message() -> None:
    car = Fact("Ida", "has", "Volvo")
    found = asked("I sold the car.", *OTHERS, car, ANA)
    assert len(found) == MOST_ASKED
    assert found[0] == car
    assert asked("No more figs for me!", *OTHERS, JOB)[0] == Fact("Ida", "likes", "figs")


class Says(ReaderModel):
    """Says the same of every pair."""

    def __init__(self, *outcome: float) -> None:
        self._outcome = np.array(outcome, np.float32)

    def outcome(self, pair: Piece) -> np.ndarray:  # type: ignore[type-arg]
        return self._outcome


@pytest.mark.parametrize(("outcome", "over", "never"), [((0.05, 0.9, 0.05), 0.95, False), ((0.5, 0.1, 0.4), 0.5, True)])
def test_what_a_message_says_of_a_fact(outcome: tuple[float, ...], over: float, never: bool) -> None:
    assert outcome_of(JOB, "I quit.", "Ida", Says(*outcome)) == (pytest.approx(over), never)


def test_a_message_without_words_ends_nothing() -> None:
    assert outcome_of(JOB, "", "Ida", Says(0.0, 1.0, 0.0)) == Outcome(0.0, never=False)


def test_what_others_say_of_their_own_ends_nothing_of_mine() -> None:
    with Memory(extractor=ReaderExtractor(least_ended=0.0), embedder=FakeEmbedder()) as memory:
        memory.remember([{"speaker": "Ida", "content": "I work at Orbis."}], at="2024-05-01")
        memory.remember([{"speaker": "Tom", "content": "It is raining."}], at="2024-05-02")
        assert JOB in memory.view().facts()
        memory.remember([{"speaker": "Ida", "content": "It is raining."}], at="2024-05-03")
        assert JOB not in memory.view().facts(), "of a fact of the speaker the model is asked, whatever it says"
