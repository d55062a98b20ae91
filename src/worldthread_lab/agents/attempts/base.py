"""The base of agents that play in attempts: some moves, then a return to an earlier state for the next attempt."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from worldthread.errors import InputError
from worldthread.models.chat import ChatModel, Message
from worldthread.types import Episode
from worldthread_lab.agents.attempts.lessons import Lesson, Reflection, render_lessons
from worldthread_lab.agents.attempts.settings import DEFAULT_SETTINGS, AttemptSettings
from worldthread_lab.agents.attempts.trajectories import (
    GAP,
    AttemptTrajectory,
    TrajectoryStep,
    render_steps,
    render_trajectory,
)
from worldthread_lab.agents.base import AgentMemory, Decision, Percept
from worldthread_lab.agents.model_agent import Choice, ModelAgent
from worldthread_lab.agents.prompting import offered_text, prompt, prompt_part, task_text
from worldthread_lab.game import vocabulary as v

PROMPT_CHARACTERS: Final = 80_000
"""Default length of a prompt: about 20,000 tokens. Chosen by hand, not tuned."""
CHARACTERS_PER_TOKEN: Final = 2.5
"""Characters of a prompt for each token of a context window: English has about four, and the answer needs room too."""
LEAST_PROMPT_CHARACTERS: Final = 30_000
"""Least length of a prompt; chosen by hand. Tests check that no prompt is longer when this is asked for."""


_log = logging.getLogger(__name__)


class AttemptAgent(ModelAgent):
    """Plays attempt after attempt, for as long as the play lasts.

    An attempt is over after ``attempt_moves`` moves (those without an action count too), or when the game ends. Then
    the agent learns from it (:meth:`_learn`) and returns to where the next one begins (:meth:`_next_start`). Where
    chance leads elsewhere on the way back, the attempt begins there.

    Prompts are at most ``prompt_characters`` long, apart from unusable answers that the model is asked to repair: the
    current attempt takes a fifth at most, what was learned before (:meth:`_context`) three fifths, the list of valid
    actions a tenth. Prompts of more than 80,000 characters show whole observations as long as they fit. What is too
    long is shortened by :func:`~worldthread_lab.agents.attempts.trajectories.render_steps`; of the valid actions the
    last ones are left out, and the prompt says how many. The first prompt that leaves moves out is logged as a warning.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        attempt_moves: moves of an attempt, at least 1.
        prompt_characters: length of a prompt, at least 30,000.
        settings: the lengths of the parts of prompts.
        options: those of :class:`~worldthread_lab.agents.model_agent.ModelAgent`. Where the world lists valid actions,
            the model may choose others all the same (the hybrid action space of the GLoW paper, appendix E.4).

    Raises:
        InputError: a number is too small.
    """

    returns: ClassVar[bool] = True

    def __init__(
        self,
        memory: AgentMemory,
        model: ChatModel,
        *,
        attempt_moves: int = 50,
        prompt_characters: int = PROMPT_CHARACTERS,
        settings: AttemptSettings = DEFAULT_SETTINGS,
        **options: Any,
    ) -> None:
        super().__init__(memory, model, **options)
        require_at_least(1, attempt_moves=attempt_moves)
        require_at_least(LEAST_PROMPT_CHARACTERS, prompt_characters=prompt_characters)
        self.attempt_moves = attempt_moves
        self.prompt_characters = prompt_characters
        if prompt_characters > PROMPT_CHARACTERS:  # there is room for whole observations
            settings = replace(settings, text_limits=(settings.last_text_limit, *settings.text_limits))
        self.settings = settings
        self.attempts = 1
        """The number of the present attempt; 1 for the first."""
        self.moves = 0
        """Moves of the present attempt so far."""
        self._goal = ""
        self._steps: list[TrajectoryStep] = []  # by number of the state
        self._start = 0  # number of the state in which this attempt began
        self._remarks_at: defaultdict[int, list[str]] = defaultdict(list)  # thoughts and problems of this attempt
        self._return: Decision | None = None  # a return that was decided and not yet made
        self._was_cut = False  # whether a prompt left moves out, which is reported once
        self._context_text: str | None = None  # the part of the prompts of this attempt before its steps

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        if percept.is_new:
            self._goal = percept.step.goal or self._goal
            self._steps.append(self._step(percept))
            self._reached(self._steps[-1])
        if percept.returned:
            self.attempts += self._return is not None  # a return that chance rerouted is perceived step by step
            self.moves = 0
            self._start = percept.moment
            self._remarks_at.clear()
            self._return = self._context_text = None
            return episode
        if percept.problem:
            self._remarks_at[percept.moment].append(f"nothing was done: {percept.problem}")
        self.moves += percept.before is not None or bool(percept.problem)
        return episode

    def _choose(self) -> Decision:
        percept = self.percept
        assert percept is not None
        if self._return is not None:
            return self._return
        if percept.ended or self.moves >= self.attempt_moves:
            start = len(self.path_to(self._start)) - 1
            self._learn(AttemptTrajectory(self.attempts, self._steps_to(percept.moment), start))
            moment, reason = self._next_start()
            self._return = Decision("", f"attempt {self.attempts} is over; {reason}", return_to=moment)
            return self._return
        choice = self.ask("act", self._messages(), Choice)
        self._remarks_at[percept.moment].append(f"thought: {choice.thought}")
        return self.act(choice.action, choice.thought)

    # -- for subclasses -----------------------------------------------------------------------------------------------

    @abstractmethod
    def _context(self, limit: int) -> str:
        """Return the part of a prompt before the current attempt, of at most ``limit`` characters; once an attempt."""

    def _learn(self, attempt: AttemptTrajectory) -> None:
        """Learn from an attempt that is over."""

    def _reflect(self, attempt: AttemptTrajectory, lessons: Sequence[Lesson]) -> Lesson | None:
        """Ask the model for the lesson of one attempt, given earlier ones; ``None`` when its answer cannot be used."""
        messages = prompt(
            "reflect",
            task=self._task,
            lessons=render_lessons(lessons, self._share(2), self.settings),
            attempt=render_trajectory(attempt, self._share(2), self.settings),
        )
        reflection = self.ask_optional("reflect", messages, Reflection)
        return None if reflection is None else Lesson(attempt, reflection)

    def _next_start(self) -> tuple[int, str]:
        """Return the number of the state in which the next attempt begins, and why, for people."""
        return 0, "from the beginning again"

    def _reached(self, step: TrajectoryStep) -> None:
        """Take in the step to a new state."""

    def _share(self, fifths: int) -> int:
        """Return so many fifths of the characters of a prompt."""
        return self.prompt_characters * fifths // 5

    @property
    def _task(self) -> str:
        """The task in words, for a prompt."""
        return task_text(self._goal)

    # -- internal -----------------------------------------------------------------------------------------------------

    def _messages(self) -> tuple[Message, ...]:
        percept = self.percept
        assert percept is not None
        steps = self._steps_to(percept.moment)
        start = len(self.path_to(self._start)) - 1
        left = self.attempt_moves - self.moves
        if percept.moves_left is not None:
            left = min(left, percept.moves_left)
        move = prompt_part(
            "move",
            attempt=render_steps(steps, self._share(1), self.settings, start=start, remarks=self._remarks_at),
            left=str(left),
            actions=offered_text(self.offered, self.prompt_characters // 10, lists_all=self.lists_all),
        )
        if self._context_text is None:
            self._context_text = self._context(self._share(3))
        content = f"{self._context_text}\n\n{move}".strip()
        self._report_gaps(content)
        return (*prompt("play", task=self._task), Message("user", content))

    def _report_gaps(self, content: str) -> None:
        """Log, once, that a prompt leaves moves out."""
        if GAP in content and not self._was_cut:
            self._was_cut = True
            _log.warning(
                "%s: prompts of %d characters do not hold all moves; the setting prompt_characters, or context_tokens "
                "of the model in the configuration file, makes them longer",
                self.name,
                self.prompt_characters,
            )

    def _steps_to(self, moment: int) -> tuple[TrajectoryStep, ...]:
        """Return the steps on the path to a state, that of the beginning first."""
        return tuple(self._steps[number] for number in self.path_to(moment))

    def _step(self, percept: Percept) -> TrajectoryStep:
        view = self.memory.view()
        carried = ", ".join(fact.subject for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY))
        return TrajectoryStep(
            percept.moment,
            percept.step.action,
            percept.step.text,
            percept.score,
            percept.score - (self._steps[percept.before].score if percept.before is not None else percept.score),
            view.value(v.PLAYER, v.IS_IN) or "",
            percept.step.inventory or carried,
            percept.state,
            percept.ended,
        )


def prompt_characters_for(context_tokens: int) -> int:
    """Return the length of prompts that fits the context window of a model.

    Args:
        context_tokens: how many tokens the model reads and writes in one call.

    Returns:
        The length in characters; at least :data:`LEAST_PROMPT_CHARACTERS`.
    """
    return max(LEAST_PROMPT_CHARACTERS, int(context_tokens * CHARACTERS_PER_TOKEN))


def require_at_least(least: int, **numbers: int) -> None:
    """Require that numbers are not below ``least``.

    Args:
        least: the least allowed value.
        numbers: the numbers by name.

    Raises:
        InputError: a number is too small; the message names the first one.
    """
    for name, number in numbers.items():
        if number < least:
            raise InputError(f"{name} must be at least {least}, not {number}")
