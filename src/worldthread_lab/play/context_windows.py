"""Context windows of chat models: a table that ships with the package. The configuration file can override it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from worldthread.models.prices import without_snapshot


def context_window(model: str) -> int | None:
    """Return how many tokens a model reads and writes in one call.

    Args:
        model: the name of the model, as it is sent to the server; the ending of a snapshot is ignored.

    Returns:
        The number of tokens; ``None`` if it is not known.
    """
    windows = _windows()
    return next((windows[name] for name in without_snapshot(model) if name in windows), None)


@cache
def _windows() -> Mapping[str, int]:
    text = files("worldthread_lab.play").joinpath("context_windows.toml").read_text(encoding="utf-8")
    windows: Mapping[str, int] = tomllib.loads(text)["windows"]
    return windows
