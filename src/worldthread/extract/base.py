"""What a reader of a game is given."""

from __future__ import annotations

from dataclasses import dataclass


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
