from __future__ import annotations

import threading

import pytest

from worldthread.extract.parsed.one_thread import one_thread

threadpoolctl = pytest.importorskip("threadpoolctl")


def threads() -> set[int]:
    """Return the thread counts of NumPy's matrix library; other tests may have loaded SciPy's own."""
    found = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]
    return {one["num_threads"] for one in found if "numpy" in one["filepath"]}


def test_the_limit_lasts_as_long_as_the_block_in_any_thread() -> None:
    before = threads()
    seen: list[set[int]] = []

    def compute() -> None:
        with one_thread():
            seen.append(threads())

    others = [threading.Thread(target=compute) for _ in range(4)]
    with one_thread(), one_thread():
        for other in others:
            other.start()
        seen.append(threads())
    for other in others:
        other.join()
    assert seen == [{1}] * 5
    assert threads() == before, "what the program has set is set again"


def test_an_error_lifts_the_limit() -> None:
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == before
