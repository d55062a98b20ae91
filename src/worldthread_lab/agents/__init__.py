"""Agents that play text worlds."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection
from pkgutil import resolve_name
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.support.foreign_code import require_allowed
from worldthread.support.settings import NESTED, Setting, argument_names, settings_of
from worldthread_lab.agents.base import Agent, AgentMemory, Decision, Percept

__all__ = [
    "AGENTS",
    "Agent",
    "AgentMemory",
    "Decision",
    "Percept",
    "agent_class",
    "agent_options",
    "agent_settings",
    "make_agent",
]

AGENTS: dict[str, str] = {
    "ariadne": "worldthread_lab.agents.ariadne:Ariadne",
    "explorer": "worldthread_lab.agents.explorer.agent:Explorer",
    "glow": "worldthread_lab.agents.attempts.glow:Glow",
    "go_explore": "worldthread_lab.agents.go_explore.agent:GoExplore",
    "human": "worldthread_lab.agents.human:HumanAgent",
    "icrl": "worldthread_lab.agents.attempts.icrl:InContextLearner",
    "ige": "worldthread_lab.agents.attempts.ige:IntelligentGoExplore",
    "random": "worldthread_lab.agents.baselines:RandomAgent",
    "react": "worldthread_lab.agents.attempts.react:ReAct",
    "reflact": "worldthread_lab.agents.reflact.agent:ReflAct",
    "reflexion": "worldthread_lab.agents.attempts.reflexion:ReflexionAgent",
}
"""Agents by name, as ``"module:Class"``; a class is imported when it is asked for."""

_NOT_SET: Final = frozenset({
    "run", "model", "seed", "memory_module", "memory_settings", "use_valid_actions", "read", "show", "typed", "truth",
})  # fmt: skip
"""Arguments of agents that are no settings, because a play gives them."""

_CLASS_PATH: Final = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")


def make_agent(name: str, memory: AgentMemory, *, allow_code: Collection[str] = (), **options: Any) -> Agent:
    """Make an agent by name.

    Args:
        name: see :func:`agent_class`.
        memory: takes the episodes of the agent.
        allow_code: see :func:`agent_class`.
        options: further arguments of the class (:func:`agent_options`); agents that ask a model need ``model``.

    Returns:
        The agent, before its first percept.

    Raises:
        InputError: no agent has that name, or its module is not allowed.
    """
    kind: Callable[..., Agent] = agent_class(name, allow_code)
    return kind(memory, **options)


def agent_class(name: str, allow_code: Collection[str] = ()) -> type[Agent]:
    """Return the class of an agent.

    Args:
        name: one of :data:`AGENTS`, or ``"module:Class"`` for an agent of your own.
        allow_code: the modules that may be imported for ``"module:Class"``.

    Returns:
        The class, imported.

    Raises:
        InputError: no agent has that name (the message lists the names), the module of ``"module:Class"`` is not
            allowed, or ``"module:Class"`` is not an agent.
    """
    require_agent(name, allow_code)
    if name in AGENTS:
        found = resolve_name(AGENTS[name])
    else:
        try:
            found = resolve_name(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"the agent {name!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise InputError(f"{name!r} is not an agent: it must be a subclass of worldthread_lab.agents.Agent")
    return found


def require_agent(name: str, allow_code: Collection[str] = ()) -> None:
    """Check the name of an agent without an import.

    Args:
        name: see :func:`agent_class`.
        allow_code: see :func:`agent_class`.

    Raises:
        InputError: no agent has that name, or its module is not allowed.
    """
    if name in AGENTS:
        return
    if ":" not in name:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no agent named {name!r}{hint} (agents are: {', '.join(sorted(AGENTS))})")
    path = _CLASS_PATH.fullmatch(name)
    if path is None:
        raise InputError(f"an agent of your own is named as package.module:Class, not {name!r}")
    require_allowed(path["module"], allow_code, f"the agent {name!r}")


def agent_options(kind: type[Agent]) -> frozenset[str]:
    """Return the names of the options of an agent.

    Args:
        kind: the class of the agent.

    Returns:
        The arguments that the class and those it passes ``**options`` to take beside the memory. ``settings``, which is
        a Python object, is left out.
    """
    return argument_names(kind) - {NESTED}


def agent_settings(kind: type[Agent]) -> dict[str, Setting]:
    """Return the settings of an agent: the options that a play does not give, and its tuned numbers.

    Args:
        kind: the class of the agent.

    Returns:
        The settings by name, with their defaults and meanings.
    """
    return settings_of(kind, without=_NOT_SET)
