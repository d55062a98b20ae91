from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from worldthread.errors import InputError, ModelError, StoreError
from worldthread.models import CachedEmbedder
from worldthread.models.fake import FakeEmbedder

MakeCache: TypeAlias = Callable[[], Any]


class Counting(FakeEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        self.embedded: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded.append(list(texts))
        return super().embed(texts)


def test_each_distinct_text_is_embedded_once(dict_cache: MakeCache) -> None:
    counting, cache = Counting(), dict_cache()
    cached = CachedEmbedder(counting, cache)
    cached.embed(["key", "door", "key"])
    cached.embed(["door", "lamp", "lamp", "key"])
    cached.embed(["lamp", "door"])
    assert counting.embedded == [["key", "door"], ["lamp"]]


def test_the_cache_outlives_the_embedder(dict_cache: MakeCache) -> None:
    cache = dict_cache()
    before = CachedEmbedder(FakeEmbedder(), cache).embed(["key", "door"])
    counting = Counting()
    np.testing.assert_array_equal(CachedEmbedder(counting, cache).embed(["door", "key"]), before[::-1])
    assert counting.embedded == []


def test_models_do_not_share_vectors(dict_cache: MakeCache) -> None:
    class Other(Counting):
        name = "other/1"

    cache, other = dict_cache(), Other()
    CachedEmbedder(FakeEmbedder(), cache).embed(["key"])
    CachedEmbedder(other, cache).embed(["key"])
    assert other.embedded == [["key"]]
    assert set(cache.kept) == {("fake-256/1", "key"), ("other/1", "key")}


def test_name_and_dimensions_are_those_of_the_embedder_behind(dict_cache: MakeCache) -> None:
    cached = CachedEmbedder(FakeEmbedder(), dict_cache())
    assert (cached.name, cached.dimensions) == (FakeEmbedder.name, FakeEmbedder.dimensions)


def test_nothing_to_embed_asks_nobody(dict_cache: MakeCache) -> None:
    counting, cache = Counting(), dict_cache()
    assert CachedEmbedder(counting, cache).embed([]).shape == (0, FakeEmbedder.dimensions)
    assert counting.embedded == []
    assert cache.asked == []


def test_unusable_input_never_reaches_the_cache(dict_cache: MakeCache) -> None:
    cache = dict_cache()
    with pytest.raises(InputError):
        CachedEmbedder(FakeEmbedder(), cache).embed(["fine", 3])
    assert cache.asked == []


def test_a_kept_vector_of_another_length_is_told(dict_cache: MakeCache) -> None:
    cache = dict_cache()
    cache.kept[FakeEmbedder.name, "key"] = np.ones(3, dtype=np.float32)
    with pytest.raises(ModelError, match=r"'key' under the name 'fake-256/1', whose vectors have shape \(256,\)"):
        CachedEmbedder(FakeEmbedder(), cache).embed(["door", "key"])


@given(st.lists(st.lists(st.sampled_from(["key", "door", "", " ", "lamp", "red key", "über"]))))
def test_it_gives_what_the_embedder_gives(dict_cache: MakeCache, calls: list[list[str]]) -> None:
    cached = CachedEmbedder(FakeEmbedder(), dict_cache())
    for texts in calls:
        np.testing.assert_allclose(cached.embed(texts), FakeEmbedder().embed(texts), atol=1e-3)
        np.testing.assert_array_equal(cached.embed(texts), cached.embed(texts))


def test_a_cache_that_cannot_keep_stops_nobody(dict_cache: MakeCache) -> None:
    def refuse(*_: object) -> None:
        raise StoreError("is the disk full?", path="cache")

    cache, counting = dict_cache(), Counting()
    cache.put_vectors = refuse
    cached = CachedEmbedder(counting, cache)
    np.testing.assert_array_equal(cached.embed(["key"]), cached.embed(["key"]))
    assert counting.embedded == [["key"], ["key"]]


def test_what_is_computed_leaves_no_trace(dict_cache: MakeCache) -> None:
    cache = dict_cache()
    computed = CachedEmbedder(FakeEmbedder(), cache).compute(["key"])
    np.testing.assert_array_equal(computed, FakeEmbedder().embed(["key"]))
    assert cache.kept == {}
    assert cache.asked == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "returned NoneType for 1 texts"),
        ([[0.0] * 256], "returned list"),
        (np.zeros((1, 5), np.float32), r"returned float32 of shape \(1, 5\)"),
        (np.zeros((1, 256), np.int64), "returned int64"),
        (np.full((1, 256), np.nan, np.float32), "not finite"),
    ],
)
def test_what_is_not_a_vector_is_refused_and_not_kept(given: Any, words: str, dict_cache: MakeCache) -> None:
    cache, odd = dict_cache(), FakeEmbedder()
    odd.embed = lambda texts: given  # type: ignore[method-assign]
    with pytest.raises(ModelError, match=f"the embedder 'fake-256/1' .*{words}"):
        CachedEmbedder(odd, cache).embed(["key"])
    assert cache.kept == {}
