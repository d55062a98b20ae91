"""Replay of the published logs of AriGraph's agent on the game files: its actions, move by move.

What a step holds besides the log is the world itself: the game's own text and the true state when the agent saw it. A
"go to" of the log is played as the single moves that its rooms tell; the text of every step, and of every room on the
way, is compared with the logged one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from worldthread.bench.arigraph.log_texts import LoggedStep
from worldthread.envs.base import Environment, Info, Truth
from worldthread.envs.textworld import clean_feedback
from worldthread.errors import FormatError
from worldthread.extract.arigraph.plan import GO_TO
from worldthread.extract.game.commands import direction_of
from worldthread.extract.game.vocabulary import OPPOSITE

LOST_ACTION: Final = "look"
"""What the published agent did when no action could be read from its model's answer."""

_HEADING: Final = re.compile(r"-= ([^=\n]+) =-")
_COUNTER: Final = re.compile(r"\A\s*(?:(?:Game )?step\b[ #:]*\d+)?\s*\$?", re.IGNORECASE)
_NUMBER_SIGN: Final = re.compile(r"#\d+")
_COOKING: Final = re.compile(r"(?:fry|roast|grill) (?P<rest>.+)")


@dataclass(frozen=True)
class ReplayedStep:
    """One step of a log, with the world as it was then.

    Args:
        logged: what the log holds.
        text: what the game says, with what the log adds to it in the first step cut off.
        task: what the log adds to the game's first text; empty in all other steps.
        action: what the agent did before, as the game was told ("go to" as in the log); ``None`` in the first step.
        moves: single moves made so far.
        info: what the world tells beside the text.
        truth: the true state.
        agrees: the log has the same text, by letters and digits.
    """

    logged: LoggedStep
    text: str
    task: str
    action: str | None
    moves: int
    info: Info
    truth: Truth
    agrees: bool


@dataclass
class ActionReplay:
    """The actions of one attempt, played again: iterate over it, then read the rest.

    Args:
        env: the game that was played; it is reset, not closed.
        steps: of the attempt, in order.

    Attributes:
        info: what the world told last, after the last action of the log.
        moves: single moves made.
        differing: (step, logged text, text of the game) where they differ, rooms on the way included.
        unplayed: steps whose action was not played, because the game was over.
    """

    env: Environment
    steps: Sequence[LoggedStep]
    info: Info = field(default_factory=Info, init=False)
    moves: int = field(default=0, init=False)
    differing: list[tuple[int, str, str]] = field(default_factory=list, init=False)
    unplayed: list[int] = field(default_factory=list, init=False)
    _room: str = field(default="", init=False)
    _ways: dict[str, dict[str, str]] = field(default_factory=dict, init=False)
    _over: bool = field(default=False, init=False)

    @property
    def is_won(self) -> bool:
        """Whether the whole score was reached."""
        return self.info.max_score is not None and self.info.score >= self.info.max_score

    def __iter__(self) -> Iterator[ReplayedStep]:
        """The steps, each with the world before its own action.

        Raises:
            FormatError: a "go to" passes between two rooms that the agent had not gone between.
        """
        text, self.info = self.env.reset()
        self._room = _room_of(text)
        action: str | None = None
        for number, step in enumerate(self.steps):
            logged = _COUNTER.sub("", clean_feedback(step.observation))
            task = _added(text, logged) if number == 0 else ""
            agrees = self._compare(step, logged.removesuffix(task) if task else logged, text)
            yield ReplayedStep(step, text, task, action, self.moves, self.info, self.env.truth(), agrees)
            if self._over:
                self.unplayed.append(step.step)
                continue
            action = step.action_taken or LOST_ACTION
            if action.startswith(GO_TO):
                text = self._walk(step, text)
            else:
                action = spoken(action)
                text = self._move(action)

    def _walk(self, step: LoggedStep, text: str) -> str:
        """The text after a "go to"; without logged rooms the agent's own program refused it, in its own words."""
        if not step.navigation:
            following = next((s for s in self.steps if s.step > step.step), None)
            return text if following is None else _COUNTER.sub("", clean_feedback(following.observation))
        for logged in step.navigation:
            there = _letters(_room_of(logged))
            ways = self._ways.get(_letters(self._room), {})
            direction = next((way for way, room in ways.items() if room == there), None)
            if direction is None:
                raise FormatError(
                    f"{step.run}, attempt {step.attempt}, step {step.step}: {step.action_taken!r} passes from "
                    f"{self._room!r} to {_room_of(logged)!r}, and no move between the two was made before"
                )
            text = self._move(f"go {direction}")
            self._compare(step, clean_feedback(logged), text)
        return text

    def _move(self, action: str) -> str:
        text, _, terminated, truncated, self.info = self.env.step(action)
        self.moves += 1
        self._over = terminated or truncated
        before, direction = self._room, direction_of(action)
        self._room = _room_of(text) or before
        if direction is not None and self._room != before:
            self._ways.setdefault(_letters(before), {})[direction] = _letters(self._room)
            self._ways.setdefault(_letters(self._room), {})[OPPOSITE[direction]] = _letters(before)
        return text

    def _compare(self, step: LoggedStep, logged: str, text: str) -> bool:
        agrees = _letters(logged) == _letters(text)
        if not agrees:
            self.differing.append((step.step, logged, text))
        return agrees


def spoken(action: str) -> str:
    """An action as the game takes it: the logs show "cook X with oven" as "roast X with oven", and the like."""
    match = _COOKING.fullmatch(action)
    return f"cook {match['rest']}" if match else action


def _room_of(text: str) -> str:
    """The last heading of a text; empty without one."""
    headings = _HEADING.findall(text)
    return headings[-1].strip() if headings else ""


def _letters(text: str) -> str:
    """Letters and digits, in lower case. The logs leave the number out of "Recipe #1"."""
    return "".join(filter(str.isalnum, _NUMBER_SIGN.sub("", text).casefold()))


def _added(text: str, logged: str) -> str:
    """What stands in ``logged`` behind the letters of ``text``; nothing when it does not begin with them."""
    left = _letters(text)
    if not _letters(logged).startswith(left):
        return ""
    for position, character in enumerate(logged):
        if not left and character.isalnum():
            return logged[position:]
        left = left.removeprefix(_letters(character))
    return ""
