"""What an agent is: it perceives, remembers and decides. It is never handed a world, only what the world shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from worldthread.extract.base import GameStep
from worldthread.extract.game import GameReader
from worldthread.graph import GraphView
from worldthread.types import Episode


class AgentMemory(Protocol):
    """The part of a memory that an agent needs: a :class:`~worldthread.memory.Memory`, or a bare graph."""

    def add(self, episode: Episode) -> object:
        """Take in an episode."""

    def view(self, at: float | None = None) -> GraphView:
        """What holds now."""


@dataclass(frozen=True)
class Percept:
    """All that an agent is told after a step.

    Args:
        step: the texts.
        score: points so far.
        valid_actions: actions that the world offers, or ``None``.
    """

    step: GameStep
    score: float = 0
    valid_actions: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Decision:
    """What an agent does next.

    Args:
        action: one primitive action.
        reason: why, in one sentence, for people.
        is_new: whether this is a fresh choice; ``False`` for the further moves of one choice (going somewhere).
        stuck: the agent has nothing left that it believes to be useful.
        finished: the agent believes that its task is done; the play ends after this action.
    """

    action: str
    reason: str
    is_new: bool = True
    stuck: bool = False
    finished: bool = False


class Agent(ABC):
    """Plays one game. :meth:`perceive` and :meth:`decide` are called in turn, beginning with the opening text."""

    name: str

    @abstractmethod
    def perceive(self, percept: Percept) -> Episode:
        """Take in what the last action led to: the episode that was added to the memory."""

    @abstractmethod
    def decide(self) -> Decision:
        """Choose the next action.

        Raises:
            AgentError: nothing was perceived yet.
        """


class PerceivingAgent(Agent):
    """An agent that reads every percept with the game reader and adds it to its memory.

    Args:
        memory: where percepts go.
        run: name of the play, the source of its episodes.
    """

    def __init__(self, memory: AgentMemory, *, run: str = "play") -> None:
        self.memory = memory
        self.reader = GameReader()
        self.run = run
        self.percept: Percept | None = None

    def perceive(self, percept: Percept) -> Episode:
        step = percept.step
        reading = self.reader.read(step, self.memory.view())
        said = f"> {step.action}\n{step.text}" if step.action is not None else step.text
        carried = f"\n\n{step.inventory}" if step.inventory else ""
        episode = Episode((said + carried).strip() or "(nothing)", step.turn, self.run, reading)
        self.memory.add(episode)
        self.percept = percept
        return episode
