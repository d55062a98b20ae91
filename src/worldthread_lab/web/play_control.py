"""The control of a play: it pauses and resumes the play, and lets a person decide instead of the agent."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from worldthread.errors import InputError
from worldthread_lab.agents import Decision

LONGEST_ACTION: Final = 1000
"""The most characters of a move."""
_MAX_QUEUED: Final = 20  # moves that were typed and not made yet
BY_HAND: Final = "by hand"
"""The reason of a decision that a person made instead of the agent."""


class Stopped(Exception):
    """Ends the play; it can be resumed later."""


class PlayControl:
    """Controls one play: the thread that plays waits here, and other threads change the settings.

    Args:
        delay: seconds between moves of an agent.
        by_hand: whether a person decides from the beginning.
        on_change: called, in any thread, after a change of a setting or of ``is_asking``.

    Attributes:
        delay: seconds between moves of an agent.
        by_hand: whether a person decides.
        is_paused: whether the agent makes no further moves.
        is_asking: whether the play waits for a person.
    """

    def __init__(self, *, delay: float, by_hand: bool, on_change: Callable[[], None]) -> None:
        self._changed = threading.Condition()
        self._on_change = on_change
        self._typed: deque[str | None] = deque()  # None: an end of the input
        self._steps = 0
        self._is_stopped = False
        self.delay = delay
        self.by_hand = by_hand
        self.is_paused = False
        self.is_asking = False

    # -- called by people ---------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Make no further moves."""
        self._set(is_paused=True)

    def resume(self) -> None:
        """Continue to make moves."""
        self._set(is_paused=False)

    def step(self) -> None:
        """Make one move, and pause."""
        with self._changed:
            self._steps += 1
        self._set(is_paused=True)

    def set_delay(self, delay: float) -> None:
        """Set the number of seconds between moves."""
        self._set(delay=delay)

    def take_over(self) -> None:
        """Let a person decide from now on."""
        self._set(by_hand=True)

    def hand_back(self) -> None:
        """Let the agent decide again."""
        self._set(by_hand=False)

    def type_line(self, line: str | None) -> None:
        """Queue a move of a person.

        Args:
            line: the move; ``None`` ends the input.

        Raises:
            InputError: this is not a move, the agent decides, or too many moves are queued.
        """
        if line is not None and (not line.strip() or len(line) > LONGEST_ACTION or not line.isprintable()):
            raise InputError(f"a move is one line of 1 to {LONGEST_ACTION} characters")
        with self._changed:
            if not self.by_hand:
                raise InputError("the agent plays: take over first")
            if len(self._typed) >= _MAX_QUEUED:
                raise InputError(f"{_MAX_QUEUED} moves are waiting already")
            self._typed.append(line)
            self._changed.notify_all()

    def stop(self) -> None:
        """End the play at the next opportunity."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def _set(self, **settings: bool | float) -> None:
        with self._changed:
            for name, value in settings.items():
                setattr(self, name, value)
            self._changed.notify_all()
        self._on_change()

    # -- called by the play -------------------------------------------------------------------------------------------

    def wait(self) -> None:
        """Wait until the next decision is due.

        Raises:
            Stopped: the play was stopped.
        """
        start = time.monotonic()
        with self._changed:
            while not self.by_hand:
                self._require_not_stopped()
                left = start + self.delay - time.monotonic()
                if self.is_paused:
                    if self._steps:
                        self._steps -= 1
                        return
                    self._changed.wait()
                elif left <= 0:
                    return
                else:
                    self._changed.wait(left)
            self._require_not_stopped()

    def next_line(self) -> str | None:
        """Wait for the next move of a person.

        Returns:
            The move; ``None`` if the agent decides.

        Raises:
            EOFError: the input has ended.
            Stopped: the play was stopped.
        """
        self._set_asking(True)
        try:
            with self._changed:
                while not self._typed:
                    self._require_not_stopped()
                    if not self.by_hand:
                        return None
                    self._changed.wait()
                typed = self._typed.popleft()
        finally:
            self._set_asking(False)
        if typed is None:
            raise EOFError
        return typed

    def decide(self, agent: Callable[[], Decision]) -> Decision:
        """Return the decision of the person or of the agent, as the settings say.

        Args:
            agent: returns the decision of the agent.

        Returns:
            The decision.

        Raises:
            Stopped: the play was stopped.
        """
        while self.by_hand:
            try:
                line = self.next_line()
            except EOFError:
                return Decision("", BY_HAND, finished=True)
            if line is not None:
                return Decision(line.strip(), BY_HAND)
        return agent()

    def _set_asking(self, is_asking: bool) -> None:
        self.is_asking = is_asking
        self._on_change()

    def _require_not_stopped(self) -> None:
        if self._is_stopped:
            raise Stopped
