"""What agents share that come back to any state they have reached, and explore from there (Go-Explore)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from worldthread.agents.attempts.archive import Archive, ArchivedState, render_states
from worldthread.agents.attempts.base import AttemptAgent
from worldthread.agents.attempts.trajectories import TrajectoryStep
from worldthread.agents.base import AgentMemory
from worldthread.agents.prompting import prompt, prompt_part
from worldthread.models.chat import ChatModel, Message

SELECT: Final = "select"
"""What the choice of a state is asked and counted under."""


class Selection(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to "from which state shall exploration go on?".

    Args:
        thought: the reasons.
        index: number of a state.
    """

    thought: str
    index: int


class ArchiveAgent(AttemptAgent):
    """Keeps an archive of the states that it reached, and lets the model choose from which to go on.

    An answer that cannot be used, or a number that was not offered, is counted in :attr:`failures` under ``select`` and
    told in the reason of the decision. Then exploration goes on from the most promising state among those offered: that
    of the highest score; of these the one chosen least; of these the one the most moves away.

    Args:
        memory: where percepts go and knowledge comes from.
        model: answers.
        options: those of :class:`~worldthread.agents.attempts.base.AttemptAgent`.
    """

    def __init__(self, memory: AgentMemory, model: ChatModel, **options: Any) -> None:
        super().__init__(memory, model, **options)
        self.archive = Archive()

    def _seen(self, step: TrajectoryStep) -> None:
        self.archive.see(step, len(self._way(step.moment)) - 1)
        if step.moment == 0:
            self.archive.states[0].chosen = 1  # the first exploration begins there

    def _select(self, part: str, **values: str) -> tuple[int, str]:
        """The moment of the state that the model chooses, and why.

        Args:
            part: name of the prompt that has the placeholders ``task``, ``states`` and those of ``values``.
            values: at most three fifths of a prompt.
        """
        offered = self.archive.offer(self._share(1))
        state, reason = (offered[0], "it is the only one") if len(offered) == 1 else self._chosen(offered, part, values)
        state.chosen += 1
        where = f"state {state.number} (score {state.step.score:g}, {state.moves} moves from the beginning)"
        return state.step.moment, f"exploration goes on from {where}: {reason}"

    def _chosen(self, offered: Sequence[ArchivedState], part: str, values: dict[str, str]) -> tuple[ArchivedState, str]:
        asked = prompt_part(part, task=self._task, states=render_states(offered), **values)
        answer = self.advice(SELECT, (*prompt("choose"), Message("user", asked)), Selection)
        by_number = {state.number: state for state in offered}
        if answer is not None and answer.index in by_number:
            return by_number[answer.index], answer.thought
        if answer is not None:
            self.failures[SELECT] += 1
            self.remark(f"the model chose state {answer.index}, which was not offered")
        return min(offered, key=lambda state: state.rank), "the model chose none, and this one is the most promising"
