"""Normalisation of names: explicit, idempotent, and right on the names of real games."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.names import match_name, normalise_name, normalise_text, number_variants, stream_safe
from worldthread.types import Episode, Fact, Thesis


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Key 1", "key 1"),
        ("the  Golden\tLocker", "golden locker"),
        ("A wet towel.", "wet towel"),
        ("Room A", "room a"),
        ("a", "a"),
        ("an a", "a"),
        ("The The", "the"),
        ("“cook table”", "cook table"),
        ("the 'key'", "key"),
        ("kids’ room", "kids' room"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁsh", "fish"),
        ("Mr. Smith", "mr. smith"),
        ("...", "..."),
        ("some papers", "papers"),
        ("sometimes", "sometimes"),
    ],
)
def test_keys(written: str, key: str) -> None:
    assert normalise_name(written) == key


@given(st.text(min_size=1))
def test_normalisation_is_idempotent_and_keeps_something(name: str) -> None:
    key = normalise_name(name)
    assert normalise_name(key) == key
    assert key or not name.strip()


def test_plurals_are_found_and_not_merged() -> None:
    assert normalise_name("keys") != normalise_name("key")
    assert match_name("the keys", {"key", "locker"}) == ("key",)
    assert match_name("knife", {"knives"}) == ("knives",)
    assert match_name("candle", {"candles", "candle"}) == ("candle",), "the exact name comes first"
    assert match_name("glasses", {"glass", "glasse"}) == ("glass", "glasse"), "ambiguous: the caller must choose"
    assert match_name("moss", {"mos", "key"}) == ()
    assert "berry" in number_variants("berries")


def test_names_of_a_real_game_stay_apart(textworld_games: Path) -> None:
    """Every pair of names that the engine keeps apart stays apart after normalisation."""
    files = sorted(textworld_games.glob("*.json"))
    checked = 0
    for file in files:
        game = json.loads(file.read_text("utf-8"))
        names = {info["name"] for _, info in game.get("infos", []) if info.get("name")}
        assert len({normalise_name(name) for name in names}) == len(names), file.name
        checked += len(names)
    assert checked > 300


def test_facts_are_equal_by_key_and_keep_what_was_written() -> None:
    one, other = Fact("The Key 1", "Is In", "ROOM A"), Fact("key 1", "is in", "room a", aspect="place of key 1")
    assert one == other
    assert one.id == other.id
    assert hash(one) == hash(other)
    assert (one.subject, one.object) == ("The Key 1", "ROOM A")
    assert Thesis("The key fits.", ("key", "lock")) == Thesis("the key  fits", ("lock", "the key"))
    assert Thesis("The key fits.", ("key",)) != Thesis("The key fits.", ("lock",))


@pytest.mark.parametrize("bad", ["", "  ", "a\0b", "a\x1fb", 3, None])
def test_bad_names_are_refused_in_our_words(bad: object) -> None:
    with pytest.raises(InputError, match="subject"):
        Fact(bad, "is in", "room")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "3", None, True])
def test_bad_times_are_refused_in_our_words(bad: object) -> None:
    with pytest.raises(InputError, match="at must be"):
        Episode("text", bad)  # type: ignore[arg-type]


def test_episodes_are_identified_by_text_time_and_source() -> None:
    assert Episode("x", 0).id == Episode("x", -0.0, recorded_at=5).id
    assert len({Episode("x", 0).id, Episode("x", 1).id, Episode("y", 0).id, Episode("x", 0, "s").id}) == 4


def test_many_quotes_take_no_time(time_growth: Callable[..., float]) -> None:
    def normalise(size: int) -> None:
        assert normalise_name('"' * size + "x") == '"' * size + "x"
        assert normalise_name('"' * size + "x'") == "x"

    assert time_growth(normalise, 1_500) < 16


MARKS = "\u0316\u0301\u0344\u0345\u0f73"


@given(st.lists(st.sampled_from([*MARKS, *(mark * 70 for mark in MARKS), "a", "\u0390", "Å", "ṩ ", "1"]), max_size=200))
def test_long_runs_of_marks_are_cut_and_stay_so(parts: list[str]) -> None:
    name = "a" + "".join(parts)
    for normalise in (normalise_name, normalise_text):
        key = normalise(name)
        assert normalise(key) == key
        assert stream_safe(key) == key


def test_ordinary_text_has_no_long_run() -> None:
    for text in (
        "e" + "\u0301" * 64,
        "漢" * 200,
        "👩‍👩‍👧" * 200,
        "".join(f"{letter}\u0301" for letter in "vietnamese" * 50),
    ):
        assert stream_safe(text) == text
        assert normalise_name(text) == unicodedata.normalize("NFKC", text)
