"""Very large tables are searched approximately: by signs first, then the likely rows in full."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread.vectors import quantised, sketch
from worldthread.vectors.quantised import QuantisedTable
from worldthread.vectors.sketch import SignSketch, likely

DIMENSIONS = 96


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(count: int, seed: int = 1) -> NDArray[np.float32]:
    """Unit vectors around a few directions, as those of texts are."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(12, DIMENSIONS))
    return unit(centres[chance.integers(0, 12, count)] + chance.normal(size=(count, DIMENSIONS)))


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantised, "SKETCHED_ROWS", 500)
    monkeypatch.setattr(quantised, "_LEAST_COMPARED", 200)
    monkeypatch.setattr(sketch, "ROWS", 256)


def filled(rows: NDArray[np.float32]) -> QuantisedTable:
    table = QuantisedTable(DIMENSIONS)
    table.put(np.arange(len(rows)), rows)
    return table


def exact(table: QuantisedTable, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The inner products of all rows, of a table of the same rows that is not searched approximately."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantised, "SKETCHED_ROWS", 10**9)
        return table.similarities(query)


def test_signs_that_differ_are_counted() -> None:
    rows = clustered(300)
    codes = np.rint(rows * 127).astype(np.int8)
    signs = SignSketch(DIMENSIONS, lambda start, end: codes[start:end])
    distances, cosines = signs.compared(codes[7], 300)
    assert distances.tolist() == ((codes > 0) != (codes[7] > 0)).sum(axis=1).tolist()
    assert cosines[7] == 1
    assert np.abs(cosines - rows @ rows[7]).mean() < 0.15


def test_likely_rows_are_the_nearest_with_all_equals() -> None:
    distances = np.array([5, 3, 9, 3, 4, 5], np.uint16)
    assert likely(distances, 1).tolist() == [1, 3]
    assert likely(distances, 3).tolist() == [1, 3, 4]
    assert likely(distances, 4).tolist() == [0, 1, 3, 4, 5]
    assert likely(distances, 100).tolist() == [0, 1, 2, 3, 4, 5]
    # what does not count leaves the choice among the others as it is
    assert likely(distances, 1, np.array([True, False, True, False, True, True])).tolist() == [1, 3, 4]


@pytest.mark.usefixtures("small_limits")
def test_the_best_rows_have_the_scores_of_an_exact_search() -> None:
    rows = clustered(3000)
    table, queries = filled(rows), clustered(3030, seed=1)[3000:] + unit(rows[:30]) * 0.3
    shares = []
    for query in unit(queries):
        found, truth = table.similarities(query), exact(table, query)
        best = np.argsort(-truth)[:10]
        shares.append(np.isin(best, np.argsort(-found)[:10]).mean())
        assert (found == truth).sum() >= 200, "what is likely is compared in full, and gives the same number"
        assert np.abs(found - truth).mean() < 0.15
    assert np.mean(shares) >= 0.9


@pytest.mark.usefixtures("small_limits")
def test_scores_do_not_depend_on_the_order_of_rows() -> None:
    rows = clustered(1200)
    order = np.random.default_rng(3).permutation(1200)
    query = unit(rows[5:6] + 0.2)[0]
    assert (filled(rows).similarities(query)[order] == filled(rows[order]).similarities(query)).all()


@pytest.mark.usefixtures("small_limits")
def test_the_sketch_follows_its_table() -> None:
    rows = clustered(2000)
    query = unit(rows[3:4] + 0.1)[0]
    table = filled(rows[:900])
    table.similarities(query)
    table.put(np.arange(900, 2000), rows[900:])
    table.put(np.array([4]), -rows[4:5])
    table.drop(np.array([3]))
    table.extend(2001)
    changed = rows.copy()
    changed[4] *= -1
    fresh = filled(changed)
    fresh.drop(np.array([3]))
    fresh.extend(2001)
    found = table.similarities(query)
    assert (found == fresh.similarities(query)).all()
    assert found[3] == found[2000] == 0


@pytest.mark.usefixtures("small_limits")
def test_what_does_not_count_changes_no_other_score() -> None:
    rows = clustered(2000)
    query = unit(rows[3:4] + 0.1)[0]
    alone = filled(rows[:1000]).similarities(query)
    both = filled(rows)
    both.counted = np.arange(2000) < 1000
    assert (both.similarities(query)[:1000] == alone).all()
