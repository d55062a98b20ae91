"""The base of agents that return to any state they reached and explore from there (Go-Explore)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from worldthread.models.chat import ChatModel, Message
from worldthread_lab.agents.attempts.archive import Archive, ArchivedState, render_states
from worldthread_lab.agents.attempts.base import AttemptAgent
from worldthread_lab.agents.attempts.trajectories import TrajectoryStep
from worldthread_lab.agents.base import AgentMemory
from worldthread_lab.agents.prompting import prompt, prompt_part

SELECT: Final = "select"
"""The purpose under which the choice of a state is asked and counted."""


class Selection(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to "from which state shall exploration go on?".

    Args:
        thought: the reasons.
        index: number of a state.
    """

    thought: str
    index: int


class SelectionAndRemoval(Selection):
    """The answer to "from which state shall exploration go on, and which states are of no more use?".

    Args:
        remove: numbers of states.
    """

    remove: list[int]


class ArchiveAgent(AttemptAgent):
    """Keeps an archive of the states that it reached, and lets the model choose from which to explore next.

    An unusable answer, or a number that was not offered, is counted in :attr:`failures` under ``select`` and mentioned
    in the reason of the decision. Then exploration continues from the most promising state offered: that of the
    highest score; of these the one chosen least often; of these the one most moves away. Numbers of states to remove
    that were not offered count and are mentioned likewise; the state chosen stays.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        options: those of :class:`~worldthread_lab.agents.attempts.base.AttemptAgent`.
    """

    def __init__(self, memory: AgentMemory, model: ChatModel, **options: Any) -> None:
        super().__init__(memory, model, **options)
        self.archive = Archive(self.settings)

    def _reached(self, step: TrajectoryStep) -> None:
        self.archive.record(step, len(self.path_to(step.moment)) - 1)
        if step.moment == 0:
            self.archive.states[0].chosen = 1  # the first exploration begins there

    def _select(self, part: str, answer_type: type[Selection] = Selection, /, **values: str) -> tuple[int, str]:
        """Let the model choose a state.

        Args:
            part: the name of a prompt with the placeholders ``task``, ``states`` and those of ``values``.
            answer_type: what the prompt asks for; states are removed with a :class:`SelectionAndRemoval`.
            values: the values of further placeholders, at most three fifths of a prompt.

        Returns:
            The number of the state in the play (:attr:`Percept.moment`), and why it was chosen.
        """
        offered = self.archive.offer(self._share(1))
        state, reason = offered[0], "it is the only one"
        if len(offered) > 1:
            state, reason = self._chosen(offered, part, answer_type, values)
        state.chosen += 1
        where = f"state {state.number} (score {state.step.score:g}, {state.moves} moves from the beginning)"
        return state.step.moment, f"exploration goes on from {where}: {reason}"

    def _chosen(
        self, offered: Sequence[ArchivedState], part: str, answer_type: type[Selection], values: dict[str, str]
    ) -> tuple[ArchivedState, str]:
        asked = prompt_part(part, task=self._task, states=render_states(offered, self.settings), **values)
        answer = self.ask_optional(SELECT, (*prompt("choose"), Message("user", asked)), answer_type)
        by_number = {state.number: state for state in offered}
        if answer is not None and answer.index in by_number:
            if isinstance(answer, SelectionAndRemoval):
                self._remove(answer, by_number)
            return by_number[answer.index], answer.thought
        if answer is not None:
            self.failures[SELECT] += 1
            self.remark(f"the model chose state {answer.index}, which was not offered")
        return min(offered, key=lambda state: state.rank), "the model chose none, and this one is the most promising"

    def _remove(self, answer: SelectionAndRemoval, offered: Mapping[int, ArchivedState]) -> None:
        for number in sorted({*answer.remove} - {answer.index}):
            if number in offered:
                offered[number].is_removed = True
            else:
                self.failures[SELECT] += 1
                self.remark(f"the model removed state {number}, which was not offered")
