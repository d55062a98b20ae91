"""The judge of benchmarks/bench_language.py, on facts made by hand, and the form of its sentences."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from worldthread import Fact
from worldthread.types import Interval, Version

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "bench_language.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    specification = importlib.util.spec_from_file_location("bench_language", BENCHMARK)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["bench_language"] = module
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("fact", "listed"),
    [
        (("user", "lives in", "Oslo"), "user | live/in | Oslo"),
        (("user", "goes to", "gym on Fridays"), "user | go | gym"),
        (("user", "has", "cat called Tom"), "user | cat | Tom"),
        (("user's cat", "is called", "Tom"), "user | cat | Tom"),
        (("user's cat", "is called", "Tom"), "cat | call | Tom"),
        (("Tom", "is cat of", "user"), "user | cat | Tom"),
        (("user", "does not eat", "fish"), "user | not eat | fish"),
    ],
)
def test_facts_that_say_what_is_listed(bench: ModuleType, fact: tuple[str, str, str], listed: str) -> None:
    assert bench.matches(Fact(*fact), listed, "")


@pytest.mark.parametrize(
    ("fact", "listed"),
    [
        (("user", "lives in", "New"), "user | live | New York"),
        (("user", "lives in", "Osloer Street"), "user | live | Oslo"),
        (("user's sister", "lives in", "Oslo"), "user | live | Oslo"),
        (("user", "does not eat", "fish"), "user | eat | fish"),
        (("user", "dislikes", "fish"), "user | is | fish"),
        (("user", "has", "Tom as cat"), "user | cat | Tom"),
    ],
)
def test_facts_that_say_something_else(bench: ModuleType, fact: tuple[str, str, str], listed: str) -> None:
    assert not bench.matches(Fact(*fact), listed, "I eat fish.")


def test_words_begin_a_word_and_numbers_are_whole(bench: ModuleType) -> None:
    assert bench.has_words(Fact("user", "smokes", "cigars"), "smoke")
    assert bench.has_words(Fact("user", "has age", "4"), "4")
    assert not bench.has_words(Fact("user", "has age", "44"), "4")
    assert not bench.has_words(Fact("user", "eats", "fish"), "is")


def test_intervals_are_compared_by_the_day(bench: ModuleType) -> None:
    day = 86400.0

    def version(start: float, end: float) -> Version:
        return Version(Fact("a", "b", "c"), Interval(start, end), ())

    assert bench.is_interval(version(day + 7, 2 * day), "1970-01-02", "1970-01-02")
    assert bench.is_interval(version(day, math.inf), "1970-01-02", "")
    assert bench.is_interval(version(-math.inf, 3 * day), "", "1970-01-03")
    assert not bench.is_interval(version(day, day), "1970-01-02", "1970-01-02")
    assert not bench.is_interval(version(day, math.inf), "1970-01-02", "1970-01-02")
    assert not bench.is_interval(version(2 * day, math.inf), "1970-01-02", "")


def test_failures_of_the_unseen_half_are_not_shown_by_accident(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench_language.py", "--half", "unseen", "--show-failures"])
    with pytest.raises(SystemExit, match="--reveal"):
        bench.main()


def test_both_halves_have_the_same_form_and_no_entry_in_common(bench: ModuleType) -> None:
    whole = {"fifth", "sixth", "seventh"}  # parts of several files each
    files = (f"{kind}_{name}" for name in whole for kind in ("everyday", "changes", "dates", "nonsense"))
    for part in (*bench.PARTS.keys() - whole, "everyday_second", "changes_own", *files):
        development, unseen = bench.read(part, "development"), bench.read(part, "unseen")
        assert development.keys() == unseen.keys()
        for name, entries in development.items():
            groups = entries if isinstance(entries, dict) else {name: entries}
            for group, ours in groups.items():
                theirs = (unseen[name] if isinstance(entries, dict) else unseen)[group]
                assert abs(len(ours) - len(theirs)) <= 1, "an odd number is divided at random"
                assert not {str(entry) for entry in ours} & {str(entry) for entry in theirs}
    for half in ("development", "unseen"):
        data = bench.read("everyday", half)
        for group in (data, *(value for value in data.values() if isinstance(value, dict))):
            assert all(fact.count("|") == 2 for _, *facts in group.get("sentences", ()) for fact in facts)
