"""Reads what happens to things and people: who comes and goes, what others take and put, what becomes of things.

=====================================================  ==============================================================
sentence                                               meaning
=====================================================  ==============================================================
The Grey Lady walks in.                                (Grey Lady, is in, <room>)
The porter shuffles off.                               the porter is not here any more
The guard picks up the lantern.                        (lantern, is in, guard)
The clerk puts the ledger on the desk.                 (ledger, is on, desk)
The frog turns into a prince!                          the frog is gone, (prince, is in, <room>)
The vase shatters.                                     the vase is gone
The flask is now empty.                                nothing is in the flask
The panel slides back, revealing an alcove.            (alcove, is in, <room>)
=====================================================  ==============================================================

A verb in the third person tells what others do from what the player does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldthread.names import normalise_name
from worldthread_lab.game.words import one_of

_BEING: Final = r"(?P<who>[A-Za-z][\w'-]*(?: (?!(?:is|are|has|and|or|as|of)\b)[A-Za-z][\w'-]*){0,2}?)"
_MOTION: Final = (
    r"(?:walk|run|limp|hobble|stagger|stumble|wander|stroll|saunter|amble|shuffle|scamper|slink|slither|crawl|flap|"
    r"flutter|hop|gallop|trot|ride|dart|stride|stalk|storm|swim|sail|drive|drift|float|glide|head|bound|flee|waddle|"
    r"skip|sneak|creep|swagger|trudge|plod|bolt|race|slip|lope|scuttle|sidle|retreat|withdraw|jump|leap|burst|step)s?"
    r"|(?:go|rush|dash|march)(?:es)?|(?:fly|flies|hurry|hurries|scurry|scurries)"
)
_AWAY: Final = (
    rf"(?:{_MOTION})(?: \w+ly)? (?:away|off|out|elsewhere|(?:to the |towards? the )?(?:north|south|east|west)\w*)\b"
)
_ARTICLE: Final = r"(?:(?:\b[Tt]he|\b[Aa]n?) |^|(?<=\n)|(?<=[.!?] ))"
_OFF: Final = (
    rf"(?!{one_of('stays_off')}\b)[a-z]+[^s\W]s off"
    r"(?: (?:to the |towards? the )?(?:north|south|east|west|up|down)\w*"
    r"| (?:to|into|through|along|across|towards?|after|with|again)\b.*?)?"
    r"(?=[.,!;\n]| and\b|$)"
)
"""Any verb with "off" and no object but a direction: "trundles off east"."""
_COMES_NEAR: Final = re.compile(
    rf"(?:\b(?:The|An?) |^|(?<=[.!?] )|(?<=\n)(?=[A-Z])){_BEING} "
    rf"(?!is\b|has\b|was\b|looks\b|points\b)[a-z]+[^s\W]s "
    r"(?:down |up )?(?:(?:near|beside|next to|in front of|before|behind) you\b|at your feet\b"
    r"|on your (?:shoulder|arm|head)\b)"
)
"""Who lands, or stops, near the player is here."""
_COMES_IN: Final = re.compile(
    rf"(?:\b(?:[Tt]he|[Aa]n?) |(?:^|(?<=[.!?] )|(?<=\n))(?=[A-Z])){_BEING} (?:suddenly |slowly |quickly |quietly )?"
    rf"(?!{one_of('stays_in')}\b)[a-z]+[^s\W]s in(?: from (?:the|out of) [\w ]+)?(?=[.!,])"
)
_COMES: Final = re.compile(
    rf"(?:^|(?<=[.!?] )|(?<=\n))(?:(?:The|An?) )?{_BEING} "
    r"(?:comes? (?:into|in) (?:sight|view)|"
    r"comes? (?:\w+ )?(?:in|with|behind|after|up|from)|follows? you|(?:walks?|runs?) in|enters|arrives|joins you|"
    r"appears)\b"
)
_ENTERS: Final = re.compile(
    rf"(?:\b(?:[Tt]he|[Aa]n?) |(?:^|(?<=\n)|(?<=[.!?] ))(?=[A-Z])){_BEING} (?:suddenly |slowly |quickly |quietly )?"
    rf"(?:(?:comes?|{_MOTION}) (?:in\b(?! (?:the|an?|his|her|its|your|it|them|circles|front)\b)"
    r"|into (?:the|this) [\w ]+[.!,])"
    r"|enters\b(?! (?:into|in)\b)|arrives\b)"
)
_LEAVES: Final = (
    rf"(?:disappears|vanishes|(?:has|is) (?:gone|disappeared|vanished|dead)|dies|departs|"
    rf"leaves(?! (?:the|an?|his|her|you))|(?:flies|walks|runs) (?:away|off|out)|goes (?:away|elsewhere)|crumbles|"
    rf"evaporates|is destroyed|is (?:now )?\w+ing away|(?:washes|is (?:washed|swept|carried|blown)) away|"
    rf"(?:withdraws|retires|retreats|goes out|slips out|steps out)(?=[.,!]| and\b)|"
    rf"takes (?:(?:his|her|its|their) )?leave|"
    rf"{_AWAY}|{_OFF}|"
    rf"sinks(?= (?:out of|like|without|slowly|beneath|below|from)|[.,!])|shatters|disintegrates|explodes|"
    rf"(?:breaks|bursts) (?:into|apart)|burns (?:up|away)|"
    rf"melts away|dissolves)\b"
)
_ADVERB: Final = r"(?:suddenly |then |quickly |slowly |finally )?"
_GOES: Final = re.compile(rf"{_ARTICLE}{_BEING}(?: [^.!?,\n\"]{{1,60}}? and)? {_ADVERB}{_LEAVES}")
_IT_GOES: Final = re.compile(rf"\W*(?:It|He|She)(?: [^.!?,\n\"]{{1,60}}? and)? {_ADVERB}{_LEAVES}")
"""What the command names goes, when the answer begins with a pronoun: "It opens like a fan and goes elsewhere"."""
_GONE: Final = re.compile(
    rf"\b(?:the|The) {_BEING},? (?:and |but )?(?:you |there |only )?[^.!?\"]{{0,60}}?\b(?:he|she|it|they) "
    r"(?:has|have|had|is|are) (?:gone|vanished|disappeared)\b"
)
"""A pronoun for who goes: "When you turn back to the guide, you see that she has gone"."""
_SUBORDINATE: Final = re.compile(r"\b(?:if|when|whenever|until|till|before|unless|once|as) (?:the |an? )?$", re.I)
"""What stands before a clause that tells no event."""
_SPEECH: Final = re.compile(r"\"[^\"\n]*(?:\"|$)", re.M)
_NAMES: Final = re.compile(
    r"(?:(?!ask|tell|say|think)\w+) (?:(?:at|up|on|to) )?(?:the |an? )?(?P<who>[\w' -]+?)"
    r"(?: (?:from|with|on|in|into|to|at) .*)?$",
    re.I,
)
_KILLS: Final = re.compile(
    r"(?:kill|attack|hit|stab|slay|fight|shoot) (?:the |an? )?(?P<who>[\w' -]+?)(?: with .*)?$", re.I
)
_IS_DEAD: Final = re.compile(r"\b(?:dies|dead|lifeless|slain|killed|last breath|final blow|carcass|corpse)\b", re.I)
_DESTROYS: Final = re.compile(
    r"(?:break|smash|destroy|burn|shatter|tear|rip|chop|crush|blow up|hit|kick|light|ignite|melt) (?:up )?"
    r"(?:the |an? )?(?P<who>[\w' -]+?)(?: (?:with|using|on|against) .*)?$",
    re.I,
)
_IS_DESTROYED: Final = re.compile(
    r"\b(?:shatter(?:s|ing|ed)?\b|(?:in|into|to) (?:(?:an?|the|\w+) ){0,2}(?:pieces|bits|splinters|shards|fragments|"
    r"smithereens|dust|ashes)\b|up in (?:flames|smoke)\b|(?:is|are) (?:destroyed|consumed)\b|"
    r"nothing (?:is left|remains)\b|"
    r"(?:^|[.!?]\s)gone\b|\b(?:is|are)(?: all| now)? gone\b|goes? up (?:like|in)\b|"
    r"\bit (?:breaks|bursts|splits|snaps)\b(?! (?:free|off|open|away))|"
    r"burns? (?:up|away|to)\b|disintegrates?\b|crumbles?\b)",
    re.I,
)
_BREAKS: Final = re.compile(r"(?:break|smash|destroy|burn|shatter|tear|rip|crush) ", re.I)
_PIECES: Final = re.compile(
    r"\b(?:among|amid|amidst|from|in) (?:the|its) (?:shards|splinters|potsherds|fragments|pieces|wreckage|remains|"
    r"ashes|debris|ruins)\b|\bcomes? apart\b",
    re.I,
)
"""What is left of a thing that was broken."""
_NOBODY: Final = frozenset({"you", "it", "he", "she", "they", "which", "that", "who", "there", "nothing", "something"})

_WHAT: Final = r"(?:it|them|(?:the|your|his|her|its|an?|some) (?P<what>[\w'-]+(?: [\w'-]+){0,4}?))"
_TAKES: Final = re.compile(
    r"\b(?P<verb>takes|grabs|snatches|seizes|steals|picks|swallows|eats|devours|gobbles|swipes|pockets|removes)"
    r"(?: up| away| down)? (?:the|your|his|her|its) (?P<what>[\w'-]+(?: [\w'-]+){0,3}?)"
    r"(?= (?:and|from|out|off|with|in|into|to|up|away|between|by|before|then|as|while)\b|[.,;!])"
)
_PUTS: Final = re.compile(
    rf"\b{one_of('putting')} {_WHAT} (?:(?:down|back|carefully|gently) )?"
    r"(?P<preposition>onto|on|into|in) (?:the|his|her|its) (?P<where>[\w'-]+(?: [\w'-]+){0,2}?)"
    r"(?= (?:and|with|before|then|as|while|to)\b|[.,;!]|$)"
)
_BECOMES: Final = re.compile(
    r"\b(?:[Tt]he|[Yy]our) (?P<what>[\w'-]+(?: [\w'-]+){0,3}?) (?:suddenly |slowly |quickly |soon |has |is )*"
    r"(?:turns into|changes into|transforms into|becomes|replaced by|replaced with|"
    r"(?:been )?(?:turned|changed|transformed) into) (?P<result>(?:an?|some) (?!(?:bit|little|lot)\b)[^.!?\n]+)"
)
_EMPTY: Final = re.compile(r"\b[Tt]he (?P<what>[\w'-]+(?: [\w'-]+){0,3}?) (?:is|are) (?:now |already )?empty\b")
_REVEALS: Final = re.compile(
    r"\b(?:revealing|to reveal|exposing|uncovering|disclosing) (?:the (?:[\w'-]+ ){1,3}?of )?"
    r"(?P<list>(?:an?|some|two|three) [^.!?\n]+)"
)
_FEW: Final = (
    r"(?:[Aa]n?|[Ss]ome|[Tt]wo|[Tt]hree) (?:(?!(?:an?|the|which|that|who|of) )[\w'-]+ ){0,3}?[\w'-]+(?: of [\w'-]+)?"
)
_DROPS: Final = r"(?:falls?|drops?|rolls?|tumbles?|slides?|slips?|clatters?|flutters?|spills?|pops?)"
_TO_FLOOR: Final = (
    r"(?:at your feet|before you|in front of you|(?:on|onto|to) the (?:floor|ground|carpet|grass|boards|tiles|deck))"
)
_FALLS: Final = re.compile(
    rf"\b(?P<list>{_FEW}),?(?: which| that)? {_DROPS} (?:out\b(?! of (?:sight|reach))|{_TO_FLOOR})"
)
_OUT_FALLS: Final = re.compile(
    rf"\b[Oo]ut (?:{_DROPS}|comes?) (?P<list>{_FEW}(?:(?:,| and|, and) {_FEW})*)(?=[.,;!?]|$)"
)
_SETS_DOWN: Final = re.compile(
    rf"\b(?:(?P<list>{_FEW}),? (?:which|that) (?:he|she|it|they) {one_of('putting')}(?: down)? {_TO_FLOOR}"
    rf"|{one_of('putting')} (?P<list2>{_FEW})(?: down)? {_TO_FLOOR})"
)
_ENDS: Final = re.compile(
    r"\b(?:dissolv|vanish|disappear|shatter|disintegrat|crumbl|evaporat|break|melt|burst|explod|smash)\w*\b"
)
_MAKES_ROOM: Final = re.compile(
    r"\((?:first )?putting (?:the |your |an? )?(?P<what>[^()]+?) (?P<preposition>into|onto|in|on) (?:the |your )"
    r"(?P<where>[^()]+?)(?: to make room| first)?\)",
    re.I,
)
_TAKEN_FIRST: Final = re.compile(
    r"\((?:first )?(?:taking|picking up|getting|removing) (?:the |your |an? )?(?P<what>[^()]+?)"
    r"(?: (?:out of|from|off|down) [^()]*?)?(?: first)?\)",
    re.I,
)
_LOOKS_INTO: Final = re.compile(r"(?:open|unlock|unseal|look (?:in|inside|into)|search) ", re.I)
_CONSUMES: Final = frozenset({"swallows", "eats", "devours", "gobbles"})


class Movement(NamedTuple):
    """Somebody or something comes, or goes away or ends.

    Args:
        who: the name as the text has it.
        arrives: whether it comes.
        is_sure: whether the words say so of somebody whom the memory does not know, too.
        end: where in the text the words that say so end; -1 for what a command did.
    """

    who: str
    arrives: bool
    is_sure: bool = False
    end: int = -1


_MOVEMENTS: Final = (
    (_COMES, True, False, re.compile("")),
    (_GOES, False, False, re.compile("")),
    (_GONE, False, False, re.compile("gone|vanished|disappeared")),
    (_ENTERS, True, True, re.compile("")),
    (_COMES_IN, True, True, re.compile("s in(?: from|[.!,])")),
    (_COMES_NEAR, True, True, re.compile(" you| at your| on your")),
)
"""Patterns, whether they tell of who comes, whether of somebody whom the memory does not know, too, and what is sought
first, since few texts have it."""


def movements(action: str | None, text: str) -> Iterator[Movement]:
    """Yield who comes, and who or what goes away or ends, as a text says."""
    for pattern, arrives, is_sure, cue in _MOVEMENTS:
        for match in pattern.finditer(text) if cue.search(text) else ():
            if normalise_name(match["who"]).split()[0] in _NOBODY:
                continue
            if not arrives or _SUBORDINATE.search(text, 0, match.start("who")) is None:
                yield Movement(match["who"], arrives, is_sure, match.end())
    named = _NAMES.match(action) if action is not None and _IT_GOES.match(text) is not None else None
    if named is not None:
        yield Movement(named["who"], arrives=False)
    struck = _KILLS.match(action) if action is not None else None
    if struck is not None and _IS_DEAD.search(text):
        yield Movement(struck["who"], arrives=False)
    broken = _DESTROYS.match(action) if action is not None else None
    if broken is not None and (_IS_DESTROYED.search(text) or (_BREAKS.match(action or "") and _PIECES.search(text))):
        yield Movement(broken["who"], arrives=False)


class Taking(NamedTuple):
    """Somebody else takes something.

    Args:
        who: the sentence up to the verb, which names who takes it; empty when what is taken is eaten.
        what: what is taken.
    """

    who: str
    what: str


def takings(text: str) -> Iterator[Taking]:
    """Yield what others than the player take."""
    for match in _TAKES.finditer(text):
        before = re.split(r"[.!?\n\"]", text[: match.start()])[-1]
        yield Taking("" if match["verb"] in _CONSUMES else before, match["what"])


class Putting(NamedTuple):
    """Somebody else puts something somewhere.

    Args:
        what: what is put; ``None`` for "it".
        is_on: whether it is put on the place, and not into it.
        where: the place.
        who: the sentence up to the verb, which names who puts it; empty for the game itself.
    """

    what: str | None
    is_on: bool
    where: str
    who: str = ""


def puttings(text: str) -> Iterator[Putting]:
    """Yield what others put somewhere, and what the game puts away by itself: "(putting the cup into the bag)"."""
    for pattern in (_PUTS, _MAKES_ROOM):
        for match in pattern.finditer(text):
            who = "" if pattern is _MAKES_ROOM else re.split(r"[.!?\n\"]", text[: match.start()])[-1]
            yield Putting(match["what"], match["preposition"].lower() in ("on", "onto"), match["where"], who)


def laid_down(text: str) -> Iterator[str]:
    """Yield the enumerations of what falls out, or is put before the player by somebody else."""
    for pattern in (_FALLS, _OUT_FALLS, _SETS_DOWN):
        for match in pattern.finditer(text):
            if _ENDS.search(text, match.end(), _end_of_sentence(text, match.end())) is not None:
                continue  # it falls and breaks
            yield next(found for found in match.groups() if found)


def _end_of_sentence(text: str, start: int) -> int:
    stop = re.compile(r"[.!?\n]").search(text, start)
    return len(text) if stop is None else stop.end()


def without_speech(text: str) -> str:
    """Return a text with blanks for what somebody says, or what is written, in double quotes."""
    return _SPEECH.sub(lambda speech: " " * len(speech[0]), text)


def changes(text: str) -> Iterator[tuple[str, str]]:
    """Yield what becomes another thing, and the enumeration that begins with the other thing."""
    for match in _BECOMES.finditer(text):
        yield match["what"], match["result"]


def taken_first(text: str) -> Iterator[str]:
    """Yield what the game takes by itself before it does what was asked: "(first taking the egg)"."""
    for match in _TAKEN_FIRST.finditer(text):
        yield match["what"]


def emptied(text: str) -> Iterator[str]:
    """Yield what is said to be empty."""
    for match in _EMPTY.finditer(text):
        yield match["what"]


def revealed(action: str | None, text: str) -> Iterator[str]:
    """Yield the enumerations of what an action reveals in the room, rather than in the thing that it opens."""
    if action is not None and not _LOOKS_INTO.match(action):
        for match in _REVEALS.finditer(text):
            yield match["list"]
