"""Extracts what the player carries from the text of the inventory.

"You are carrying: a lamp and an unlocked box" gives (lamp, is in, inventory), (box, is in, inventory) and
(box, is, closed). The text lists everything that is carried, so what else the memory holds as carried ends.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.english import MentionedThing
from worldthread.extract.game.statement_collector import StatementCollector
from worldthread.graph import GraphView
from worldthread.names import normalise_name

_CARRYING: Final = re.compile(r"\byou(?: are|'re) carrying\b:?\s*(?P<list>.*)", re.I | re.S)
_NOTHING: Final = re.compile(r"^(?:nothing|empty[- ]handed)\b", re.I)


def extract_inventory(text: str, view: GraphView, collector: StatementCollector) -> None:
    """Add what is carried and end what no longer is; a text that does not say "you are carrying" changes nothing.

    Args:
        text: the text of the inventory.
        view: what the memory holds before the step.
        collector: takes the statements; those that contradict the inventory are replaced.
    """
    match = _CARRYING.search(text)
    if match is None:
        return
    listing = match["list"].strip()
    carried: list[MentionedThing] = []
    if not _NOTHING.match(listing):
        lines = [line.strip() for line in listing.splitlines() if line.strip()]
        for line in lines:
            has_article = re.match(r"(?:an?|some|the|your) ", line, re.I)
            carried += collector.mentioned_things(line if has_article else f"a {line}")
    for found in carried:
        collector.add(v.place(found.name, v.IS_IN, v.INVENTORY), override=True)
        collector.add_states(found)
    names = {normalise_name(found.name) for found in carried}
    collector.drop_carried_except(names)
    gone = [fact for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY) if fact.key[0] not in names]
    collector.end(gone, "no longer carried")
