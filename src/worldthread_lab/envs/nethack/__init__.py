"""NetHack as a text world, through the NetHack Learning Environment. Needs the extra ``nethack``."""

from __future__ import annotations

from worldthread_lab.envs.nethack.environment import GOAL, NetHackEnvironment, make_nethack

__all__ = ["GOAL", "NetHackEnvironment", "make_nethack"]
