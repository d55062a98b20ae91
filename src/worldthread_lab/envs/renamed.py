"""Cooking actions under the names that the agents of the AriGraph paper saw."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from worldthread_lab.envs.base import Environment, Info, Truth

APPLIANCES: Final = {"fry": "stove", "roast": "oven", "grill": "BBQ"}
"""The appliance that each verb cooks with."""

_VERBS: Final = {appliance.lower(): verb for verb, appliance in APPLIANCES.items()}
_COOK = re.compile(r"cook (.+) with (stove|oven|bbq)", re.IGNORECASE)
_RENAMED = re.compile(r"(fry|roast|grill) (.+)", re.IGNORECASE)


class RenamedCooking(Environment):
    """A cooking world with shorter names of actions.

    ``Info.valid_actions`` lists ``cook X with stove`` as ``fry X``, ``cook X with oven`` as ``roast X``, and
    ``cook X with BBQ`` as ``grill X``. ``step`` takes both forms. Observations are unchanged.

    Args:
        env: a TextWorld environment; :meth:`close` closes it too.
    """

    def __init__(self, env: Environment) -> None:
        self.id = env.id
        self._env = env

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        observation, info = self._env.reset(seed)
        return observation, _renamed(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        if isinstance(action, str):
            action = _original(action)
        observation, reward, terminated, truncated, info = self._env.step(action)
        return observation, reward, terminated, truncated, _renamed(info)

    def truth(self) -> Truth:
        return self._env.truth()

    def close(self) -> None:
        self._env.close()


def _renamed(info: Info) -> Info:
    if info.valid_actions is None:
        return info
    return replace(info, valid_actions=tuple(sorted({_shown(action) for action in info.valid_actions})))


def _shown(action: str) -> str:
    """Return an action of the wrapped world under its new name."""
    found = _COOK.fullmatch(action)
    return f"{_VERBS[found[2].lower()]} {found[1]}" if found else action


def _original(action: str) -> str:
    """Return an action as the wrapped world knows it; other actions unchanged."""
    found = _RENAMED.fullmatch(action.strip())
    return f"cook {found[2]} with {APPLIANCES[found[1].lower()]}" if found else action
