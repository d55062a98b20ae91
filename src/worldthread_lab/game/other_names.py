"""Joins the names of one thing: that by which a command calls it, and those under which texts speak of it.

=====================================================  ==============================================================
step                                                   facts
=====================================================  ==============================================================
> get lamp / Taken. / ... a brass lantern              (brass lantern, is called, lamp)
A bottle is on the table. The glass bottle contains:   (water, is in, bottle), (bottle, is called, glass bottle)
=====================================================  ==============================================================

What else the step shows to be one thing, :mod:`~worldthread_lab.game.reconciliation` finds.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.reconciliation import are_alike, name_taken, thing_put_away
from worldthread_lab.game.refusals import is_refusal
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import words

_LOOKS: Final = re.compile(r"(?:examine|x|look at|inspect|study|search) (?P<thing>.+)$", re.I)
_ARTICLE: Final = re.compile(r"(?:the|an?|my|your) ", re.I)


def extract_other_names(
    action: str | None, text: str, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """Add that a thing goes by another name.

    Args:
        action: the command; ``None`` for the opening text.
        text: the observation.
        room: where the player is after the step; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: has the statements of the step, and takes the new ones.
    """
    at_hand = _at_hand(room, view, collector)
    _name_holders(at_hand, room, view, collector)
    _name_what_has_parts(action, text, at_hand, room, view, collector)
    if action is None or is_refusal(text):
        return
    before = {fact.key[0] for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)}
    taken, put = name_taken(action), thing_put_away(action)
    if taken is not None:
        moved = [fact for name, fact in at_hand.items() if fact.key[2] == v.INVENTORY and name not in before]
        _call(moved, taken, view, at_hand, collector)
    elif put is not None:
        carried = {fact.key[0] for fact in collector.endings if isinstance(fact, Fact) and fact.key[2] == v.INVENTORY}
        _call([fact for name, fact in at_hand.items() if name in carried], put, view, at_hand, collector)


def _name_what_has_parts(
    action: str | None,
    text: str,
    at_hand: dict[str, Fact],
    room: str | None,
    view: GraphView,
    collector: StatementCollector,
) -> None:
    """Say of what is on "the surface" that it is on the thing that was looked at; drop what is on parts of nothing."""
    places = [s for s in collector.statements if isinstance(s, Fact) and s.key[1] in (v.IS_IN, v.IS_ON)]
    for fact in places:
        holder = fact.key[2]
        if holder.split()[-1] not in words("relational") or holder in at_hand or fact.key[0] == v.PLAYER:
            continue
        if action is not None and thing_put_away(action) is not None:
            continue  # by the command
        if (room is not None and holder == normalise_name(room)) or view.facts(holder, v.IS_A, "room"):
            continue
        asked = None if action is None else _LOOKS.match(action)
        collector.drop(fact)
        if asked is None:
            if room is not None:
                collector.add(v.place(fact.subject, v.IS_IN, room))
            continue
        name = _ARTICLE.sub("", normalise_name(asked["thing"]))
        meant = [other.subject for known, other in at_hand.items() if are_alike(known, name)]
        if not meant and name in words("pronouns"):
            before = text[: text.casefold().find(fact.key[0])].casefold()
            heads = {other.subject: before.find(known.split()[-1]) for known, other in at_hand.items()}
            meant = sorted((thing for thing, at in heads.items() if at >= 0), key=lambda thing: heads[thing])[:1]
        if len(meant) == 1 and normalise_name(meant[0]) != fact.key[0]:
            collector.add(v.place(fact.subject, fact.relation, meant[0]))


def _call(
    moved: list[Fact], name: str, view: GraphView, at_hand: dict[str, Fact], collector: StatementCollector
) -> None:
    """Add that the only thing which a command moved goes by the name that the command used."""
    name = _ARTICLE.sub("", normalise_name(name))
    if len(moved) != 1 or name in words("pronouns") or any(mark in f" {name} " for mark in (" and ", ",", " all ")):
        return
    (fact,) = moved
    is_other = any(other != fact.key[0] and are_alike(other, name) for other in at_hand)
    is_shorter = set(name.split()) <= set(fact.key[0].split()) and fact.key[0].endswith(name.split()[-1])
    if not is_shorter and not is_other:
        collector.add(v.other_name(fact.subject, name))


def _at_hand(room: str | None, view: GraphView, collector: StatementCollector) -> dict[str, Fact]:
    """Return where everything is that is carried, in the room, or in or on what is there, as known after the step."""
    said = {s.key[0]: s for s in collector.statements if isinstance(s, Fact) and s.key[1] in (v.IS_IN, v.IS_ON)}
    held = [fact for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation)]
    places = {fact.key[0]: fact for fact in held if fact not in collector.endings} | said
    places.pop(v.PLAYER, None)
    near = {v.INVENTORY} | (set() if room is None else {normalise_name(room)})
    if room is not None:  # a table that is only known as what holds things here
        near |= {fact.key[0] for fact in view.facts(relation=v.IS_SEEN_IN, object=room)}
        near |= {fact.key[2] for fact in said.values() if not view.facts(fact.key[2], v.IS_A, "room")} - places.keys()
    found: dict[str, Fact] = {}
    while True:
        more = {name: fact for name, fact in places.items() if fact.key[2] in near and name not in found}
        if not more:
            return found
        found |= more
        near |= more.keys()


def _name_holders(at_hand: dict[str, Fact], room: str | None, view: GraphView, collector: StatementCollector) -> None:
    """Call what holds a thing by the name of the one thing at hand that it is, when it has no place under its own."""
    places = [s for s in collector.statements if isinstance(s, Fact) and s.key[1] in (v.IS_IN, v.IS_ON)]
    for fact in places:
        holder = fact.key[2]
        if holder in at_hand or holder == v.INVENTORY or (room is not None and holder == normalise_name(room)):
            continue
        if view.facts(holder, v.IS_A, "room") or view.facts(holder, v.IS_IN) or view.facts(holder, v.IS_ON):
            continue
        meant = [other for name, other in at_hand.items() if are_alike(name, holder) and name != fact.key[0]]
        if len(meant) == 1:
            collector.add(v.place(fact.subject, fact.relation, meant[0].subject), override=True)
            collector.add(v.other_name(meant[0].subject, fact.object))
