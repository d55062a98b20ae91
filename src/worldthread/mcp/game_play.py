"""One play of a game that a client leads: its moves, what they led to, and the memory of it all."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from worldthread.agents.base import AgentMemory, Decision, PerceivingAgent, Percept
from worldthread.agents.reflact.critic import ActionOutcome, action_key
from worldthread.agents.reflact.lookup import carried, matching_names
from worldthread.agents.reflact.loop_detector import LoopDetector
from worldthread.agents.worldmap import WorldMap
from worldthread.envs.base import Environment
from worldthread.errors import AgentError, InputError, NotFoundError
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.commands import direction_of
from worldthread.memory import Memory
from worldthread.names import normalise_name
from worldthread.play.loop import Play
from worldthread.play.step_record import StepRecord
from worldthread.types import Episode, Extraction, Fact

LONGEST_ACTION: Final = 200
"""Characters of an action, at most."""
_NAMED: Final = 12  # rooms in a message
_NUMBER: Final = re.compile(r"\d+")
_WALK: Final = re.compile(r"go\s+to\s+(?P<place>.+)", re.I)


class ExternalPlayer(PerceivingAgent):
    """Perceives and remembers; what is done next, somebody else decides.

    An action that moves in a direction and is on the world's list of valid actions tells of a way out of the room.

    Args:
        memory: where percepts go.
        run: name of the play, the source of its episodes.
    """

    name = "client"
    returns: ClassVar[bool] = True

    def __init__(self, memory: AgentMemory, *, run: str = "play") -> None:
        super().__init__(memory, run=run)
        self.next: Decision | None = None
        """What :meth:`decide` will say."""

    def decide(self) -> Decision:
        if self.next is None:
            raise AgentError("nobody has said what to do next")
        return self.next

    def _extract(self, percept: Percept) -> Extraction:
        extraction = super()._extract(percept)
        view = self.memory.view()
        places = [s.object for s in extraction.statements if isinstance(s, Fact) and s.key[:2] == (v.PLAYER, v.IS_IN)]
        here = places[-1] if places else view.value(v.PLAYER, v.IS_IN)
        if here is None or normalise_name(here) == v.DARKNESS:
            return extraction
        told = {statement.aspect for statement in extraction.statements}
        directions = {direction_of(action) for action in percept.valid_actions or ()} - {None}
        ways = [v.exit_of(here, direction) for direction in sorted(filter(None, directions))]
        new = [way for way in ways if way.aspect not in told and not view.holds(way)]
        return replace(extraction, statements=(*extraction.statements, *new))


@dataclass(frozen=True)
class TriedAction:
    """An action and what came of it, as it is told of a room.

    Args:
        room: where it was done; empty when that was not known.
        deed: the action, the answer, and what it brought.
        led_to: the other room to which it led; empty when it led nowhere.
        moment: the number of the moment that followed.
    """

    room: str
    deed: ActionOutcome
    led_to: str
    moment: int


@dataclass(frozen=True)
class CallOutcome:
    """What came of a call.

    Args:
        steps: the moves that were made, at least one; or the moment to which the play came back.
        before: the points before them.
        note: how a walk ended; empty otherwise.
        warnings: of loops, after the last of them.
    """

    steps: tuple[StepRecord, ...]
    before: float
    note: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def last(self) -> StepRecord:
        """The step that was reached."""
        return self.steps[-1]


class GamePlay:
    """One play from its beginning, with a memory of its own in RAM. Not safe to use from several threads at once.

    After an error of the engine no further move can be made: every one raises :class:`~worldthread.errors.AgentError`.

    Args:
        env: the world; it is reset, not closed, and must have no limit of moves.
        seed: given to ``env.reset``.
        run: name of the play, the source of its episodes.

    Raises:
        GameError: the game could not be begun.
    """

    def __init__(self, env: Environment, *, seed: int, run: str) -> None:
        self.seed = seed
        self.run = run
        self.memory = Memory(model="none")
        self._client = ExternalPlayer(self.memory.record, run=run)
        self._play = Play(env, self._client, self.memory.record.graph, seed=seed, audit=False)
        self._play_steps = iter(self._play)
        self._moments: list[StepRecord] = []
        self._tried: list[TriedAction] = []  # by moment, from the first after the beginning
        self.watch = LoopDetector()
        self._warned: set[str] = set()
        self._moments.append(next(self._play_steps))
        self._see(self.now)

    # -- what is so now -----------------------------------------------------------------------------------------------

    @property
    def now(self) -> StepRecord:
        """The step that led here."""
        percept = self._client.percept
        assert percept is not None
        return self._moments[percept.moment]

    @property
    def moves(self) -> int:
        """Moves from the beginning to here."""
        return self.now.percept.step.turn

    @property
    def room(self) -> str:
        """The room as the game writes it; empty when it is not known."""
        return self.memory.view().value(v.PLAYER, v.IS_IN) or ""

    @property
    def goal(self) -> str:
        """The task in words; empty when the game states none."""
        return self._moments[0].percept.step.goal

    def way(self) -> list[StepRecord]:
        """The steps from the beginning to here."""
        return [self._moments[number] for number in self._client.path_to(self.now.percept.moment)]

    def episodes(self) -> list[Episode]:
        """What is remembered, in order."""
        return self._client.episodes_to(self.now.percept.moment)

    def was_in_vain(self, step: StepRecord) -> bool:
        """Whether nothing seems to have come of a step."""
        if step.percept.before is None or step.learned or step.ended or step.reward:
            return False
        return step.info.state == self._moments[step.percept.before].info.state

    def tried(self, step: StepRecord) -> TriedAction | None:
        """What was done to come to a step; ``None`` for the beginning."""
        moment = step.percept.moment
        return self._tried[moment - 1] if moment else None

    def tried_here(self) -> list[tuple[TriedAction, bool]]:
        """What was done in this room, the oldest first, and whether it was taken back."""
        happened = {step.percept.moment for step in self.way()}
        here = normalise_name(self.room)
        return [(tried, tried.moment not in happened) for tried in self._tried if normalise_name(tried.room) == here]

    # -- moves --------------------------------------------------------------------------------------------------------

    def act(self, action: str, pause: Callable[[], None] = lambda: None) -> CallOutcome:
        """Do one action, or walk to a known room (``go to kitchen``).

        Args:
            action: a command as one types it into the game.
            pause: called between the moves of a walk; what it raises ends the walk there.

        Raises:
            InputError: this is no action, or the game is over. Nothing was done.
            NotFoundError: no such room is known, or no way to it. Nothing was done.
        """
        action = _checked(action)
        self._require_running()
        before = self.now.info.score
        walk = _WALK.fullmatch(action)
        offered = self.now.info.valid_actions or ()
        if walk is None or action_key(action) in map(action_key, offered):
            return CallOutcome((self._do(action),), before, warnings=self._new_warnings())
        steps, note = self._walk(self._place(walk["place"]), pause)
        return CallOutcome(tuple(steps), before, note, self._new_warnings())

    def undo(self, moves: int = 1) -> CallOutcome:
        """Come back to before the last moves, which then have not happened: the memory forgets them.

        Raises:
            InputError: so many moves were not made.
            ContractError: the world does not get there again.
        """
        if not 1 <= moves <= self.moves:
            made = "1 move was" if self.moves == 1 else f"{self.moves or 'no'} moves were"
            raise InputError(f"{made} made: {moves} cannot be taken back")
        before = self.now.info.score
        there = self.way()[-1 - moves]
        self._client.next = Decision("", "asked for", return_to=there.percept.moment)
        step = self._step()
        self.watch = LoopDetector()
        for earlier in self.way():
            self._see(earlier)
        return CallOutcome((step,), before, f"taken back; this is move {self.moves} again")

    def close(self) -> None:
        """Release the memory; the world is not closed."""
        self.memory.close()

    # -- within -------------------------------------------------------------------------------------------------------

    def _require_running(self) -> None:
        if self.now.percept.ended:
            raise InputError("the game is over: undo takes back the last move, new_game begins anew")

    def _step(self) -> StepRecord:
        step = next(self._play_steps, None)
        if step is None:
            raise AgentError("the game cannot go on after an error of its engine: new_game begins anew")
        return step

    def _do(self, action: str) -> StepRecord:
        room, held, before = self.room, frozenset(carried(self.memory.view())), self.now
        self._client.next = Decision(action, "asked for")
        step = self._step()
        if step.percept.problem:
            raise InputError(f"{step.percept.problem}. Nothing was done")
        self._moments.append(step)
        there, holds = self.room, frozenset(carried(self.memory.view()))
        moved = normalise_name(there) != normalise_name(room)
        if not moved and direction_of(action) is not None:
            # rooms may bear one name: a direction that changed the state of the world has led somewhere
            moved = step.info.state != before.info.state
        gained, lost = tuple(sorted(holds - held)), tuple(sorted(held - holds))
        deed = ActionOutcome(action, step.observation, step.reward, moved, gained, lost)
        self._tried.append(TriedAction(room, deed, there if moved else "", step.percept.moment))
        self._see(step)
        return step

    def _see(self, step: StepRecord) -> None:
        tried = self.tried(step)
        action = None
        if tried is not None:  # the same direction in another room is no repetition
            action = action_key(tried.deed.action) + (f" (in {tried.room})" if tried.room else "")
        self.watch.record(action, step.info.score, step.info.state)

    def _new_warnings(self) -> tuple[str, ...]:
        """Warnings that were not given after the last action too, whatever their numbers; of loops, all."""
        kinds = {_NUMBER.sub("", warning): warning for warning in self.watch.warnings()}
        new = tuple(w for kind, w in kinds.items() if kind not in self._warned or w.startswith("LOOP"))
        self._warned = set(kinds)
        return new

    def _place(self, name: str) -> str:
        """The room to walk to, normalised."""
        world = WorldMap(self.memory.view())
        found = matching_names(name, world.rooms)
        if not found:
            near = sorted(world.distances().items(), key=lambda item: (item[1], item[0]))
            known = ", ".join(room for room, _ in near[:_NAMED]) or "none"
            raise NotFoundError(f"no known room is called {name!r}; rooms that can be walked to: {known}")
        if len(found) > 1:
            raise NotFoundError(f"{name!r} may be any of {', '.join(found[:_NAMED])}: say which")
        (room,) = found
        if room == world.here:
            raise InputError(f"you are in {room} already")
        if world.path(room) is None:
            raise NotFoundError(f"no open way from here to {room} is known")
        return room

    def _walk(self, room: str, pause: Callable[[], None]) -> tuple[list[StepRecord], str]:
        """Go to a room by the known map, until it is reached or something unexpected happens: the steps, and why."""
        steps: list[StepRecord] = []
        score = self.now.info.score
        while True:
            world = WorldMap(self.memory.view())
            path = world.path(room)
            if world.here is None or not path:
                return steps, f"the way on to {room} is not known any more"
            if steps:
                pause()
            here, direction = world.here, path[0]
            door = world.doors.get((here, direction))
            opens = door is not None and world.is_shut(door)
            steps.append(self._do(f"open {door}" if opens else f"go {direction}"))
            after = WorldMap(self.memory.view())
            if steps[-1].percept.ended:
                return steps, "the game ended on the way"
            if after.here == room:
                return steps, ""
            if opens and after.is_shut(door):
                return steps, f"stopped in {here}: {door} did not open"
            if not opens and after.here == here:
                return steps, f"stopped in {here}: the way {direction} is blocked"
            if not opens and after.here not in _beyond(world, here, direction):
                return steps, f"stopped in {after.here or 'an unknown place'}: the way led elsewhere than before"
            if steps[-1].info.score != score:
                return steps, "stopped on the way: the score changed"


def _beyond(world: WorldMap, room: str, direction: str) -> set[str | None]:
    """Where a way leads as far as is known: by an earlier walk, or by dead reckoning."""
    presumed = {e.presumed for e in world.unexplored if (e.room, e.direction) == (room, direction)}
    return {world.exits.get(room, {}).get(direction)} - {None} or presumed


def _checked(action: str) -> str:
    """An action that can go to the world.

    Raises:
        InputError: it cannot.
    """
    if len(action) > LONGEST_ACTION:
        raise InputError(f"an action has at most {LONGEST_ACTION} characters; this one has {len(action)}")
    action = action.strip()
    if not action or not action.isprintable():
        raise InputError(f"an action is one line of printable text, such as 'open door', not {action!r}")
    return action
