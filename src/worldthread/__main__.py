"""``python -m worldthread`` is the command ``worldthread``."""

from __future__ import annotations

from worldthread.cli.main import app

app()
