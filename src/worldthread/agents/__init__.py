"""Agents that play text worlds."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from worldthread.agents.base import Agent, AgentMemory, Decision, Percept
from worldthread.errors import InputError
from worldthread.foreign_code import require_allowed

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

_JSON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,), "float": (float, int), "int": (int,), "None": (type(None),), "str": (str,),
}  # fmt: skip
"""The types of values from JSON that fit an annotation."""

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
        found = _imported(AGENTS[name])
    else:
        try:
            found = _imported(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"the agent {name!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise InputError(f"{name!r} is not an agent: it must be a subclass of worldthread.agents.Agent")
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
    return frozenset(_parameters(kind)) - {_SETTINGS}


def require_option_types(kind: type[Agent], options: Mapping[str, Any]) -> None:
    """Check that options have the types that the agent states for them.

    Args:
        kind: the class of the agent.
        options: values from JSON by the name of the option; each is an option of the agent.

    Raises:
        InputError: a value has another type. Options without an annotation of JSON's types are not checked.
    """
    parameters = _parameters(kind)
    for name, value in options.items():
        annotation = parameters[name].annotation
        stated = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        words = [word for part in stated.split("|") if (word := part.strip()) in _JSON_TYPES]
        if words and type(value) not in [type_ for word in words for type_ in _JSON_TYPES[word]]:
            raise InputError(f"the option {name!r} of an agent must be of type {' or '.join(words)}, not {value!r}")


def _parameters(kind: type[Agent]) -> dict[str, inspect.Parameter]:
    """Return the arguments that a class, and those it passes ``**options`` to, take beside the memory."""
    found: dict[str, inspect.Parameter] = {}
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[2:]
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        for parameter in parameters:
            if parameter.kind in named:
                found.setdefault(parameter.name, parameter)
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
            break
    return found
