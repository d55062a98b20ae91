"""Reads what an enumeration after a colon shows in a thing that was opened, searched or looked into.

=====================================================  ==============================================================
answer to "open drawer"                                facts
=====================================================  ==============================================================
It slides out. Inside: a comb and a hairpin.           (comb, is in, drawer), (hairpin, is in, drawer)
It needs two things: a key and a steady hand.          none: what stands before the colon says that they are not there
=====================================================  ==============================================================

What stands before the colon is short and has no verb.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import sentences
from worldthread_lab.game.listing import is_part_of_building, items
from worldthread_lab.game.openings import NamesAtHand
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import words

_LOOKS_INTO: Final = re.compile(
    r"(?:open|unlock|unseal|search|empty|force|pry|prise|cut(?: open)?|break open"
    r"|look (?:in|inside|into)|peer (?:in|inside|into)) (?:the |an? )?"
    r"(?P<thing>[\w' -]+?)(?: (?:with|using) .+)?$",
    re.I,
)
_LISTS: Final = re.compile(r"(?P<lead>[^:\"]*): (?P<list>(?:an?|some|two|three|several) [^:\"]+?)[.!]?$", re.I)
_INSIDE: Final = re.compile(
    r"(?:inside|within|in it|inside it|in there),? "
    r"(?:(?:there )?(?:is|are|lies?|rests?|sits?|waits?)|you (?:find|see|discover)) "
    r"(?P<list>(?:an?|some|two|three|several) [^:\"]+?)[.!]?$",
    re.I,
)
"""A sentence that begins with where: "Inside lies a will"."""
_MOST_WORDS: Final = 4
"""Words before the colon: more are a sentence with a verb of its own."""


def extract_contents(
    action: str, feedback: str, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """Add what an enumeration in the answer to a command shows in a thing.

    Args:
        action: the command.
        feedback: the answer, without the description of a room.
        room: where the player is; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: takes the statements.
    """
    asked = _LOOKS_INTO.match(action.strip())
    if asked is None:
        return
    for sentence in sentences(feedback):
        listed = _INSIDE.match(sentence) or (_LISTS.match(sentence) if ":" in sentence else None)
        if listed is None:
            continue
        lead = re.findall(r"[\w'-]+", listed["lead"].casefold()) if listed.re is _LISTS else []
        if len(lead) > _MOST_WORDS or words("not_listing") & set(lead):
            continue
        holder = NamesAtHand(room, view, collector).name_of(asked["thing"])
        for found in items(listed["list"]):
            name = normalise_name(found.name)
            if name.split()[-1] not in words("no_things") and not is_part_of_building(name) and name != holder:
                collector.add(v.place(found.name, v.IS_IN, holder))
                collector.add_states(found)
