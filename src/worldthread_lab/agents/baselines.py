"""Baselines: agents to compare others with."""

from __future__ import annotations

import random

from worldthread.errors import AgentError
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent


class RandomAgent(PerceivingAgent):
    """Chooses among the valid actions with equal probability; a few moves when the world lists none.

    Args:
        memory: takes the episodes.
        run: the name of the play, used as the source of its episodes.
        use_valid_actions: whether to use the list of valid actions when the world gives one.
        seed: seeds the random generator.
    """

    name = "random"

    def __init__(
        self, memory: AgentMemory, *, run: str = "play", use_valid_actions: bool = True, seed: int = 0
    ) -> None:
        super().__init__(memory, run=run)
        self._use_valid_actions = use_valid_actions
        self._random = random.Random(seed)

    def decide(self) -> Decision:
        if self.percept is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        offered = self.percept.valid_actions if self._use_valid_actions else None
        actions = list(offered) if offered else ["look", "go north", "go south", "go east", "go west"]
        return Decision(self._random.choice(actions), "chance")
