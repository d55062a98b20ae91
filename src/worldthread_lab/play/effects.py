"""Whether an action that a world did not list had an effect all the same."""

from __future__ import annotations

from typing import Final

from worldthread_lab.envs.base import ENGINE_COMMAND, NO_OUTPUT, ONE_ACTION_AT_A_TIME, Info
from worldthread_lab.game.refusals import is_refusal

_NOT_PASSED_ON: Final = frozenset({ONE_ACTION_AT_A_TIME, ENGINE_COMMAND, NO_OUTPUT})


def had_effect(before: Info, after: Info, text: str) -> bool:
    """Return whether an action changed the world, or was understood.

    Args:
        before: the world's information before the action.
        after: its information after it.
        text: the answer of the world.

    Returns:
        ``True`` when score, inventory or the digest of the state changed, or the game is over; else whether the answer
        is more than a short refusal.
    """
    if after.score != before.score or after.won or after.lost or after.inventory != before.inventory:
        return True
    if after.state is not None and before.state is not None and after.state != before.state:
        return True
    return text.strip() not in _NOT_PASSED_ON and not is_refusal(text)
