"""GLoW: a world memory at two scales for hard exploration (Kim and Hwang, "Dual-scale world memory for LLM agents")."""

from __future__ import annotations

from typing import Any, Final

from worldthread.models.chat import ChatModel
from worldthread_lab.agents.attempts.archive_agent import ArchiveAgent
from worldthread_lab.agents.attempts.base import require_at_least
from worldthread_lab.agents.attempts.lessons import Lesson, render_lessons
from worldthread_lab.agents.attempts.trajectories import AttemptTrajectory, Frontier, render_trajectories
from worldthread_lab.agents.attempts.world_memory import (
    GlobalMemory,
    LocalMemory,
    render_global_memory,
    render_local_memory,
)
from worldthread_lab.agents.base import AgentMemory
from worldthread_lab.agents.prompting import prompt, prompt_part

NOTHING: Final = "(none)"


class Glow(ArchiveAgent):
    """Selects a state by its value, explores from it several times, and compares the attempts (Algorithm 4).

    *Select.* The frontier holds the trajectories of the highest value, from the beginning of the world, so that values
    are total scores. The model compares them and names key states with achieved and potential value (W_global, made
    anew when the frontier has changed); then it chooses the state of the archive that fits them best.

    *Explore.* From that state it makes ``explorations`` attempts. After each but the last, whose comparison nothing
    would use, the model compares all attempts so far with each other and with the frontier, and names what was better
    and worse to do in which states (W_local). The prompts of the next attempt hold that, the attempts before it, and
    the frontier. Then the archive and the frontier take in the attempts.

    One call of the model for each decision; one more after each attempt but the last from a state, and at most two
    after that. An unusable analysis is counted in :attr:`failures`; the one before it stays in use.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        explorations: attempts from one state (n in the paper); at least 1. With 1 nothing is compared.
        frontier_size: trajectories of the frontier (k in the paper); at least 1.
        use_mar: whether attempts from one state are compared; else the model reflects on each of them alone, as in
            Reflexion.
        use_global_memory: whether the frontier is analysed; else the prompt for the choice of a state quotes it.
        use_frontier: whether there is a frontier; without it nothing can be analysed, and states are chosen as in IGE.
        options: those of :class:`~worldthread_lab.agents.attempts.base.AttemptAgent`.

    Raises:
        InputError: a number is too small.
    """

    name: Final = "glow"

    def __init__(
        self,
        memory: AgentMemory,
        model: ChatModel,
        *,
        explorations: int = 3,
        frontier_size: int = 5,
        use_mar: bool = True,
        use_global_memory: bool = True,
        use_frontier: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(memory, model, **options)
        require_at_least(1, explorations=explorations, frontier_size=frontier_size)
        self.explorations = explorations
        self.use_mar = use_mar
        self.use_global_memory = use_global_memory
        self.use_frontier = use_frontier
        self.frontier = Frontier(frontier_size)
        self.global_memory: GlobalMemory | None = None
        self.local_memory: LocalMemory | None = None
        self.lessons: list[Lesson] = []
        """Reflections on the attempts from the selected state, when they are not compared."""
        self.tried: list[AttemptTrajectory] = []
        """The attempts from the selected state so far."""
        self._selected = 0  # number of the selected state
        self._analysed: tuple[AttemptTrajectory, ...] = ()  # the frontier that was analysed

    def _context(self, limit: int) -> str:
        limit -= 3 * self.settings.part_limit
        parts = []
        if self.local_memory is not None:
            parts.append(
                prompt_part("learned", learned=render_local_memory(self.local_memory, limit // 5, self.settings))
            )
        if self.lessons:
            parts.append(prompt_part("learned", learned=render_lessons(self.lessons, limit // 5, self.settings)))
        if self._best:
            parts.append(
                prompt_part("frontier", trajectories=render_trajectories(self._best, limit // 2, self.settings))
            )
        if self.tried:
            tried = render_trajectories(self.tried, limit * 3 // 10, self.settings, whole=False)
            parts.append(prompt_part("tried", trajectories=tried))
        return "\n\n".join(parts)

    def _learn(self, attempt: AttemptTrajectory) -> None:
        self.tried.append(attempt)
        if len(self.tried) == self.explorations:
            return
        if self.use_mar:
            self.local_memory = self._compared() or self.local_memory
        elif (lesson := self._reflect(attempt, self.lessons)) is not None:
            self.lessons.append(lesson)

    def _next_start(self) -> tuple[int, str]:
        if len(self.tried) < self.explorations:
            return self._selected, f"exploration {len(self.tried) + 1} of {self.explorations} from the same state"
        if self.use_frontier:
            for trajectory in self.tried:
                self.frontier.add(trajectory)
        self.tried, self.lessons, self.local_memory = [], [], None
        self._selected, reason = self._selection()
        return self._selected, reason

    @property
    def _best(self) -> tuple[AttemptTrajectory, ...]:
        return self.frontier.trajectories

    def _selection(self) -> tuple[int, str]:
        if not self._best:
            return self._select("choose_promising")
        if self.use_global_memory and self._analysed != self._best:
            messages = prompt(
                "analyse", task=self._task, trajectories=render_trajectories(self._best, self._share(3), self.settings)
            )
            memory = self.ask_optional("analyse", messages, GlobalMemory)
            if memory is not None:
                self.global_memory, self._analysed = memory, self._best
        if self.global_memory is not None:
            return self._select(
                "choose_value", analysis=render_global_memory(self.global_memory, self._share(2), self.settings)
            )
        return self._select(
            "choose_frontier", trajectories=render_trajectories(self._best, self._share(2), self.settings)
        )

    def _compared(self) -> LocalMemory | None:
        messages = prompt(
            "advantages",
            task=self._task,
            before=(
                render_local_memory(self.local_memory, self._share(1), self.settings)
                if self.local_memory is not None
                else NOTHING
            ),
            frontier=render_trajectories(self._best, self._share(1), self.settings) or NOTHING,
            attempts=render_trajectories(self.tried, self._share(2), self.settings, whole=False),
        )
        return self.ask_optional("advantages", messages, LocalMemory)
