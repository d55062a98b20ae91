"""Reads what is open, closed or locked, from what a text says of it and from the answer to a command that opens it.

=====================================================  ==============================================================
text                                                   facts
=====================================================  ==============================================================
The city gate swings open before you.                  (city gate, is, open)
The trap door crashes shut, and you hear a bolt.       (trap door, is, closed)
You push the secret door open.                         (secret door, is, open)
The lever moves to the closed position.                (lever, is, closed)
The iron stove is closed.                              (iron stove, is, closed)
(first opening the pine door)                          (pine door, is, open)
It opens with a squeal.   (after "open hatch")         (hatch, is, open)
On the other side of the hatch is a stair.  (the same) (hatch, is, open)
=====================================================  ==============================================================

What is asked, wished, feared or denied, and what somebody says, states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeGuard

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact, Statement
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import mentioned_thing, noun_phrase, sentences
from worldthread_lab.game.listing import is_abstract, is_part_of_room
from worldthread_lab.game.reconciliation import are_alike
from worldthread_lab.game.refusals import is_refusal
from worldthread_lab.game.statement_collector import StatementCollector

_SPEAKS_OF_IT: Final = re.compile(r"open|ajar|clos|shut|lock", re.I)
_QUOTED: Final = re.compile(r"\"[^\"]*(?:\"|$)|(?<![\w])'[^'\n]*'(?!\w)")
_UNCERTAIN: Final = re.compile(
    r"\b(?:if|when|whenever|unless|until|before|once(?! more)|would|could|should|might|may|will|shall|can|must|cannot|"
    r"not|never|no|"
    r"nothing|nobody|none|neither|hardly|barely|only|seem(?:s|ed)?|appear(?:s|ed)?|looks?|almost|nearly|partly|partially|"
    r"slightly|half|how|what|why|where|whether|refus\w+|fail\w*|unable|impossible|resist\w*|stuck|jammed|"
    r"tr(?:y|ies|ied|ying)|"
    r"attempts?|needs?|have to|has to|want|wants|used to|to open|to close|like|as though|"
    r"doubt|too|all|most|each|every)\b|n't\b|'ll\b|'d\b|\?",
    re.I,
)
"""Words with which a sentence does not say that something is so."""
_STATES: Final[dict[str, str]] = {
    "ajar": v.OPEN, "open": v.OPEN, "opens": v.OPEN, "opened": v.OPEN, "opening": v.OPEN,
    "close": v.CLOSED, "closes": v.CLOSED, "closed": v.CLOSED, "closing": v.CLOSED,
    "shut": v.CLOSED, "shuts": v.CLOSED, "shutting": v.CLOSED, "slam": v.CLOSED, "slams": v.CLOSED,
    "unlock": v.CLOSED, "unlocks": v.CLOSED, "unlocked": v.CLOSED, "unlocking": v.CLOSED,
    "lock": v.LOCKED, "locks": v.LOCKED, "locked": v.LOCKED, "locking": v.LOCKED,
}  # fmt: skip
_NOUN: Final = (
    r"(?!(?:the|an?|some|your|his|her|its|of|and|or|is|are|was|that|which|who|to|in|on|with|as|from|by|at|you|it|but|"
    r"stands?|lies|hangs?|there|here)\b)[\w'-]+"
)
_THING: Final = rf"(?:\b(?:the|your) )(?P<thing>{_NOUN}(?: {_NOUN}){{0,4}}?)"
_ADVERBS: Final = r"(?: (?:\w+ly|now|then|once more|again|also|still))*"
_CHANGES: Final = re.compile(
    rf"{_THING}{_ADVERBS}(?: (?P<state>opens|closes|shuts)(?! (?:out|onto|to the|into|off|from|upon|up into|at)\b)"
    rf"| (?!is\b|has\b|was\b|does\b)[a-z]+s{_ADVERBS}(?: (?:fully|wide|itself|back))?"
    rf" (?:(?:in)?to (?:the|an|a|its) )?(?P<state2>open|shut|closed)(?: position)?"
    r"| (?:is|has been) (?P<state3>opened|closed|shut|unlocked|locked)(?= (?:by|from)\b))\b",
    re.I,
)
"""A thing that opens or shuts, or does something open or shut: "swings open", "slams shut"."""
_PLAYER_CHANGES: Final = re.compile(
    rf"\byou{_ADVERBS} (?:(?:manage|are able|succeed|contrive|reach (?:out|over|down|up)|lean over|stoop|bend down)"
    rf"(?: to| and| in)? )?(?:(?P<state>open|close|shut|slam|unlock|lock|opening|closing)(?: up| down)? "
    r"(?:the |your |an? )"
    rf"(?P<thing>{_NOUN}(?: {_NOUN}){{0,4}}?)(?= (?:far|wide|with|and|to|enough|just|again|a|by|using|of|in|on|"
    r"then|as|but|"
    rf"from|behind)\b|[,.;:!]|$)"
    rf"|[a-z]+ (?:the |your )(?P<thing2>{_NOUN}(?: {_NOUN}){{0,4}}?)(?: (?:fully|wide|all the way))?"
    rf" (?P<state2>open|shut|closed)\b)",
    re.I,
)
_IS: Final = re.compile(
    rf"\b(?:the|your|an?) (?P<thing>{_NOUN}(?: {_NOUN}){{0,4}}?)"
    r"(?: (?:in|on|to|at|of) (?:the|your|an?) [\w'-]+(?: [\w'-]+)?)?"
    rf"(?:,? (?:which|that))? (?:is|are|has been|have been|stands?|lies|hangs?){_ADVERBS}"
    r"(?: (?:firmly|tightly|wide|already|both|currently|thrown|flung|propped|wedged|held|left|standing))*"
    r" (?P<state>open|ajar|closed|shut|locked|unlocked)\b"
    r"(?! (?:to|on|at|from|by|in|into|onto|out|air|enough|door|with (?:a|an) \w+ key)\b)",
    re.I,
)
_FIRST: Final = re.compile(
    r"\((?:first )?(?P<state>opening|closing|unlocking) (?:the |your )?(?P<thing>[^()]+?)"
    r"(?: (?:with|using) [^()]*)?(?: first)?\)",
    re.I,
)
_ASKED: Final = re.compile(
    r"(?P<verb>open|close|shut|unlock|lock|force|pry|prise|lever|jemmy|smash|break(?: open| down| in)?"
    r"|kick(?: open| down| in)?)(?: up)? (?:the |an? )?(?P<thing>[\w' -]+?)"
    r"(?: (?:down|in|open))?(?: (?:with|using|by) .+)?$",
    re.I,
)
_ANSWERS: Final[dict[str, re.Pattern[str]]] = {
    "open": re.compile(r"\bopen(?:s|ed)?\b(?! (?:out|onto|into|to the|air)\b)", re.I),
    "close": re.compile(r"\b(?:closes?|closed|shuts?|slams?)\b(?! (?:to|by)\b)", re.I),
    "unlock": re.compile(r"\bunlock(?:s|ed)?\b", re.I),
    "lock": re.compile(r"\block(?:s|ed)?\b", re.I),
    "force": re.compile(
        r"\bgives? way\b|\b(?:flies|swings|bursts|comes|springs|pops|breaks) (?:wide )?open\b|\bburst open\b|"
        r"\bcomes? (?:up|away|off its hinges)\b",
        re.I,
    ),
}
"""The verb with which the answer to a command says that it was done."""
_BEHIND: Final = re.compile(
    rf"\b(?:(?:on|to) the other side|beyond|behind|through|inside|within|in) (?:of )?"
    rf"(?:the (?P<thing>{_NOUN}(?: {_NOUN}){{0,4}}?)|it),? "
    r"(?:is|are|lies?|stands?|sits?|you (?:can )?(?:see|find|discover))\b"
    r"|\b(?:reveal(?:s|ing)?|expos(?:es|ing)|contains?|discloses)\b",
    re.I,
)
"""What shows, when something was to be opened, that it is open now."""
_PRONOUN: Final = re.compile(r"(?:it|them|him|her|that|this|all|everything)", re.I)
_OPENS_FOR_OTHERS: Final = frozenset(
    ("eye", "eyes", "mouth", "mouths", "hand", "hands", "jaw", "jaws", "lips", "arms", "fist", "sky", "heavens", "game",
     "shop", "museum", "show", "others", "rest", "other", "possibility")
)  # fmt: skip
"""What opens or shuts as bodies and weather do, or is open for visitors."""


class Opening(NamedTuple):
    """Something is open, closed or locked.

    Args:
        thing: the name in the text; ``None`` for what the command names.
        state: a word of :data:`~worldthread_lab.game.vocabulary.LOCK_STATES`.
        is_change: whether the text tells a change and does not describe.
    """

    thing: str | None
    state: str
    is_change: bool


def asked_for(action: str | None) -> tuple[str, str] | None:
    """Return the thing that a command would open, close or lock, and the verb; ``None`` for other commands."""
    asked = None if action is None else _ASKED.match(action.strip())
    if asked is None:
        return None
    verb = asked["verb"].lower()
    return asked["thing"], "close" if verb == "shut" else verb if verb in _ANSWERS else "force"


@lru_cache(maxsize=4096)  # games print the same texts again and again
def openings(action: str | None, text: str) -> tuple[Opening, ...]:
    """Return what a text shows to be open, closed or locked, in the order of the text.

    Args:
        action: the command; ``None`` for the opening text.
        text: the observation.

    Returns:
        What is open, closed or locked; of one thing the last is right.
    """
    asked = asked_for(action)
    if asked is None and not _SPEAKS_OF_IT.search(text):
        return ()
    return tuple(_openings(asked, text))


def _openings(asked: tuple[str, str] | None, text: str) -> Iterator[Opening]:
    for first in _FIRST.finditer(text):
        yield Opening(first["thing"], _STATES[first["state"].lower()], True)
    found_asked = False
    refused = is_refusal(text.split("\n\n")[0])
    for sentence in sentences(_QUOTED.sub('"', text)):
        if not _SPEAKS_OF_IT.search(sentence) and (asked is None or asked[1] != "force"):
            continue
        for pattern in (_CHANGES, _PLAYER_CHANGES, _IS):
            for match in pattern.finditer(sentence):
                groups = match.groupdict()
                thing = groups["thing"] or groups.get("thing2") or ""
                state = groups["state"] or groups.get("state2") or groups["state3"]
                named = _name(thing)
                if named is not None and not _is_uncertain(sentence, match.start(), match.end()):
                    yield Opening(named, _STATES[state.lower()], pattern is not _IS)
        if asked is not None and not found_asked and not refused:
            answer = _ANSWERS[asked[1]].search(sentence)
            if answer is not None and not _UNCERTAIN.search(sentence):
                found_asked = True
                yield Opening(None, _STATES["open" if asked[1] == "force" else asked[1]], True)
    if asked is not None and asked[1] == "open" and not found_asked and not refused:
        shown = _BEHIND.search(text)
        if shown is not None and not _UNCERTAIN.search(text[: shown.end()]):
            is_named = _PRONOUN.fullmatch(asked[0]) is None
            yield Opening(None if is_named else shown["thing"], v.OPEN, True)


def _name(phrase: str) -> str | None:
    """Return the name of what may be opened; ``None`` for other things."""
    named = mentioned_thing(noun_phrase(phrase))
    if named is None:
        return None
    name = normalise_name(named.name)
    head = name.split()[-1]
    if head in _OPENS_FOR_OTHERS or is_part_of_room(head) or is_abstract(head):
        return None
    return name


def _is_uncertain(sentence: str, start: int, end: int) -> bool:
    """Return whether words before or within a clause take back what it says."""
    border = max(sentence.rfind(mark, 0, start) for mark in (";", ", and ", ", but ", " and the "))
    return _UNCERTAIN.search(sentence, max(border, 0), end) is not None


def extract_openings(
    action: str | None,
    feedback: str,
    description: str,
    room: str | None,
    view: GraphView,
    collector: StatementCollector,
) -> None:
    """Add what a text shows to be open, closed or locked, under the name by which the memory knows it.

    What a description of a room calls open is added of what was open or closed before: a gateway may always be open.

    Args:
        action: the command; ``None`` for the opening text.
        feedback: the observation up to the title of a room.
        description: the text below the title; empty where there is none.
        room: where the player is after the step; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: takes the statements; what it has of a thing under another name is replaced.
    """
    asked = asked_for(action)
    changed = openings(action, feedback)
    described = openings(None, description) if description else ()
    if not changed and not described and asked is None:
        return
    known = NamesAtHand(room, view, collector)
    target = None if asked is None else known.door_of(known.name_of(asked[0]))
    if asked is not None and asked[1] == "force" and not known.is_shut(target or ""):
        asked = target = None
    is_told = False
    for number, opening in enumerate((*changed, *described)):
        is_described = number >= len(changed)
        if opening.thing is None:
            name = None if is_told else target
        else:
            full = _in_full(opening.thing, feedback)
            # "the door" may be any, unless there is one here; and on the way to another room it may be of either
            is_vague = " " not in full and target is None and (bool(description) or not known.is_here(full))
            name = None if is_vague else known.name_with_state(full)
        if name is None:
            continue
        if target is not None and name != target and not is_described and _is_meant(opening.thing or name, target):
            asked_name = normalise_name(asked[0]) if asked is not None else target
            names = (target, name, asked_name)
            name = max(names, key=lambda one: len(one.split())) if are_alike(name, target) else target
        if name in (v.PLAYER, v.INVENTORY) or _PRONOUN.fullmatch(name):
            continue
        is_target = target is not None and _is_meant(name, target)
        alike = known.states_of(name)
        if is_target and target is not None:
            # a closed thing is opened, so it was this one; an open one that is unlocked is another
            held = (v.OPEN,) if asked is not None and asked[1] == "close" else (v.CLOSED, v.LOCKED)
            alike += [f for f in known.states_of(target) if f not in alike and f.key[2] in held]
        is_change = not is_described and (opening.is_change or is_target)
        if not alike and opening.state == v.OPEN and not is_change:
            continue
        is_told = is_told or is_target
        if opening.state == v.CLOSED and not opening.is_change and any(fact.key[2] == v.LOCKED for fact in alike):
            continue  # a locked thing is closed too
        state = v.state(name, opening.state)
        for other in [s for s in collector.statements if _is_state(s) and _is_meant(s.key[0], name)]:
            collector.drop(other)
        collector.add(state, override=True)
        collector.rename([fact for fact in alike if fact.key[0] != name], name)
    if asked is not None and target is not None and asked[1] in ("open", "close") and not is_told:
        if is_refusal(feedback):
            return
        # neither done nor refused: how it is now is not known
        opposite = v.CLOSED if asked[1] == "open" else v.OPEN
        collector.end([fact for fact in known.states_of(target) if fact.key[2] == opposite], "it may have changed")


def _is_state(statement: Statement) -> TypeGuard[Fact]:
    return isinstance(statement, Fact) and statement.key[1] == v.IS and statement.key[2] in v.LOCK_STATES


def _in_full(name: str, text: str) -> str:
    """Return the longer name by which a text calls the same thing before, when it has one ("the gate")."""
    if " " in name:
        return name
    longer = re.findall(rf"\b[Tt]he ((?:{_NOUN} ){{1,3}}{re.escape(name)})\b", text, re.I)
    found = dict.fromkeys(map(normalise_name, longer))
    return next(iter(found)) if len(found) == 1 else name


def _is_meant(name: str, other: str) -> bool:
    """Return whether two names may be of one thing; "door" may be the trapdoor, "gates" the gate, and so on."""
    if are_alike(name, other):
        return True
    one, two = _joined(name), _joined(other)
    return one == two or (" " not in name and two.endswith(one)) or (" " not in other and one.endswith(two))


def _joined(name: str) -> str:
    return re.sub(r"[ -]", "", name).removesuffix("s")


class NamesAtHand:
    """The names of what is carried, or in the room, or known to be open or closed with no place of its own.

    Args:
        room: where the player is; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: has the statements of the step.
    """

    def __init__(self, room: str | None, view: GraphView, collector: StatementCollector) -> None:
        here = None if room is None else normalise_name(room)
        said = [statement for statement in collector.statements if isinstance(statement, Fact)]
        places: dict[str, str] = {}
        for relation in (v.IS_IN, v.IS_ON):
            for fact in (*view.facts(relation=relation), *(fact for fact in said if fact.key[1] == relation)):
                places[fact.key[0]] = fact.key[2]
        doors = {
            fact.key[0] for relation in v.DOOR_LEADS for fact in view.facts(relation=relation, object=room)
        } if room is not None else set[str]()  # fmt: skip
        self._states = [fact for fact in view.facts(relation=v.IS) if fact.key[2] in v.LOCK_STATES]
        seen = view.facts(relation=v.IS_SEEN_IN, object=room) if room is not None else []
        seen += [fact for fact in said if fact.key[1:] == (v.IS_SEEN_IN, here)]
        doors |= {fact.key[0] for fact in seen}
        near = {name for name, where in places.items() if where in (here, v.INVENTORY)} | doors
        self._near = (near | {name for name, where in places.items() if where in near}) - {v.PLAYER}
        self._called: dict[str, list[str]] = {}
        for fact in view.facts(relation=v.IS_CALLED):
            self._called.setdefault(fact.key[2], []).append(fact.key[0])
        self._placeless = {fact.key[0] for fact in self._states if fact.key[0] not in {*places, *doors}}

    def name_of(self, name: str) -> str:
        """Return the name of the one thing at hand that a name may mean; the name itself where there is none."""
        name = normalise_name(name)
        for among in (self._near, self._placeless if " " in name else set[str]()):
            if name in among:
                return name
            alike = [other for other in among if are_alike(other, name) or _joined(other) == _joined(name)]
            if len(alike) == 1:
                return max(alike[0], name, key=lambda one: len(one.split()))
        called = [other for other in self._called.get(name, ()) if other in self._near]
        return called[0] if len(called) == 1 else name

    def is_near(self, name: str) -> bool:
        """Return whether a thing of exactly this name, normalised, is at hand."""
        return name in self._near

    def is_here(self, name: str) -> bool:
        """Return whether one thing at hand goes by a name, or it is known whether a thing of this name is open."""
        name = normalise_name(name)
        return self.name_of(name) in self._near or any(fact.key[0] == name for fact in self._states)

    def name_with_state(self, name: str) -> str:
        """Return the name at hand under which it is known whether a thing is open; its own name if there is none."""
        known = self.name_of(name)
        return known if any(fact.key[0] == known for fact in self._states) else normalise_name(name)

    def door_of(self, name: str) -> str:
        """Return the door by which a thing is opened or closed that is not itself known to be either: "shed door"."""
        if not self.states_of(name):
            doors = [f for f in self._states if re.fullmatch(rf"{re.escape(name)} (?:door|gate|lid|hatch)", f.key[0])]
            if len(doors) == 1:
                return doors[0].key[0]
        return name

    def is_shut(self, name: str) -> bool:
        """Return whether a thing at hand is held to be closed or locked."""
        return any(fact.key[2] in (v.CLOSED, v.LOCKED) for fact in self.states_of(name))

    def states_of(self, name: str) -> list[Fact]:
        """Return what is held of a thing at hand: whether it is open, closed or locked, under each of its names."""
        return [fact for fact in self._states if fact.key[0] == name or self._is_same(fact.key[0], name)]

    def _is_same(self, other: str, name: str) -> bool:
        if other not in self._near and other not in self._placeless:
            return False
        is_full = other in self._near or (" " in other and " " in name)
        return _joined(other) == _joined(name) or (is_full and are_alike(other, name))
