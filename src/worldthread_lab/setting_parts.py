"""The parts of the laboratory that have settings: agents, their memory modules, and games."""

from __future__ import annotations

from typing import Final

from worldthread.support.settings import Setting, SettingsPart, settings_of
from worldthread_lab.agents import AGENTS, agent_class, agent_settings
from worldthread_lab.agents.memory_modules import MEMORY_MODULES, memory_module_class
from worldthread_lab.envs import games
from worldthread_lab.envs.registry import game_settings


def _of_agent(name: str) -> dict[str, Setting]:
    return agent_settings(agent_class(name))


def _of_memory_module(name: str) -> dict[str, Setting]:
    return settings_of(memory_module_class(name))


def _names_of_games() -> list[str]:
    return [*(spec.name for spec in games()), "textworld:PATH", "jericho:PATH"]


AGENT: Final = SettingsPart(lambda: sorted(AGENTS), _of_agent)
"""The agents."""

MEMORY: Final = SettingsPart(lambda: list(MEMORY_MODULES), _of_memory_module)
"""The memory modules of agents."""

GAME: Final = SettingsPart(_names_of_games, game_settings)
"""The games."""
