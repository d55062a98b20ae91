"""What an agent is reminded of: the contract of the memory modules that can sit in the seat of an agent's memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, TypeVar

from worldthread.agents.base import AgentMemory, Percept, RecalledItem
from worldthread.agents.worldmap import WorldMap
from worldthread.models import Embedder, embedder
from worldthread.models.chat import Message
from worldthread.models.prompts import load_prompt
from worldthread.types import Episode

T = TypeVar("T")

MAX_CHARACTERS: Final = 80_000
"""How long a list of moments becomes, by default: about 20,000 tokens."""


class ModelCaller(Protocol):
    """Who asks the model: a :class:`~worldthread.agents.model_agent.ModelAgent`."""

    failures: Counter[str]
    """How many answers could not be used, by purpose."""

    def advice(
        self, purpose: str, messages: Sequence[Message], into: type[T], *, temperature: float | None = None
    ) -> T | None:
        """One answer that can be done without; ``None`` when it could not be used."""

    def tell(self, purpose: str, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """One answer in prose."""


@dataclass(frozen=True)
class ModuleContext:
    """What a memory module may use.

    Args:
        memory: the agent's memory. It has taken in a percept before the memory module is told of it.
        asks: asks the model.
        embedder: an embedder, or the name of one; ``None`` takes the default.
        truth: gives the true state of the world as it is now, as ground propositions (predicate, then names). It is
            privileged: whoever hands it over gives the agent an oracle.
    """

    memory: AgentMemory
    asks: ModelCaller
    embedder: Embedder | str | None = None
    truth: Callable[[], Collection[tuple[str, ...]]] | None = None

    def load_embedder(self) -> Embedder:
        """The embedder."""
        return embedder(self.embedder) if self.embedder is None or isinstance(self.embedder, str) else self.embedder


@dataclass(frozen=True)
class Situation:
    """What an agent has before it when it wants to be reminded.

    Args:
        goal: the task.
        observation: the text of the last step.
        inventory: what is carried, in words; empty when that is not told.
        plan: the plan in words; empty when there is none.
        shown: the moments that the agent sees besides, the oldest first, the present one last: it need not be
            reminded of them.
    """

    goal: str
    observation: str
    inventory: str = ""
    plan: str = ""
    shown: tuple[Episode, ...] = ()


@dataclass(frozen=True)
class ObservedStep:
    """One moment: what was perceived, and the episode that the agent's memory made of it."""

    percept: Percept
    episode: Episode


class MemoryModule(ABC):
    """Reminds an agent. :meth:`observe` is called with every percept, :meth:`recall` before every choice.

    All calls of a model are made by :meth:`recall`, which tells in its class what they cost. An answer that cannot be
    used is counted in :attr:`ModelCaller.failures`, and what it was to bring is missing.

    When the agent comes back to an earlier moment, what happened since has not happened: :attr:`way` is the way to
    that moment, and what is recalled follows from it. Lessons that are drawn from failed attempts are kept
    (:class:`~worldthread.agents.memory_modules.reflexion.ReflexionModule`).
    """

    name: ClassVar[str]

    def __init__(self, means: ModuleContext) -> None:
        self.means = means
        self.way: list[ObservedStep] = []
        """The moments from the beginning to now."""
        self.recalled: tuple[RecalledItem, ...] = ()
        """What retrieval found for the last :meth:`recall`; empty for what is told without a search."""
        self._seen: list[ObservedStep] = []  # by number of the moment

    def observe(self, percept: Percept, episode: Episode) -> None:
        """Take in what the agent perceived, and what its memory made of it."""
        if percept.problem:
            return
        if not percept.returned:
            self._seen.append(ObservedStep(percept, episode))
            self.way.append(self._seen[-1])
            return
        left = self.way
        way = [self._seen[percept.moment]]
        while (before := way[-1].percept.before) is not None:
            way.append(self._seen[before])
        self.way = way[::-1]
        self._came_back(left)

    def _came_back(self, left: Sequence[ObservedStep]) -> None:  # noqa: B027 - optional: most follow from the way alone
        """The agent came back to an earlier moment from the end of the way ``left``."""

    @abstractmethod
    def recall(self, situation: Situation) -> str:
        """What the agent is reminded of, for a prompt; empty for nothing.

        Raises:
            ModelError: the model could not be asked (see :class:`~worldthread.models.chat.ChatModel`).
        """

    def world_map(self) -> WorldMap | None:
        """The map that it knows, to walk by; ``None`` when it knows none."""
        return None

    def unexplored(self) -> list[tuple[str, str]]:
        """Ways out that were seen and not taken: room, direction; none without a map. Those of this room first."""
        world = self.world_map()
        if world is None:
            return []
        exits = [(exit.room, exit.direction) for exit in world.unexplored if exit.presumed is None]
        return sorted(exits, key=lambda exit: (exit[0] != world.here, exit))


def prompt(name: str, version: int = 1, /, **values: str) -> tuple[Message, ...]:
    """The messages of a prompt of the memory modules."""
    return load_prompt("worldthread.agents.memory_modules", name, version).messages(**values)


def told(episode: Episode) -> str:
    """A moment in words."""
    return f"[move {episode.at:g}] {episode.text}"


def told_all(episodes: Iterable[Episode], *, max_characters: int = MAX_CHARACTERS) -> str:
    """Moments in words, a blank line between them; the first ones are left out when they are too many."""
    kept: list[str] = []
    texts = [told(episode) for episode in episodes]
    for text in reversed(texts):
        max_characters -= len(text) + 2
        if max_characters < 0:
            kept.append(f"({len(texts) - len(kept)} earlier moves are left out)")
            break
        kept.append(text)
    return "\n\n".join(reversed(kept))


def indented(text: str) -> str:
    """A text of several lines as one item of a list."""
    return text.replace("\n", "\n  ")


def listed(heading: str, lines: Iterable[str]) -> str:
    """Lines under a heading; empty when there are none."""
    items = [f"- {line}" for line in lines]
    return "\n".join([heading, *items]) if items else ""


def joined(*parts: str) -> str:
    """The parts that are not empty, a blank line between them."""
    return "\n\n".join(part for part in parts if part)
