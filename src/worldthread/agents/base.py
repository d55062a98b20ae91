"""What an agent is: it perceives, remembers and decides. It is never handed a world, only what the world shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from worldthread.arguments import require_methods
from worldthread.extract.base import GameStep
from worldthread.extract.game.extractor import GameExtractor
from worldthread.graph import GraphView
from worldthread.types import Episode, Extraction


class AgentMemory(Protocol):
    """What an agent needs of a memory: :attr:`Memory.record`, or a :class:`~worldthread.graph.TemporalGraph`."""

    def add(self, episode: Episode) -> object:
        """Take in an episode."""

    def forget(self, episode: str) -> object:
        """Remove an episode by its id, as if it had never happened."""

    def view(self, at: float | None = None) -> GraphView:
        """What holds now."""


@dataclass(frozen=True)
class Percept:
    """All that an agent is told after a step.

    Args:
        step: the texts.
        score: points so far.
        valid_actions: actions that the world offers, or ``None``.
        moment: number by which an agent can ask to come back here; 0 is the beginning. Moments are numbered in the
            order in which they were first seen.
        before: the moment from which the action led here; ``None`` for the beginning.
        returned: the agent asked to come back to this moment, and is here again: texts, score and actions are those of
            the first time, and what happened since has not happened.
        ended: the game is over here: an agent can come back to an earlier moment, or the play ends.
        state: a digest of the whole state of the world, equal for equal states only; ``None`` when the world has none.
        moves_left: how many more moves the play allows; ``None``: no limit.
        problem: why nothing was done: the decision had no action. All else is as before. Empty otherwise.
    """

    step: GameStep
    score: float = 0
    valid_actions: tuple[str, ...] | None = None
    moment: int = 0
    before: int | None = None
    returned: bool = False
    ended: bool = False
    state: str | None = None
    moves_left: int | None = None
    problem: str = ""


@dataclass(frozen=True)
class RecalledItem:
    """A statement or a moment of which the memory reminded an agent.

    Args:
        text: it, in words, as the agent was told.
        path: names of objects and relations in turn, by which it was found from what the agent asked about; empty when
            there is none.
    """

    text: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """What an agent does next.

    Args:
        action: one primitive action; empty when ``return_to`` is given, or ``problem``.
        reason: why, in one sentence, for people.
        is_new: whether this is a fresh choice; ``False`` for the further moves of one choice (going somewhere).
        stuck: the agent has nothing left that it believes to be useful.
        finished: the agent believes that its task is done; the play ends after this action.
        return_to: come back to an earlier moment (:attr:`Percept.moment`) instead of acting.
        problem: the model's answer could not be used, and why. Nothing is done; it counts as a move, so that a play
            ends.
        recalled: what retrieval found for it, in the order in which the agent was told.
    """

    action: str
    reason: str
    is_new: bool = True
    stuck: bool = False
    finished: bool = False
    return_to: int | None = None
    problem: str = ""
    recalled: tuple[RecalledItem, ...] = ()


class Agent(ABC):
    """Plays one game. :meth:`perceive` and :meth:`decide` are called in turn, beginning with the opening text.

    All that an agent does must follow from what it perceives, from its arguments, and from the answers of its model:
    the same again, and it plays the same again. That is how a play that was cut off goes on.
    """

    name: str
    returns: ClassVar[bool] = False
    """Whether it asks to come back to earlier moments: then it is asked to decide after the end of a game, too."""
    asks_model: ClassVar[bool] = False
    """Whether it takes the argument ``model``, a :class:`~worldthread.models.chat.ChatModel`."""

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

    When it comes back to an earlier moment, its memory forgets the episodes that have not happened then, and has those
    again that have: it is the fold of the episodes on the way to that moment.

    Args:
        memory: where percepts go.
        run: name of the play, the source of its episodes.
    """

    def __init__(self, memory: AgentMemory, *, run: str = "play") -> None:
        require_methods(
            memory, ("add", "forget", "view"), "memory", "the record of a Memory (memory.record) or a graph"
        )
        self.memory = memory
        self.extractor = GameExtractor()
        self.run = run
        self.percept: Percept | None = None
        self._moments: list[tuple[Episode, int | None]] = []  # by moment: its episode, and the moment before it
        self._remembered: dict[str, Episode] = {}

    def perceive(self, percept: Percept) -> Episode:
        if percept.returned:
            self._remember_way_to(percept.moment)
        elif not percept.problem:
            self._moments.append((self._read(percept), percept.before))
        self.percept = percept
        return self._moments[percept.moment][0]

    def way_to(self, moment: int) -> list[Episode]:
        """The episodes from the beginning to a moment, both included."""
        way = []
        at: int | None = moment
        while at is not None:
            episode, at = self._moments[at]
            way.append(episode)
        return way[::-1]

    def _remember_way_to(self, moment: int) -> None:
        wanted = {episode.id: episode for episode in self.way_to(moment)}
        for id in [id for id in self._remembered if id not in wanted]:
            self.memory.forget(id)
        for id, episode in wanted.items():
            if id not in self._remembered:
                self.memory.add(episode)
        self._remembered = wanted

    def _read(self, percept: Percept) -> Episode:
        step = percept.step
        extraction = self._reading(percept)
        said = f"> {step.action}\n{step.text}" if step.action is not None else step.text
        carried = f"\n\n{step.inventory}" if step.inventory else ""
        episode = Episode((said + carried).strip() or "(nothing)", step.turn, self.run, extraction)
        self.memory.add(episode)
        self._remembered[episode.id] = episode
        return episode

    def _reading(self, percept: Percept) -> Extraction:
        """What a percept states, given what is remembered before it."""
        return self.extractor.extract(percept.step, self.memory.view())
