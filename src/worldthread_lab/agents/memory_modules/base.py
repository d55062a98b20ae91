"""The contract of memory modules, which decide what an agent recalls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, TypeVar

from worldthread.graph import TemporalGraph
from worldthread.models import Embedder, embedder
from worldthread.models.chat import Message
from worldthread.models.prompts import load_prompt
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Percept, RecalledItem, walk_back
from worldthread_lab.agents.worldmap import WorldMap

T = TypeVar("T")

MAX_CHARACTERS: Final = 80_000
"""Default length of a list of steps: about 20,000 tokens. Chosen by hand, not tuned."""


class ModelCaller(Protocol):
    """Asks the chat model for a memory module: a :class:`~worldthread_lab.agents.model_agent.ModelAgent`.

    Attributes:
        failures: how many answers could not be used, by purpose.
    """

    failures: Counter[str]

    def ask_optional(
        self, purpose: str, messages: Sequence[Message], into: type[T], *, temperature: float | None = None
    ) -> T | None:
        """Ask the model for an answer that the module can do without.

        Args:
            purpose: what the answer is for; failures are counted under it.
            messages: the prompt.
            into: the type of the answer, from which its JSON schema is made.
            temperature: 0 or more; ``None`` takes that of the agent.

        Returns:
            The answer, decoded; ``None`` when it could not be used.

        Raises:
            ModelError: the model could not be asked (:class:`~worldthread.models.chat.ChatModel`).
        """

    def ask_text(self, purpose: str, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """Ask the model for prose.

        Args:
            purpose: what the answer is for.
            messages: the prompt.
            temperature: 0 or more; ``None`` takes that of the agent.

        Returns:
            The answer without white space around it; it may be empty.

        Raises:
            ModelError: the model could not be asked (:class:`~worldthread.models.chat.ChatModel`).
        """


@dataclass(frozen=True)
class ModuleContext:
    """What a memory module may use.

    Args:
        memory: the agent's memory. It holds the episode of a percept before the module observes it.
        caller: asks the model.
        embedder: an embedder, or the name of one; ``None`` takes the default.
        truth: returns the true state of the world now, as ground propositions (predicate, then names). It is
            privileged: it makes the memory module an oracle.
    """

    memory: AgentMemory
    caller: ModelCaller
    embedder: Embedder | str | None = None
    truth: Callable[[], Collection[tuple[str, ...]]] | None = None

    def load_embedder(self) -> Embedder:
        """Return the embedder, loaded by name when it is given by name."""
        return embedder(self.embedder) if self.embedder is None or isinstance(self.embedder, str) else self.embedder


@dataclass(frozen=True)
class Situation:
    """What an agent knows when it asks its memory module.

    Args:
        goal: the task.
        observation: the text of the last step.
        inventory: what is carried, in words; empty when the world does not say.
        plan: the plan in words; empty when there is none.
        shown: episodes that the prompt shows anyway, the oldest first, the present one last; they need not be
            recalled.
        brief: nothing shall be recalled twice: not what the observation says, nor the description of a room whose
            things are listed.
    """

    goal: str
    observation: str
    inventory: str = ""
    plan: str = ""
    shown: tuple[Episode, ...] = ()
    brief: bool = False


@dataclass(frozen=True)
class ObservedStep:
    """A percept, and the episode of it in the agent's memory."""

    percept: Percept
    episode: Episode


