"""What all agents with a chat model share: asking, checking the answer, and walking to a place in many moves."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, TypeVar

import msgspec

from worldthread.agents.base import AgentMemory, Decision, PerceivingAgent
from worldthread.agents.worldmap import WorldMap
from worldthread.errors import AgentError, AnswerError
from worldthread.extract.game.commands import direction_of
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.structured import complete_structured
from worldthread.models.valid_actions import valid_actions_text
from worldthread.names import normalise_name
from worldthread.text import one_line

GO_TO: Final = "go to "
"""How an action begins that is walked move by move over the known map."""

T = TypeVar("T")


class Choice(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to "what next?", in the order in which it shall be thought.

    Args:
        thought: the reasons.
        action: the command.
    """

    thought: str
    action: str


class ModelAgent(PerceivingAgent):
    """An agent that asks a chat model. What is asked is what its kinds differ in: :meth:`_choose`.

    An answer that cannot be used, after one attempt to have it mended, is told in :attr:`Decision.problem`, and no
    action takes its place; one that the agent can do without (:meth:`advice`) is told in :attr:`Decision.reason`. Both
    are counted in :attr:`failures`. An action that the world does not offer is given to the world all the same: its
    list of valid actions may be incomplete, and the play counts what was not on it.

    Args:
        memory: where percepts go and knowledge comes from.
        model: answers.
        run: name of the play, the source of its episodes.
        use_valid_actions: whether the model is told the list of valid actions when the world gives one.
        temperature: of the answers that choose an action; 0 or more.
        seed: asked of the model with every request, so that the requests of two plays differ.
        max_tokens: limit of one answer; ``None`` leaves it to the server. A small model that may repeat itself for
            ever is stopped by it.
    """

    asks_model: ClassVar[bool] = True
    walks: ClassVar[bool] = False
    """Whether ``go to <place>`` is an action of its own: all moves to a place on the known map, as one decision."""

    def __init__(
        self,
        memory: AgentMemory,
        model: ChatModel,
        *,
        run: str = "play",
        use_valid_actions: bool = True,
        temperature: float = 0.5,
        seed: int = 0,
        max_tokens: int | None = None,
    ) -> None:
        super().__init__(memory, run=run)
        self.model = model
        self.use_valid_actions = use_valid_actions
        self.temperature = temperature
        self.seed = seed
        self.max_tokens = max_tokens
        self.failures: Counter[str] = Counter()
        """How many answers could not be used, by purpose; one that could be mended is not among them."""
        self._remarks: list[str] = []  # what people shall be told with the next decision
        self._destination: tuple[str, str] | None = None  # (room that is walked to, reason)
        self._tried: tuple[str, str] | None = None  # (room, move) of the last step on the way there

    def decide(self) -> Decision:
        if self.percept is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        step = self._next_step()
        if step is not None:
            return step
        try:
            decision = self._choose()
        except AnswerError as error:
            decision = Decision("", "", problem=str(error))
        remarks, self._remarks = self._remarks, []
        return replace(decision, reason="; ".join(filter(None, (decision.reason, *remarks)))) if remarks else decision

    @abstractmethod
    def _choose(self) -> Decision:
        """A fresh decision.

        Raises:
            AnswerError: the model gave no answer that can be used.
        """

    # -- for the kinds of agents --------------------------------------------------------------------------------------

    def ask(self, purpose: str, messages: Sequence[Message], into: type[T], *, temperature: float | None = None) -> T:
        """One answer of the model, decoded.

        Raises:
            AnswerError: it could not be used, nor could the mended one.
            ModelError: see :meth:`ChatModel.complete`.
        """
        try:
            return complete_structured(self.model, self._request(purpose, messages, temperature), into)
        except AnswerError:
            self.failures[purpose] += 1
            raise

    def advice(
        self, purpose: str, messages: Sequence[Message], into: type[T], *, temperature: float | None = None
    ) -> T | None:
        """One answer that the agent can do without; ``None`` when it could not be used, nor could the mended one.

        Raises:
            ModelError: see :meth:`ChatModel.complete`.
        """
        try:
            return self.ask(purpose, messages, into, temperature=temperature)
        except AnswerError as error:
            self.remark(f"no use could be made of the answer for {purpose!r}: {error}")
            return None

    def remark(self, text: str) -> None:
        """Tell people something with the next decision, in one sentence."""
        self._remarks.append(text)

    def tell(self, purpose: str, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """One answer of the model in prose.

        Raises:
            ModelError: see :meth:`ChatModel.complete`.
        """
        return self.model.complete(self._request(purpose, messages, temperature)).text.strip()

    def _request(self, purpose: str, messages: Sequence[Message], temperature: float | None) -> ChatRequest:
        temperature = self.temperature if temperature is None else temperature
        limit = self.max_tokens
        return ChatRequest(tuple(messages), purpose, temperature=temperature, max_tokens=limit, seed=self.seed)

    def act(self, action: str, reason: str) -> Decision:
        """The decision to do what the model named, as it stands there; the first move when that is to go to a place."""
        action = one_line(action)
        if not action.isprintable() or not action:
            self.failures["act"] += 1
            return Decision("", reason, problem=f"{action!r} is no action: one line of text is wanted")
        if self.walks and action.casefold().startswith(GO_TO):
            world = self.world_map()
            room = normalise_name(action[len(GO_TO) :])
            if world is not None and room in world.rooms and room != world.here and world.path(room):
                self._destination, self._tried = (room, reason), None
                step = self._next_step()
                assert step is not None
                return replace(step, is_new=True)
        return Decision(action, reason)

    @property
    def offered(self) -> tuple[str, ...] | None:
        """The valid actions that the model may be told."""
        assert self.percept is not None
        return self.percept.valid_actions if self.use_valid_actions else None

    def actions_text(self) -> str:
        """What the model can choose from, as every prompt tells it: the valid actions, and where it can go to."""
        walks = [GO_TO + place for place in self.places()]
        if self.offered is not None:
            return valid_actions_text(dict.fromkeys((*self.offered, *walks)))
        untold = valid_actions_text(None)
        return f"{untold}\nBesides: {', '.join(walks)}" if walks else untold

    def world_map(self) -> WorldMap | None:
        """The map by which it walks; ``None`` for an agent that does not walk."""
        return WorldMap(self.memory.view()) if self.walks else None

    def places(self) -> list[str]:
        """Known places that ``go to`` can reach, normalised, sorted; none for an agent that does not walk."""
        world = self.world_map()
        return [] if world is None else sorted(room for room in world.distances() if room != world.here)

    def _move(self, direction: str) -> str:
        """How this world calls a move in a direction: some list "go north", some "north"."""
        offered = (action for action in self.offered or () if direction_of(action) == direction)
        return next(offered, f"go {direction}")

    def _next_step(self) -> Decision | None:
        """The next move of a way that was begun; ``None`` at its end, or when it cannot go on."""
        if self._destination is None:
            return None
        room, reason = self._destination
        world = self.world_map()
        path = world.path(room) if world is not None else None
        assert self.percept is not None
        if world is not None and world.here is not None and path and not (self.percept.ended or self.percept.returned):
            door = world.doors.get((world.here, path[0]))
            move = f"open {door}" if world.is_shut(door) else self._move(path[0])
            if (world.here, move) != self._tried:  # it did not help: the map is wrong there
                self._tried = (world.here, move)
                return Decision(move, f"going to {room}: {reason}", is_new=False)
        self._destination = None
        return None
