"""Names of agents, which point to factories that are imported when an agent is made.

A factory has this signature::

    def make_something(memory: AgentMemory, *, run: str, seed: int, use_valid_actions: bool) -> Agent
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass

from worldthread.agents.base import Agent, AgentMemory
from worldthread.errors import InputError


@dataclass(frozen=True)
class AgentSpec:
    """What the registry knows about an agent.

    Args:
        name: by which it is made.
        entry_point: ``"module:factory"``, imported when the agent is made.
        description: one sentence for lists.
    """

    name: str
    entry_point: str
    description: str


_registry: dict[str, AgentSpec] = {}


def register(name: str, entry_point: str, *, description: str) -> AgentSpec:
    """Make an agent known to :func:`make` and :func:`agents`. See :class:`AgentSpec` for the arguments.

    Raises:
        InputError: the name is empty or taken, or the entry point is not of the form ``module:factory``.
    """
    if not name.strip() or name in _registry:
        raise InputError(f"an agent needs a name of its own, not {name!r}")
    module, colon, factory = entry_point.partition(":")
    if not (module and colon and factory):
        raise InputError(f"the entry point of an agent looks like 'package.module:factory', not {entry_point!r}")
    _registry[name] = AgentSpec(name, entry_point, description)
    return _registry[name]


def agents() -> list[AgentSpec]:
    """Every registered agent, sorted by name."""
    return [_registry[name] for name in sorted(_registry)]


def spec_of(name: str) -> AgentSpec:
    """The registered agent of that name.

    Raises:
        InputError: no such agent; the message lists near names.
    """
    if name in _registry:
        return _registry[name]
    near = difflib.get_close_matches(name, _registry, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(sorted(_registry))}."
    raise InputError(f"no agent is called {name!r}. {hint}")


def make(
    name: str, memory: AgentMemory, *, run: str = "play", seed: int = 0, use_valid_actions: bool = True
) -> Agent:
    """Make an agent.

    Args:
        name: a registered name.
        memory: where it remembers.
        run: name of the play, the source of its episodes.
        seed: of its chance, for agents that draw lots.
        use_valid_actions: whether it may look at the list of valid actions when the world gives one.

    Raises:
        InputError: no such agent.
    """
    module, _, factory_name = spec_of(name).entry_point.partition(":")
    factory: Callable[..., Agent] = getattr(importlib.import_module(module), factory_name)
    return factory(memory, run=run, seed=seed, use_valid_actions=use_valid_actions)


def _make_explorer(memory: AgentMemory, *, run: str, seed: int, use_valid_actions: bool) -> Agent:
    from worldthread.agents.explorer import Explorer

    del seed  # it draws no lots
    return Explorer(memory, run=run, use_valid_actions=use_valid_actions)


register("explorer", f"{__name__}:_make_explorer", description="Acts on what its memory holds, else explores. No model.")
register(
    "random", "worldthread.agents.baselines:RandomAgent", description="Does any valid action. What every agent must beat."
)
