"""Agents that play."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from worldthread.agents.base import Agent, AgentMemory, Decision, Percept
from worldthread.errors import InputError

__all__ = ["AGENTS", "Agent", "AgentMemory", "Decision", "Percept", "agent_class", "agent_options", "make_agent"]

AGENTS: dict[str, str] = {
    "ariadne": "worldthread.agents.ariadne:Ariadne",
    "explorer": "worldthread.agents.explorer.agent:Explorer",
    "glow": "worldthread.agents.attempts.glow:Glow",
    "go_explore": "worldthread.agents.go_explore.agent:GoExplore",
    "human": "worldthread.agents.human:HumanAgent",
    "icrl": "worldthread.agents.attempts.icrl:InContextLearner",
    "ige": "worldthread.agents.attempts.ige:IntelligentGoExplore",
    "random": "worldthread.agents.baselines:RandomAgent",
    "react": "worldthread.agents.attempts.react:ReAct",
    "reflact": "worldthread.agents.reflact.agent:ReflAct",
    "reflexion": "worldthread.agents.attempts.reflexion:ReflexionAgent",
}
"""Agents by name, as ``"module:Class"``, imported when one is made."""


def make_agent(name: str, memory: AgentMemory, **options: Any) -> Agent:
    """An agent by name; see :func:`agent_class`.

    Raises:
        InputError: no agent of that name.
    """
    kind: Callable[..., Agent] = agent_class(name)
    return kind(memory, **options)


def agent_class(name: str) -> type[Agent]:
    """The class of an agent.

    Args:
        name: one of :data:`AGENTS`, or ``"module:Class"`` for an agent of one's own.

    Raises:
        InputError: no agent of that name; the message lists those that are.
    """
    if ":" not in name and name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no agent named {name!r}{hint} (there are: {', '.join(sorted(AGENTS))})")
    module, _, attribute = AGENTS.get(name, name).partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        if name in AGENTS:
            raise
        raise InputError(f"no agent can be made of {name!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise InputError(f"{name!r} is no agent: it must be a subclass of worldthread.agents.Agent")
    return found


def agent_options(kind: type[Agent]) -> frozenset[str]:
    """The names of the arguments that an agent's class takes beside its memory, those that it hands on included."""
    found: set[str] = set()
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[2:]
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found.update(parameter.name for parameter in parameters if parameter.kind in named)
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
            break
    return frozenset(found)
