"""The settings of a play that people choose in the page: those of its agent, its memory module and its game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import orjson

from worldthread.support.settings import Setting, require_settings, settings_of
from worldthread_lab.agents import agent_class, agent_settings
from worldthread_lab.agents.memory_modules import memory_module_class
from worldthread_lab.envs.registry import game_settings
from worldthread_lab.play.runs import default_module

Part: TypeAlias = Literal["agent", "memory", "game"]
"""What has settings."""
PARTS: Final[tuple[Part, ...]] = ("agent", "memory", "game")
_OF_THE_SERVER: Final = frozenset({"embedder"})
"""Settings that are not chosen in the page: they name files and servers, as only those do who start the server."""


def play_settings(game: str, agent: str, module: str) -> dict[Part, dict[str, Setting]]:
    """Return the settings that a play can have.

    Args:
        game: the id of a game.
        agent: the name of an agent.
        module: the name of a memory module; empty: the one that the agent uses unless told otherwise.

    Returns:
        The settings by name, for each of :data:`PARTS`.

    Raises:
        InputError: there is no such agent or memory module.
        UnknownGameError: there is no such game.
    """
    kind = agent_class(agent)
    used = module or default_module(kind)
    found: dict[Part, dict[str, Setting]] = {
        "agent": agent_settings(kind),
        "memory": settings_of(memory_module_class(used)) if used else {},
        "game": game_settings(game),
    }
    return {part: {n: s for n, s in of.items() if n not in _OF_THE_SERVER} for part, of in found.items()}


def settings_as_json(game: str, agent: str, module: str) -> dict[str, list[dict[str, Any]]]:
    """Return the settings of :func:`play_settings` as data for JSON, with default, types and meaning of each."""
    return {
        part: [
            {"name": one.name, "types": one.types, "default": one.default, "meaning": one.meaning}
            for one in of.values()
        ]
        for part, of in play_settings(game, agent, module).items()
    }


def chosen_settings(
    game: str, agent: str, module: str, given: Mapping[Part, Mapping[str, Any]], prompt_length: Mapping[str, Any]
) -> dict[str, str]:
    """Return the settings that somebody chose, as fields of a :class:`~worldthread_lab.play.run.Run`.

    Args:
        game: the id of the game.
        agent: the name of the agent.
        module: the name of the memory module; empty for the agent's own.
        given: the chosen values by name, for some of :data:`PARTS`.
        prompt_length: options of the agent that hold unless a value was chosen.

    Returns:
        ``options``, ``memory_options`` and ``game_options``.

    Raises:
        InputError: there is no such setting, or a value has another type.
    """
    known = play_settings(game, agent, module)
    for part in PARTS:
        require_settings(f"the {part} of this play", known[part], given.get(part, {}))
    values = {
        "options": {**prompt_length, **given.get("agent", {})},
        "memory_options": dict(given.get("memory", {})),
        "game_options": dict(given.get("game", {})),
    }
    return {name: orjson.dumps(of, option=orjson.OPT_SORT_KEYS).decode() for name, of in values.items()}
