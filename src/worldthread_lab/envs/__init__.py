"""Text worlds: the environment interface, a registry, and the games.

::

    with worldthread_lab.envs.make("treasure-hunt", seed=3) as env:
        observation, info = env.reset()
        observation, reward, terminated, truncated, info = env.step("go east")
"""

from __future__ import annotations

from worldthread_lab.envs.base import Environment, Info, Proposition, Truth
from worldthread_lab.envs.registry import games, make, register, spec_of
from worldthread_lab.envs.spec import GameSpec

__all__ = ["Environment", "GameSpec", "Info", "Proposition", "Truth", "games", "make", "register", "spec_of"]
