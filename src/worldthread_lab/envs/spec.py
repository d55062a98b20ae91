"""The registry entry of a game."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class GameSpec:
    """A registered game.

    Args:
        id: versioned id, such as ``treasure-hunt-v1``.
        entry_point: ``"module:factory"``, imported when a world of the game is made.
        title: a few words for lists.
        description: the task in one or two sentences.
        extra: the extra of worldthread that installs the engine; ``None`` when the game needs none.
        package: the importable name of the engine's package; ``None`` when the game needs none.
        default_max_moves: limit of moves when :func:`~worldthread_lab.envs.make` gets none; ``None``: no limit.
        options: keyword arguments for the factory, which those of :func:`~worldthread_lab.envs.make` override.
    """

    id: str
    entry_point: str
    title: str
    description: str
    extra: str | None = None
    package: str | None = None
    default_max_moves: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        """Whether the engine can be imported; it is searched for without being imported."""
        return self.package is None or importlib.util.find_spec(self.package) is not None

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.rpartition("-v")[0]

    @property
    def version(self) -> int:
        """The version that the id ends in."""
        return int(self.id.rpartition("-v")[2])
