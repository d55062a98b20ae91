"""Small functions for the texts that people read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worldthread.support.text import count_of, cut, one_line


def test_one_line() -> None:
    assert one_line("  a\n\tb\r\n  c ") == "a b c"
    assert one_line("") == ""


@given(st.text(max_size=30), st.integers(min_value=6, max_value=30), st.sampled_from(["…", " ...", " [...]"]))
def test_a_cut_text_keeps_to_the_limit(text: str, limit: int, ellipsis: str) -> None:
    shortened = cut(text, limit, ellipsis)
    assert len(shortened) <= limit
    assert (shortened == text) == (len(text) <= limit) or shortened.endswith(ellipsis)
    assert text.startswith(shortened.removesuffix(ellipsis)) or shortened == text


def test_no_space_before_the_ellipsis() -> None:
    assert cut("north of house", 7, "…") == "north…"
    assert cut("north of house", 14) == "north of house"


def test_counts() -> None:
    assert [count_of(number, "step") for number in (0, 1, 2, 1000)] == ["0 steps", "1 step", "2 steps", "1000 steps"]
    assert count_of(12345, "step", ",") == "12,345 steps"
