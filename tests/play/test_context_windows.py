"""How many tokens a model reads and writes in one call."""

from __future__ import annotations

import pytest

from worldthread_lab.play.context_windows import context_window


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("gpt-4o-mini", 128_000), ("gpt-4o-mini-2024-07-18", 128_000), ("gpt-4o-audio", None), ("qwen2.5:7b", None)],
)
def test_a_snapshot_has_the_window_of_its_model_and_others_are_unknown(model: str, tokens: int | None) -> None:
    assert context_window(model) == tokens
