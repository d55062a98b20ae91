"""The wheel of a play: it lets the play go on, holds it, and hands its decisions to a person."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from worldthread.agents import Decision
from worldthread.errors import InputError

LONGEST_ACTION: Final = 1000
"""Characters of a move."""
_MOST_WAITING: Final = 20  # moves that were typed and not made yet
BY_HAND: Final = "by hand"
"""The reason of a decision that a person made in an agent's place."""


class Stopped(Exception):
    """The play is to end here; it can go on another time."""


class PlayControl:
    """One thread plays and waits here; others turn the wheel.

    Args:
        delay: seconds between moves of an agent.
        by_hand: whether a person decides from the beginning.
        on_change: called, in any thread, when the wheel was turned or a person is waited for.
    """

    def __init__(self, *, delay: float, by_hand: bool, on_change: Callable[[], None]) -> None:
        self._turned = threading.Condition()
        self._on_change = on_change
        self._typed: deque[str | None] = deque()  # None: an end of the input
        self._steps = 0
        self._is_stopped = False
        self.delay = delay
        self.by_hand = by_hand
        self.is_held = False
        self.is_asking = False
        """Whether a person is waited for."""

    # -- turned by people ---------------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Make no further move."""
        self._turn(is_held=True)

    def go_on(self) -> None:
        """Move on."""
        self._turn(is_held=False)

    def step(self) -> None:
        """Make one move, and hold."""
        with self._turned:
            self._steps += 1
        self._turn(is_held=True)

    def slow(self, delay: float) -> None:
        """Make moves this many seconds apart."""
        self._turn(delay=delay)

    def take(self) -> None:
        """A person decides from now on."""
        self._turn(by_hand=True)

    def give_back(self) -> None:
        """The agent decides again."""
        self._turn(by_hand=False)

    def type(self, line: str | None) -> None:
        """A person types a move; ``None`` ends the input.

        Raises:
            InputError: it is no move, or nobody is asked.
        """
        if line is not None and (not line.strip() or len(line) > LONGEST_ACTION or not line.isprintable()):
            raise InputError(f"a move is one line of 1 to {LONGEST_ACTION} characters")
        with self._turned:
            if not self.by_hand:
                raise InputError("the agent plays: take over first")
            if len(self._typed) >= _MOST_WAITING:
                raise InputError("too many moves wait to be made")
            self._typed.append(line)
            self._turned.notify_all()

    def stop(self) -> None:
        """End the play at the next chance."""
        with self._turned:
            self._is_stopped = True
            self._turned.notify_all()

    def _turn(self, **settings: bool | float) -> None:
        with self._turned:
            for name, value in settings.items():
                setattr(self, name, value)
            self._turned.notify_all()
        self._on_change()

    # -- waited for by the play ---------------------------------------------------------------------------------------

    def wait(self) -> None:
        """Wait for as long as the wheel says before the next decision.

        Raises:
            Stopped: the play is to end.
        """
        begun = time.monotonic()
        with self._turned:
            while not self.by_hand:
                self._require_going()
                left = begun + self.delay - time.monotonic()
                if self.is_held:
                    if self._steps:
                        self._steps -= 1
                        return
                    self._turned.wait()
                elif left <= 0:
                    return
                else:
                    self._turned.wait(left)
            self._require_going()

    def line(self) -> str | None:
        """What a person types next; ``None`` when the agent is to decide.

        Raises:
            EOFError: the input is at its end.
            Stopped: the play is to end.
        """
        self._ask(True)
        try:
            with self._turned:
                while not self._typed:
                    self._require_going()
                    if not self.by_hand:
                        return None
                    self._turned.wait()
                typed = self._typed.popleft()
        finally:
            self._ask(False)
        if typed is None:
            raise EOFError
        return typed

    def decide(self, agent: Callable[[], Decision]) -> Decision:
        """The decision of the person, or of the agent.

        Raises:
            Stopped: the play is to end.
        """
        while self.by_hand:
            try:
                line = self.line()
            except EOFError:
                return Decision("", BY_HAND, finished=True)
            if line is not None:
                return Decision(line.strip(), BY_HAND)
        return agent()

    def _ask(self, asking: bool) -> None:
        self.is_asking = asking
        self._on_change()

    def _require_going(self) -> None:
        if self._is_stopped:
            raise Stopped
