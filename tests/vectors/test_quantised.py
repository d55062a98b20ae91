"""The quantised table beside the exact one."""

from __future__ import annotations

import numpy as np
import pytest

from worldthread.errors import InputError
from worldthread.vectors import quantised as quantised_module
from worldthread.vectors.exact import VectorTable, best
from worldthread.vectors.quantised import QuantisedTable


def unit_vectors(count: int, dimensions: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_similarities_are_those_of_the_exact_table_but_for_rounding() -> None:
    vectors = unit_vectors(5000, 384, 1)
    near = (vectors[:40] + 0.03 * unit_vectors(40, 384, 2)).astype(np.float32)
    exact, quantised = VectorTable(384), QuantisedTable(384)
    for table in (exact, quantised):
        for part in np.array_split(np.random.default_rng(3).permutation(5000), 7):
            table.put(part, vectors[part])
    worst = 0.0
    for number, query in enumerate(near):
        query /= np.linalg.norm(query)
        expected, found = exact.similarities(query), quantised.similarities(query)
        worst = max(worst, float(np.abs(expected - found).max()))
        assert best(found, 1).tolist() == [number]
    assert 0 < worst < 0.004
    np.testing.assert_allclose(quantised.rows[np.arange(50)], vectors[:50], atol=0.002)
    assert quantised.rows.nbytes < exact.rows.nbytes / 3.9


def test_numbers_without_a_vector_are_told_and_are_like_nothing() -> None:
    table = QuantisedTable(4)
    assert table.similarities(np.ones(4, np.float32)).tolist() == []
    table.put(np.array([2]), np.array([[0, 0.5, 0, -0.25]], np.float32))
    table.put(np.array([3]), np.zeros((1, 4), np.float32))
    table.extend(6)
    assert table.missing() == [0, 1, 4, 5]
    assert table.similarities(np.ones(4, np.float32)) == pytest.approx([0, 0, 0.25, 0, 0, 0], abs=0.003)


def test_a_table_of_its_arrays_is_the_same() -> None:
    table = QuantisedTable(8)
    table.put(np.arange(3), unit_vectors(3, 8, 5))
    again = QuantisedTable.of(table.codes, table.factors, table.filled)
    again.put(np.array([3]), unit_vectors(1, 8, 6))
    np.testing.assert_array_equal(again.rows[np.arange(3)], table.rows[np.arange(3)])
    assert (len(again), len(table), again.missing()) == (4, 3, [])


def test_a_vector_of_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="1 rows of 4 numbers"):
        QuantisedTable(4).put(np.array([0]), np.ones((1, 5), np.float32))


@pytest.mark.parametrize("table", [VectorTable(8), QuantisedTable(8)])
def test_a_dropped_row_is_missing_and_can_be_set_again(table: VectorTable | QuantisedTable) -> None:
    vectors = np.eye(3, 8, dtype=np.float32)
    table.put(np.arange(3), vectors)
    table.drop(np.array([1]))
    assert table.missing() == [1]
    assert table.similarities(vectors[1])[1] == 0
    table.drop(np.zeros(0, np.int64))
    table.put(np.array([1]), vectors[1:2])
    assert table.missing() == []
    np.testing.assert_array_equal(table.rows[np.arange(3)], vectors)


def test_a_table_that_grows_after_it_was_loaded_is_one_that_was_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantised_module, "_BLOCK", 16)
    vectors, query = unit_vectors(100, 24, 1), unit_vectors(1, 24, 2)[0]
    at_once = QuantisedTable(24)
    at_once.put(np.arange(100), vectors)
    first = QuantisedTable(24)
    first.put(np.arange(30), vectors[:30])
    codes = first.codes.copy()
    codes.flags.writeable = False
    grown = QuantisedTable.of(codes, first.factors, first.filled)
    for part in (np.arange(30, 33), np.arange(60, 100), np.arange(33, 60)):
        grown.put(part, vectors[part])
    grown.drop(np.array([7, 41]))
    assert grown.similarities(query)[[7, 41]].tolist() == [0, 0]
    assert grown.missing() == [7, 41]
    grown.put(np.array([41, 7]), vectors[[41, 7]])
    np.testing.assert_array_equal(grown.similarities(query), at_once.similarities(query))
    np.testing.assert_array_equal(grown.codes, at_once.codes)
    for numbers in (np.array([99, 3, 45, 3]), slice(28, 70), 61, np.array([[1, 99], [50, 29]])):
        np.testing.assert_array_equal(grown.rows[numbers], at_once.rows[numbers])
    assert first.codes[7].any(), "the arrays that were given are not changed"
