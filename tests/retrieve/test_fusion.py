"""Reciprocal rank fusion, by hand and over real methods."""

from __future__ import annotations

import numpy as np
import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex
from worldthread.retrieve.dense import dense
from worldthread.retrieve.fusion import FusionSettings, fused, fusion
from worldthread.retrieve.thread import thread
from worldthread.types import Episode, Extraction, Fact
from worldthread.vectors.exact import best
from worldthread_lab.published.hipporag import pagerank

INF = np.inf


def make_index() -> RetrievalIndex:
    embedder = FakeEmbedder()
    facts = [Fact(f"name {n % 5}", "leads to", f"name {n % 7}") for n in range(30)]
    episodes = [Episode(f"Text {n}.", n, extraction=Extraction("by hand", (fact,))) for n, fact in enumerate(facts)]
    by_id = {episode.id: episode for episode in episodes}
    made = RetrievalIndex(embedder)
    for part in made.take(TemporalGraph(episodes), lambda ids: [by_id[i].text for i in ids]):
        made.put(part, embedder.embed(part.texts))
    return made


def asked(text: str) -> Query:
    return Query(text, FakeEmbedder().embed([text])[0])


def test_by_hand() -> None:
    first = np.array([0.9, 0.1, -INF, 0.5], np.float32)
    second = np.array([-3.0, 7.0, -INF, -INF], np.float32)
    expected = [1 / 61 + 1 / 62, 1 / 63 + 1 / 61, -INF, 1 / 62]
    np.testing.assert_allclose(fused([first, second]), expected, rtol=1e-6)
    np.testing.assert_allclose(fused([first], k=0), [1, 1 / 3, -INF, 1 / 2], rtol=1e-6)


def test_equals_have_the_rank_of_the_first() -> None:
    found = fused([np.array([0.2, 0.5, 0.5, 0.1], np.float32)], k=1)
    np.testing.assert_allclose(found, [1 / 4, 1 / 2, 1 / 2, 1 / 5], rtol=1e-6)


def test_one_method_keeps_its_order() -> None:
    made, query = make_index(), asked("Where does name 3 lead to?")
    alone = fusion(query, made, FusionSettings(("dense",)))
    for found, own in zip(
        (alone.episodes, alone.statements), (dense(query, made).episodes, dense(query, made).statements), strict=True
    ):
        assert best(found, 40).tolist() == best(own, 40).tolist()


def test_methods_are_fused_by_name() -> None:
    made, query = make_index(), asked("Where does name 3 lead to?")
    found = fusion(query, made, FusionSettings(("thread", "pagerank"), k=10))
    both = thread(query, made), pagerank(query, made)
    np.testing.assert_array_equal(found.episodes, fused([scores.episodes for scores in both], 10))
    np.testing.assert_array_equal(found.statements, fused([scores.statements for scores in both], 10))
    assert both[1].paths
    assert dict(found.paths) == dict(both[1].paths), "thread gives no paths of its own"
    assert len(found.episode_paths) == len(both[1].episode_paths)


@pytest.mark.parametrize("methods", [(), ("dense", "fusion")])
def test_nothing_is_fused_with_itself_or_without_methods(methods: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="fusion needs methods"):
        FusionSettings(methods)


def test_an_unknown_method_and_a_negative_k_are_refused() -> None:
    with pytest.raises(InputError, match="k must be at least 0"):
        FusionSettings(k=-1)
    with pytest.raises(InputError, match="no retrieval method is called 'magic'"):
        fusion(asked("x"), make_index(), FusionSettings(("magic",)))
