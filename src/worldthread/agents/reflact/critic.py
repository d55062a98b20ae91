"""What was done in each room, and a critic of what shall be done next: rules, no model.

The scores are those that the zorkclaw agent describes, with two differences. An action that led to another room, or
that changed what is carried, was not in vain: a corridor may be walked as often as one likes. And nothing is done in
place of an action that is rejected: the model is told, and decides.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from worldthread.extract.game.commands import direction_of
from worldthread.extract.game.vocabulary import OPPOSITE
from worldthread.text import one_line

DEEDS_A_ROOM: Final = 40
"""Actions of a room whose consequences are kept; that they were tried is kept of all."""
REPEATED: Final = 3
REVISITS: Final = 3
"""From so many earlier visits of the very state on, the critic is stricter."""


@dataclass(frozen=True)
class ActionOutcome:
    """An action and what came of it.

    Args:
        action: the command.
        text: what the world answered.
        reward: points that it brought.
        moved: whether it led elsewhere.
        gained: what was carried after it and not before.
        lost: what was carried before it and not after.
    """

    action: str
    text: str
    reward: float = 0.0
    moved: bool = False
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def in_vain(self) -> bool:
        """Whether nothing seems to have come of it."""
        return self.reward <= 0 and not (self.moved or self.gained or self.lost)


@dataclass(frozen=True)
class CriticVerdict:
    """What the critic says of an action.

    Args:
        score: within [-1, 1].
        reason: in a few words.
    """

    score: float
    reason: str


class RoomLog:
    """What was done in each room."""

    def __init__(self) -> None:
        self._deeds: defaultdict[str, deque[ActionOutcome]] = defaultdict(lambda: deque(maxlen=DEEDS_A_ROOM))
        self._tried: defaultdict[str, list[str]] = defaultdict(list)

    def note(self, room: str, deed: ActionOutcome) -> None:
        """Take in what was done in a room."""
        self._deeds[room].append(deed)
        if action_key(deed.action) not in map(action_key, self._tried[room]):
            self._tried[room].append(deed.action)

    def deeds(self, room: str) -> tuple[ActionOutcome, ...]:
        """The last 40 deeds in a room, the oldest first."""
        return tuple(self._deeds[room])

    def tried(self, room: str) -> tuple[str, ...]:
        """Every action that was ever tried in a room, once, in the order of the first time."""
        return tuple(self._tried[room])


def action_key(action: str) -> str:
    """By which actions are compared: no case, single spaces, and one word for each direction."""
    key = one_line(action.casefold())
    return direction_of(key) or key


def judge(
    action: str,
    deeds: Sequence[ActionOutcome],
    *,
    recent: Sequence[ActionOutcome] = (),
    offered: Iterable[str] | None = None,
) -> CriticVerdict:
    """What is to be thought of an action; the first rule that applies decides.

    ===== ======================================================================================
    score when
    ===== ======================================================================================
    -1    it was done three times in a row just now, and led nowhere
    -1    it is a direction that was blocked in this room, and is not on the list of valid actions
    -1    it was done here twice or more in vain (since it brought points last)
    -0.5  it was done here once in vain (since it brought points last)
    0.5   it brought points here
    1     it is on the list of valid actions
    0     otherwise
    ===== ======================================================================================

    Args:
        action: the command.
        deeds: what was done in this room.
        recent: what was done last, in any room, the latest at the end.
        offered: valid actions, if known.
    """
    key = action_key(action)
    last = recent[-REPEATED:]
    if len(last) == REPEATED and all(action_key(deed.action) == key and not deed.moved for deed in last):
        return CriticVerdict(-1.0, f"it was done {REPEATED} times in a row, and led nowhere")
    same = [deed for deed in deeds if action_key(deed.action) == key]
    paid = [number for number, deed in enumerate(same) if deed.reward > 0]
    vain = [deed for deed in same[paid[-1] + 1 if paid else 0 :] if deed.in_vain]
    is_offered = offered is not None and key in map(action_key, offered)
    if vain and direction_of(key) is not None and not is_offered:
        return CriticVerdict(-1.0, "that way was blocked here before")
    if len(vain) > 1:
        return CriticVerdict(-1.0, f"it was done here {len(vain)} times in vain")
    if vain:
        return CriticVerdict(-0.5, "it was done here before in vain")
    if paid:
        return CriticVerdict(0.5, "it brought points here")
    if is_offered:
        return CriticVerdict(1.0, "it is on the list of valid actions")
    return CriticVerdict(0.0, "nothing is known of it")


def is_rejected(verdict: CriticVerdict, revisits: int) -> bool:
    """Whether the model shall think again: at -1, and already at -0.5 in a state that was there three times before."""
    return verdict.score <= (-0.5 if revisits >= REVISITS else -1.0)


def suggestion(tried: Iterable[str], *, offered: Iterable[str] | None, hinted: Iterable[str] = ()) -> str | None:
    """What could be done instead of an action that was rejected: an action that was not tried in this room.

    The first of the hints that is valid (or may be, when no list is known); else the first valid action; else a
    direction. ``None`` when all was tried.
    """
    known = set(map(action_key, tried))
    valid = None if offered is None else list(offered)
    allowed = None if valid is None else set(map(action_key, valid))
    candidates = [
        *(hint for hint in hinted if allowed is None or action_key(hint) in allowed),
        *(valid or ()),
        *OPPOSITE,
    ]
    return next((action for action in candidates if action_key(action) not in known), None)
