"""Shared by all tests: what an optional extra brings, and where the real data lies."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

EXTRAS = {"games": ("textworld", "jericho"), "static": ("wordllama",)}
"""Modules that each extra brings. A test that needs one bears the extra's name as marker."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    for extra, modules in EXTRAS.items():
        if item.get_closest_marker(extra) and not all(importlib.util.find_spec(module) for module in modules):
            pytest.skip(f"needs the extra: pip install 'worldthread[{extra}]'")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real games and data: ``$WORLDTHREAD_SHARED``, else ``shared`` beside the checkout."""
    folder = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(f"needs the real games and data, looked for in {folder} (set WORLDTHREAD_SHARED)")
    return folder
