"""Whether an agent is going in circles, is stuck, or talks in vain: counted, without a model."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Final

from worldthread.agents.prompting import shorten
from worldthread.agents.reflact.critic import REVISITS, action_key

FREQUENT: Final = 4
"""So often among the last :data:`WINDOW` actions is too often."""
WINDOW: Final = 10
STUCK: Final = (10, 20, 30)
"""Moves without a change of the score after which a warning becomes more urgent."""
ACTION_LIMIT: Final = 120
TALK_VERBS: Final = frozenset({"ask", "tell", "say", "answer", "speak", "talk"})
TALKS: Final = 5
"""So many actions of talk in a room, and :data:`TALK_PATIENCE` moves without a change of the score, are a stall."""
TALK_PATIENCE: Final = 10
TALK_PAUSE: Final = 5
"""Moves between two looks at the same stall, at least."""


class LoopDetector:
    """Counts what repeats.

    Attributes:
        moves: actions that were done.
        since_score: moves since the score changed last.
        revisits: how often the present state of the world was there before; 0 in a world without digests of states.
    """

    def __init__(self) -> None:
        self.moves = 0
        self.since_score = 0
        self.revisits = 0
        self._score: float | None = None
        self._last: deque[str] = deque(maxlen=WINDOW)
        self._states: Counter[str] = Counter()

    def see(self, action: str | None, score: float, state: str | None) -> None:
        """Take in what an action led to; ``None`` for the beginning."""
        if action is not None:
            self.moves += 1
            self._last.append(action_key(action))
            self.since_score = self.since_score + 1 if score == self._score else 0
        self._score = score
        self.revisits = self._states[state] if state is not None else 0
        if state is not None:
            self._states[state] += 1

    def warnings(self) -> list[str]:
        """What the agent should be told, the most urgent last."""
        found = [
            f"{shorten(action, ACTION_LIMIT)!r} was done {times} times in the last {len(self._last)} moves."
            for action, times in Counter(self._last).items()
            if times >= FREQUENT
        ]
        if self.revisits >= REVISITS:
            found.append(
                f"LOOP: the whole game was in this very state {self.revisits} times before. What you did then led back "
                "here. Do something that you never did in this state."
            )
        elif self.revisits:
            found.append(f"The whole game was in this very state {self.revisits} times before.")
        note, warning, alarm = STUCK
        told = f"The score has not changed for {self.since_score} moves."
        if self.since_score >= alarm:
            found.append(
                f"STUCK: {told} Drop the present objective. Take a way that was never taken, open what is closed, read "
                "and examine what was not looked at, use what you carry (a light in the dark), or go far from here."
            )
        elif self.since_score >= warning:
            found.append(f"Warning: {told} Change the objective, and leave this place.")
        elif self.since_score >= note:
            found.append(f"{told} Think of places that are unexplored.")
        return found


def is_talk(action: str) -> bool:
    """Whether an action is one of conversation."""
    verb, _, rest = action.casefold().strip().partition(" ")
    # "gnome, tell me ..." speaks to somebody too
    return verb in TALK_VERBS or (verb.endswith(",") and rest.split(" ", 1)[0] in TALK_VERBS)


def talk_is_stalled(tried: Iterable[str], since_score: int, since_look: int | None) -> bool:
    """Whether it is time to think about a conversation that leads nowhere.

    Args:
        tried: actions that were tried in this room, each counted as often as it occurs.
        since_score: moves since the score changed last.
        since_look: moves since this was thought about last, in this stay in the room; ``None``: it was not.
    """
    talks = sum(map(is_talk, tried))
    return talks >= TALKS and since_score >= TALK_PATIENCE and (since_look is None or since_look >= TALK_PAUSE)
