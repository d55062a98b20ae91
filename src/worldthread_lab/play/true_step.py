"""A step of a play of a Z-machine game, with what is true after it, for the audit."""

from __future__ import annotations

from typing import NamedTuple

from worldthread.extract.base import GameStep
from worldthread_lab.envs.zmachine_objects import TrueTree


class TrueStep(NamedTuple):
    """A step of a play and the true state after it.

    Args:
        step: what was on screen.
        tree: the tree of objects.
        ways: for each direction the objects in which the player then is, from the inside out, and the reply.
    """

    step: GameStep
    tree: TrueTree
    ways: dict[str, tuple[tuple[int, ...], str]]
