"""What an agent is: it perceives, remembers and decides. It never gets the world, only what the world shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from worldthread.extract.base import GameStep
from worldthread.graph import GraphView, TemporalGraph
from worldthread.support.arguments import require_methods
from worldthread.types import Episode, Extraction
from worldthread_lab.game.extractor import GameExtractor

T = TypeVar("T")


class AgentMemory(Protocol):
    """What an agent needs of a memory: :attr:`Memory.record`, or a :class:`~worldthread.graph.TemporalGraph`."""

    def add(self, episode: Episode) -> object:
        """Add an episode, so that :meth:`view` holds what it states.

        Args:
            episode: what was perceived, with the statements extracted from it.

        Returns:
            Whatever the memory returns; agents ignore it.
        """

    def forget(self, episode: str) -> object:
        """Remove an episode, as if it had never been added.

        Args:
            episode: the id of the episode.

        Returns:
            Whatever the memory returns; agents ignore it.
        """

    def view(self, at: float | None = None) -> GraphView:
        """Return what holds at a time.

        Args:
            at: the world time (the turn of a game step); ``None`` for now.

        Returns:
            A view of the statements that hold then.
        """


@runtime_checkable
class _ManyAtOnce(Protocol):
    """A memory that changes many episodes in one transaction; a file is emptied of what is forgotten once for each."""

    def add_many(self, episodes: Iterable[Episode]) -> object:
        """Add episodes."""

    def forget_many(self, episodes: Sequence[str]) -> object:
        """Remove episodes, by their ids."""


@dataclass(frozen=True)
class Percept:
    """All that an agent learns after a step.

    Every state that a play reaches has a number, its *moment*: 0 for the beginning, then in the order in which the
    states were first reached.

    Args:
        step: the texts of the step.
        score: points so far.
        valid_actions: the actions that the world offers; ``None`` when it offers no list.
        moment: the number of this state; an agent that returns here names it in :attr:`Decision.return_to`.
        before: the number of the state in which the action was done; ``None`` for the beginning.
        returned: the agent asked to return to this state and is in it again. Texts, score and actions are those of
            the first time, and everything that happened since is undone.
        rerouted: the agent asked to return to an earlier state, and the same moves led to this one instead, by chance:
            a new state, after the one of the number ``before``. Then ``returned`` holds too.
        ended: the game is over here. An agent that returns can go back to an earlier state; else the play ends.
        state: a digest of the whole state of the world, equal for equal states only; ``None`` when the world has none.
        moves_left: how many more moves the play allows; ``None`` for no limit.
        problem: why the last decision had no effect: it held no action. Everything else is as before. Else empty.
        lists_all: whether ``valid_actions``, when there is a list, holds nearly every action that the world accepts.
        max_score: the largest possible score; ``None`` when the world does not state it.
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
    lists_all: bool = True
    max_score: float | None = None
    rerouted: bool = False

    @property
    def is_new(self) -> bool:
        """Whether the play is in this state for the first time, and the last decision had an effect."""
        return self.rerouted or not (self.returned or self.problem)


