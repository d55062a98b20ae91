"""Agents to compare with."""

from __future__ import annotations

import random

from worldthread.agents.base import Agent, AgentMemory, Decision, Percept
from worldthread.agents.explorer import Explorer
from worldthread.errors import AgentError
from worldthread.extract import vocabulary as v
from worldthread.types import Episode


class RandomAgent(Agent):
    """Does any of the valid actions, all equally likely; any ``go DIRECTION`` when the world lists none.

    It remembers as :class:`~worldthread.agents.explorer.Explorer` does, so that only the choices differ.

    Args:
        memory: where percepts go.
        run: name of the play, the source of its episodes.
        use_valid_actions: whether to look at the list of valid actions when the world gives one.
        seed: of the choices; the same seed in the same world does the same.
    """

    name = "random"

    def __init__(
        self, memory: AgentMemory, *, run: str = "play", use_valid_actions: bool = True, seed: int = 0
    ) -> None:
        self._rememberer = Explorer(memory, run=run)
        self._use_valid_actions = use_valid_actions
        self._random = random.Random(seed)
        self._percept: Percept | None = None

    def perceive(self, percept: Percept) -> Episode:
        self._percept = percept
        return self._rememberer.perceive(percept)

    def decide(self) -> Decision:
        if self._percept is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        offered = self._percept.valid_actions if self._use_valid_actions else None
        actions = offered or tuple(f"go {direction}" for direction in v.OPPOSITE)
        return Decision(self._random.choice(actions), f"one of {len(actions)} at random")
