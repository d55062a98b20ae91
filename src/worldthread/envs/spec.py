"""What is known of a game before it is made."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class GameSpec:
    """What the registry knows about a game.

    Args:
        id: versioned id, such as ``treasure-hunt-v1``.
        entry_point: ``"module:factory"``, imported when the game is made.
        title: a few words for lists.
        description: what has to be done, in one or two sentences.
        extra: the extra of worldthread that installs the engine; ``None`` when nothing is needed.
        package: the package that has to be importable; ``None`` when nothing is needed.
        default_max_moves: limit of moves when none is given to :func:`make`; ``None``: no limit.
        options: given to the factory, unless :func:`make` overrides them.
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
        """Whether the engine can be imported (it is looked for, not imported)."""
        return self.package is None or importlib.util.find_spec(self.package) is not None

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.rpartition("-v")[0]

    @property
    def version(self) -> int:
        """The version in the id."""
        return int(self.id.rpartition("-v")[2])
