"""Replay of the actions in the published logs of AriGraph's agent on the game files.

Beside the log, each step has the game's own text and the true state. A "go to" of the log is played as single moves
through the rooms that it lists. The text of every step, and of every room on the path, is compared with the logged one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from worldthread.errors import FormatError
from worldthread_lab.arigraph.plan import GO_TO
from worldthread_lab.bench.arigraph.log_texts import LoggedStep
from worldthread_lab.envs.base import Environment, Info, Truth
from worldthread_lab.envs.textworld import clean_feedback
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.vocabulary import OPPOSITE

LOST_ACTION: Final = "look"
"""The action of the published agent when its model's answer contained none."""

_HEADING: Final = re.compile(r"-= ([^=\n]+) =-")
_COUNTER: Final = re.compile(r"\A\s*(?:(?:Game )?step\b[ #:]*\d+)?\s*\$?", re.IGNORECASE)
_NUMBER_SIGN: Final = re.compile(r"#\d+")
_COOKING: Final = re.compile(r"(?:fry|roast|grill) (?P<rest>.+)")


@dataclass(frozen=True)
class ReplayedStep:
    """A step of a log with the state of the world at that time.

    Args:
        logged: the step in the log.
        text: text of the game.
        task: text that the log adds to the game's first text; empty in all other steps.
        action: previous action, as sent to the game ("go to" as in the log); ``None`` in the first step.
        moves: number of single moves so far.
        info: information of the environment beside the text.
        truth: the true state.
        agrees: whether the log has the same text, compared by letters and digits.
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
    """The replay of the actions of one attempt: iterate over it, then read the attributes.

    Args:
        env: the game of the attempt; it is reset, not closed.
        steps: steps of the attempt, in order.

    Attributes:
        info: information of the environment after the last action.
        moves: number of single moves.
        differing: (step, logged text, text of the game) of all differences, including rooms on the path.
        unplayed: numbers of the steps whose action was not played because the game was over.
    """

    env: Environment
    steps: Sequence[LoggedStep]
    info: Info = field(default_factory=Info, init=False)
    moves: int = field(default=0, init=False)
    differing: list[tuple[int, str, str]] = field(default_factory=list, init=False)
    unplayed: list[int] = field(default_factory=list, init=False)
    _room: str = field(default="", init=False)
    _exits: dict[str, dict[str, str]] = field(default_factory=dict, init=False)
    _over: bool = field(default=False, init=False)

    @property
    def is_won(self) -> bool:
        """Whether the replay reached the maximum score."""
        return self.info.max_score is not None and self.info.score >= self.info.max_score

    def __iter__(self) -> Iterator[ReplayedStep]:
        """Replay the steps.

        Yields:
            Each step with the state of the world before its action.

        Raises:
            FormatError: a "go to" connects two rooms between which the agent has not moved before.
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
                text = self._go_to(step, text)
            else:
                action = game_command(action)
                text = self._move(action)

    def _go_to(self, step: LoggedStep, text: str) -> str:
        """Return the text after a "go to"; without logged rooms, the agent's program refused it, in its own words."""
        if not step.navigation:
            following = next((s for s in self.steps if s.step > step.step), None)
            return text if following is None else _COUNTER.sub("", clean_feedback(following.observation))
        for logged in step.navigation:
            there = _letters(_room_of(logged))
            exits = self._exits.get(_letters(self._room), {})
            direction = next((exit_ for exit_, room in exits.items() if room == there), None)
            if direction is None:
                raise FormatError(
                    f"{step.run}, attempt {step.attempt}, step {step.step}: {step.action_taken!r} passes from "
                    f"{self._room!r} to {_room_of(logged)!r}, but the agent has not moved between the two before"
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
            self._exits.setdefault(_letters(before), {})[direction] = _letters(self._room)
            self._exits.setdefault(_letters(self._room), {})[OPPOSITE[direction]] = _letters(before)
        return text

    def _compare(self, step: LoggedStep, logged: str, text: str) -> bool:
        agrees = _letters(logged) == _letters(text)
        if not agrees:
            self.differing.append((step.step, logged, text))
        return agrees


def game_command(action: str) -> str:
    """Return an action as the game accepts it: the logs contain "roast X with oven" for "cook X with oven"."""
    match = _COOKING.fullmatch(action)
    return f"cook {match['rest']}" if match else action


def _room_of(text: str) -> str:
    """Return the last heading of a text; empty without a heading."""
    headings = _HEADING.findall(text)
    return headings[-1].strip() if headings else ""


def _letters(text: str) -> str:
    """Return letters and digits in lower case, without numbers such as that of "Recipe #1", which the logs omit."""
    return "".join(filter(str.isalnum, _NUMBER_SIGN.sub("", text).casefold()))


def _added(text: str, logged: str) -> str:
    """Return the part of ``logged`` after the letters of ``text``; empty if it does not begin with them."""
    remaining = _letters(text)
    if not _letters(logged).startswith(remaining):
        return ""
    for position, character in enumerate(logged):
        if not remaining and character.isalnum():
            return logged[position:]
        remaining = remaining.removeprefix(_letters(character))
    return ""
