"""Detects loops, standstills and conversations that lead nowhere, by counting."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Final

from worldthread_lab.agents.prompting import shorten
from worldthread_lab.agents.reflact.critic import action_key
from worldthread_lab.agents.reflact.settings import DEFAULT_SETTINGS, ReflActSettings

TALK_VERBS: Final = frozenset({"ask", "tell", "say", "answer", "speak", "talk"})
"""Verbs of conversation."""


class LoopDetector:
    """Counts repeated actions and states, and moves without a change of the score.

    Args:
        settings: the counts from which on there are warnings.

    Attributes:
        moves: the number of actions.
        since_score: moves since the score last changed.
        revisits: earlier visits of the present state of the world; 0 in a world without digests of states.
    """

    def __init__(self, settings: ReflActSettings = DEFAULT_SETTINGS) -> None:
        self.settings = settings
        self.moves = 0
        self.since_score = 0
        self.revisits = 0
        self._score: float | None = None
        self._last: deque[str] = deque(maxlen=max(settings.action_window, settings.hard_loop))
        self._states: Counter[str] = Counter()

    def record(self, action: str | None, score: float, state: str | None) -> None:
        """Record an action and where it led.

        Args:
            action: the action; ``None`` for the beginning.
            score: points so far.
            state: a digest of the state of the world; ``None`` when the world has none.
        """
        if action is not None:
            self.moves += 1
            self._last.append(action_key(action))
            self.since_score = self.since_score + 1 if score == self._score else 0
        self._score = score
        self.revisits = self._states[state] if state is not None else 0
        if state is not None:
            self._states[state] += 1

    @property
    def is_hard_loop(self) -> bool:
        """Whether the last actions were equal, as many as the settings say, and none of them a look."""
        last = list(self._last)[-self.settings.hard_loop :] if self.settings.hard_loop else []
        return len(last) == self.settings.hard_loop > 0 and len(set(last)) == 1 and last[0] != "look"

    def warnings(self) -> list[str]:
        """Return the warnings for the agent, the most urgent last."""
        settings = self.settings
        recent = list(self._last)[-settings.action_window :]
        found = [
            f"{shorten(action, settings.action_limit)!r} was done {times} times in the last {len(recent)} moves."
            for action, times in Counter(recent).items()
            if times >= settings.frequent_action
        ]
        if self.revisits >= settings.loop_revisits:
            found.append(
                f"LOOP: the whole game was in this very state {self.revisits} times before. What you did then led back "
                "here. Do something that you never did in this state."
            )
        elif self.revisits:
            found.append(f"The whole game was in this very state {self.revisits} times before.")
        note, warning, alarm = settings.stuck_moves
        unchanged = f"The score has not changed for {self.since_score} moves."
        if self.since_score >= alarm:
            found.append(
                f"STUCK: {unchanged} Drop the present objective. Take a way that was never taken, open what is "
                "closed, read and examine what was not looked at, use what you carry (a light in the dark), or go far "
                "from here."
            )
        elif self.since_score >= warning:
            found.append(f"Warning: {unchanged} Change the objective, and leave this place.")
        elif self.since_score >= note:
            found.append(f"{unchanged} Think of places that are unexplored.")
        return found


def is_talk(action: str) -> bool:
    """Return whether an action is one of conversation."""
    verb, _, rest = action.casefold().strip().partition(" ")
    # "gnome, tell me ..." is talk, too
    return verb in TALK_VERBS or (verb.endswith(",") and rest.split(" ", 1)[0] in TALK_VERBS)


def talk_is_stalled(
    tried: Iterable[str],
    since_score: int,
    since_check: int | None,
    settings: ReflActSettings = DEFAULT_SETTINGS,
) -> bool:
    """Return whether a conversation leads nowhere and the model should be asked about it.

    Args:
        tried: actions that were tried in this room, repeated ones each time.
        since_score: moves since the score last changed.
        since_check: moves since the model was last asked, in this stay in the room; ``None`` when it was not.
        settings: how much talk and how many moves make a stall.

    Returns:
        Whether to ask the model now.
    """
    if sum(map(is_talk, tried)) < settings.talk_actions or since_score < settings.talk_patience:
        return False
    return since_check is None or since_check >= settings.talk_pause