class MemoryModule(ABC):
    """Decides what an agent recalls: :meth:`observe` is called with every percept, :meth:`recall` before every choice.

    Only :meth:`recall` calls a model; the docstring of each class says how often. An unusable answer is counted in
    :attr:`ModelCaller.failures`, and what it was to add is missing.

    When the agent returns to an earlier state, everything that happened since is undone: :attr:`path` becomes the path
    to that state, and what is recalled follows from it. Lessons from failed attempts are kept
    (:class:`~worldthread_lab.agents.memory_modules.reflexion.ReflexionModule`).

    Args:
        context: what the module may use.

    Attributes:
        name: the name of the module.
        context: what the module may use.
        path: the observed steps from the beginning to the present state.
        recalled: what retrieval found in the last :meth:`recall`; empty for what is recalled without a search.
        lists_rooms: whether a brief recall lists the known rooms with the things in them.
        graph: the graph that the module builds; ``None`` when it builds none beside the agent's memory.
    """

    name: ClassVar[str]
    lists_rooms: ClassVar[bool] = False
    graph: TemporalGraph | None = None

    def __init__(self, context: ModuleContext) -> None:
        self.context = context
        self.path: list[ObservedStep] = []
        self.recalled: tuple[RecalledItem, ...] = ()
        self._observed: list[ObservedStep] = []  # by number of the state

    def observe(self, percept: Percept, episode: Episode) -> None:
        """Take in a percept.

        Args:
            percept: what the agent perceived; one with a ``problem`` changes nothing.
            episode: the episode of it in the agent's memory.
        """
        if percept.problem:
            return
        left = self.path
        if percept.is_new:
            self._observed.append(ObservedStep(percept, episode))
        if percept.is_new and percept.before == (left[-1].percept.moment if left else None):
            self.path.append(self._observed[-1])
        else:
            self.path = [*walk_back(self._observed[percept.moment], self._before)][::-1]
            self._returned(left)

    def _before(self, step: ObservedStep) -> ObservedStep | None:
        before = step.percept.before
        return None if before is None else self._observed[before]

    def _returned(self, left: Sequence[ObservedStep]) -> None:  # noqa: B027 - optional: most need the path alone
        """Adapt to a return from the end of the path ``left`` to an earlier state."""

    @abstractmethod
    def recall(self, situation: Situation) -> str:
        """Return what matters now, as text for a prompt.

        Args:
            situation: the task, the observation and the plan.

        Returns:
            The text; empty when nothing is recalled.

        Raises:
            ModelError: the model could not be asked (:class:`~worldthread.models.chat.ChatModel`).
        """

    def graph_episodes(self) -> tuple[Episode, ...]:
        """Return the episodes of :attr:`graph`.

        Returns:
            The episodes on the path to the present state, with their texts; none without such a graph.
        """
        return ()

    def world_map(self) -> WorldMap | None:
        """Return the map that the module knows.

        Returns:
            The map, by which the agent walks; ``None`` when the module knows none.
        """
        return None

    def unexplored(self) -> list[tuple[str, str]]:
        """Return the exits that were seen and not taken.

        Returns:
            (room, direction), those of the present room first; empty without a map.
        """
        world = self.world_map()
        if world is None:
            return []
        exits = [(exit.room, exit.direction) for exit in world.unexplored if exit.presumed is None]
        return sorted(exits, key=lambda exit: (exit[0] != world.here, exit))


def prompt(name: str, version: int = 1, /, **values: str) -> tuple[Message, ...]:
    """Return the messages of a prompt of the memory modules, its placeholders filled with ``values``."""
    return load_prompt("worldthread_lab.agents.memory_modules", name, version).messages(**values)


def render_step(episode: Episode) -> str:
    """Return an episode as text for a prompt."""
    return f"[move {episode.at:g}] {episode.text}"


def render_steps(episodes: Iterable[Episode], *, max_characters: int = MAX_CHARACTERS) -> str:
    """Return episodes as text for a prompt, separated by blank lines.

    Args:
        episodes: the oldest first.
        max_characters: length of the text; a line that counts what is left out may be added to it.

    Returns:
        The text, without the oldest episodes when they do not fit.
    """
    kept: list[str] = []
    texts = [render_step(episode) for episode in episodes]
    for text in reversed(texts):
        max_characters -= len(text) + 2
        if max_characters < 0:
            kept.append(f"({len(texts) - len(kept)} earlier moves are left out)")
            break
        kept.append(text)
    return "\n\n".join(reversed(kept))


def indented(text: str) -> str:
    """Return a text of several lines as one item of a list."""
    return text.replace("\n", "\n  ")


def listed(heading: str, lines: Iterable[str]) -> str:
    """Return lines under a heading; an empty text when there are none."""
    items = [f"- {line}" for line in lines]
    return "\n".join([heading, *items]) if items else ""


def joined(*parts: str) -> str:
    """Return the parts that are not empty, separated by blank lines."""
    return "\n\n".join(part for part in parts if part)
