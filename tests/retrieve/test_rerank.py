"""Where a list of hits ends, which of them are relevant, and hits ordered by another model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from worldthread import Hit, InputError, Memory, ModelError
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve.query import Query
from worldthread.retrieve.relevance import relevance
from worldthread.retrieve.rerank import MOST, listed
from worldthread.types import Thesis


class LongestFirst:
    """Takes the longest text for the best."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        assert question == "What rained?"
        return [float(len(text)) for text in texts]


class Broken:
    """Returns what it was made with."""

    def __init__(self, scores: list[float]) -> None:
        self._scores = scores

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return self._scores


def hits(*scores: float) -> list[Hit]:
    return [Hit(Thesis(f"Sentence {number}."), score, "thesis") for number, score in enumerate(scores)]


@pytest.fixture
def opened() -> Memory:
    memory = Memory(model="none", embedder=FakeEmbedder())
    for number in range(30):
        text = f"It rained {'very ' * number}much."
        memory.remember([{"speaker": "Anna", "content": text}], at=number, source="diary")
    return memory


@pytest.mark.parametrize(
    ("scores", "length"),
    [
        ((0.9, 0.8, 0.8, 0.2, 0.1), 3),
        ((0.9, 0.1, 0.09, 0.08, 0.02), 4),
        ((0.5,) * 8, 8),
        ((0.9, 0.8), 2),
        ((), 0),
        ((0.5,) * 40, MOST),
    ],
)
def test_a_list_ends_where_the_score_falls_most(scores: tuple[float, ...], length: int) -> None:
    assert listed(hits(*scores), "", None, None) == tuple(hits(*scores)[:length])


def test_recall_without_a_number_lists_three_to_twenty_hits_of_a_kind(opened: Memory) -> None:
    with opened:
        assert 3 <= len(opened.recall("What rained?", k=None, kinds=["episode"]).hits) <= MOST


def test_a_reranker_orders_more_hits_than_are_listed(opened: Memory) -> None:
    with opened:
        found = opened.recall("What rained?", k=2, kinds=["episode"], reranker=LongestFirst()).hits
        lengths = [len(hit.item.text) for hit in opened.recall("What rained?", k=50, kinds=["episode"]).hits]  # type: ignore[union-attr]
        assert [hit.score for hit in found] == sorted(lengths, reverse=True)[:2]


@pytest.mark.parametrize("scores", [[], [float("nan")] * 30, [1.0]])
def test_a_reranker_must_score_every_text(opened: Memory, scores: list[float]) -> None:
    with opened, pytest.raises(ModelError, match="finite number for each"):
        opened.recall("What rained?", kinds=["episode"], reranker=Broken(scores))


def test_what_is_not_relevant_enough_is_left_out(opened: Memory) -> None:
    with opened:
        opened.remember([{"speaker": "Ben", "content": "My cat is called Minka."}], at=99, source="diary")
        question = "Ben: My cat is called Minka."
        everything = opened.recall(question, k=50, kinds=["episode"]).hits
        found = opened.recall(question, k=50, kinds=["episode"], min_score=0.3).hits
        assert len(everything) > 20
        assert [str(hit.item) for hit in found] == [str(everything[0].item)]
        assert not opened.recall(question, min_score=1).hits


def test_relevance_grows_with_the_words_in_common_and_does_not_depend_on_the_others(opened: Memory) -> None:
    with opened, opened.record.index() as index:
        numbers = np.arange(4)
        vector = FakeEmbedder().embed(["It rained very much."])[0]
        few, many = (relevance(Query(text, vector), index, numbers, "episode") for text in ("Zebras?", "It rained."))
        assert (few < many).all()
        assert ((few > 0) & (many < 1)).all()
        query = Query("It rained.", vector)
        assert relevance(query, index, numbers[2:3], "episode").tolist() == many[2:3].tolist()
        assert relevance(query, index, numbers[:0], "episode").tolist() == []


@pytest.mark.parametrize(
    "arguments", [{"min_score": 2}, {"min_score": -0.1}, {"min_score": "high"}, {"reranker": object()}, {"k": 0}]
)
def test_what_cannot_be_used_is_refused(opened: Memory, arguments: dict[str, object]) -> None:
    with opened, pytest.raises(InputError):
        opened.recall("What rained?", **arguments)  # type: ignore[arg-type]
