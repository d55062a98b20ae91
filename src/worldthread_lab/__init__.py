"""The laboratory of worldthread: text worlds, agents that play them, and benchmarks of what the memory promises.

It imports the memory (:mod:`worldthread`), which never imports it: what the laboratory adds, the memory finds by entry
points. :func:`make` opens a world and :func:`make_agent` an agent; the other parts are in the subpackages, such as
:mod:`worldthread_lab.play`, :mod:`worldthread_lab.bench` and :mod:`worldthread_lab.published`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldthread_lab.agents import Agent, AgentMemory, Decision, Percept, make_agent
    from worldthread_lab.envs import Environment, GameSpec, Info, Proposition, Truth, games, make, register

_MODULES = {
    "worldthread_lab.agents": ["Agent", "AgentMemory", "Decision", "Percept", "make_agent"],
    "worldthread_lab.envs": ["Environment", "GameSpec", "Info", "Proposition", "Truth", "games", "make", "register"],
}
# each module is imported when one of its names is first used, as in `worldthread`

_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Agent",
    "AgentMemory",
    "Decision",
    "Environment",
    "GameSpec",
    "Info",
    "Percept",
    "Proposition",
    "Truth",
    "games",
    "make",
    "make_agent",
    "register",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
