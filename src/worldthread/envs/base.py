"""The contract of a world, in Gymnasium's shape, with text as observation.

An agent is handed the results of :meth:`Environment.reset` and :meth:`Environment.step` and never the environment:
:meth:`Environment.truth` is for audits only. Everything handed over is plain immutable data without a way back.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

from worldthread.errors import EpisodeOverError, InputError

Proposition: TypeAlias = tuple[str, ...]
"""A ground proposition of the true state: predicate, then the names of its arguments as the game prints them,
such as ``("in", "Key 2", "White locker")``. The player is ``"P"``, the inventory ``"I"``."""


@dataclass(frozen=True)
class Info:
    """What a world tells beside the observation, after ``reset`` and after every ``step``.

    Args:
        score: points so far.
        max_score: points that can be reached; ``None`` when the world does not say.
        valid_actions: actions that the world offers in this state, sorted; ``None`` when it offers no list. A list may
            be incomplete: an absent action can still be valid.
        inventory: the text of the inventory; ``None`` when the world does not say.
        goal: the task in words; empty when the world states none.
        moves: primitive steps taken since ``reset``.
        won: the world says that the task is done.
        lost: the world says that the task can no longer be done.
        state: a digest of the whole state of the world, equal for equal states only; ``None`` when the world has none.
    """

    score: float = 0
    max_score: float | None = None
    valid_actions: tuple[str, ...] | None = None
    inventory: str | None = None
    goal: str = ""
    moves: int = 0
    won: bool = False
    lost: bool = False
    state: str | None = None


@dataclass(frozen=True)
class Truth:
    """The true state of the world, for audits.

    Args:
        propositions: everything that is so now.
        walkthrough: commands that win from the start, if known; else empty.
        optimal_moves: the smallest number of moves that wins from the start for a player who knows the world, if known.
    """

    propositions: frozenset[Proposition]
    walkthrough: tuple[str, ...] = ()
    optimal_moves: int | None = None


class Environment(ABC):
    """A text world. ``reset`` first; then ``step`` until ``terminated`` or ``truncated``.

    Use as a context manager, or call :meth:`close`.
    """

    id: str
    """The versioned id by which :func:`worldthread.envs.make` made it, such as ``treasure-hunt-v1``."""

    @abstractmethod
    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        """Begin anew. Worlds that are generated use ``seed`` to make the game (``None``: the seed given to ``make``);
        worlds from a file use it for the engine's chance. The same seed gives the same world.
        """

    @abstractmethod
    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        """Do one primitive action: observation, reward of this step, terminated, truncated, info.

        Raises:
            EpisodeOverError: before ``reset``, or after the end.
            InputError: ``action`` is not a non-empty single line of text.
        """

    @abstractmethod
    def truth(self) -> Truth:
        """The true state, privileged: for audits and tests, never for an agent."""

    def close(self) -> None:  # noqa: B027 - optional: most worlds hold nothing to release
        """Release the engine. Safe to call twice."""

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class RestorableEnvironment(Environment):
    """A world that can go back to an earlier state at once. Every other world gets there by playing the moves again."""

    @abstractmethod
    def save(self) -> bytes:
        """The state as it is now, with the chance that is to come; also after the end.

        Raises:
            EpisodeOverError: before ``reset``.
        """

    @abstractmethod
    def restore(self, saved: bytes) -> tuple[str, Info]:
        """Go back to a state that this very environment saved since it was made: what was told then.

        Raises:
            InputError: ``saved`` is not from here.
        """


def require_running(running: bool, was_reset: bool) -> None:
    """Refuse a step when the game does not run.

    Raises:
        EpisodeOverError: saying whether the game has ended or has not begun.
    """
    if not running:
        raise EpisodeOverError(
            "the game is over: call reset() to play again"
            if was_reset
            else "the game has not begun: call reset() first"
        )


def require_action(action: object) -> None:
    """Refuse what is not a non-empty single line of text.

    Raises:
        InputError: saying what is wrong.
    """
    if not isinstance(action, str):
        raise InputError(f"an action must be a string, not {type(action).__name__}")
    if not action.strip():
        raise InputError("an action must not be empty")
    for character in action:
        # Cc: line breaks and other control characters; Cs: halves of surrogate pairs, which no engine can read
        if (unicodedata.category(character) in ("Cc", "Cs") and character != "\t") or character in "\u2028\u2029":
            raise InputError(f"an action must be a single line of text, but {action!r} contains {character!r}")
