"""What agents share that play in attempts: so many moves, then back to an earlier moment, and try again."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from worldthread.agents.attempts.lessons import Lesson, Reflection, render_lessons
from worldthread.agents.attempts.trajectories import AttemptTrajectory, TrajectoryStep, render_steps, render_trajectory
from worldthread.agents.base import AgentMemory, Decision, Percept
from worldthread.agents.model_agent import Choice, ModelAgent
from worldthread.agents.prompting import offered_text, prompt, prompt_part, task_text
from worldthread.errors import InputError
from worldthread.extract.game import vocabulary as v
from worldthread.models.chat import ChatModel, Message
from worldthread.types import Episode

PROMPT_CHARACTERS: Final = 80_000
"""Length of a prompt, at most, by default: about 20,000 tokens."""
LEAST_PROMPT_CHARACTERS: Final = 30_000
PROMPT_ROOM: Final = 1000
"""Characters that the words of a part of a prompt take, at most."""


class AttemptAgent(ModelAgent):
    """Plays attempt after attempt, for as long as the play lasts.

    An attempt is over after ``attempt_moves`` moves (those without an action count too), or when the game ends. Then
    the agent learns from it (:meth:`_learn`) and comes back to where the next one begins (:meth:`_next_start`).

    Prompts are at most ``prompt_characters`` long, apart from answers that the model is shown to mend them: the
    current attempt takes a fifth at most, what was learned before (:meth:`_context`) three fifths, the list of valid
    actions a tenth; what is too long is shortened as :func:`~worldthread.agents.attempts.trajectories.render_steps`
    tells, and of the valid actions the last ones are left out, which the prompt says.

    Args:
        memory: where percepts go and knowledge comes from.
        model: answers.
        attempt_moves: moves of an attempt, at least 1.
        prompt_characters: length of a prompt, at least 30,000.
        options: those of :class:`~worldthread.agents.model_agent.ModelAgent`. Where the world lists valid actions, the
            model may choose others all the same (the hybrid action space of the GLoW paper, appendix E.4).

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
        **options: Any,
    ) -> None:
        super().__init__(memory, model, **options)
        require_at_least(1, attempt_moves=attempt_moves)
        require_at_least(LEAST_PROMPT_CHARACTERS, prompt_characters=prompt_characters)
        self.attempt_moves = attempt_moves
        self.prompt_characters = prompt_characters
        self.attempts = 1
        """The number of the attempt that is being made; 1 for the first."""
        self.moves = 0
        """Moves of this attempt so far."""
        self._goal = ""
        self._steps: list[TrajectoryStep] = []  # by moment
        self._before: list[int | None] = []  # by moment: the one before it
        self._start = 0  # moment from which this attempt went on
        self._said: defaultdict[int, list[str]] = defaultdict(list)  # by moment: what was thought and said there
        self._return: Decision | None = None  # asked for, and not yet there
        self._known: str | None = None  # what prompts of this attempt tell before it

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        if percept.returned:
            self.attempts += 1
            self.moves = 0
            self._start = percept.moment
            self._said.clear()
            self._return = self._known = None
            return episode
        if percept.problem:
            self._said[percept.moment].append(f"nothing was done: {percept.problem}")
        else:
            self._goal = self._goal or percept.step.goal
            self._steps.append(self._step(percept))
            self._before.append(percept.before)
            self._seen(self._steps[-1])
        self.moves += percept.before is not None or bool(percept.problem)
        return episode

    def _choose(self) -> Decision:
        percept = self.percept
        assert percept is not None
        if self._return is not None:
            return self._return
        if percept.ended or self.moves >= self.attempt_moves:
            self._learn(AttemptTrajectory(self.attempts, self._way(percept.moment), len(self._way(self._start)) - 1))
            moment, reason = self._next_start()
            self._return = Decision("", f"attempt {self.attempts} is over; {reason}", return_to=moment)
            return self._return
        choice = self.ask("act", self._messages(), Choice)
        self._said[percept.moment].append(f"thought: {choice.thought}")
        return self.act(choice.action, choice.thought)

    # -- for the kinds of agents --------------------------------------------------------------------------------------

    @abstractmethod
    def _context(self, limit: int) -> str:
        """What prompts tell before the current attempt, in at most ``limit`` characters; asked once an attempt."""

    def _learn(self, attempt: AttemptTrajectory) -> None:
        """Take in an attempt that is over."""

    def _reflect(self, attempt: AttemptTrajectory, lessons: Sequence[Lesson]) -> Lesson | None:
        """What the model learns from one attempt, given earlier lessons; ``None`` when its answer cannot be used."""
        messages = prompt(
            "reflect",
            task=self._task,
            lessons=render_lessons(lessons, self._share(2)),
            attempt=render_trajectory(attempt, self._share(2)),
        )
        reflection = self.advice("reflect", messages, Reflection)
        return None if reflection is None else Lesson(attempt, reflection)

    def _next_start(self) -> tuple[int, str]:
        """Where the next attempt begins, as the number of a moment, and why, for people."""
        return 0, "from the beginning again"

    def _seen(self, step: TrajectoryStep) -> None:
        """Take in a moment that was not there before."""

    def _share(self, fifths: int) -> int:
        """Characters of a prompt."""
        return self.prompt_characters * fifths // 5

    @property
    def _task(self) -> str:
        """The task in words, for a prompt."""
        return task_text(self._goal)

    # -- within -------------------------------------------------------------------------------------------------------

    def _messages(self) -> tuple[Message, ...]:
        percept = self.percept
        assert percept is not None
        way = self._way(percept.moment)
        left = self.attempt_moves - self.moves
        if percept.moves_left is not None:
            left = min(left, percept.moves_left)
        move = prompt_part(
            "move",
            attempt=render_steps(way, self._share(1), start=len(self._way(self._start)) - 1, remarks=self._said),
            left=str(left),
            actions=offered_text(self.offered, self.prompt_characters // 10),
        )
        if self._known is None:
            self._known = self._context(self._share(3))
        return (*prompt("play", task=self._task), Message("user", f"{self._known}\n\n{move}".strip()))

    def _way(self, moment: int) -> tuple[TrajectoryStep, ...]:
        """The steps from the beginning to a moment, both included."""
        way: list[TrajectoryStep] = []
        at: int | None = moment
        while at is not None:
            way.append(self._steps[at])
            at = self._before[at]
        return tuple(reversed(way))

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


def require_at_least(least: int, **numbers: int) -> None:
    """Refuse numbers below ``least``.

    Raises:
        InputError: naming the first.
    """
    for name, number in numbers.items():
        if number < least:
            raise InputError(f"{name} must be at least {least}, not {number}")
