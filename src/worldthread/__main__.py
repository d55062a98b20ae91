"""Run the command ``worldthread`` as ``python -m worldthread``."""

from __future__ import annotations

from worldthread.cli.main import app

app()
