"""What readers are given and what they promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from worldthread.graph import GraphView
from worldthread.types import Extraction


@dataclass(frozen=True)
class GameStep:
    """One step of a game as the player sees it; nothing else reaches a reader.

    Args:
        text: the observation.
        action: the command that led to it; ``None`` for the opening text.
        inventory: the text of the inventory, if the game gives it.
        goal: the task in words, if any.
        turn: world time; 0 for the opening text.
    """

    text: str
    action: str | None = None
    inventory: str | None = None
    goal: str = ""
    turn: int = 0


@runtime_checkable
class Extractor(Protocol):
    """Turns a passage of prose into statements, in two steps, of which only the second sees what is known already.

    Neither step raises for what the text, or a model's answer about it, contains: what could not be understood is in
    the failures of the reading, verbatim.
    """

    @property
    def name(self) -> str:
        """Name and version, such as ``"prose/1"``; the ``reader`` of its readings."""

    @property
    def concurrency(self) -> int:
        """How many calls of :meth:`extract` may usefully run at once; at least 1."""

    def extract(self, text: str) -> Extraction:
        """What ``text`` states, from the text alone. May be called from several threads at once.

        Raises:
            ModelError: a model was needed and could not be asked (its call failed, or the budget is spent).
        """

    def outdate(self, text: str, extraction: Extraction, view: GraphView) -> Extraction:
        """``reading`` (what :meth:`extract` gave for ``text``) with the older statements of ``view`` that it ends.

        Called in order of world time, after everything older has been taken in. A reader whose aspects say all gives
        ``reading`` back.

        Raises:
            ModelError: as for :meth:`extract`.
        """
