"""Lessons from what went wrong, after Reflexion (Shinn et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from worldthread.agents.memory_modules.base import (
    MAX_CHARACTERS,
    MemoryModule,
    ModuleContext,
    ObservedStep,
    Situation,
    joined,
    listed,
    prompt,
    told_all,
)
from worldthread.errors import InputError


class ReflexionModule(MemoryModule):
    """All moves of this attempt, and lessons that the model drew.

    A lesson is drawn from every attempt that was given up by coming back to an earlier moment, as in the paper, and
    within an attempt after every ``period`` moves (as a play with one attempt needs): one call each ("reflect").
    Lessons outlive the attempt; of them the last ``lessons`` are recalled (the paper keeps one to three).

    Args:
        means: asks the model.
        period: moves between two lessons of one attempt, at least 1.
        lessons: how many are recalled, at least 1.
        max_characters: length of the moves, in a prompt as in what is recalled; the first ones are left out.

    Raises:
        InputError: a number is below 1.
    """

    name: ClassVar[str] = "reflexion"

    def __init__(
        self, means: ModuleContext, *, period: int = 15, lessons: int = 3, max_characters: int = MAX_CHARACTERS
    ) -> None:
        super().__init__(means)
        if period < 1 or lessons < 1:
            raise InputError(f"period and lessons must be at least 1, not {period} and {lessons}")
        self._period = period
        self._kept = lessons
        self._max_characters = max_characters
        self.lessons: list[str] = []
        """All that were drawn, the oldest first."""
        self._reflected: int = 0  # moment up to which this attempt was thought over
        self._given_up: list[tuple[ObservedStep, ...]] = []

    def _came_back(self, left: Sequence[ObservedStep]) -> None:
        self._given_up.append(tuple(left))
        self._reflected = self.way[-1].percept.moment

    def recall(self, situation: Situation) -> str:
        given_up, self._given_up = self._given_up, []
        for attempt in given_up:
            self._reflect(situation, attempt, "The attempt was given up; the player goes on from an earlier moment.")
        since = [seen for seen in self.way if seen.percept.moment > self._reflected]
        if len(since) >= self._period:
            self._reflected = self.way[-1].percept.moment
            self._reflect(situation, self.way, "The attempt goes on from here.")
        shown = {episode.id for episode in situation.shown}
        past = [seen.episode for seen in self.way if seen.episode.id not in shown]
        return joined(
            listed("Lessons drawn so far:", self.lessons[-self._kept :]),
            told_all(past, max_characters=self._max_characters),
        )

    def _reflect(self, situation: Situation, attempt: Sequence[ObservedStep], outcome: str) -> None:
        over = " The game was over." if attempt[-1].percept.ended else ""
        messages = prompt(
            "reflect",
            goal=situation.goal or "(none is stated)",
            lessons=listed("", self.lessons[-self._kept :]).strip() or "(none so far)",
            moves=told_all((seen.episode for seen in attempt), max_characters=self._max_characters),
            outcome=f"Points: {attempt[-1].percept.score:g}.{over} {outcome}",
        )
        lesson = " ".join(self.means.asks.tell("reflect", messages).split())
        if lesson:
            self.lessons.append(lesson)
        else:
            self.means.asks.failures["reflect"] += 1
