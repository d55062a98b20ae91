"""What was done in each room, and a critic that rates what the model wants to do next by rules.

The scores are those that the zorkclaw agent describes, with two differences. An action that led to another room, or
changed what is carried, was not in vain: a corridor may be walked any number of times. And a rejected action is
replaced only where the settings say so: else the model reads the reason, and decides.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from worldthread.support.text import one_line
from worldthread_lab.agents.reflact.settings import DEFAULT_SETTINGS, ReflActSettings
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.vocabulary import OPPOSITE


@dataclass(frozen=True)
class ActionOutcome:
    """An action and its effects.

    Args:
        action: the command.
        text: the answer of the world.
        reward: points that it brought.
        moved: whether it led to another room.
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
        """Whether it had no effect and brought no points."""
        return self.reward <= 0 and not (self.moved or self.gained or self.lost)


@dataclass(frozen=True)
class CriticVerdict:
    """The critic's rating of an action.

    Args:
        score: within [-1, 1].
        reason: why, in a few words.
    """

    score: float
    reason: str


class RoomLog:
    """The outcomes of actions in each room.

    Args:
        settings: how many outcomes are kept of a room.
    """

    def __init__(self, settings: ReflActSettings = DEFAULT_SETTINGS) -> None:
        self._outcomes: defaultdict[str, deque[ActionOutcome]] = defaultdict(
            lambda: deque(maxlen=settings.kept_outcomes)
        )
        self._tried: defaultdict[str, list[str]] = defaultdict(list)

    def record(self, room: str, outcome: ActionOutcome) -> None:
        """Record what was done in a room."""
        self._outcomes[room].append(outcome)
        if action_key(outcome.action) not in map(action_key, self._tried[room]):
            self._tried[room].append(outcome.action)

    def outcomes(self, room: str) -> tuple[ActionOutcome, ...]:
        """Return the last outcomes of actions in a room, the oldest first."""
        return tuple(self._outcomes[room])

    def tried(self, room: str) -> tuple[str, ...]:
        """Return every action that was tried in a room, once, in the order of the first trial."""
        return tuple(self._tried[room])


def action_key(action: str) -> str:
    """Return the key by which actions are compared: no case, single spaces, one word for each direction."""
    key = one_line(action.casefold())
    return direction_of(key) or key


def judge(
    action: str,
    outcomes: Sequence[ActionOutcome],
    *,
    recent: Sequence[ActionOutcome] = (),
    offered: Iterable[str] | None = None,
    settings: ReflActSettings = DEFAULT_SETTINGS,
) -> CriticVerdict:
    """Rate an action; the first rule that applies decides.

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
        outcomes: what was done in this room, the oldest first.
        recent: what was done last, in any room, the latest last.
        offered: the valid actions; ``None`` when they are not known.
        settings: how many repeats in a row are too many.

    Returns:
        The score of the table, and the rule in words.
    """
    repeats = settings.max_repeats
    key = action_key(action)
    last = recent[-repeats:]
    if len(last) == repeats and all(action_key(one.action) == key and not one.moved for one in last):
        return CriticVerdict(-1.0, f"it was done {repeats} times in a row, and led nowhere")
    same = [one for one in outcomes if action_key(one.action) == key]
    paid = [number for number, one in enumerate(same) if one.reward > 0]
    vain = [one for one in same[paid[-1] + 1 if paid else 0 :] if one.in_vain]
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


def is_rejected(verdict: CriticVerdict, revisits: int, settings: ReflActSettings = DEFAULT_SETTINGS) -> bool:
    """Return whether the model has to choose again: at -1, in a loop of states already at -0.5.

    Args:
        verdict: the rating of the action.
        revisits: earlier visits of the present state.
        settings: how many revisits make a loop.

    Returns:
        Whether the action is rejected.
    """
    return verdict.score <= (-0.5 if revisits >= settings.loop_revisits else -1.0)


def suggestion(tried: Iterable[str], *, offered: Iterable[str] | None, hinted: Iterable[str] = ()) -> str | None:
    """Suggest an action that was not tried in this room, in place of a rejected one.

    Args:
        tried: actions that were tried in this room.
        offered: the valid actions; ``None`` when they are not known.
        hinted: actions worth trying, the best first.

    Returns:
        The first hint that is valid (or may be, when no list is known); else the first valid action; else a direction.
        ``None`` when all were tried.
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
