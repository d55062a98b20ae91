"""Agents to compare with."""

from __future__ import annotations

import random

from worldthread.agents.base import AgentMemory, Decision, PerceivingAgent
from worldthread.errors import AgentError


class RandomAgent(PerceivingAgent):
    """Chooses among the valid actions with equal chance, or among the directions when the world lists none."""

    name = "random"

    def __init__(
        self, memory: AgentMemory, *, run: str = "play", use_valid_actions: bool = True, seed: int = 0
    ) -> None:
        super().__init__(memory, run=run)
        self._use_valid_actions = use_valid_actions
        self._chance = random.Random(seed)

    def decide(self) -> Decision:
        if self.percept is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        offered = self.percept.valid_actions if self._use_valid_actions else None
        actions = list(offered) if offered else ["look", "go north", "go south", "go east", "go west"]
        return Decision(self._chance.choice(actions), "chance")
