"""The interface of a world: Gymnasium's, with text as observation.

An agent receives the results of :meth:`Environment.reset` and :meth:`Environment.step`, never the environment itself:
:meth:`Environment.truth` is for audits only. All results are plain immutable data without a reference to the world.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from worldthread.errors import EpisodeOverError, InputError

Proposition: TypeAlias = tuple[str, ...]
"""A ground proposition of the true state: the predicate, then the names of its arguments as the game prints them, such
as ``("in", "Key 2", "White locker")``. The player is ``"P"``, the inventory is ``"I"``."""

ONE_ACTION_AT_A_TIME = "One action at a time: the line holds several, and none was passed on."
"""Observation of worlds with an engine when an action consists of several commands."""
ENGINE_COMMAND = "That is a command to the game's engine, not an action in its world; it was not passed on."
"""Observation of worlds with an engine when an action is a command to the engine, such as saving the game."""
NO_OUTPUT = "The game says nothing."
"""Observation of worlds with an engine when the engine prints nothing."""


@dataclass(frozen=True)
class Info:
    """What ``reset`` and every ``step`` return beside the observation.

    Args:
        score: points so far.
        max_score: the largest possible score; ``None`` when the world does not state it.
        valid_actions: actions that the world offers in this state, sorted; ``None`` when it offers no list. The list
            may be incomplete: an action that is not in it can still be valid.
        inventory: the text of the inventory; ``None`` when the world does not state it.
        goal: the task in words; empty when the world states none.
        moves: primitive steps taken since ``reset``.
        won: whether the task is done.
        lost: whether the task can no longer be done.
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
        propositions: every proposition that holds now.
        walkthrough: commands that win from the start; empty when unknown.
        optimal_moves: the smallest number of moves with which a player who knows the world wins from the start;
            ``None`` when unknown.
    """

    propositions: frozenset[Proposition]
    walkthrough: tuple[str, ...] = ()
    optimal_moves: int | None = None


class Environment(ABC):
    """A text world: call :meth:`reset`, then :meth:`step` until an episode is terminated or truncated.

    Use it as a context manager, or call :meth:`close`. :func:`worldthread_lab.envs.check.check_env` checks an
    implementation.
    """

    id: str
    """The versioned id with which :func:`worldthread_lab.envs.make` created the world, such as ``treasure-hunt-v1``."""
    lists_all_actions: ClassVar[bool] = True
    """Whether ``Info.valid_actions``, where there is a list, holds nearly every action that the world accepts."""
    is_stochastic: bool = False
    """Whether random events differ after each :meth:`reset`, also with the same seed. The world is the same one, and
    two environments with one seed that get the same calls in the same order give the same results."""

    @abstractmethod
    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        """Start a new episode. May be called at any time.

        Args:
            seed: generated worlds build the game from it; worlds from a file seed the engine's random generator with
                it. The same seed gives the same world. ``None`` takes the seed that was passed to ``make``.

        Returns:
            The first observation and its info, with ``info.moves == 0``.
        """

    @abstractmethod
    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        """Perform one primitive action.

        Args:
            action: a non-empty single line of text. It need not be one of ``Info.valid_actions``.

        Returns:
            observation, reward, terminated, truncated and info. The reward is the change of the score in this step.
            ``terminated``: the world has ended the episode; ``truncated``: the limit of moves has; never both.

        Raises:
            EpisodeOverError: before ``reset``, or after the end of the episode.
            InputError: ``action`` is not a non-empty single line of text. It costs no move.
        """

    @abstractmethod
    def truth(self) -> Truth:
        """Return the true state, which is for audits and tests and never for an agent.

        Returns:
            The propositions that hold now, with the walkthrough of the episode where it is known.

        Raises:
            EpisodeOverError: before ``reset``.
        """

    def close(self) -> None:  # noqa: B027 - optional: most worlds hold nothing to release
        """Release the engine. Safe to call twice."""

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class RestorableEnvironment(Environment):
    """A world that can return to a saved state at once; other worlds have to replay the moves."""

    @abstractmethod
    def save(self) -> bytes:
        """Save the current state, including the state of the random generator. Works after the end of an episode too.

        Returns:
            The state in a format of the environment's own, for :meth:`restore`.

        Raises:
            EpisodeOverError: before ``reset``.
        """

    @abstractmethod
    def restore(self, saved: bytes) -> tuple[str, Info]:
        """Return to a saved state. The same actions then give the same results as after :meth:`save`.

        Args:
            saved: what :meth:`save` of this environment object returned. Can be restored any number of times.

        Returns:
            The observation and the info of the saved state.

        Raises:
            InputError: ``saved`` is not a state of this environment.
        """


def require_running(running: bool, was_reset: bool) -> None:
    """Raise an error unless an episode is running.

    Args:
        running: whether a step is possible.
        was_reset: whether ``reset`` was called before; decides between the two messages.

    Raises:
        EpisodeOverError: the game has ended or has not begun.
    """
    if not running:
        raise EpisodeOverError(
            "the game is over: call reset() to play again"
            if was_reset
            else "the game has not begun: call reset() first"
        )


def require_action(action: object) -> None:
    """Raise an error unless ``action`` is a non-empty single line of text.

    Args:
        action: what was passed to ``step``.

    Raises:
        InputError: ``action`` is not a string, is blank, or contains a line break or another control character.
    """
    if not isinstance(action, str):
        raise InputError(f"an action must be a string, not {type(action).__name__}")
    if not action.strip():
        raise InputError("an action must not be empty")
    for character in action:
        # Cc: line breaks and other control characters; Cs: lone surrogates, which no engine can read
        if (unicodedata.category(character) in ("Cc", "Cs") and character != "\t") or character in "\u2028\u2029":
            raise InputError(f"an action must be a single line of text, but {action!r} contains {character!r}")
