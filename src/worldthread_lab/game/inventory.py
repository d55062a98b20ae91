"""Extracts what the player carries from the text of the inventory.

"You are carrying: a lamp and an unlocked box" gives (lamp, is in, inventory), (box, is in, inventory) and
(box, is, closed). The text lists everything that is carried, so what else the memory holds as carried ends: it lies in
the room when the command put it down. What is newly carried is no longer where it was, under whatever name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import (
    ADJECTIVE_STATES,
    COOKING_STATES,
    MentionedThing,
    mentioned_thing,
    mentioned_things,
)
from worldthread_lab.game.reconciliation import (
    are_alike,
    place_of_what_is_gone,
    sources_of,
    thing_put_away,
)
from worldthread_lab.game.statement_collector import StatementCollector

Adjectives: TypeAlias = Mapping[str, str | None]

_CARRYING: Final = re.compile(r"\b(?:carrying|holding|ha(?:ve|s|ving)|got)\b:?\s*(?P<list>.*)", re.I | re.S)
_ABOUT_ONE: Final = re.compile(
    r"^(?:(?:about|on|upon|with|in|at|round|under) (?:(?:your|the|his|her|its|their) )?\w+,? |only |just )"
    r"(?=(?:an?|some|the|your|two|three) )",
    re.I,
)
"""Where it is carried, before the enumeration: "about your person"."""
_NOTHING: Final = re.compile(
    r"\b(?:nothing|empty[- ]handed|(?:not|n't|no) (?:have|carry(?:ing)?|hold(?:ing)?|got)? ?any ?thing)\b", re.I
)
_HEADING: Final = re.compile(r"^(?:the |your )?(?P<holder>.+?) (?:contains?|holds?|has)\b[^:]*:$", re.I)


def extract_inventory(
    text: str, action: str | None, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """Add what is carried and end what no longer is; a text that lists nothing, and does not say so, changes nothing.

    A list below a heading has an item on each line; deeper lines are inside the item above them. A sentence enumerates.

    Args:
        text: the text of the inventory.
        action: the command before it; ``None`` for the opening text.
        room: where the player is; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: takes the statements; those that contradict the inventory are replaced.
    """
    listing = _read(text, collector.adjectives is COOKING_STATES)
    if listing is None:
        if action is not None:
            _end_what_was_put_away(text, action, room, view, collector)
        return
    carried, inside = listing
    for found in carried:
        collector.add(v.place(found.name, v.IS_IN, v.INVENTORY), override=True)
        collector.add_states(found)
    for found, holder in inside:
        collector.add(v.place(found.name, v.IS_IN, holder), override=True)
        collector.add_states(found)
    emptied = _end_contents(text, carried, inside, view, collector)
    names = {normalise_name(found.name) for found in carried}
    collector.drop_carried_except(names)
    before = {fact.key[0]: fact for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)}
    gone = [fact for name, fact in before.items() if name not in names]
    if action is not None:
        asked = thing_put_away(action)
        poured = [fact for fact in emptied if asked is not None and are_alike(fact.key[0], asked)]
        place_of_what_is_gone(poured or gone, action, room, view, collector)
    collector.end(gone, "no longer carried")


def _end_what_was_put_away(
    text: str, action: str, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """End that a thing is carried which the command put somewhere, and which a text without a list does not name."""
    asked = thing_put_away(action)
    if asked is None:
        return
    named = set(re.findall(r"[a-z0-9'-]+", text.casefold()))
    carried = view.facts(relation=v.IS_IN, object=v.INVENTORY)
    gone = [fact for fact in carried if are_alike(fact.key[0], asked) and fact.key[0].split()[-1] not in named]
    place_of_what_is_gone(gone, action, room, view, collector)
    collector.end(gone, "no longer carried")


def _end_contents(
    text: str,
    carried: tuple[MentionedThing, ...],
    inside: tuple[tuple[MentionedThing, str], ...],
    view: GraphView,
    collector: StatementCollector,
) -> list[Fact]:
    """End what was in a carried thing that is listed as empty, or as open and without what it held.

    What was never said to be open or closed, and was listed with its contents before, is as good as open.

    Returns:
        What ended.
    """
    if "\n" not in text.strip():
        return []  # a sentence does not say what is in a thing
    ended: list[Fact] = []
    contents = {(normalise_name(found.name), normalise_name(holder)) for found, holder in inside}
    for found in carried:
        name = normalise_name(found.name)
        held = [fact for fact in view.facts(relation=v.IS_IN, object=name) if (fact.key[0], name) not in contents]
        if not held:
            continue
        line = next((line for line in text.splitlines() if found.name in line), "")
        is_empty = re.search(r"\bempty\)", line) is not None
        said = [s.key[2] for s in collector.statements if isinstance(s, Fact) and s.key[:2] == (name, v.IS)]
        states = said or [fact.key[2] for fact in view.facts(name, v.IS)]
        is_open = v.OPEN in states or re.search(r"\([^()]*\bopen\b", line) is not None
        if not states and not is_open and not re.search(r"\([^()]*\bclosed\b", line):
            listed = set(sources_of(v.place(found.name, v.IS_IN, v.INVENTORY), view))
            held = [fact for fact in held if not listed.isdisjoint(sources_of(fact, view))]
            is_open = True
        if is_empty or (is_open and v.CLOSED not in said):
            collector.end(held, "it is not in there any more")
            ended += held
    return ended


@lru_cache(maxsize=1024)  # most steps change nothing of it
def _read(
    text: str, is_cooking: bool
) -> tuple[tuple[MentionedThing, ...], tuple[tuple[MentionedThing, str], ...]] | None:
    """Return what is carried, and what is inside of that with its holder; ``None`` where the text lists nothing."""
    adjectives = COOKING_STATES if is_cooking else ADJECTIVE_STATES
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    inside: list[tuple[MentionedThing, str]] = []
    if len(lines) > 1 and (lines[0].rstrip().endswith(":") or lines[1].startswith((" ", "\t"))):
        return tuple(_listed(lines[1:], inside, adjectives)), tuple(inside)
    if _NOTHING.search(lines[0]):
        return (), ()
    match = _CARRYING.search(text)
    return None if match is None else (tuple(_enumerated(_ABOUT_ONE.sub("", match["list"].strip()), adjectives)), ())


def _listed(lines: list[str], inside: list[tuple[MentionedThing, str]], adjectives: Adjectives) -> list[MentionedThing]:
    """Return the items of a list; what deeper lines name is added to ``inside``, with what holds it."""
    carried: list[MentionedThing] = []
    above: list[tuple[int, str | None]] = []  # depth of the lines above, and what holds the deeper lines below each
    for line in lines:
        depth = len(line) - len(line.lstrip())
        while above and above[-1][0] >= depth:
            above.pop()
        holder = above[-1][1] if above else None
        heading = _HEADING.match(line.strip())
        if heading is not None:
            named = mentioned_thing(heading["holder"], adjectives)
            above.append((depth, holder if named is None else named.name))
        elif line.rstrip().endswith(":"):  # it names a group
            above.append((depth, holder))
        else:
            for found in _items(line.strip(), adjectives):
                if holder is None:
                    carried.append(found)
                else:
                    inside.append((found, holder))
                above.append((depth, found.name))
    return carried


def _items(line: str, adjectives: Adjectives) -> list[MentionedThing]:
    """Return the things of one line of a list; adjectives with a comma between them belong to one thing."""
    found = _enumerated(line, adjectives)
    if len(found) == 1 and len(found[0].name.split()) == 1 and re.search(rf"\b{re.escape(found[0].name)},", line):
        whole = mentioned_thing(re.sub(r"\s*\([^()]*\)", "", line).rstrip("."), adjectives)
        return found if whole is None else [whole]
    return found


def _enumerated(listing: str, adjectives: Adjectives) -> list[MentionedThing]:
    """Return the things of an enumeration; a first item without an article counts too."""
    found: list[MentionedThing] = []
    for line in filter(None, map(str.strip, listing.splitlines())):
        has_article = re.match(r"(?:an?|some|the|your) ", line, re.I)
        found += mentioned_things(line if has_article else f"a {line}", adjectives)
    return found
