"""worldthread: a world-model memory for agents. The graph is a fold of its episodes."""

from __future__ import annotations

__version__ = "0.1.0"
