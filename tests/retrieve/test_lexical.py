"""BM25 against a known library, on real text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex
from worldthread.retrieve.lexical import LexicalIndex, LexicalSettings, lexical
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.retrieve.words import words_of
from worldthread.types import Episode, Extraction, Fact

bm25s = pytest.importorskip("bm25s")

TEXTS = ("the cat sat on the mat", "a dog sat", "cats, cats and more cats", "nothing of the kind")


@pytest.fixture(scope="module")
def passages(shared: Path) -> list[str]:
    with gzip.open(shared / "data" / "multihop" / "musique_train_corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line, _ in zip(stream, range(600), strict=False)]


@pytest.fixture(scope="module")
def questions(shared: Path) -> list[str]:
    with gzip.open(shared / "data" / "multihop" / "musique_train.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line)["question"] for line, _ in zip(stream, range(40), strict=False)]


def indexed(texts: Sequence[str], vocabulary: Vocabulary | None = None) -> LexicalIndex:
    index = LexicalIndex(Vocabulary() if vocabulary is None else vocabulary)
    index.add(range(len(texts)), texts)
    return index


def everything(count: int) -> np.ndarray:
    return np.ones(count, bool)


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0), (1.2, 1.0)])
def test_scores_are_those_of_bm25s(passages: list[str], questions: list[str], k1: float, b: float) -> None:
    library = bm25s.BM25(method="lucene", k1=k1, b=b)
    library.index([words_of(text) for text in passages], show_progress=False)
    index = indexed(passages)
    for question in questions:
        expected = library.get_scores([word for word in words_of(question) if word in library.vocab_dict])
        found = index.scores(question, everything(len(passages)), LexicalSettings(k1, b))
        np.testing.assert_allclose(np.where(np.isfinite(found), found, 0), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(np.isfinite(found), expected > 0)


def test_what_is_not_there_has_no_part(passages: list[str], questions: list[str]) -> None:
    present = np.random.default_rng(0).random(len(passages)) < 0.5
    index, fresh = indexed(passages), indexed([text for text, there in zip(passages, present, strict=True) if there])
    for question in questions:
        found = index.scores(question, present)
        np.testing.assert_allclose(found[present], fresh.scores(question, everything(int(present.sum()))))
        assert not np.isfinite(found[~present]).any()


def test_what_comes_late_counts_as_what_came_early(passages: list[str], questions: list[str]) -> None:
    grown = LexicalIndex(Vocabulary())
    for number, text in enumerate(passages):
        grown.add([number], [text])
        if number % 50 == 0:
            grown.scores("of the world", everything(number + 1))  # sorts what there is
    vocabulary = Vocabulary()
    whole, present = indexed(passages, vocabulary), everything(len(passages))
    restored = LexicalIndex.of(vocabulary, whole.rows.rows)
    for question in questions:
        np.testing.assert_array_equal(grown.scores(question, present), whole.scores(question, present))
        np.testing.assert_array_equal(restored.scores(question, present), whole.scores(question, present))


def test_by_hand() -> None:
    scores = indexed(TEXTS).scores("Two cats!", everything(4), LexicalSettings(1.0, 0.5))
    idf = np.log(1 + 2.5 / 2.5)
    mean = (6 + 3 + 5 + 4) / 4
    expected = [idf / (1 + 0.5 + 0.5 * 6 / mean), -np.inf, idf * 3 / (3 + 0.5 + 0.5 * 5 / mean), -np.inf]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_a_text_that_is_added_again_counts_once() -> None:
    index = indexed(TEXTS)
    index.add(range(len(TEXTS)), TEXTS)
    np.testing.assert_array_equal(index.rows.rows, indexed(TEXTS).rows.rows)


def test_nothing_is_found_without_a_word_in_common() -> None:
    assert not np.isfinite(indexed(TEXTS).scores("zebra", everything(4))).any()
    assert not np.isfinite(indexed(TEXTS).scores("...", everything(4))).any()
    assert indexed(()).scores("cat", everything(0)).shape == (0,)
    assert not np.isfinite(indexed(()).scores("cat", everything(2))).any(), "texts that were never added"


def test_episodes_and_statements_are_ranked_by_their_words() -> None:
    embedder = FakeEmbedder()
    facts = Fact("Anna", "lives in", "Rome"), Fact("Ben", "lives in", "Oslo")
    episodes = [Episode(str(fact), n, extraction=Extraction("by hand", (fact,))) for n, fact in enumerate(facts)]
    graph = TemporalGraph(episodes)
    index = RetrievalIndex(embedder)
    for part in index.take(graph, lambda ids: [next(e.text for e in episodes if e.id == i) for i in ids]):
        index.put(part, embedder.embed(part.texts))
    text = "Who lives in Oslo?"
    scores = lexical(Query(text, embedder.embed([text])[0]), index)
    assert [np.argmax(scores.episodes), np.argmax(scores.statements)] == [1, 1]
    graph.forget(episodes[1].id)
    index.take(graph, lambda ids: [])
    scores = lexical(Query(text, embedder.embed([text])[0]), index)
    assert np.isfinite(scores.episodes).tolist() == np.isfinite(scores.statements).tolist() == [True, False]


@pytest.mark.parametrize(("k1", "b"), [(-1, 0.5), (1, 1.5), (1, -0.5)])
def test_settings_that_make_no_sense_are_refused(k1: float, b: float) -> None:
    with pytest.raises(InputError, match="k1 must be at least 0 and b from 0 to 1"):
        LexicalSettings(k1, b)
