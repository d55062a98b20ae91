"""The texts that the game tools return: short descriptions of the play, its memory, and the actions tried."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from worldthread.errors import InputError, NotFoundError
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.support.text import OMISSION, count_of, cut, one_line
from worldthread.types import Episode, Fact, Hit, Statement
from worldthread_lab.agents.prompting import shorten
from worldthread_lab.agents.reflact.critic import action_key
from worldthread_lab.agents.reflact.lookup import answer, carried
from worldthread_lab.agents.whereabouts import Whereabouts
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.english import sentences
from worldthread_lab.mcp.game_play import CallOutcome, GamePlay, TriedAction
from worldthread_lab.play.step_record import StepRecord

LONGEST_QUESTION: Final = 500
"""The most characters of a question."""
# limits: characters of texts, then numbers of items
_TEXT: Final = 4000
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
_RECALLED: Final = 20  # hits of each kind, from which those about the map are removed
_STATEMENTS: Final = 4
_PASSAGES: Final = 3
_QUOTED: Final = 4

_PLACES: Final = frozenset({v.IS_IN, v.IS_ON})
_SHOWN_ELSEWHERE: Final = frozenset(
    {*_PLACES, v.IS, v.IS_A, v.IS_SEEN_IN, v.HAS_EXIT, v.HAS_NO_EXIT, *v.DIRECTION_OF, *v.DOOR_LEADS, *v.BOOKKEEPING}
)


def outcome_text(play: GamePlay, outcome: CallOutcome) -> str:
    """Return the outcome of a call: the text of the game, the score, what was learned, and warnings."""
    *walk, last = outcome.steps
    lines = [_walk_line(play, step) for step in walk]
    lines += [f"> {last.label}"] if walk else []
    lines += [cut(last.observation.strip(), _TEXT, OMISSION), f"[{status(play, outcome)}]"]
    lines += [f"({outcome.note}.)"] if outcome.note else []
    if last.valid is False and play.had_no_effect(last):
        lines.append("(This was not on the list of valid actions, and changed nothing that is known.)")
    learned, ended = changes(outcome.steps)
    lines += [f"Learned: {_listed(learned, _LEARNED, '; ')}."] if learned else []
    lines += [f"No longer so: {_listed(ended, _LEARNED, '; ')}."] if ended else []
    lines += outcome.warnings
    if last.percept.ended:
        lines.append(f"The game is over: {ending(last)}. undo takes back the last move, new_game begins anew.")
    return "\n".join(lines)


def status(play: GamePlay, outcome: CallOutcome | None = None) -> str:
    """Return the room, the score, and the number of moves in one line."""
    info = play.now.info
    of = f" of {info.max_score:g}" if info.max_score is not None else ""
    change = info.score - outcome.score_before if outcome is not None else 0
    room = f"{play.room}; " if play.room else ""
    return f"{room}score {info.score:g}{of}{f' ({change:+g})' if change else ''}; move {play.moves}"


def ending(step: StepRecord) -> str:
    """Return how the game ended, in two words."""
    return "it is won" if step.info.won else "it is lost" if step.info.lost else "it ended"


def changes(steps: Iterable[StepRecord]) -> tuple[list[str], list[str]]:
    """Return what was learned by steps and what ended in them, without what the map and the status show."""
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
    return _sentences(learned), _sentences(ended)


def room_text(play: GamePlay) -> str:
    """Return everything that matters for the next action in this room."""
    view = play.memory.view()
    world = WorldMap(view)
    tried = play.tried_here()
    lines = [
        f"{status(play)}.",
        f"Here: {_listed(_things_here(view, world, world.here), _NAMES, none=_NOTHING)}."
        if world.here
        else "It is not known where you are.",
        *([_scenery(view, world, world.here)] if world.here else []),
        f"You carry: {_listed(_contents(view, v.INVENTORY), _NAMES, none=_NOTHING)}.",
        *([_exits_line(view, world, world.here, play.now.info.valid_actions or ())] if world.here else []),
        *_beliefs(view),
        _valid_actions(play.now.info.valid_actions, [action.outcome.action for action, _ in tried]),
        *_history(tried),
    ]
    lines = [line for line in lines if line]
    if play.now.info.state is not None:
        lines.append(f"Earlier visits of this very state of the game: {play.loop_detector.revisits}.")
    lines += play.loop_detector.warnings()
    near = [room for room, moves in _by_distance(world) if 0 < (moves or 0) <= _NEAR]
    if near:
        lines.append("Rooms near here:")
        lines += [_room_line(view, world, room) for room in near[:_NEAR_ROOMS]]
    if play.now.percept.ended:
        lines.append(f"The game is over: {ending(play.now)}.")
    return "\n".join(lines)


def context_text(play: GamePlay) -> str:
    """Return a summary of the play: the goal, the state, the unexplored exits, and the last changes."""
    view = play.memory.view()
    world = WorldMap(view)
    lines = [
        f"Goal: {shorten(play.goal, _GOAL) or 'the game states none; explore, and score points'}",
        f"{status(play)}. You carry: {_listed(carried(view), _NAMES, none=_NOTHING)}.",
        _unexplored(world),
        *_beliefs(view),
    ]
    news = [(step, changes([step])[0]) for step in play.path()[1:]]
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
    """Return every known room with its exits, the nearest first."""
    view = play.memory.view()
    world = WorldMap(view)
    rooms = [room for room, _ in _by_distance(world)]
    here = f"You are in {world.here}." if world.here else "It is not known where you are."
    lines = [f"{count_of(len(rooms), 'room')} known, {count_of(len(world.unexplored), 'way')} never taken. {here}"]
    lines += [_room_line(view, world, room) for room in rooms[:_ROOMS]]
    lines += [f"... and {len(rooms) - _ROOMS} rooms farther away"] if len(rooms) > _ROOMS else []
    return "\n".join(lines)


def found_text(play: GamePlay, question: str) -> str:
    """Answer a question about the world so far: from the graph if its kind is known, else by recall.

    Args:
        play: the play.
        question: the question in words.

    Returns:
        The answer, or the statements and moves that are nearest to the question.

    Raises:
        InputError: the question is empty or too long.
    """
    if not question.strip() or len(question) > LONGEST_QUESTION:
        raise InputError(f"a question has 1 to {LONGEST_QUESTION} characters; this one has {len(question.strip())}")
    lines = []
    try:
        return answer(play.memory.view(), question)
    except NotFoundError as error:
        lines.append(str(error))
    except InputError:
        pass  # not a question of a known kind
    # episodes of a game are short, and each names what is carried: dense retrieval ranks them best
    hits = play.memory.recall(question, k=_RECALLED, method="dense", only_current=False).hits
    statements = [
        _statement_line(hit, hit.item)
        for hit in hits
        if not isinstance(hit.item, Episode)
        and not _is_of_map(hit.item)
        and hit.version is not None
        and hit.version.interval.is_open
    ]
    path = play.path()
    quoted = _quotations(play, question) if lines else []
    recalled = [path[round(hit.item.at)] for hit in hits if isinstance(hit.item, Episode)]
    passages = [_passage_line(step) for step in _successes_first(play, question, recalled)]
    if quoted:
        return "\n".join([*lines, "The texts speak of it:", *quoted])
    lines += ["What comes nearest in the memory:"] if statements or passages else ["Nothing near it is remembered."]
    return "\n".join([*lines, *statements[:_STATEMENTS], *passages[:_PASSAGES]])


def _successes_first(play: GamePlay, question: str, recalled: Sequence[StepRecord]) -> list[StepRecord]:
    """Return moves with those first whose command was asked for, and of one command in one room those that worked."""
    asked = action_key(question)
    meant = [step for step in play.path()[1:] if action_key(step.label) == asked]
    steps = list({step.percept.moment: step for step in (*meant, *recalled)}.values())

    def deed(step: StepRecord) -> tuple[str, str]:
        tried = play.tried(step)
        return action_key(step.label), "" if tried is None else normalise_name(tried.room)

    first: dict[tuple[str, str], int] = {}
    for number, step in enumerate(steps):
        first.setdefault(deed(step), number)
    return sorted(steps, key=lambda step: (first[deed(step)], not _worked(play, step), -step.percept.moment))


def _worked(play: GamePlay, step: StepRecord) -> bool:
    """Return whether a move brought points, or changed anything that is known."""
    tried = play.tried(step)
    return bool(step.reward > 0 or any(changes([step])) or (tried is not None and tried.led_to))


def _quotations(play: GamePlay, question: str) -> list[str]:
    """Return the latest sentence of each room that has all words of what is asked for, the latest room first."""
    asked = normalise_name(re.sub(r"^\s*where(?:'s| is| are| was| were)\b|^\s*about\b|[?.!]", "", question, flags=re.I))
    words = asked.split()
    found: dict[str, str] = {}
    for step in reversed(play.path()):
        room = play.room_after(step)
        if not words or not room or room in found:
            continue
        for sentence in reversed(sentences(step.observation)):
            if normalise_name(sentence) != normalise_name(room) and _has_words(sentence, words):
                found[room] = f'- named in {room}: "{shorten(sentence, _PASSAGE)}"'
                break
    return list(found.values())[:_QUOTED]


def _has_words(sentence: str, words: Sequence[str]) -> bool:
    said = re.findall(r"[\w'-]+", sentence.casefold())
    return any(said[at : at + len(words)] == list(words) for at in range(len(said)))


def statement_text(statement: Statement) -> str:
    """Return a statement as a short sentence on one line."""
    if isinstance(statement, Fact):
        return shorten(f"{statement.subject} {statement.relation} {statement.object}", _STATEMENT)
    return shorten(statement.text.removesuffix("."), _STATEMENT)


# -- parts ------------------------------------------------------------------------------------------------------------


def _walk_line(play: GamePlay, step: StepRecord) -> str:
    """Return a line for a step within a walk: just the room if nothing else changed."""
    tried = play.tried(step)
    has_news = step.reward or any(changes([step]))
    text = tried.led_to if tried is not None and tried.led_to and not has_news else ""
    return f"> {step.label}: {text or shorten(step.observation, _STEP_TEXT)}"


def _sentences(statements: Iterable[Statement]) -> list[str]:
    """Return the news among statements, with the exits of each room joined."""
    sentences: list[str] = []
    exits: dict[str, list[str]] = {}
    for statement in filter(_is_news, statements):
        if isinstance(statement, Fact) and statement.relation == v.HAS_EXIT:
            exits.setdefault(statement.subject, []).append(statement.object)
        else:
            sentences.append(statement_text(statement))
    return sentences + [f"{room} has exit {', '.join(directions)}" for room, directions in exits.items()]


def _is_news(statement: Statement) -> bool:
    """Return whether a statement says more than the status line and the map do."""
    if not isinstance(statement, Fact):
        return v.GOAL not in map(normalise_name, statement.objects)
    subject, relation, _ = statement.key
    if relation in (v.IS_A, v.IS_SEEN_IN, *v.DIRECTION_OF, *v.BOOKKEEPING):
        return False
    return not (subject == v.PLAYER and relation in _PLACES)


def _is_of_map(statement: Statement) -> bool:
    """Return whether a fact is only about rooms and exits, which the map shows."""
    return isinstance(statement, Fact) and (
        not _is_news(statement) or statement.relation in (v.HAS_EXIT, v.HAS_NO_EXIT)
    )


def _contents(view: GraphView, place: str, depth: int = 3) -> list[str]:
    """Return what is in or on a place, with states, and with their contents in turn."""
    found = []
    for fact in [*view.facts(relation=v.IS_IN, object=place), *view.facts(relation=v.IS_ON, object=place)]:
        if fact.key[0] == v.PLAYER:
            continue
        states = [state.object for state in view.facts(fact.subject, v.IS)]
        inside = _contents(view, fact.subject, depth - 1) if depth else []
        state = f" ({', '.join(states)})" if states else ""
        found.append(f"{fact.subject}{state}{f' [{_listed(inside, _NAMES)}]' if inside else ''}")
    return found


def _things_here(view: GraphView, world: WorldMap, room: str) -> list[str]:
    """Return what is in a room, and what lies in or on things that are there as well."""
    found = _contents(view, room)
    for holder in Whereabouts(view, world).holders_in(room):
        states = [state.object for state in view.facts(holder, v.IS)]
        inside = _listed(_contents(view, holder), _NAMES)
        aside = f" ({', '.join(states)})" if states else ""
        found.append(f"{holder}{aside} [{inside}]")
    return found


def _scenery(view: GraphView, world: WorldMap, room: str) -> str:
    """Return a line of what the description of a room speaks of besides; empty where it speaks of nothing."""
    whereabouts = Whereabouts(view, world)
    listed = whereabouts.placed_in(room)
    seen = [fact.subject for fact in view.facts(relation=v.IS_SEEN_IN, object=room) if fact.key[0] not in listed]
    return f"Scenery: {_listed(seen, _NAMES)}." if seen else ""


def _exits_line(view: GraphView, world: WorldMap, room: str, actions: Sequence[str]) -> str:
    known, new = _known_exits(view, world, room), _new_exits(view, world, room)
    blocked = [fact.object for fact in view.facts(room, v.HAS_NO_EXIT)]
    told = {
        *world.exits.get(room, ()),
        *(exit_.direction for exit_ in world.unexplored if exit_.room == room),
        *blocked,
    }
    offered = sorted({direction for action in actions if (direction := direction_of(action))} - told)
    parts = [f"Ways: {_listed(known, _NAMES)}."]
    parts += [f"Never taken: {_listed(new, _NAMES)}."] if new else []
    parts += [f"Blocked: {_listed(blocked, _NAMES)}."] if blocked else []
    parts += [f"Offered as actions, which may lead nowhere: {_listed(offered, _NAMES)}."] if offered else []
    return " ".join(parts)


def _known_exits(view: GraphView, world: WorldMap, room: str) -> list[str]:
    exits = sorted(world.exits.get(room, {}).items())
    return [f"{direction} to {there}{_door(view, world, room, direction)}" for direction, there in exits]


def _new_exits(view: GraphView, world: WorldMap, room: str) -> list[str]:
    exits = [exit_ for exit_ in world.unexplored if exit_.room == room]
    return [
        f"{exit_.direction}{f' (to {exit_.presumed}?)' if exit_.presumed else ''}"
        + _door(view, world, room, exit_.direction)
        for exit_ in exits
    ]


def _door(view: GraphView, world: WorldMap, room: str, direction: str) -> str:
    door = world.doors.get((room, direction))
    if door is None:
        return ""
    return f" ({', '.join([door, *(state.object for state in view.facts(door, v.IS))])})"


def _by_distance(world: WorldMap) -> list[tuple[str, int | None]]:
    """Return the known rooms with the number of moves to each, the nearest first; ``None``: no path is known."""
    distances = world.distances(presumed=True)
    far = max(distances.values(), default=0) + 1
    rooms = sorted(world.rooms, key=lambda room: (distances.get(room, far), room))
    return [(room, distances.get(room)) for room in rooms]


def _room_line(view: GraphView, world: WorldMap, room: str) -> str:
    known, new = _known_exits(view, world, room), _new_exits(view, world, room)
    exits = [_listed(known, _NAMES)] if known else []
    exits += [f"never taken: {_listed(new, _NAMES)}"] if new else []
    return f"- {room} ({_away(world, room)}): {'; '.join(exits) or 'no ways known'}"


def _unexplored(world: WorldMap) -> str:
    """Return a line of the unexplored exits by room, the nearest first."""
    exits: dict[str, list[str]] = {}
    for exit_ in world.unexplored:
        exits.setdefault(exit_.room, []).append(exit_.direction)
    rooms = [
        f"{room} ({_away(world, room)}): {', '.join(exits[room])}" for room, _ in _by_distance(world) if room in exits
    ]
    return f"Ways never taken: {_listed(rooms, _NEAR_ROOMS, '; ')}."


def _away(world: WorldMap, room: str) -> str:
    """Return how far away a room is, in words."""
    if room == world.here:
        return "here"
    moves = world.distances(presumed=True).get(room)
    return "no way known" if moves is None else count_of(moves, "move")


def _beliefs(view: GraphView) -> list[str]:
    """Return a line of the facts that are not about places, states and exits, such as keys and recipes."""
    found = [statement_text(fact) for fact in view.facts() if fact.relation not in _SHOWN_ELSEWHERE]
    return [f"Known: {_listed(found, _NAMES, '; ')}."] if found else []


def _valid_actions(actions: Sequence[str] | None, tried: Sequence[str]) -> str:
    if actions is None:
        return "The game offers no list of valid actions."
    known = set(map(action_key, tried))
    # untried actions come first, so that the limit does not cut them off
    marked = sorted((action_key(action) in known, action) for action in actions)
    shown = [action if is_known else f"*{action}" for is_known, action in marked]
    return f"Valid actions (* not tried here; others may work too): {_listed(shown, _ACTIONS)}."


def _history(tried: Sequence[tuple[TriedAction, bool]]) -> list[str]:
    """Return lines of the actions tried in this room, the latest last; the last ones with their outcome."""
    times = Counter(action_key(action.outcome.action) for action, _ in tried)
    latest: dict[str, tuple[TriedAction, bool]] = {}
    for action, is_undone in tried:
        key = action_key(action.outcome.action)
        latest.pop(key, None)
        latest[key] = (action, is_undone)
    keys = list(latest)
    older = [shorten(latest[key][0].outcome.action, _ACTION) for key in keys[:-_HISTORY]]
    lines = [f"Tried here before that: {_listed(older, _TRIED)}."] if older else []
    lines += ["Tried here, the latest last:" if keys else "Tried here: nothing."]
    return lines + [_tried_line(*latest[key], times[key]) for key in keys[-_HISTORY:]]


def _tried_line(tried: TriedAction, is_undone: bool, times: int) -> str:
    outcome = tried.outcome
    effects = [f"{outcome.reward:+g} points"] if outcome.reward else []
    effects += [f"gained {', '.join(outcome.gained)}"] if outcome.gained else []
    effects += [f"lost {', '.join(outcome.lost)}"] if outcome.lost else []
    effects += [f"led to {tried.led_to}"] if tried.led_to else []
    effects += [f"{times} times"] if times > 1 else []
    effects += ["taken back"] if is_undone else []
    text = "" if tried.led_to else f": {shorten(outcome.text, _RESULT)}"
    effect = f" [{shorten('; '.join(effects), _EFFECT)}]" if effects else ""
    return f"- {shorten(outcome.action, _ACTION)}{text}{effect}"


def _passage_line(step: StepRecord) -> str:
    action = step.percept.step.action
    text = shorten(step.observation, _PASSAGE)
    return f"- move {step.percept.step.turn}: {f'> {shorten(action, _ACTION)}: ' if action else ''}{text}"


def _statement_line(hit: Hit, statement: Statement) -> str:
    since = f" (since move {hit.version.interval.valid_from:g})" if hit.version is not None else ""
    return f"- {statement_text(statement)}{since}"


def _listed(items: Sequence[str], limit: int, separator: str = ", ", none: str = "none known") -> str:
    """Return items in one line, with the number of those left out; ``none`` if there are no items."""
    more = f"{separator}and {len(items) - limit} more" if len(items) > limit else ""
    return separator.join(items[:limit]) + more if items else none
