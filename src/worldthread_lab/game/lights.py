"""Reads what is on or off, lit or out: from what a text says of it, from asides, and from the answer to a command.

=====================================================  ==============================================================
text                                                   facts
=====================================================  ==============================================================
The brass lantern is now on.                           (brass lantern, is, on)
The torch flickers and goes out.                       (torch, is, off)
The flame is extinguished.   (after "douse candles")   (candles, is, off)
You are carrying: a lantern (providing light)          (lantern, is, on), until it is listed without that
=====================================================  ==============================================================

What is asked, wished, feared or denied states nothing.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import mentioned_thing, noun_phrase, sentences
from worldthread_lab.game.events import without_speech
from worldthread_lab.game.openings import NamesAtHand
from worldthread_lab.game.refusals import is_refusal
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import words

_CUE: Final = re.compile(
    r"\b(?:on|off|out|lit|alight|burn\w*|light\w*|extinguish\w*|flames?|dark|dead|glow\w*)\b", re.I
)
_ON: Final = r"on|lit|alight|burning|alight|aglow|ablaze"
_OFF: Final = r"off|out|unlit|extinguished|snuffed out|blown out|burned out|burnt out|dark"
_NOUN: Final = r"(?:the|your) (?P<thing>[a-z][\w' -]*?)"
_IS: Final = re.compile(
    rf"\b{_NOUN},? (?:is|are|has been|have been)(?: (?:now|already|currently|still|\w+ly))*"
    rf" (?:(?P<on>{_ON})|(?P<off>{_OFF}))(?=[.,;!]|$| (?:and|now|already|again|by)\b)",
    re.I,
)
_GOES: Final = re.compile(
    rf"\b{_NOUN}(?: \w+s(?: \w+ly)? and)?(?: (?:suddenly|finally|slowly|then|\w+ly))? (?:"
    r"(?P<on>(?:comes?|flickers?|clicks?|blinks?|switch(?:es)?|turns?|springs?|bursts?) "
    r"(?:on\b(?! (?:the|an?|your)\b)|to life|into (?:flames?|light))|lights? up|catch(?:es)? (?:fire|light)|"
    r"ignites?|(?:begins?|starts?) to (?:burn|glow|shine))"
    r"|(?P<off>(?:goes|go|flickers?|blinks?|burns?|dies?|sputters?|blows?|fizzles?) out\b(?! of\b)"
    r"|(?:goes|go|clicks?|switch(?:es)?|turns?) off\b))",
    re.I,
)
_YOU: Final = re.compile(
    rf"\byou (?:\w+ly )?(?:(?P<on>light|ignite|turn on|switch on|kindle)|(?P<off>extinguish|douse|turn off|"
    rf"switch off|blow out|snuff(?: out)?|put out)) {_NOUN}(?=[.,;!]| (?:and|with|using|on|off|which)\b|$)",
    re.I,
)
_YOU_SWITCH: Final = re.compile(
    rf"\byou (?:\w+ly )?(?:turn|switch|flick|click) {_NOUN} (?:(?P<on>on)|(?P<off>off))\b", re.I
)
_ASKED: Final = re.compile(
    r"(?:(?P<on>(?:turn|switch|put) on|light(?: up)?|ignite|kindle|set fire to|burn)"
    r"|(?P<off>(?:turn|switch|put) (?:off|out)|extinguish|douse|snuff(?: out)?|blow out|unlight))"
    r" (?:the |an? |my )?(?P<thing>[\w' -]+?)(?: (?:with|using) .+)?$",
    re.I,
)
_ASKED_AFTER: Final = re.compile(
    r"(?:turn|switch|put|blow) (?:the |an? |my )?(?P<thing>[\w' -]+?) (?:(?P<on>on)|(?P<off>off|out))$", re.I
)
_ANSWERS_ON: Final = re.compile(
    r"\b(?:on|lit|alight|burn(?:s|ing)?|flames?|glow(?:s|ing)?|light(?:s|ed)?|shin(?:es|ing)|bright)\b", re.I
)
_ANSWERS_OFF: Final = re.compile(r"\b(?:off|out|extinguish(?:ed|es)?|dark(?:ness)?|goes dead)\b", re.I)
_DENIES: Final = re.compile(
    r"\b(?:if|when|unless|until|would|could|should|might|may|can|cannot|not|never|no|nothing|none|how|what|why|where|"
    r"trying?|try|fail\w*|unable|need|have to|seems?|as though|almost|nearly|about to|begin(?:s|ning)? to|getting)\b"
    r"|n't\b|'ll\b|\?",
    re.I,
)
_ASIDE: Final = re.compile(r"\((?:providing light|lit|burning|alight|lighted|on|switched on|turned on)\b[^()]*\)", re.I)
_ASIDE_OFF: Final = re.compile(r"\((?:off|unlit|out|extinguished|switched off|turned off)\b[^()]*\)", re.I)


def extract_lights(
    action: str | None,
    feedback: str,
    inventory: str | None,
    room: str | None,
    view: GraphView,
    collector: StatementCollector,
) -> None:
    """Add what is shown to be on or off, under the name by which the memory knows it.

    Args:
        action: the command; ``None`` for the opening text.
        feedback: the observation up to the title of a room.
        inventory: the text of the inventory; ``None`` where there is none.
        room: where the player is after the step; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: has the statements of the step, and takes the states.
    """
    asked = None if action is None else _ASKED.match(action.strip()) or _ASKED_AFTER.match(action.strip())
    if asked is not None or _CUE.search(feedback):
        known = NamesAtHand(room, view, collector)
        _read_feedback(asked, without_speech(feedback), known, collector)
    if inventory is not None:
        _read_inventory(inventory, view, collector)


def _read_feedback(asked: re.Match[str] | None, text: str, known: NamesAtHand, collector: StatementCollector) -> None:
    told: dict[str, str] = {}
    is_answered = False
    for sentence in sentences(text):
        if _DENIES.search(sentence) or not _CUE.search(sentence):
            continue
        for pattern in (_IS, _GOES, _YOU, _YOU_SWITCH):
            for match in pattern.finditer(sentence):
                named = mentioned_thing(noun_phrase(match["thing"]))
                name = None if named is None else known.name_of(named.name)
                if name is not None and known.is_near(name):
                    told[name] = v.ON if match["on"] else v.OFF
        if asked is not None and not is_answered:
            answers = _ANSWERS_ON if asked["on"] else _ANSWERS_OFF
            is_answered = answers.search(sentence) is not None
    if asked is not None and not told and is_answered and not is_refusal(text.split("\n\n")[0]):
        name = known.name_of(asked["thing"])
        if known.is_near(name):
            told[name] = v.ON if asked["on"] else v.OFF
    elif asked is not None and len(told) == 1:
        (thing,) = told
        if not known.is_near(known.name_of(asked["thing"])) and asked["thing"].lower() not in words("pronouns"):
            collector.add(v.other_name(thing, normalise_name(asked["thing"])))
    for name, value in told.items():
        collector.add(v.state(name, value), override=True)


def _read_inventory(text: str, view: GraphView, collector: StatementCollector) -> None:
    """Add what asides say of what is carried; what was said to be on, and is listed without an aside, is off."""
    carried = [s for s in collector.statements if isinstance(s, Fact) and s.key[1:] == (v.IS_IN, v.INVENTORY)]
    has_asides = _ASIDE.search(text) is not None
    for fact in carried:
        was = next((state for state in view.facts(fact.subject, v.IS) if state.key[2] in v.LIGHT_STATES), None)
        if not has_asides and was is None:
            continue
        shown = re.search(rf"\b{re.escape(fact.subject)}\b(?P<aside>(?: ?\([^()\n]*\))*)", text, re.I)
        if shown is None:
            continue
        if _ASIDE.search(shown["aside"]):
            collector.add(v.state(fact.subject, v.ON), override=True)
            collector.add(_TOLD)
        elif _ASIDE_OFF.search(shown["aside"]):
            collector.add(v.state(fact.subject, v.OFF), override=True)
        elif was is not None and was.key[2] == v.ON and view.holds(_TOLD):
            collector.add(v.state(fact.subject, v.OFF))


_TOLD: Final = Fact(v.KNOWN_ROOMS, v.HAVE, "lights told by asides")
"""Held when the game tells in its inventory what gives light."""
