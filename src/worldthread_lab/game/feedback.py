"""Extracts what an action did from the feedback to it, and what a thing is like from a close look at it.

=======================================  ===========================================================
feedback                                 facts
=======================================  ===========================================================
You pick up the key from the ground.     (key, is in, inventory)
Taken.  (after "take key")               (key, is in, inventory)
You put the key into the box.            (key, is in, box), (box, is a, container)
You open the chest, revealing a pearl.   (chest, is, open), (pearl, is in, chest)
You unlock the chest with the old key.   (chest, is, closed), (old key, unlocks, chest)
You roasted the leek.                    (leek, is, roasted)
You eat the pie.                         ends (pie, is in, inventory)
=======================================  ===========================================================
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import PARTICIPLE, sentences
from worldthread_lab.game.room_description import CONTAINS
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import words
from worldthread_lab.game.written_text import extract_recipe, extract_written_text, is_recipe

_COMMAND: Final = re.compile(
    r"^(?P<verb>\w+)(?: up| down)? (?:the )?(?P<thing>.+?)"
    r"(?: (?P<preposition>from|with|on|onto|in|into|using) (?:the )?(?P<other>.+))?$",
    re.I,
)

_TAKEN: Final = re.compile(
    r"^you (?:pick up|take|now have|get) (?:the|an?|some) (?P<thing>.+?)(?: from (?:the )?.+)?[.!]",
    re.I,
)
_DROPPED: Final = re.compile(r"^you (?:drop|put down) (?:the )?(?P<thing>.+?)(?: on the (?:ground|floor))?[.!]", re.I)
_PUT: Final = re.compile(
    r"^you (?:put|place|insert) (?:the )?(?P<thing>.+?) (?P<preposition>onto|on|into|in) (?:the )?(?P<where>.+?)[.!]",
    re.I,
)
_MANNER: Final = r"(?: (?:with|as|while|until|again|behind|once more|using) ?[^,.!]*)?"
"""How it is done, after the name of the thing: "You close the bag as one should"."""
_OPENED: Final = re.compile(
    rf"^(?:you open (?:the )?(?P<thing>[^,]+?)|opening (?:the )?(?P<thing2>[^,]+?)){_MANNER}"
    r"(?:,? (?:revealing|reveals|(?:and|to) (?:find|discover|reveal|see)|finding|discovering) (?P<list>.+?)"
    r"(?:,? (?:within|inside|in it))?)?[.!]?$",
    re.I,
)
_CLOSED: Final = re.compile(rf"^you close (?:the )?(?P<thing>.+?){_MANNER}[.,!]", re.I)
_UNLOCKED: Final = re.compile(rf"^you unlock (?:the )?(?P<thing>.+?){_MANNER}[.,!]", re.I)
_RELOCKED: Final = re.compile(rf"^you lock (?:the )?(?P<thing>.+?){_MANNER}[.,!]", re.I)
_FOUND_LOCKED: Final = re.compile(
    r"\b(?:seems|appears|happens) to be locked\b|\bis locked\b|\bhave to unlock\b|\bneed to unlock\b",
    re.I,
)
_COOKED: Final = re.compile(
    r"^you (?P<how>fried|roasted|grilled|burned|burnt|cooked) (?:the )?(?P<thing>.+?)[.!]",
    re.I,
)
_CUT: Final = re.compile(r"^you (?P<how>slice|dice|chop) (?:the )?(?P<thing>.+?)[.!]", re.I)
_EATEN: Final = re.compile(r"^you (?:eat|drink|consume|swallow) (?:the )?(?P<thing>.+?)[.!]", re.I)
_BRIEF: Final = re.compile(r"^(?P<what>taken|dropped|opened|closed)\s*[.!]?$", re.I)
_BRIEF_MOVE: Final = re.compile(r"^(?:taken|dropped)\s*[.!]?$", re.I)
_LONGEST_PLACE: Final = 4
"""Words. A longer one is more than a place."""
_MISFIT: Final = re.compile(
    r"\b(?:doesn't|does not|don't|won't)\b.*\b(?:fit|unlock|open|work|seem)|\bwrong key\b",
    re.I,
)


def extract_feedback(
    action: str,
    text: str,
    room: str | None,
    view: GraphView,
    collector: StatementCollector,
    *,
    names_things: bool = True,
) -> None:
    """Add what the feedback to an action states.

    Args:
        action: the command.
        text: the feedback, without the description of a room that may follow it.
        room: where the player is; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: takes the statements.
        names_things: whether commands name things as texts do, so that "Taken." says what is carried.
    """
    command = _COMMAND.match(action)
    verb = command["verb"].lower() if command else action.split()[0].lower()
    if command is not None and verb in ("examine", "x", "read", "look"):
        _extract_close_look(command["thing"], text, view, collector)
        return
    for sentence in sentences(text):
        if names_things or not _BRIEF_MOVE.match(sentence):
            _extract_result(sentence, command, room, collector)


def _extract_result(
    sentence: str, command: re.Match[str] | None, room: str | None, collector: StatementCollector
) -> None:
    """Add what one sentence of the feedback to ``command`` states."""
    brief = _BRIEF.match(sentence)
    if brief is not None and command is not None:
        _extract_brief_result(brief["what"].lower(), command["thing"], room, collector)
        return
    if (match := _PUT.match(sentence)) and (found := collector.mentioned_thing(match["thing"])):
        relation = v.IS_ON if match["preposition"].lower() in ("on", "onto") else v.IS_IN
        if normalise_name(match["where"]) in ("ground", "floor"):
            if room is not None:
                collector.add(v.place(found.name, v.IS_IN, room))
        elif len(match["where"].split()) <= _LONGEST_PLACE:
            collector.add(v.place(found.name, relation, match["where"]))
            collector.add(v.kind(match["where"], "supporter" if relation == v.IS_ON else "container"))
    elif (match := _TAKEN.match(sentence)) and (found := collector.mentioned_thing(match["thing"])):
        collector.add(v.place(found.name, v.IS_IN, v.INVENTORY))
        collector.add_states(found)
    elif (
        (match := _DROPPED.match(sentence))
        and (found := collector.mentioned_thing(match["thing"]))
        and room is not None
    ):
        collector.add(v.place(found.name, v.IS_IN, room))
        collector.add_states(found)
    elif match := _OPENED.match(sentence):
        _extract_opening(match, collector)
    elif (match := _UNLOCKED.match(sentence)) and (found := collector.mentioned_thing(match["thing"])):
        collector.add(v.state(found.name, v.CLOSED), override=True)
        if command is not None and command["other"]:
            collector.add(Fact(command["other"], v.UNLOCKS, found.name))
    elif (match := _RELOCKED.match(sentence)) and (found := collector.mentioned_thing(match["thing"])):
        collector.add(v.state(found.name, v.LOCKED), override=True)
    elif (match := _CLOSED.match(sentence)) and (found := collector.mentioned_thing(match["thing"])):
        collector.add(v.state(found.name, v.CLOSED), override=True)
    elif (match := _COOKED.match(sentence) or _CUT.match(sentence)) and (
        found := collector.mentioned_thing(match["thing"])
    ):
        how = match["how"].lower()
        collector.add(v.state(found.name, PARTICIPLE.get(how, how)), override=True)
    elif (match := _EATEN.match(sentence)) and (found := collector.mentioned_thing(match["thing"])):
        collector.end([v.place(found.name, v.IS_IN, v.INVENTORY)], "eaten")
    elif command is not None and command["verb"].lower() == "open" and _FOUND_LOCKED.search(sentence):
        collector.add(v.state(command["thing"], v.LOCKED))
    elif command is not None and command["verb"].lower() == "unlock" and command["other"] and _MISFIT.search(sentence):
        collector.add(Fact(command["other"], v.DOES_NOT_UNLOCK, command["thing"]))


def _extract_brief_result(result: str, name: str, room: str | None, collector: StatementCollector) -> None:
    """Add what "Taken.", "Dropped.", "Opened." or "Closed." says of the thing that the command names."""
    if result == "taken":
        collector.add(v.place(name, v.IS_IN, v.INVENTORY))
    elif result == "dropped" and room is not None:
        collector.add(v.place(name, v.IS_IN, room))
    elif result in ("opened", "closed"):
        collector.add(v.state(name, v.OPEN if result == "opened" else v.CLOSED))


def _extract_opening(match: re.Match[str], collector: StatementCollector) -> None:
    found = collector.mentioned_thing(match["thing"] or match["thing2"])
    if found is None or normalise_name(found.name).startswith("copy of"):
        return
    collector.add(v.state(found.name, v.OPEN), override=True)
    if match["list"]:
        collector.add(v.kind(found.name, "container"))
        collector.add_places(collector.mentioned_things(match["list"]), v.IS_IN, found.name)


def _extract_close_look(name: str, text: str, view: GraphView, collector: StatementCollector) -> None:
    """Add the states, the contents and the written text of the thing ``name`` that was examined or read."""
    if is_recipe(text):
        extract_recipe(text, collector)
        return
    is_pronoun = name.lower() in words("pronouns")  # then only what a sentence names is known
    known_locked = view.holds(v.state(name, v.LOCKED))
    for sentence in sentences(text):
        described = re.match(r"^(?:it|the .+?) is (?P<state>open|closed|locked)\b", sentence, re.I)
        if is_pronoun:
            continue
        if described is not None:
            value = described["state"].lower()
            # a locked thing is closed too: reading "closed" does not unlock it
            if not (value == v.CLOSED and known_locked):
                collector.add(v.state(name, value))
        elif re.search(r"\bthere is a lock on it\b", sentence, re.I):
            collector.add(v.state(name, v.LOCKED))
        elif contents := CONTAINS.search(sentence):
            collector.add_places(collector.mentioned_things(contents["list"]), v.IS_IN, name)
    if not is_pronoun:
        extract_written_text(text, name, collector)
