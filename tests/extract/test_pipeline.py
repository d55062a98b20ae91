"""Extracting from many passages: in order, several at once, and without loss when the model fails."""

from __future__ import annotations

import threading

from worldthread.errors import BudgetError, ModelCallError
from worldthread.extract.pipeline import extract_episodes
from worldthread.graph import GraphView
from worldthread.types import Episode, Extraction, Fact


class LastWordExtractor:
    """States where Anna lives: the last word of the text."""

    name = "words/1"

    def __init__(self, concurrency: int = 1) -> None:
        self.concurrency = concurrency
        self.calls = 0
        self._together = threading.Barrier(concurrency, timeout=600)

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        self.calls += 1
        if "down" in text:
            raise ModelCallError("the server is down")
        if "spent" in text:
            raise BudgetError("the budget is spent")
        if self.concurrency > 1:
            self._together.wait()  # passes only when as many calls run at once
        return Extraction(self.name, (Fact("Anna", "lives in", text.split()[-1], aspect="home of anna"),))

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        return extraction


def test_calls_run_at_once_and_outcomes_keep_their_order() -> None:
    passages = [Episode(f"Anna lives in {place}", 1) for place in ("Rome", "Paris", "Oslo", "Bonn")]
    outcomes = list(extract_episodes(LastWordExtractor(concurrency=4), passages))
    assert [o.extraction.statements[0].object for o in outcomes] == ["Rome", "Paris", "Oslo", "Bonn"]  # type: ignore[union-attr]


def test_a_failed_call_fails_its_passage_alone() -> None:
    outcomes = list(extract_episodes(LastWordExtractor(), [Episode("down", 1), Episode("in Rome", 1)]))
    assert outcomes[0].extraction == Extraction(failures=("the server is down",))
    assert isinstance(outcomes[0].problem, ModelCallError)
    assert outcomes[1].problem is None


def test_a_spent_budget_stops_the_calls() -> None:
    extractor = LastWordExtractor()
    outcomes = list(extract_episodes(extractor, [Episode("in Rome", 1), Episode("spent", 1), Episode("in Oslo", 1)]))
    assert extractor.calls == 2
    assert [o.extraction for o in outcomes[1:]] == [Extraction(), Extraction()], "not read, and no fault of theirs"
    assert all(isinstance(o.problem, BudgetError) for o in outcomes[1:])