@dataclass(frozen=True)
class RecalledItem:
    """A statement or an earlier observation that the memory recalled for a decision.

    Args:
        text: the item in the words that the agent was shown.
        path: names of objects and relations in turn that lead from what the agent asked about to the item; empty when
            there is none.
    """

    text: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """What an agent does next.

    Args:
        action: one primitive action; empty when ``return_to`` or ``problem`` is given.
        reason: why, in one sentence, for people.
        is_new: whether this is a fresh choice; ``False`` for the further moves of one choice, such as a walk.
        stuck: the agent has nothing left that it believes to be useful.
        finished: the agent believes that its task is done; the play ends after this action.
        return_to: the number of an earlier state (:attr:`Percept.moment`) to return to instead of acting.
        problem: why the model's answer could not be used. Nothing is done, and a move is counted, so that a play ends.
        recalled: what retrieval found for this decision, in the order in which the agent was shown it.
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
    """Plays one game: :meth:`perceive` and :meth:`decide` are called in turn, beginning with the opening text.

    All that an agent does must follow from its percepts, its arguments and the answers of its model: given the same
    again, it plays the same again. This is how a play that was interrupted resumes.

    Attributes:
        name: the name of the agent, for people and reports.
    """

    name: str
    returns: ClassVar[bool] = False
    """Whether it returns to earlier states: then it is asked to decide after the end of a game, too."""
    asks_model: ClassVar[bool] = False
    """Whether it takes the argument ``model``, a :class:`~worldthread.models.chat.ChatModel`."""
    former_options: ClassVar[Mapping[int, Mapping[str, Any]]] = {}
    """Arguments with which it plays as it did by earlier rules of play, by these, for runs that are played again."""

    @property
    def is_walking(self) -> bool:
        """Whether its next move may belong to the decision before."""
        return False

    @property
    def module_graph(self) -> TemporalGraph | None:
        """The graph that its memory module builds beside the memory; ``None`` when there is none."""
        return None

    def module_episodes(self) -> tuple[Episode, ...]:
        """Return the episodes of :attr:`module_graph`.

        Returns:
            The episodes on the path to the present state, with their texts; none without such a graph.
        """
        return ()

    @abstractmethod
    def perceive(self, percept: Percept) -> Episode:
        """Take in what the last action led to.

        Args:
            percept: the new state, or an earlier one to which the agent returned.

        Returns:
            The episode of that state: the one just added to the memory, or the one added when it was first reached.
        """

    @abstractmethod
    def decide(self) -> Decision:
        """Choose the next action.

        Returns:
            An action, an earlier state to return to, or the problem that prevented a choice.

        Raises:
            AgentError: nothing was perceived yet.
        """


class PerceivingAgent(Agent):
    """An agent that reads every percept with the game extractor and adds it to its memory.

    When it returns to an earlier state, its memory forgets the episodes that were added after that state and regains
    those on the path to it: the memory is always the fold of the episodes on the path to the present state.

    Args:
        memory: takes the episodes.
        run: the name of the play, used as the source of its episodes.
    """

    def __init__(self, memory: AgentMemory, *, run: str = "play") -> None:
        require_methods(
            memory, ("add", "forget", "view"), "memory", "the record of a Memory (memory.record) or a graph"
        )
        self.memory = memory
        self.extractor = GameExtractor()
        self.run = run
        self.percept: Percept | None = None
        self._episodes: list[Episode] = []  # by number of the state
        self._parents: list[int | None] = []  # by number of the state
        self._remembered: dict[str, Episode] = {}

    def perceive(self, percept: Percept) -> Episode:
        """Take in what the last action led to, and bring the memory to that state.

        Args:
            percept: the new state, an earlier one to which the agent returned, or where such a return led instead.

        Returns:
            The episode of that state.
        """
        if percept.rerouted:
            self._restore_memory(percept.before)
        elif percept.returned:
            self._restore_memory(percept.moment)
        if percept.is_new:
            self._episodes.append(self._remember(percept))
            self._parents.append(percept.before)
        self.percept = percept
        return self._episodes[percept.moment]

    def path_to(self, moment: int) -> list[int]:
        """Return the numbers of the states on the path to a state.

        Args:
            moment: the number of a state that was perceived.

        Returns:
            The beginning first, ``moment`` last.
        """
        return [*walk_back(moment, self._parents.__getitem__)][::-1]

    def episodes_to(self, moment: int) -> list[Episode]:
        """Return the episodes on the path to a state.

        Args:
            moment: the number of a state that was perceived.

        Returns:
            The episode of the beginning first, that of ``moment`` last.
        """
        return [self._episodes[number] for number in self.path_to(moment)]

    def _restore_memory(self, moment: int | None) -> None:
        wanted = {} if moment is None else {episode.id: episode for episode in self.episodes_to(moment)}
        gone = [id for id in reversed(self._remembered) if id not in wanted]  # the last first: nothing follows it
        back = [episode for id, episode in wanted.items() if id not in self._remembered]
        if isinstance(self.memory, _ManyAtOnce):
            self.memory.forget_many(gone)
            self.memory.add_many(back)
        else:
            for id in gone:
                self.memory.forget(id)
            for episode in back:
                self.memory.add(episode)
        self._remembered = wanted

    def _remember(self, percept: Percept) -> Episode:
        step = percept.step
        extraction = self._extract(percept)
        text = f"> {step.action}\n{step.text}" if step.action is not None else step.text
        inventory = f"\n\n{step.inventory}" if step.inventory else ""
        episode = Episode((text + inventory).strip() or "(nothing)", step.turn, self.run, extraction)
        self.memory.add(episode)
        self._remembered[episode.id] = episode
        return episode

    def _extract(self, percept: Percept) -> Extraction:
        """Return what a percept states, given what was remembered before it."""
        return self.extractor.extract(percept.step, self.memory.view())


def walk_back(start: T, before: Callable[[T], T | None]) -> Iterator[T]:
    """Follow the links from a state to the ones before it.

    Args:
        start: a state, or its number.
        before: returns the state in which the action was done that led to a state; ``None`` for the beginning.

    Yields:
        ``start``, then the states before it, the beginning last.
    """
    state: T | None = start
    while state is not None:
        yield state
        state = before(state)
