"""One play of a game that a client controls: its moves, their outcomes, and its memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from worldthread.errors import AgentError, InputError, NotFoundError
from worldthread.memory.memory import Memory
from worldthread.names import normalise_name
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent, Percept
from worldthread_lab.agents.reflact.critic import ActionOutcome, action_key
from worldthread_lab.agents.reflact.lookup import carried, matching_names
from worldthread_lab.agents.reflact.loop_detector import LoopDetector
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.envs.base import Environment
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.extractor import PLAIN_TITLES
from worldthread_lab.play.loop import Play
from worldthread_lab.play.step_record import StepRecord

LONGEST_ACTION: Final = 200
"""The most characters of an action."""
_LISTED: Final = 12  # rooms in a message
_NUMBER: Final = re.compile(r"\d+")
_ALL_WAYS: Final = re.compile(r"\b(?:all|every|any|many|various|several) directions?\b", re.I)
_GO_TO: Final = re.compile(r"go\s+to\s+(?P<room>.+)", re.I)


class ExternalPlayer(PerceivingAgent):
    """An agent that perceives and remembers, but whose decisions are made by a client.

    It also learns the exits of a room from the directions among the valid actions. Where the list was found by trying
    what changes the world, a direction may stand for the time that a refused move takes: there it counts only when the
    text speaks of ways in all directions.

    Args:
        memory: stores the percepts.
        run: name of the play, and source of its episodes.
    """

    name = "client"
    returns: ClassVar[bool] = True

    def __init__(self, memory: AgentMemory, *, run: str = "play") -> None:
        super().__init__(memory, run=run)
        self.next: Decision | None = None
        """What :meth:`decide` returns."""

    def decide(self) -> Decision:
        if self.next is None:
            raise AgentError("no decision is set: set `next` before the agent decides")
        return self.next

    def _extract(self, percept: Percept) -> Extraction:
        extraction = super()._extract(percept)
        view = self.memory.view()
        rooms = [s.object for s in extraction.statements if isinstance(s, Fact) and s.key[:2] == (v.PLAYER, v.IS_IN)]
        here = rooms[-1] if rooms else view.value(v.PLAYER, v.IS_IN)
        if here is None or normalise_name(here) == v.DARKNESS:
            return extraction
        is_found_by_trying = view.holds(PLAIN_TITLES) or PLAIN_TITLES in extraction.statements
        if is_found_by_trying and _ALL_WAYS.search(percept.step.text) is None:
            return extraction
        stated = {statement.aspect for statement in extraction.statements}
        directions = {direction_of(action) for action in percept.valid_actions or ()} - {None}
        exits = [v.exit_of(here, direction) for direction in sorted(filter(None, directions))]
        new = [exit_ for exit_ in exits if exit_.aspect not in stated and not view.holds(exit_)]
        return replace(extraction, statements=(*extraction.statements, *new))


@dataclass(frozen=True)
class TriedAction:
    """An action that was tried in a room, with its outcome.

    Args:
        room: the room; empty if it was not known.
        outcome: the action, the text of the game, and the changes.
        led_to: the other room to which the action led; empty if it led nowhere.
        moment: number of the moment after the action.
    """

    room: str
    outcome: ActionOutcome
    led_to: str
    moment: int


@dataclass(frozen=True)
class CallOutcome:
    """The outcome of a tool call.

    Args:
        steps: the moves that were made, at least one; or the moment to which the play returned.
        score_before: the score before them.
        note: how a walk ended; empty otherwise.
        warnings: warnings of loops after the last move.
    """

    steps: tuple[StepRecord, ...]
    score_before: float
    note: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def last(self) -> StepRecord:
        """The last step."""
        return self.steps[-1]


class GamePlay:
    """One play of a game, with a memory of its own in RAM. Not thread-safe.

    After an error of the engine, every further move raises :class:`~worldthread.errors.AgentError`.

    Args:
        env: the environment; it is reset but not closed, and must not limit the number of moves.
        seed: seeds ``env.reset``.
        run: name of the play, and source of its episodes.

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
        self._rooms: list[str] = []  # by moment: the room after it
        self._tried: list[TriedAction] = []  # by moment, from the first after the beginning
        self.loop_detector = LoopDetector()
        self._last_warnings: set[str] = set()
        self._moments.append(next(self._play_steps))
        self._rooms.append(self.room)
        self._observe(self.now)

    # -- the present state --------------------------------------------------------------------------------------------

    @property
    def now(self) -> StepRecord:
        """The step that led to the present state."""
        percept = self._client.percept
        assert percept is not None
        return self._moments[percept.moment]

    @property
    def moves(self) -> int:
        """The number of moves from the beginning to the present state."""
        return self.now.percept.step.turn

    @property
    def room(self) -> str:
        """The room as the game writes it; empty if it is not known."""
        return self.memory.view().value(v.PLAYER, v.IS_IN) or ""

    @property
    def goal(self) -> str:
        """The task in words; empty if the game states none."""
        return self._moments[0].percept.step.goal

    def path(self) -> list[StepRecord]:
        """Return the steps from the beginning to the present state."""
        return [self._moments[number] for number in self._client.path_to(self.now.percept.moment)]

    def episodes(self) -> list[Episode]:
        """Return the episodes of the play, in order."""
        return self._client.episodes_to(self.now.percept.moment)

    def had_no_effect(self, step: StepRecord) -> bool:
        """Return whether a step seems to have changed nothing."""
        if step.percept.before is None or step.learned or step.ended or step.reward:
            return False
        return step.info.state == self._moments[step.percept.before].info.state

    def room_after(self, step: StepRecord) -> str:
        """Return the room in which the player was after a step; empty if it was not known."""
        return self._rooms[step.percept.moment]

    def tried(self, step: StepRecord) -> TriedAction | None:
        """Return the action that led to a step; ``None`` for the beginning."""
        moment = step.percept.moment
        return self._tried[moment - 1] if moment else None

    def tried_here(self) -> list[tuple[TriedAction, bool]]:
        """Return the actions tried in this room, the oldest first, each with whether it was taken back."""
        kept = {step.percept.moment for step in self.path()}
        here = normalise_name(self.room)
        return [(tried, tried.moment not in kept) for tried in self._tried if normalise_name(tried.room) == here]

    # -- moves --------------------------------------------------------------------------------------------------------

    def act(self, action: str, pause: Callable[[], None] = lambda: None) -> CallOutcome:
        """Do one action, or walk to a known room (``go to kitchen``).

        Args:
            action: a command as a player types it into the game.
            pause: called between the moves of a walk; an exception that it raises ends the walk.

        Returns:
            The moves that were made.

        Raises:
            InputError: this is not an action, or the game is over. No move was made.
            NotFoundError: no such room is known, or no path to it. No move was made.
        """
        action = _checked(action)
        self._require_running()
        before = self.now.info.score
        go_to = _GO_TO.fullmatch(action)
        offered = self.now.info.valid_actions or ()
        if go_to is None or action_key(action) in map(action_key, offered):
            return CallOutcome((self._do(action),), before, warnings=self._new_warnings())
        steps, note = self._walk(self._room_named(go_to["room"]), pause)
        return CallOutcome(tuple(steps), before, note, self._new_warnings())

    def undo(self, moves: int = 1) -> CallOutcome:
        """Take back the last moves; the memory forgets them.

        Args:
            moves: how many, from 1.

        Returns:
            The moment to which the play returned.

        Raises:
            InputError: fewer moves were made.
            ContractError: the environment does not reach the earlier state again.
        """
        if not 1 <= moves <= self.moves:
            made = "1 move was" if self.moves == 1 else f"{self.moves or 'no'} moves were"
            raise InputError(f"{made} made: {moves} cannot be taken back")
        before = self.now.info.score
        target = self.path()[-1 - moves]
        self._client.next = Decision("", "asked for", return_to=target.percept.moment)
        step = self._step()
        self.loop_detector = LoopDetector()
        for earlier in self.path():
            self._observe(earlier)
        return CallOutcome((step,), before, f"taken back; this is move {self.moves} again")

    def close(self) -> None:
        """Release the memory; the environment stays open."""
        self.memory.close()

    # -- internal -----------------------------------------------------------------------------------------------------

    def _require_running(self) -> None:
        if self.now.percept.ended:
            raise InputError("the game is over: undo takes back the last move, new_game begins anew")

    def _step(self) -> StepRecord:
        step = next(self._play_steps, None)
        if step is None:
            raise AgentError("the game cannot go on after an error of its engine: new_game begins anew")
        return step

    def _do(self, action: str) -> StepRecord:
        room, carried_before, before = self.room, frozenset(carried(self.memory.view())), self.now
        self._client.next = Decision(action, "asked for")
        step = self._step()
        if step.percept.problem:
            raise InputError(f"{step.percept.problem}. Nothing was done")
        self._moments.append(step)
        self._rooms.append(self.room)
        new_room, carried_now = self.room, frozenset(carried(self.memory.view()))
        moved = normalise_name(new_room) != normalise_name(room)
        if not moved and direction_of(action) is not None:
            # rooms may share a name: a direction that changed the state of the world led to another room
            moved = step.info.state != before.info.state
        gained = tuple(sorted(carried_now - carried_before))
        lost = tuple(sorted(carried_before - carried_now))
        outcome = ActionOutcome(action, step.observation, step.reward, moved, gained, lost)
        self._tried.append(TriedAction(room, outcome, new_room if moved else "", step.percept.moment))
        self._observe(step)
        return step

    def _observe(self, step: StepRecord) -> None:
        tried = self.tried(step)
        action = None
        if tried is not None:  # the same direction in another room is not a repetition
            action = action_key(tried.outcome.action) + (f" (in {tried.room})" if tried.room else "")
        self.loop_detector.record(action, step.info.score, step.info.state)

    def _new_warnings(self) -> tuple[str, ...]:
        """Return the warnings that the last action did not have too, ignoring numbers in them, and all of loops."""
        kinds = {_NUMBER.sub("", warning): warning for warning in self.loop_detector.warnings()}
        new = tuple(w for kind, w in kinds.items() if kind not in self._last_warnings or w.startswith("LOOP"))
        self._last_warnings = set(kinds)
        return new

    def _room_named(self, name: str) -> str:
        """Return the normalised name of the known room that ``name`` means."""
        world = WorldMap(self.memory.view())
        found = matching_names(name, world.rooms)
        if not found:
            near = sorted(world.distances(presumed=True).items(), key=lambda item: (item[1], item[0]))
            known = ", ".join(room for room, _ in near[:_LISTED]) or "none"
            raise NotFoundError(f"no known room is called {name!r}; rooms that can be walked to: {known}")
        if len(found) > 1:
            raise NotFoundError(f"{name!r} may be any of {', '.join(found[:_LISTED])}: say which")
        (room,) = found
        if room == world.here:
            raise InputError(f"you are in {room} already")
        if world.path(room, presumed=True) is None:
            raise NotFoundError(f"no open way from here to {room} is known")
        return room

    def _walk(self, room: str, pause: Callable[[], None]) -> tuple[list[StepRecord], str]:
        """Walk to a known room, and stop early if something unexpected happens; return the steps and a note on why."""
        steps: list[StepRecord] = []
        score = self.now.info.score
        while True:
            world = WorldMap(self.memory.view())
            # ways that are only presumed are taken where no other is known; every step is checked
            path = world.path(room) or world.path(room, presumed=True)
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
            if not opens and after.here not in _expected_rooms(world, here, direction):
                return steps, f"stopped in {after.here or 'an unknown place'}: the way led elsewhere than before"
            if steps[-1].info.score != score:
                return steps, "stopped on the way: the score changed"


def _expected_rooms(world: WorldMap, room: str, direction: str) -> set[str | None]:
    """Return the rooms to which an exit leads as far as known: from an earlier move, or by dead reckoning."""
    presumed = {e.presumed for e in world.unexplored if (e.room, e.direction) == (room, direction)}
    return {world.exits.get(room, {}).get(direction)} - {None} or presumed


def _checked(action: str) -> str:
    """Return an action without white space around it.

    Args:
        action: the action as the client sent it.

    Returns:
        One line of printable text.

    Raises:
        InputError: it is too long, empty, or not printable.
    """
    if len(action) > LONGEST_ACTION:
        raise InputError(f"an action has at most {LONGEST_ACTION} characters; this one has {len(action)}")
    action = action.strip()
    if not action or not action.isprintable():
        raise InputError(f"an action is one line of printable text, such as 'open door', not {action!r}")
    return action
