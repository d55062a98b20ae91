"""Lessons from what went wrong, after Reflexion (Shinn et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from worldthread.errors import InputError
from worldthread_lab.agents.memory_modules.base import (
    MAX_CHARACTERS,
    MemoryModule,
    ModuleContext,
    ObservedStep,
    Situation,
    joined,
    listed,
    prompt,
    render_steps,
)


class ReflexionModule(MemoryModule):
    """Recalls all moves of this attempt, and lessons that the model drew.

    A lesson is drawn from every attempt that the agent gave up by returning to an earlier state, as in the paper, and
    within an attempt after every ``period`` moves, for plays of one attempt: one call of the model each ("reflect").
    Lessons outlive the attempt; the last ``lessons`` of them are recalled (the paper keeps one to three).

    Args:
        context: asks the model.
        period: moves between two lessons of one attempt, at least 1. The default was chosen by hand.
        lessons: how many are recalled, at least 1.
        max_characters: length of the moves, in a prompt as in what is recalled; the oldest are left out.

    Raises:
        InputError: a number is below 1.
    """

    name: ClassVar[str] = "reflexion"

    def __init__(
        self, context: ModuleContext, *, period: int = 15, lessons: int = 3, max_characters: int = MAX_CHARACTERS
    ) -> None:
        super().__init__(context)
        if period < 1 or lessons < 1:
            raise InputError(f"period and lessons must be at least 1, not {period} and {lessons}")
        self._period = period
        self._kept = lessons
        self._max_characters = max_characters
        self.lessons: list[str] = []
        """All lessons, the oldest first."""
        self._reflected: int = 0  # number of the last state that a lesson of this attempt covers
        self._given_up: list[tuple[ObservedStep, ...]] = []

    def _returned(self, left: Sequence[ObservedStep]) -> None:
        self._given_up.append(tuple(left))
        self._reflected = self.path[-1].percept.moment

    def recall(self, situation: Situation) -> str:
        given_up, self._given_up = self._given_up, []
        for attempt in given_up:
            self._reflect(situation, attempt, "The attempt was given up; the player goes on from an earlier moment.")
        since = [step for step in self.path if step.percept.moment > self._reflected]
        if len(since) >= self._period:
            self._reflected = self.path[-1].percept.moment
            self._reflect(situation, self.path, "The attempt goes on from here.")
        shown = {episode.id for episode in situation.shown}
        past = [step.episode for step in self.path if step.episode.id not in shown]
        return joined(
            listed("Lessons drawn so far:", self.lessons[-self._kept :]),
            render_steps(past, max_characters=self._max_characters),
        )

    def _reflect(self, situation: Situation, attempt: Sequence[ObservedStep], outcome: str) -> None:
        over = " The game was over." if attempt[-1].percept.ended else ""
        messages = prompt(
            "reflect",
            goal=situation.goal or "(none is stated)",
            lessons=listed("", self.lessons[-self._kept :]).strip() or "(none so far)",
            moves=render_steps((step.episode for step in attempt), max_characters=self._max_characters),
            outcome=f"Points: {attempt[-1].percept.score:g}.{over} {outcome}",
        )
        lesson = " ".join(self.context.caller.ask_text("reflect", messages).split())
        if lesson:
            self.lessons.append(lesson)
        else:
            self.context.caller.failures["reflect"] += 1
