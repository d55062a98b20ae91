"""Shared by the tests of stores."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A memory that is not there yet, in a folder of its own."""
    (tmp_path / "house").mkdir()
    return tmp_path / "house" / "memory"
