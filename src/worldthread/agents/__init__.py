"""Agents that play text worlds."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable
from typing import Any, Final

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
"""Agents by name, as ``"module:Class"``; a class is imported when it is asked for."""

_SETTINGS: Final = "settings"
"""The argument that holds an agent's tuned numbers; it is a Python object, and no option of the command line."""


def make_agent(name: str, memory: AgentMemory, **options: Any) -> Agent:
    """Make an agent by name.

    Args:
        name: one of :data:`AGENTS`, or ``"module:Class"`` for an agent of your own.
        memory: takes the episodes of the agent.
        options: further arguments of the class (:func:`agent_options`); agents that ask a model need ``model``.

    Returns:
        The agent, before its first percept.

    Raises:
        InputError: no agent has that name.
    """
    kind: Callable[..., Agent] = agent_class(name)
    return kind(memory, **options)


def agent_class(name: str) -> type[Agent]:
    """Return the class of an agent.

    Args:
        name: one of :data:`AGENTS`, or ``"module:Class"`` for an agent of your own.

    Returns:
        The class, imported.

    Raises:
        InputError: no agent has that name (the message lists the names), or ``"module:Class"`` is not an agent.
    """
    if ":" not in name and name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no agent named {name!r}{hint} (agents are: {', '.join(sorted(AGENTS))})")
    if name in AGENTS:
        found = _imported(AGENTS[name])
    else:
        try:
            found = _imported(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"the agent {name!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise InputError(f"{name!r} is not an agent: it must be a subclass of worldthread.agents.Agent")
    return found


def _imported(path: str) -> object:
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def agent_options(kind: type[Agent]) -> frozenset[str]:
    """Return the names of the options of an agent.

    Args:
        kind: the class of the agent.

    Returns:
        The arguments that the class and those it passes ``**options`` to take beside the memory. ``settings`` is left
        out.
    """
    found: set[str] = set()
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[2:]
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found.update(parameter.name for parameter in parameters if parameter.kind in named)
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
            break
    return frozenset(found) - {_SETTINGS}
