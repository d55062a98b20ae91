"""What a model reads of a play: short texts, made of what the memory holds and of what was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from worldthread.agents.prompting import shorten
from worldthread.agents.reflact.critic import action_key
from worldthread.agents.reflact.lookup import answer, carried
from worldthread.agents.worldmap import WorldMap
from worldthread.errors import InputError, NotFoundError
from worldthread.extract.game import vocabulary as v
from worldthread.graph import GraphView
from worldthread.mcp.game_play import CallOutcome, GamePlay, TriedAction
from worldthread.names import normalise_name
from worldthread.play.step_record import StepRecord
from worldthread.text import OMISSION, count_of, cut, one_line
from worldthread.types import Episode, Fact, Hit, Statement

LONGEST_QUESTION: Final = 500
"""Characters of a question, at most."""
_TEXT: Final = 4000  # of what the game says
_LAST_TEXT: Final = 700
_STEP_TEXT: Final = 150
_GOAL: Final = 800
_RESULT: Final = 100
_PASSAGE: Final = 300
_STATEMENT: Final = 200
_NAMES: Final = 15
_LEARNED: Final = 8
_ACTIONS: Final = 60
_TRIED: Final = 80
_HISTORY: Final = 10
_CHANGES: Final = 6
_CHANGED: Final = 4
_ACTION: Final = 60
_EFFECT: Final = 120
_NOTHING: Final = "nothing"
_NEAR: Final = 2  # moves
_NEAR_ROOMS: Final = 8
_ROOMS: Final = 60
_RECALLED: Final = 10  # of each kind, of which the best are told that are not of the map
_STATEMENTS: Final = 4
_PASSAGES: Final = 3

_PLACES: Final = frozenset({v.IS_IN, v.IS_ON})
_SHOWN_ELSEWHERE: Final = frozenset({*_PLACES, v.IS, v.IS_A, v.HAS_EXIT, v.HAS_NO_EXIT, *v.DIRECTION_OF, *v.DOOR_LEADS})


def outcome_text(play: GamePlay, outcome: CallOutcome) -> str:
    """What a move led to: the answer of the game, the points, what was learned, and warnings."""
    *way, last = outcome.steps
    lines = [_way_line(play, step) for step in way]
    lines += [f"> {last.label}"] if way else []
    lines += [cut(last.observation.strip(), _TEXT, OMISSION), f"[{status(play, outcome)}]"]
    lines += [f"({outcome.note}.)"] if outcome.note else []
    if last.valid is False and play.was_in_vain(last):
        lines.append("(This was not on the list of valid actions, and changed nothing that is known.)")
    learned, ended = changes(outcome.steps)
    lines += [f"Learned: {_listed(learned, _LEARNED, '; ')}."] if learned else []
    lines += [f"No longer so: {_listed(ended, _LEARNED, '; ')}."] if ended else []
    lines += outcome.warnings
    if last.percept.ended:
        lines.append(f"The game is over: {ending(last)}. undo takes back the last move, new_game begins anew.")
    return "\n".join(lines)


def status(play: GamePlay, outcome: CallOutcome | None = None) -> str:
    """Where, with how many points, after how many moves, in one line."""
    info = play.now.info
    of = f" of {info.max_score:g}" if info.max_score is not None else ""
    change = info.score - outcome.before if outcome is not None else 0
    room = f"{play.room}; " if play.room else ""
    return f"{room}score {info.score:g}{of}{f' ({change:+g})' if change else ''}; move {play.moves}"


def ending(step: StepRecord) -> str:
    """How the game ended, in a word or two."""
    return "it is won" if step.info.won else "it is lost" if step.info.lost else "it ended"


def changes(steps: Iterable[StepRecord]) -> tuple[list[str], list[str]]:
    """What steps opened and still held after them, and what they ended, without what the map and the status tell."""
    learned: dict[Statement, None] = {}
    ended: dict[Statement, None] = {}
    for step in steps:
        for statement, _ in step.ended:
            if statement in learned:
                del learned[statement]
            else:
                ended[statement] = None
        for statement in step.learned:
            if statement in ended:
                del ended[statement]
            else:
                learned[statement] = None
    return _told(learned), _told(ended)


def room_text(play: GamePlay) -> str:
    """All that bears on the next action here."""
    view = play.memory.view()
    world = WorldMap(view)
    tried = play.tried_here()
    lines = [
        f"{status(play)}.",
        f"Here: {_listed(_contents(view, world.here), _NAMES, none=_NOTHING)}."
        if world.here
        else "It is not known where you are.",
        f"You carry: {_listed(_contents(view, v.INVENTORY), _NAMES, none=_NOTHING)}.",
        *([_ways(view, world, world.here)] if world.here else []),
        *_beliefs(view),
        _valid(play.now.info.valid_actions, [one.deed.action for one, _ in tried]),
        *_history(tried),
    ]
    if play.now.info.state is not None:
        lines.append(f"Earlier visits of this very state of the game: {play.watch.revisits}.")
    lines += play.watch.warnings()
    near = [room for room, moves in _by_distance(world) if 0 < (moves or 0) <= _NEAR]
    if near:
        lines.append("Rooms near here:")
        lines += [_room_line(view, world, room) for room in near[:_NEAR_ROOMS]]
    if play.now.percept.ended:
        lines.append(f"The game is over: {ending(play.now)}.")
    return "\n".join(lines)


def context_text(play: GamePlay) -> str:
    """What somebody needs who comes to the play anew: the task, the state, the open ways, the last changes."""
    view = play.memory.view()
    world = WorldMap(view)
    lines = [
        f"Goal: {shorten(play.goal, _GOAL) or 'the game states none; explore, and score points'}",
        f"{status(play)}. You carry: {_listed(carried(view), _NAMES, none=_NOTHING)}.",
        _unexplored(world),
        *_beliefs(view),
    ]
    news = [(step, changes([step])[0]) for step in play.way()[1:]]
    news = [(step, learned) for step, learned in news if learned][-_CHANGES:]
    lines += ["Last changes:"] if news else []
    lines += [
        f"- move {step.percept.step.turn} ({shorten(step.label, _ACTION)}): {_listed(learned, _CHANGED, '; ')}"
        for step, learned in news
    ]
    goal = one_line(play.goal)
    last = one_line(play.now.observation)
    lines.append(f"The game said last: {shorten(last.replace(goal, '') if goal else last, _LAST_TEXT)}")
    return "\n".join(lines)


def map_text(play: GamePlay) -> str:
    """Every known room with its ways, the nearest first."""
    view = play.memory.view()
    world = WorldMap(view)
    rooms = [room for room, _ in _by_distance(world)]
    here = f"You are in {world.here}." if world.here else "It is not known where you are."
    lines = [f"{count_of(len(rooms), 'room')} known, {count_of(len(world.unexplored), 'way')} never taken. {here}"]
    lines += [_room_line(view, world, room) for room in rooms[:_ROOMS]]
    lines += [f"... and {len(rooms) - _ROOMS} rooms farther away"] if len(rooms) > _ROOMS else []
    return "\n".join(lines)


def found_text(play: GamePlay, question: str) -> str:
    """The answer to a question about the world so far: from the graph where it is of a known kind, else by recall.

    Raises:
        InputError: this is no question.
    """
    if not question.strip() or len(question) > LONGEST_QUESTION:
        raise InputError(f"a question has 1 to {LONGEST_QUESTION} characters; this one has {len(question.strip())}")
    lines = []
    try:
        return answer(play.memory.view(), question)
    except NotFoundError as error:
        lines.append(str(error))
    except InputError:
        pass  # not of a known kind
    # the episodes of a game are short, and each names what is carried: similarity finds the right ones best
    hits = play.memory.recall(question, k=_RECALLED, method="dense", only_current=False).hits
    way = play.way()
    statements = [
        _statement_line(hit, hit.item)
        for hit in hits
        if not isinstance(hit.item, Episode)
        and not _is_of_map(hit.item)
        and hit.version is not None
        and hit.version.interval.is_open
    ]
    passages = [_passage_line(way[round(hit.item.at)]) for hit in hits if isinstance(hit.item, Episode)]
    lines += ["What comes nearest in the memory:"] if statements or passages else ["Nothing near it is remembered."]
    return "\n".join([*lines, *statements[:_STATEMENTS], *passages[:_PASSAGES]])


def said(statement: Statement) -> str:
    """A statement as a short sentence on one line."""
    if isinstance(statement, Fact):
        return shorten(f"{statement.subject} {statement.relation} {statement.object}", _STATEMENT)
    return shorten(statement.text.removesuffix("."), _STATEMENT)


# -- parts ------------------------------------------------------------------------------------------------------------


def _way_line(play: GamePlay, step: StepRecord) -> str:
    """A step of a walk that goes on: only the room where there is no more to tell."""
    tried = play.tried(step)
    is_told = step.reward or any(changes([step]))
    text = tried.led_to if tried is not None and tried.led_to and not is_told else ""
    return f"> {step.label}: {text or shorten(step.observation, _STEP_TEXT)}"


def _told(statements: Iterable[Statement]) -> list[str]:
    """The news among statements; exits of one room together."""
    sentences: list[str] = []
    exits: dict[str, list[str]] = {}
    for statement in filter(_is_news, statements):
        if isinstance(statement, Fact) and statement.relation == v.HAS_EXIT:
            exits.setdefault(statement.subject, []).append(statement.object)
        else:
            sentences.append(said(statement))
    return sentences + [f"{room} has exit {', '.join(directions)}" for room, directions in exits.items()]


def _is_news(statement: Statement) -> bool:
    """Whether a statement is more than the title of the room and its ways."""
    if not isinstance(statement, Fact):
        return v.GOAL not in map(normalise_name, statement.objects)
    subject, relation, _ = statement.key
    return relation not in (v.IS_A, *v.DIRECTION_OF) and not (subject == v.PLAYER and relation in _PLACES)


def _is_of_map(statement: Statement) -> bool:
    """Whether a fact tells of rooms and ways only, which are asked for otherwise."""
    return isinstance(statement, Fact) and (
        not _is_news(statement) or statement.relation in (v.HAS_EXIT, v.HAS_NO_EXIT)
    )


def _contents(view: GraphView, place: str, depth: int = 3) -> list[str]:
    """What is in or on a place, with states, and with what is in it in turn."""
    found = []
    for fact in [*view.facts(relation=v.IS_IN, object=place), *view.facts(relation=v.IS_ON, object=place)]:
        if fact.key[0] == v.PLAYER:
            continue
        states = [state.object for state in view.facts(fact.subject, v.IS)]
        inside = _contents(view, fact.subject, depth - 1) if depth else []
        state = f" ({', '.join(states)})" if states else ""
        found.append(f"{fact.subject}{state}{f' [{_listed(inside, _NAMES)}]' if inside else ''}")
    return found


def _ways(view: GraphView, world: WorldMap, room: str) -> str:
    known, new = _known_ways(view, world, room), _new_ways(view, world, room)
    blocked = [fact.object for fact in view.facts(room, v.HAS_NO_EXIT)]
    parts = [f"Ways: {_listed(known, _NAMES)}."]
    parts += [f"Never taken: {_listed(new, _NAMES)}."] if new else []
    parts += [f"Blocked: {_listed(blocked, _NAMES)}."] if blocked else []
    return " ".join(parts)


def _known_ways(view: GraphView, world: WorldMap, room: str) -> list[str]:
    ways = sorted(world.exits.get(room, {}).items())
    return [f"{direction} to {there}{_door(view, world, room, direction)}" for direction, there in ways]


def _new_ways(view: GraphView, world: WorldMap, room: str) -> list[str]:
    return [e.direction + _door(view, world, room, e.direction) for e in world.unexplored if e.room == room]


def _door(view: GraphView, world: WorldMap, room: str, direction: str) -> str:
    door = world.doors.get((room, direction))
    if door is None:
        return ""
    return f" ({', '.join([door, *(state.object for state in view.facts(door, v.IS))])})"


def _by_distance(world: WorldMap) -> list[tuple[str, int | None]]:
    """Every known room with the moves to it, the nearest first; ``None``: no way is known."""
    distances = world.distances()
    far = max(distances.values(), default=0) + 1
    rooms = sorted(world.rooms, key=lambda room: (distances.get(room, far), room))
    return [(room, distances.get(room)) for room in rooms]


def _room_line(view: GraphView, world: WorldMap, room: str) -> str:
    known, new = _known_ways(view, world, room), _new_ways(view, world, room)
    ways = [_listed(known, _NAMES)] if known else []
    ways += [f"never taken: {_listed(new, _NAMES)}"] if new else []
    return f"- {room} ({_away(world, room)}): {'; '.join(ways) or 'no ways known'}"


def _unexplored(world: WorldMap) -> str:
    """Ways never taken by room, the nearest first."""
    ways: dict[str, list[str]] = {}
    for exit_ in world.unexplored:
        ways.setdefault(exit_.room, []).append(exit_.direction)
    told = [
        f"{room} ({_away(world, room)}): {', '.join(ways[room])}" for room, _ in _by_distance(world) if room in ways
    ]
    return f"Ways never taken: {_listed(told, _NEAR_ROOMS, '; ')}."


def _away(world: WorldMap, room: str) -> str:
    """How far a room is."""
    if room == world.here:
        return "here"
    moves = world.distances().get(room)
    return "no way known" if moves is None else count_of(moves, "move")


def _beliefs(view: GraphView) -> list[str]:
    """What the memory holds beside places, states and ways: keys, recipes, and the like."""
    found = [said(fact) for fact in view.facts() if fact.relation not in _SHOWN_ELSEWHERE]
    return [f"Known: {_listed(found, _NAMES, '; ')}."] if found else []


def _valid(actions: Sequence[str] | None, tried: Sequence[str]) -> str:
    if actions is None:
        return "The game offers no list of valid actions."
    known = set(map(action_key, tried))
    # what was not tried comes first, so that it is not what is left out
    marked = sorted((action_key(action) in known, action) for action in actions)
    shown = [action if is_known else f"*{action}" for is_known, action in marked]
    return f"Valid actions (* not tried here; others may work too): {_listed(shown, _ACTIONS)}."


def _history(tried: Sequence[tuple[TriedAction, bool]]) -> list[str]:
    """Every action that was tried here, once, the latest last; of the last ones, what came of it."""
    times = Counter(action_key(one.deed.action) for one, _ in tried)
    latest: dict[str, tuple[TriedAction, bool]] = {}
    for one, gone in tried:
        key = action_key(one.deed.action)
        latest.pop(key, None)
        latest[key] = (one, gone)
    keys = list(latest)
    older = [shorten(latest[key][0].deed.action, _ACTION) for key in keys[:-_HISTORY]]
    lines = [f"Tried here before that: {_listed(older, _TRIED)}."] if older else []
    lines += ["Tried here, the latest last:" if keys else "Tried here: nothing."]
    return lines + [_tried_line(*latest[key], times[key]) for key in keys[-_HISTORY:]]


def _tried_line(one: TriedAction, gone: bool, times: int) -> str:
    deed = one.deed
    came = [f"{deed.reward:+g} points"] if deed.reward else []
    came += [f"gained {', '.join(deed.gained)}"] if deed.gained else []
    came += [f"lost {', '.join(deed.lost)}"] if deed.lost else []
    came += [f"led to {one.led_to}"] if one.led_to else []
    came += [f"{times} times"] if times > 1 else []
    came += ["taken back"] if gone else []
    text = "" if one.led_to else f": {shorten(deed.text, _RESULT)}"
    effect = f" [{shorten('; '.join(came), _EFFECT)}]" if came else ""
    return f"- {shorten(deed.action, _ACTION)}{text}{effect}"


def _passage_line(step: StepRecord) -> str:
    action = step.percept.step.action
    said_then = shorten(step.observation, _PASSAGE)
    return f"- move {step.percept.step.turn}: {f'> {shorten(action, _ACTION)}: ' if action else ''}{said_then}"


def _statement_line(hit: Hit, statement: Statement) -> str:
    since = f" (since move {hit.version.interval.valid_from:g})" if hit.version is not None else ""
    return f"- {said(statement)}{since}"


def _listed(items: Sequence[str], limit: int, between: str = ", ", none: str = "none known") -> str:
    """Items in one line; how many are left out is said, and so is that there is none."""
    more = f"{between}and {len(items) - limit} more" if len(items) > limit else ""
    return between.join(items[:limit]) + more if items else none
