"""Agents that play."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

from worldthread.agents.base import Agent, AgentMemory, Decision, Percept
from worldthread.errors import InputError

__all__ = ["AGENTS", "Agent", "AgentMemory", "Decision", "Percept", "make_agent"]

AGENTS: dict[str, str] = {
    "explorer": "worldthread.agents.explorer:Explorer",
    "random": "worldthread.agents.baselines:RandomAgent",
}
"""Agents by name, as ``"module:Class"``, imported when one is made."""


def make_agent(name: str, memory: AgentMemory, **options: Any) -> Agent:
    """An agent by name.

    Raises:
        InputError: no agent of that name; the message lists those that are.
    """
    if name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no agent named {name!r}{hint} (there are: {', '.join(sorted(AGENTS))})")
    module, _, attribute = AGENTS[name].partition(":")
    agent: Agent = getattr(importlib.import_module(module), attribute)(memory, **options)
    return agent
