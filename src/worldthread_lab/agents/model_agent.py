"""The base of all agents with a chat model: it asks, checks answers, and walks to a place in many moves."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, TypeVar

import msgspec

from worldthread.errors import AgentError, AnswerError
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.structured import complete_structured
from worldthread.names import normalise_name
from worldthread.support.text import one_line
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent
from worldthread_lab.agents.valid_actions import valid_actions_text
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game.commands import direction_of

GO_TO: Final = "go to "
"""The start of an action that is walked move by move over the known map."""

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
    """An agent that asks a chat model. Subclasses decide what to ask in :meth:`_choose`.

    When an answer cannot be used, after one attempt to have it repaired, the decision holds no action and
    :attr:`Decision.problem` says why; an answer that the agent can do without (:meth:`ask_optional`) is mentioned in
    :attr:`Decision.reason`. Both are counted in :attr:`failures`. An action that the world does not offer is sent to
    the world all the same: its list of valid actions may be incomplete, and the play counts what was not on it.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        run: the name of the play, used as the source of its episodes.
        use_valid_actions: whether prompts list the valid actions when the world gives them.
        temperature: of the answers that choose an action; 0 or more.
        seed: sent to the model with every request, so that the requests of two plays differ.
        max_tokens: limit of one answer; ``None`` leaves it to the server. It stops a small model that repeats itself
            without end.
    """

    asks_model: ClassVar[bool] = True
    walks: ClassVar[bool] = False
    """Whether ``go to <place>`` is an action: all moves to a place on the known map, as one decision."""

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
        """How many answers could not be used, by purpose; repaired ones are not counted."""
        self._remarks: list[str] = []  # added to the reason of the next decision
        self._destination: tuple[str, str] | None = None  # (room, reason) of the present walk
        self._last_move: tuple[str, str] | None = None  # (room, move) of the last step of the walk

    @property
    def is_walking(self) -> bool:
        return self._destination is not None

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
        """Make a fresh decision.

        Returns:
            The decision; :meth:`act` makes one from the model's action.

        Raises:
            AnswerError: the model gave no answer that can be used.
        """

    # -- for subclasses -----------------------------------------------------------------------------------------------

    def ask(self, purpose: str, messages: Sequence[Message], into: type[T], *, temperature: float | None = None) -> T:
        """Ask the model for an answer that the agent needs.

        Args:
            purpose: what the answer is for; failures are counted under it.
            messages: the prompt.
            into: the type of the answer, from which its JSON schema is made.
            temperature: 0 or more; ``None`` takes that of the agent.

        Returns:
            The answer, decoded.

        Raises:
            AnswerError: neither the answer nor a repaired one could be used.
            ModelError: see :meth:`ChatModel.complete`.
        """
        try:
            return complete_structured(self.model, self._request(purpose, messages, temperature), into)
        except AnswerError:
            self.failures[purpose] += 1
            raise

    def ask_optional(
        self, purpose: str, messages: Sequence[Message], into: type[T], *, temperature: float | None = None
    ) -> T | None:
        """Ask the model for an answer that the agent can do without.

        Args:
            purpose: what the answer is for; failures are counted under it.
            messages: the prompt.
            into: the type of the answer, from which its JSON schema is made.
            temperature: 0 or more; ``None`` takes that of the agent.

        Returns:
            The answer, decoded; ``None`` when neither it nor a repaired one could be used.

        Raises:
            ModelError: see :meth:`ChatModel.complete`.
        """
        try:
            return self.ask(purpose, messages, into, temperature=temperature)
        except AnswerError as error:
            self.remark(f"no use could be made of the answer for {purpose!r}: {error}")
            return None

    def remark(self, text: str) -> None:
        """Add a sentence to the reason of the next decision."""
        self._remarks.append(text)

    def ask_text(self, purpose: str, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """Ask the model for prose.

        Args:
            purpose: what the answer is for.
            messages: the prompt.
            temperature: 0 or more; ``None`` takes that of the agent.

        Returns:
            The answer without white space around it; it may be empty.

        Raises:
            ModelError: see :meth:`ChatModel.complete`.
        """
        return self.model.complete(self._request(purpose, messages, temperature)).text.strip()

    def _request(self, purpose: str, messages: Sequence[Message], temperature: float | None) -> ChatRequest:
        temperature = self.temperature if temperature is None else temperature
        limit = self.max_tokens
        return ChatRequest(tuple(messages), purpose, temperature=temperature, max_tokens=limit, seed=self.seed)

    def act(self, action: str, reason: str) -> Decision:
        """Make the decision to do what the model chose.

        Args:
            action: the model's action; ``go to <place>`` begins a walk where the agent walks.
            reason: why.

        Returns:
            The action on one line, the first move of a walk, or a problem when there is no action.
        """
        action = one_line(action)
        if not action.isprintable() or not action:
            self.failures["act"] += 1
            return Decision("", reason, problem=f"{action!r} is no action: one line of text is wanted")
        if self.walks and action.casefold().startswith(GO_TO):
            world = self.world_map()
            room = normalise_name(action[len(GO_TO) :])
            if world is not None and room in world.rooms and room != world.here and world.path(room):
                self._destination, self._last_move = (room, reason), None
                step = self._next_step()
                assert step is not None
                return replace(step, is_new=True)
        return Decision(action, reason)

    @property
    def offered(self) -> tuple[str, ...] | None:
        """The valid actions that prompts may list; ``None`` when they may not, or the world gives none."""
        assert self.percept is not None
        return self.percept.valid_actions if self.use_valid_actions else None

    @property
    def lists_all(self) -> bool:
        """Whether the list of valid actions holds nearly every action that the world accepts."""
        assert self.percept is not None
        return self.percept.lists_all

    def actions_text(self) -> str:
        """Return what the model can choose from, as prompts list it: the valid actions and the places to go to."""
        walks = [GO_TO + place for place in self.places()]
        if self.offered is not None:
            actions = dict.fromkeys((*self.offered, *walks))
            return valid_actions_text(actions, lists_all=self.lists_all)
        unlisted = valid_actions_text(None)
        return f"{unlisted}\nBesides: {', '.join(walks)}" if walks else unlisted

    def world_map(self) -> WorldMap | None:
        """Return the map by which it walks; ``None`` for an agent that does not walk."""
        return WorldMap(self.memory.view()) if self.walks else None

    def places(self) -> list[str]:
        """Return the places that ``go to`` can reach, normalised and sorted; none for an agent that does not walk."""
        world = self.world_map()
        return [] if world is None else sorted(room for room in world.distances() if room != world.here)

    def _move(self, direction: str) -> str:
        """Return a move in a direction in the words of this world: some list "go north", some "north"."""
        offered = (action for action in self.offered or () if direction_of(action) == direction)
        return next(offered, f"go {direction}")

    def _next_step(self) -> Decision | None:
        """Return the next move of the present walk; ``None`` at its end, or when it cannot go on."""
        if self._destination is None:
            return None
        room, reason = self._destination
        world = self.world_map()
        path = world.path(room) if world is not None else None
        assert self.percept is not None
        if world is not None and world.here is not None and path and not (self.percept.ended or self.percept.returned):
            door = world.doors.get((world.here, path[0]))
            move = f"open {door}" if world.is_shut(door) else self._move(path[0])
            if (world.here, move) != self._last_move:  # else the move had no effect: the map is wrong there
                self._last_move = (world.here, move)
                return Decision(move, f"going to {room}: {reason}", is_new=False)
        self._destination = None
        return None
