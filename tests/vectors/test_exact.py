"""The table of vectors against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.vectors.exact import VectorTable, best


def test_rows_keep_their_numbers_while_the_table_grows() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(500, 8)).astype(np.float32)
    table = VectorTable(8)
    order = rng.permutation(500)
    for part in np.array_split(order, 17):
        table.put(part, vectors[part])
    assert len(table) == 500
    assert table.missing() == []
    np.testing.assert_array_equal(table.rows, vectors)
    np.testing.assert_allclose(table.similarities(vectors[3]), vectors @ vectors[3], rtol=1e-5)


def test_numbers_without_a_vector_are_told_and_are_like_nothing() -> None:
    table = VectorTable(4)
    table.put(np.array([2, 70]), np.eye(2, 4, dtype=np.float32))
    table.extend(72)
    assert table.missing() == [n for n in range(72) if n not in (2, 70)]
    assert np.flatnonzero(table.similarities(np.ones(4, np.float32))).tolist() == [2, 70]


def test_a_vector_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="1 rows of 4 numbers"):
        VectorTable(4).put(np.array([0]), np.ones((1, 5), np.float32))


@given(
    st.lists(st.integers(-3, 3).map(float) | st.just(-np.inf), max_size=40),
    st.integers(1, 50),
)
def test_best_is_a_stable_sort(scores: list[float], k: int) -> None:
    expected = sorted((n for n, s in enumerate(scores) if s > -np.inf), key=lambda n: (-scores[n], n))[:k]
    assert best(np.array(scores, np.float32), k).tolist() == expected


@pytest.mark.parametrize("case", ["all", "few finite", "equal", "one high", "not a number", "infinite"])
def test_the_best_of_many_are_those_of_a_sort(case: str) -> None:
    chance = np.random.default_rng(1)
    scores = chance.normal(size=40_000).round(2).astype(np.float32)
    ties = chance.permutation(40_000).astype(np.uint64)
    if case == "few finite":
        scores[chance.random(40_000) < 0.999] = -np.inf
    elif case == "equal":
        scores[:] = 0.5
    elif case == "one high":
        scores[39_999] = 9.0
    elif case == "not a number":
        scores[[5, 300]] = np.nan
    elif case == "infinite":
        scores[[5, 300]] = np.inf
    usable = np.flatnonzero(np.isfinite(scores))
    expected = usable[np.lexsort((ties[usable], -scores[usable]))]
    for k in (1, 18, 100, 50_000):
        assert best(scores, k, ties).tolist() == expected[:k].tolist()
