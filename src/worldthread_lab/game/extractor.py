"""Extracts the statements of a text game without a model, from observation, inventory and goal.

The rules know English constructions, not games. Each kind of text has its module:

* :mod:`~worldthread_lab.game.room_title`: the title of the room that a text describes,
* :mod:`~worldthread_lab.game.room_identity`: which of the rooms of that title it is,
* :mod:`~worldthread_lab.game.room_description`: things in a room, where they lie, exits and doors,
* :mod:`~worldthread_lab.game.feedback`: what an action did,
* :mod:`~worldthread_lab.game.openings`: what is open, closed or locked, in any wording,
* :mod:`~worldthread_lab.game.lights`: what is on or off,
* :mod:`~worldthread_lab.game.scenery`: what else a description of a room speaks of,
* :mod:`~worldthread_lab.game.other_names`: under which names one thing goes,
* :mod:`~worldthread_lab.game.inventory`: what is carried,
* :mod:`~worldthread_lab.game.written_text`: what goals, notes and recipes say.

What fits no rule is left out; the episode keeps the whole text. The result depends only on the step and on the
memory's current view, from which only the player's place, the known rooms, what is carried, what is locked, the keys
that did not fit, and the goal are used.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.base import GameStep
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.support.text import one_line
from worldthread.types import Ending, Extraction, Fact, Thesis
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.contents import extract_contents
from worldthread_lab.game.english import ADJECTIVE_STATES, COOKING_STATES
from worldthread_lab.game.feedback import extract_feedback
from worldthread_lab.game.inventory import extract_inventory
from worldthread_lab.game.lights import extract_lights
from worldthread_lab.game.listing import extract_listings
from worldthread_lab.game.openings import extract_openings
from worldthread_lab.game.other_names import extract_other_names
from worldthread_lab.game.reconciliation import are_alike, end_what_is_not_seen, end_what_was_taken_first, reconcile
from worldthread_lab.game.refusals import is_refusal
from worldthread_lab.game.room_description import extract_move, extract_refused_move, extract_room
from worldthread_lab.game.room_identity import (
    SET_APART,
    RoomFinder,
    carried_to,
    shows_set_apart,
)
from worldthread_lab.game.room_title import RoomTitle, enters_darkness, find_room_title, is_carried, is_carried_off
from worldthread_lab.game.scenery import end_what_was_moved, extract_scenery
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.written_text import extract_written_text

_COOKING: Final = re.compile(r"\b(?:cook|recipe|fry|roast|grill)", re.I)


_INVENTORY: Final = re.compile(r"i|inv|(?:take )?inventory", re.I)
PLAIN_TITLES: Final = Fact(v.KNOWN_ROOMS, v.HAVE, "plain titles")
"""Held when the game does not mark the titles of rooms."""


class GameExtractor:
    r"""Extracts the statements of one step of a game, by rule.

    >>> from worldthread.graph import TemporalGraph
    >>> step = GameStep("-= Attic =-\nYou can see a closed chest here.")
    >>> extraction = GameExtractor().extract(step, TemporalGraph().view())
    >>> [str(s) for s in extraction.statements if isinstance(s, Fact) and s.relation == "is"]
    ['chest, is, closed']
    """

    name: Final = "game/8"

    def extract(self, step: GameStep, view: GraphView) -> Extraction:
        """Return what a step states and which older statements it ends; never raises for the content of a text.

        Args:
            step: the step.
            view: what the memory holds before the step.

        Returns:
            Facts in the words of :mod:`~worldthread_lab.game.vocabulary`, theses of goals and written texts, and
            endings.
        """
        cooking = bool(_COOKING.search(step.goal)) or any(_COOKING.search(t.text) for t in view.theses(about=v.GOAL))
        collector = StatementCollector(COOKING_STATES if cooking else ADJECTIVE_STATES)
        room = view.value(v.PLAYER, v.IS_IN)
        lit = (
            None if room is not None and normalise_name(room) == v.DARKNESS else room
        )  # darkness is no place of things
        action = step.action.strip() if step.action else None
        text = step.text
        title = find_room_title(text, action, lambda name: bool(view.facts(name, v.IS_A, "room")))
        # a game that does not mark titles: its sentences vary, and its rooms may have one title
        is_plain = not title.is_marked if title is not None else view.holds(PLAIN_TITLES)
        if action is not None:
            feedback = text if title is None else title.before
            # the inventory says under which name a thing was taken or dropped
            names_things = not (is_plain and step.inventory is not None)
            extract_feedback(action, feedback, lit, view, collector, names_things=names_things)
        if title is not None and normalise_name(title.name) != v.DARKNESS:
            is_refused = not title.is_marked and is_refusal(title.before)  # the room is described once more
            moves = None if is_refused else action
            name = title.name if title.is_marked else _identified(title, room, moves, view, collector)
            if name is None:
                collector.end(view.facts(v.PLAYER, v.IS_IN), "in one of several rooms that look alike")
                lit = None
            else:
                start = len(collector.statements)
                if title.inside is not None:
                    collector.add(v.place(title.inside[1], v.IS_IN, name))
                    _end_where_it_was(title.inside[1], room, view, collector)
                extract_room(name, title.after, collector, lists_things=not title.is_marked)
                if action is not None and is_refused:
                    extract_refused_move(action, title.before, room, view, collector)
                elif action is not None:
                    described = len(collector.statements)
                    is_doubtful = not title.is_marked and _is_doubtful(name, title, room, action, view)
                    extract_move(
                        action, text, room, name, view, collector,
                        exits_are_listed=title.is_marked, is_doubtful=is_doubtful,
                    )  # fmt: skip
                    collector.put_before(start, described)  # the way, then the room: so plays are recorded
        elif title is not None or enters_darkness(text, action):
            collector.add(v.place(v.PLAYER, v.IS_IN, v.DARKNESS))
        elif action is not None:
            if is_plain:
                is_look = action.lower() in ("look", "l")
                if not _INVENTORY.fullmatch(action):
                    extract_listings(lit, text, collector, describes_room=is_look)
            if is_carried_off(text):
                collector.end(view.facts(v.PLAYER, v.IS_IN), "brought elsewhere")
            extract_refused_move(action, text, room, view, collector)
        if step.inventory is not None:
            extract_inventory(step.inventory, action, lit, view, collector)
        if step.goal:
            collector.add(Thesis(one_line(step.goal), (v.GOAL,)))
            extract_written_text(step.goal, v.GOAL, collector)
        if is_plain:
            facts = (s for s in collector.statements if isinstance(s, Fact))
            place = next((fact.object for fact in facts if fact.key[:2] == (v.PLAYER, v.IS_IN)), lit)
            place = None if place == v.DARKNESS else place
            feedback, description = (text, "") if title is None else (title.before, title.after)
            extract_openings(action, feedback, description, place, view, collector)
            if action is not None:
                extract_contents(action, feedback, place, view, collector)
            reconcile(action, text, place, title is not None, view, collector)
            if action is not None and step.inventory is not None:
                end_what_was_taken_first(action, text, place, view, collector)
            extract_other_names(action, text, place, view, collector)
            extract_lights(action, feedback, step.inventory, place, view, collector)
            if place is not None:
                extract_scenery(place, description, view, collector)
            end_what_was_moved(view, collector)
        elif title is not None and room is not None and normalise_name(title.name) == normalise_name(room):
            end_what_is_not_seen(room, text, view, collector)
        _end_disproved(view, collector)
        endings = tuple(Ending(statement, reason) for statement, reason in collector.endings.items())
        return Extraction(self.name, tuple(collector.statements), endings)


def _identified(
    title: RoomTitle, before: str | None, action: str | None, view: GraphView, collector: StatementCollector
) -> str | None:
    """Return the room of an unmarked title, and add how rooms are described; ``None`` when it may be one of several."""
    finder = RoomFinder(view, before, action)
    name = finder.find(title.name, title.after)
    if shows_set_apart(title.after):
        collector.add(SET_APART)
    digest = finder.digest
    if name is None:
        return None
    collector.add(PLAIN_TITLES)
    if action is not None and is_carried(action) and not view.holds(v.kind(name, "room")):
        collector.add(carried_to(name))
    if digest is not None:
        collector.add(Fact(name, v.IS_DESCRIBED_BY, digest))
    if finder.habit is not None:
        collector.add(Fact(v.KNOWN_ROOMS, v.ARE_DESCRIBED, finder.habit, aspect=f"description of {v.KNOWN_ROOMS}"))
    return name


def _end_where_it_was(vehicle: str, before: str | None, view: GraphView, collector: StatementCollector) -> None:
    """End that what the player rides is in the room before, under a longer or shorter name."""
    for fact in view.facts(relation=v.IS_IN, object=before) if before is not None else ():
        if are_alike(fact.key[0], normalise_name(vehicle)):
            collector.end([fact], "the player came in or on it")


def _is_doubtful(name: str, title: RoomTitle, before: str | None, action: str, view: GraphView) -> bool:
    """Return whether the way from ``before`` to a room is only presumed, since one of the two may be another room."""
    finder = RoomFinder(view, before, action)
    if finder.is_doubtful(name, title.after):
        return True
    # the player walked into the room before, and it is doubtful still
    came = before is not None and any(view.facts(before, relation) for relation in v.PRESUMED_DIRECTION_OF)
    return before is not None and came and finder.is_doubtful(before, "")


def _end_disproved(view: GraphView, collector: StatementCollector) -> None:
    """End the statements that a key does not unlock what it unlocks in this step."""
    for statement in list(collector.statements):
        if isinstance(statement, Fact) and statement.key[1] == v.UNLOCKS:
            disproved = view.facts(statement.subject, v.DOES_NOT_UNLOCK, statement.object)
            collector.end(disproved, "it unlocks after all")
