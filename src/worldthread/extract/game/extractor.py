"""Reading a text game without a model: observation, inventory and feedback become statements.

The reader knows English constructions, not games. It looks for

* a room's title and what the prose after it presents ("you can see a ...", "there is a ... here"),
* what lies in or on what, exits and doors, and adjectives that tell a state,
* what the feedback says that an action did,
* what texts and goals say of keys and recipes.

What it cannot place it leaves out; the episode keeps the whole text. It is a pure function of the step and of the
memory's current view, from which it takes only where the player was and what was carried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from worldthread.extract.base import GameStep
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.english import (
    ADJECTIVE_STATES,
    COOKING_STATES,
    MentionedThing,
    noun_phrase,
    sentences,
    thing,
    things,
)
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.text import one_line
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

READER: Final = "game/1"

_DIRECTION: Final = "|".join(sorted(v.OPPOSITE, key=len, reverse=True))
_COMPASS: Final = "|".join(d for d in sorted(v.OPPOSITE, key=len, reverse=True) if d not in ("in", "out"))
_SHORT: Final = {
    "n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down",
    "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
}  # fmt: skip

_MARKED_TITLE: Final = re.compile(
    r"^[ \t]*(?:-=[ \t]*(?P<title>\S.*?)[ \t]*=-|<<[ \t]*(?P<title2>\S.*?)[ \t]*>>)[ \t]*$", re.M
)
# a line without the punctuation of a sentence; an abbreviation may stand in it ("N. Main Street")
_WORD: Final = r"(?:[A-Z][a-z]?\.|[\w'\u2019-]+)"
_PLAIN_TITLE: Final = re.compile(
    rf"^(?!(?:You|There|It|Its|That|Nothing|No|Which|What|But|As|An?)\b)(?P<title>(?=[A-Z]){_WORD}(?:,? {_WORD}){{0,5}}"
    r"(?:,? \([^()\n]+\))?)$"
)
# a title in the midst of other feedback: its words begin with capitals, as in a name
_SMALL_WORD: Final = re.compile(r"(?:an?|and|at|by|from|in|near|of|on|over|the|to|under|with)$")
_POSTURE: Final = re.compile(r",? \((?:in|inside|on|at|under|behind|sitting|lying|standing)\b[^()]*\)$", re.I)
_DESCRIPTION: Final = 60
"""Characters that a room's description has at least, where nothing else tells that a line is a title."""
_DARK: Final = re.compile(
    r"\bpitch[- ](?:black|dark)\b|\btoo dark to see\b|\bin (?:complete|total|utter) darkness\b", re.I
)

# constructions that present a thing: the article of its noun phrase follows directly
_PRESENTS: Final = re.compile(
    r"(?:\b(?:see|seeing|make out|notice|spot|discover|find|finding|reveal|reveals|revealing|here's|here is|"
    r"it's|it's just|it is|follow it to|fall onto|other than|over there,?|there's|there is|there are|at)"
    r"|\bover there!|\bgreat\. here's)\s+(?P<rest>(?:an?|some)\s+.+)$",
    re.I,
)
_AT_HAND: Final = re.compile(
    r"^(?P<rest>(?:an?|some|the)\s+.+?)\s+(?:is|are|stands?|lies|sits?)\s+"
    r"(?:here|in the room|nearby|close by|in the corner|right (?:there|here)(?: by you)?)\b",
    re.I,
)
_ON_FLOOR: Final = re.compile(
    r"\b(?:there (?:is|are)|you (?:can )?see)\s+(?P<list>.+?)\s+on the (?:floor|ground)\b",
    re.I,
)
_SHOWN: Final = r"(?:you (?:can )?(?:also )?(?:see|make out|notice|find)|there (?:is|are)|(?:is|are|lies|sits))"
_LIST: Final = r"\s+(?P<list>(?:an?|some)\s.+)$"
_ON: Final = re.compile(rf"\bon the (?P<where>.+?),? {_SHOWN}{_LIST}", re.I)
_LISTED_ON: Final = re.compile(
    r"\byou (?:can )?(?:see|make out)\s+(?P<list>(?:an?|some)\s.+?)\s+on the (?P<where>.+)$",
    re.I,
)
_IN: Final = re.compile(rf"\b(?:in|inside) the (?P<where>.+?),? {_SHOWN}{_LIST}", re.I)
_CONTAINS: Final = re.compile(
    r"^(?:the|your) (?P<where>.+?) "
    rf"(?:contains|is filled with|reveals inside it|holds|shelters|offers you|reveals to you){_LIST}",
    re.I,
)
_BARE: Final = re.compile(
    r"\b(?:nothing|isn't a thing|hasn't got anything|has nothing|not a thing|taken everything) (?:on|off)\b",
    re.I,
)

_DOOR: Final = re.compile(rf"\bthere is (?P<door>an? .+?) (?:leading|to the) (?P<direction>{_COMPASS})\b", re.I)
_NO_DOOR: Final = frozenset({"exit", "way", "path", "passage", "opening"})
_WAY_WORDS: Final = re.compile(
    r"\b(?:exits?|entranceway|try going|you can go|go|going|leave by|path|passages?|doorway|way|trail|"
    r"road|stairs|staircase|stairway|steps|tunnel|leads?|leading)\b",
    re.I,
)
_NO_WAY: Final = re.compile(
    r"\b(?:no (?:way|exit|door|path)|can(?:no|')t|cannot|boarded|blocks|blocked by (?!one\b))\b",
    re.I,
)
_ANY_DIRECTION: Final = re.compile(rf"\b(?P<direction>{_COMPASS})(?:ern|ward|wards)?\b", re.I)
# "up" and "down" are mostly no directions ("show up in a corridor")
_VERTICAL: Final = re.compile(
    r"\b(?:leads?|leading|goes|go|going|climbs?|exits?|stairs|staircase|stairway|ladder|steps)\b"
    r"[\w ]{0,20}\b(?:up|down)",
    re.I,
)
_REFUSED: Final = re.compile(
    r"\b(?:you can(?:'t|not) go (?:that way|there|in that direction)|"
    r"(?:there is |there's )?no (?:exit|door|way|path)(?: to go)? (?:in )?(?:that (?:direction|way)|there))",
    re.I,
)

_CARRYING: Final = re.compile(r"\byou(?: are|'re) carrying\b:?\s*(?P<list>.*)", re.I | re.S)
_NOTHING: Final = re.compile(r"^(?:nothing|empty[- ]handed)\b", re.I)

_TAKEN: Final = re.compile(
    r"^you (?:pick up|take|now have|get) (?:the|an?|some) (?P<thing>.+?)(?: from (?:the )?.+)?[.!]",
    re.I,
)
_DROPPED: Final = re.compile(r"^you (?:drop|put down) (?:the )?(?P<thing>.+?)(?: on the (?:ground|floor))?[.!]", re.I)
_PUT: Final = re.compile(
    r"^you (?:put|place|insert) (?:the )?(?P<thing>.+?) (?P<preposition>onto|on|into|in) (?:the )?(?P<where>.+?)[.!]",
    re.I,
)
_OPENED: Final = re.compile(
    r"^(?:you open (?:the )?(?P<thing>.+?)|opening (?:the )?(?P<thing2>.+?))"
    r"(?:,? (?:revealing|reveals|and find) (?P<list>.+))?[.!]?$",
    re.I,
)
_CLOSED: Final = re.compile(r"^you close (?:the )?(?P<thing>.+?)[.!]", re.I)
_UNLOCKED: Final = re.compile(r"^you unlock (?:the )?(?P<thing>.+?)(?: with (?:the )?.+)?[.!]", re.I)
_RELOCKED: Final = re.compile(r"^you lock (?:the )?(?P<thing>.+?)(?: with (?:the )?.+)?[.!]", re.I)
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
_MISFIT: Final = re.compile(
    r"\b(?:doesn't|does not|don't|won't)\b.*\b(?:fit|unlock|open|work|seem)|\bwrong key\b",
    re.I,
)

_COMMAND: Final = re.compile(
    r"^(?P<verb>\w+)(?: up| down)? (?:the )?(?P<thing>.+?)"
    r"(?: (?P<preposition>from|with|on|onto|in|into|using) (?:the )?(?P<other>.+))?$",
    re.I,
)
_GO: Final = re.compile(rf"^(?:(?:go|walk|head|run|move|climb) )?(?P<direction>{_DIRECTION}|{'|'.join(_SHORT)})$", re.I)

_NAME: Final = r"[\w' -]+"
_KEY_WORKS: Final = re.compile(
    rf"(?P<key>\b{_NAME}?)"
    rf"(?: (?:that|which)?\s*you (?:found|have|hold|carry|took|picked up)[\w' -]*?| (?:found|lying) {_NAME}?)?"
    r" (?:unlocks?|opens?|fits?|will (?:unlock|open|fit)|can (?:unlock|open))(?: only)? "
    rf"(?:the |an? )?(?P<lock>{_NAME})",
    re.I,
)
_NEED_KEY: Final = re.compile(
    r"\bneed (?:the |an? )?(?P<key>[\w' -]*?\bkey\b[\w' -]*?) to (?:unlock|open) "
    rf"(?:the )?(?P<lock>{_NAME})",
    re.I,
)
_IS_UNLOCKED_BY: Final = re.compile(
    rf"(?P<lock>\b{_NAME}?) (?:is|can be|may be) (?:unlocked|opened) (?:only )?(?:by|with|using) "
    rf"(?:the |an? )?(?P<key>{_NAME})",
    re.I,
)
_HIDDEN: Final = re.compile(
    rf"(?P<thing>{_NAME}?) (?:is|lies|waits) (?:hidden |locked |kept |stored |somewhere )?(?P<preposition>in|inside) "
    rf"the (?P<where>{_NAME})",
    re.I,
)
_CLAUSE: Final = re.compile(
    r"\s*[,;:]\s*(?:and |but |so |while )?|\s+(?:and|but|while)\s+(?=(?:only )?(?:the|it|you)\b)",
    re.I,
)
_PRONOUN: Final = re.compile(r"it|that|this|that one|this one", re.I)
_NAMES_KEY: Final = re.compile(
    r"\b(?P<key>(?:(?!(?:take|find|get|use|with|the|an?|your)\b)[\w'-]+ )?key(?: \w+)?)"
    r"(?= (?:that|which|you|lies|is)\b|$)",
    re.I,
)
_KEY: Final = re.compile(r"\bkeys?\b", re.I)
_VAGUE: Final = re.compile(r"\b(?:one of|some|other|another|it|which|this|that|all|each|every|any)\b", re.I)
_RECIPE_LINE: Final = re.compile(r"^(?P<how>slice|dice|chop|fry|roast|grill) (?:the )?(?P<thing>.+)$", re.I)
_DIRECTIONS: Final = re.compile(r"^[ \t]*directions[ \t]*:[ \t]*$(?P<body>.*)", re.I | re.M | re.S)
_PARTICIPLE: Final = {
    "slice": "sliced", "dice": "diced", "chop": "chopped", "fry": "fried", "roast": "roasted", "grill": "grilled",
    "burnt": "burned",
}  # fmt: skip
_COOKING: Final = re.compile(r"\b(?:cook|recipe|fry|roast|grill)", re.I)
_LEGIBLE: Final = re.compile(
    r"\b(?:notes?|letter|paper|leaflet|\w*book|sign|map|scroll|page|card|diary|poster)\b",
    re.I,
)


def is_legible(name: str) -> bool:
    """Whether the name of a thing suggests that it carries text."""
    return _LEGIBLE.search(name) is not None


@lru_cache(maxsize=100_000)
def direction_of(action: str) -> str | None:
    """The direction in which an action moves, in full; ``None`` when it is no such move."""
    match = _GO.match(action.strip())
    if match is None:
        return None
    direction = match["direction"].lower()
    return _SHORT.get(direction, direction)


class _StatementCollector:
    """Statements as they are found: the first value of an aspect stands, since what is told first is told outright."""

    def __init__(self, adjectives: Mapping[str, str | None]) -> None:
        self._adjectives = adjectives
        self.statements: dict[Statement, Statement] = {}
        self.endings: dict[Statement, str] = {}
        self._aspects: set[str] = set()

    def add(self, statement: Statement, *, override: bool = False) -> None:
        if statement.aspect is not None and statement.aspect in self._aspects:
            if not override:
                return
            for other in [s for s in self.statements if s.aspect == statement.aspect]:
                del self.statements[other]
        if statement.aspect is not None:
            self._aspects.add(statement.aspect)
        self.statements.setdefault(statement, statement)

    def drop_carried_except(self, names: set[str]) -> None:
        """Forget that things are carried which a list of all that is carried calls otherwise, if at all."""
        for statement in list(self.statements):
            if (
                isinstance(statement, Fact)
                and statement.key[1:] == (v.IS_IN, v.INVENTORY)
                and statement.key[0] not in names
            ):
                del self.statements[statement]

    def end(self, statements: Iterable[Statement], reason: str) -> None:
        for statement in statements:
            self.endings.setdefault(statement, reason)

    def thing(self, phrase: str) -> MentionedThing | None:
        return thing(phrase, self._adjectives)

    def things(self, enumeration: str) -> list[MentionedThing]:
        return things(enumeration, self._adjectives)

    def places(self, found: Iterable[MentionedThing], relation: str, where: str) -> None:
        for one in found:
            self.add(v.place(one.name, relation, where))
            self.states(one)

    def states(self, one: MentionedThing) -> None:
        for value in one.states:
            self.add(v.state(one.name, value))
            if value in v.LOCK_STATES:
                self.add(v.kind(one.name, "container"))


class GameExtractor:
    """Turns one step of a game into a reading.

    >>> from worldthread.graph import TemporalGraph
    >>> reading = GameReader().read(GameStep("-= Attic =-\\nYou can see a closed chest here."), TemporalGraph().view())
    >>> [str(s) for s in reading.statements if isinstance(s, Fact) and s.relation == "is"]
    ['chest, is, closed']
    """

    name = READER

    def read(self, step: GameStep, view: GraphView) -> Extraction:
        """What ``step`` tells, given what the memory holds before it."""
        cooking = bool(_COOKING.search(step.goal)) or any(_COOKING.search(t.text) for t in view.theses(about=v.GOAL))
        notes = _StatementCollector(COOKING_STATES if cooking else ADJECTIVE_STATES)
        here = view.value(v.PLAYER, v.IS_IN)
        action = step.action.strip() if step.action else None
        text = step.text
        title = _title(text, action, lambda name: bool(view.facts(name, v.IS_A, "room")))
        if action is not None:
            self._read_feedback(action, text if title is None else title.before, here, view, notes)
        if title is not None and normalise_name(title.name) != v.DARKNESS:
            if action is not None:
                self._read_move(action, here, title.name, notes)
            self._read_room(title.name, title.after, notes)
            here = title.name
        elif title is not None or _is_dark(text, action):
            notes.add(v.place(v.PLAYER, v.IS_IN, v.DARKNESS))
            here = v.DARKNESS
        elif action is not None and (direction := direction_of(action)) and here and _REFUSED.search(text):
            notes.add(v.exit_of(here, direction, exists=False))
        if step.inventory is not None:
            self._read_inventory(step.inventory, view, notes)
        if step.goal:
            notes.add(Thesis(one_line(step.goal), (v.GOAL,)))
            self._read_claims(step.goal, v.GOAL, notes)
        self._settle(view, notes)
        return Extraction(self.name, tuple(notes.statements), tuple(Ending(s, why) for s, why in notes.endings.items()))

    # -- rooms ------------------------------------------------------------------------------------------------------

    def _read_move(self, action: str, before: str | None, after: str, notes: _StatementCollector) -> None:
        direction = direction_of(action)
        if direction is None or before in (None, v.DARKNESS) or normalise_name(before) == normalise_name(after):
            return
        notes.add(v.link(after, direction, before))
        notes.add(v.link(before, v.OPPOSITE[direction], after))
        notes.add(v.exit_of(before, direction))

    def _read_room(self, room: str, description: str, notes: _StatementCollector) -> None:
        notes.add(v.place(v.PLAYER, v.IS_IN, room))
        notes.add(v.kind(room, "room"))
        latest: str | None = None  # the thing that "it" stands for
        for sentence in sentences(description):
            latest = self._read_scene(sentence, room, latest, notes) or latest

    def _read_scene(self, sentence: str, room: str, latest: str | None, notes: _StatementCollector) -> str | None:
        """Read one sentence of a room; the thing that it presents, if any."""
        if door := _DOOR.search(sentence):
            one = notes.thing(door["door"])
            if one is not None and normalise_name(one.name).split()[-1] not in _NO_DOOR:
                direction = door["direction"].lower()
                notes.add(v.exit_of(room, direction))
                notes.add(v.door_of(one.name, direction, room))
                notes.add(v.kind(one.name, "door"))
                for value in one.states:
                    notes.add(v.state(one.name, value))
                return None
        if self._read_exits(sentence, room, notes):
            return None
        if floor := _ON_FLOOR.search(sentence):
            notes.places(notes.things(floor["list"]), v.IS_IN, room)
            return None
        for pattern, relation, of in (
            (_ON, v.IS_ON, "supporter"),
            (_LISTED_ON, v.IS_ON, "supporter"),
            (_CONTAINS, v.IS_IN, "container"),
            (_IN, v.IS_IN, "container"),
        ):
            held = pattern.search(sentence)
            where = notes.thing(noun_phrase(held["where"])) if held is not None else None
            if held is None or where is None or normalise_name(where.name) in ("room", "corner"):
                continue
            if normalise_name(where.name) == "it":
                if latest is None:
                    continue
                where = MentionedThing(latest)
            notes.places(notes.things(held["list"]), relation, where.name)
            notes.add(v.kind(where.name, of))
            if relation == v.IS_IN:  # what is inside can be seen, so it is open
                notes.add(v.state(where.name, v.OPEN))
            return where.name
        if latest is not None and _BARE.search(sentence):
            notes.add(v.kind(latest, "supporter"))
        presented = _AT_HAND.match(sentence)
        for match in _PRESENTS.finditer(sentence):
            presented = match
            while inner := _PRESENTS.search(presented["rest"]):  # the last one in a sentence is what it leads up to
                presented = inner
        if presented is None:
            return None
        named = None
        for one in notes.things(presented["rest"]):
            if normalise_name(one.name) != normalise_name(room) and not _VAGUE.fullmatch(one.name):
                notes.places([one], v.IS_IN, room)
                named = one.name
        return named

    def _read_exits(self, sentence: str, room: str, notes: _StatementCollector) -> bool:
        if not _WAY_WORDS.search(sentence) or _NO_WAY.search(sentence):
            return False
        found = [match["direction"].lower() for match in _ANY_DIRECTION.finditer(sentence)]
        if not _VERTICAL.search(sentence):
            found = [direction for direction in found if direction not in ("up", "down")]
        for direction in found:
            notes.add(v.exit_of(room, direction))
        return bool(found)

    # -- what an action did -----------------------------------------------------------------------------------------

    def _read_feedback(
        self, action: str, text: str, here: str | None, view: GraphView, notes: _StatementCollector
    ) -> None:
        lines = sentences(text)
        command = _COMMAND.match(action)
        verb = command["verb"].lower() if command else action.split()[0].lower()
        if command is not None and verb in ("examine", "x", "read", "look"):
            self._read_description(command["thing"], text, view, notes)
            return
        for line in lines:
            self._read_result(line, command, here, notes)

    def _read_result(
        self, line: str, command: re.Match[str] | None, here: str | None, notes: _StatementCollector
    ) -> None:
        """One sentence of feedback to an action."""
        brief = _BRIEF.match(line)
        if brief is not None and command is not None:
            what, name = brief["what"].lower(), command["thing"]
            if what == "taken":
                notes.add(v.place(name, v.IS_IN, v.INVENTORY))
            elif what == "dropped" and here is not None:
                notes.add(v.place(name, v.IS_IN, here))
            elif what in ("opened", "closed"):
                notes.add(v.state(name, v.OPEN if what == "opened" else v.CLOSED))
            return
        if (match := _PUT.match(line)) and (one := notes.thing(match["thing"])):
            relation = v.IS_ON if match["preposition"].lower() in ("on", "onto") else v.IS_IN
            if normalise_name(match["where"]) in ("ground", "floor"):
                if here is not None:
                    notes.add(v.place(one.name, v.IS_IN, here))
            else:
                notes.add(v.place(one.name, relation, match["where"]))
                notes.add(v.kind(match["where"], "supporter" if relation == v.IS_ON else "container"))
        elif (match := _TAKEN.match(line)) and (one := notes.thing(match["thing"])):
            notes.add(v.place(one.name, v.IS_IN, v.INVENTORY))
            notes.states(one)
        elif (match := _DROPPED.match(line)) and (one := notes.thing(match["thing"])) and here is not None:
            notes.add(v.place(one.name, v.IS_IN, here))
            notes.states(one)
        elif match := _OPENED.match(line):
            self._read_opening(match, notes)
        elif (match := _UNLOCKED.match(line)) and (one := notes.thing(match["thing"])):
            notes.add(v.state(one.name, v.CLOSED), override=True)
            if command is not None and command["other"]:
                notes.add(Fact(command["other"], v.UNLOCKS, one.name))
        elif (match := _RELOCKED.match(line)) and (one := notes.thing(match["thing"])):
            notes.add(v.state(one.name, v.LOCKED), override=True)
        elif (match := _CLOSED.match(line)) and (one := notes.thing(match["thing"])):
            notes.add(v.state(one.name, v.CLOSED), override=True)
        elif (match := _COOKED.match(line) or _CUT.match(line)) and (one := notes.thing(match["thing"])):
            how = match["how"].lower()
            notes.add(v.state(one.name, _PARTICIPLE.get(how, how)), override=True)
        elif (match := _EATEN.match(line)) and (one := notes.thing(match["thing"])):
            notes.end([v.place(one.name, v.IS_IN, v.INVENTORY)], "eaten")
        elif command is not None and command["verb"].lower() == "open" and _FOUND_LOCKED.search(line):
            notes.add(v.state(command["thing"], v.LOCKED))
        elif command is not None and command["verb"].lower() == "unlock" and command["other"] and _MISFIT.search(line):
            notes.add(Fact(command["other"], v.DOES_NOT_UNLOCK, command["thing"]))

    def _read_opening(self, match: re.Match[str], notes: _StatementCollector) -> None:
        one = notes.thing(match["thing"] or match["thing2"])
        if one is None or normalise_name(one.name).startswith("copy of"):
            return
        notes.add(v.state(one.name, v.OPEN), override=True)
        if match["list"]:
            notes.add(v.kind(one.name, "container"))
            notes.places(notes.things(match["list"]), v.IS_IN, one.name)

    def _read_description(self, name: str, text: str, view: GraphView, notes: _StatementCollector) -> None:
        """A thing was looked at closely: its states, what it holds, and what it says."""
        if _ingredients(text) is not None:
            self._read_recipe(text, notes)
            return
        known_locked = view.holds(v.state(name, v.LOCKED))
        for sentence in sentences(text):
            told = re.match(r"^(?:it|the .+?) is (?P<state>open|closed|locked)\b", sentence, re.I)
            if told is not None:
                value = told["state"].lower()
                # a locked thing is closed too: being told so does not unlock it
                if not (value == v.CLOSED and known_locked):
                    notes.add(v.state(name, value))
            elif re.search(r"\bthere is a lock on it\b", sentence, re.I):
                notes.add(v.state(name, v.LOCKED))
            elif held := _CONTAINS.search(sentence):
                notes.places(notes.things(held["list"]), v.IS_IN, name)
        self._read_claims(text, name, notes)

    # -- what texts say ---------------------------------------------------------------------------------------------

    def _read_claims(self, text: str, source: str, notes: _StatementCollector) -> None:
        """What a goal or a written text says of keys, locks and hiding places."""
        if _ingredients(text) is not None:
            self._read_recipe(text, notes)
            return
        key: str | None = None  # what "it" stands for, as the one that unlocks and as the one that is unlocked
        lock: str | None = None
        for sentence in sentences(text):
            objects: list[str] = []
            for hidden in _HIDDEN.finditer(sentence):
                if not _VAGUE.search(hidden["where"]):
                    lock = _clean(hidden["where"])
                    if not _VAGUE.search(hidden["thing"]):
                        objects += [_clean(hidden["thing"]), lock]
                        notes.add(v.place(objects[0], v.IS_IN, lock))
            for clause in _CLAUSE.split(sentence):
                match = _NEED_KEY.search(clause) or _IS_UNLOCKED_BY.search(clause) or _KEY_WORKS.search(clause)
                named = _NAMES_KEY.search(clause)
                if match is None:
                    key = _clean(named["key"]) if named else key
                    continue
                key = key if _PRONOUN.fullmatch(match["key"].strip()) else _clean(match["key"])
                lock = lock if _PRONOUN.fullmatch(match["lock"].strip()) else _clean(match["lock"])
                is_key = match.re is not _KEY_WORKS or "unlock" in match[0].casefold() or (key and _KEY.search(key))
                if is_key and key and lock and not _VAGUE.search(key) and not _VAGUE.search(lock):
                    notes.add(Fact(key, v.UNLOCKS, lock))
                    objects += [key, lock]
            if objects:
                notes.add(Thesis(sentence, tuple(dict.fromkeys([*objects, source]))))

    def _read_recipe(self, text: str, notes: _StatementCollector) -> None:
        for ingredient in _ingredients(text) or ():
            notes.add(Fact(v.RECIPE, v.NEEDS, ingredient))
        directions = _DIRECTIONS.search(text)
        for line in (directions["body"] if directions else "").splitlines():
            line = line.strip(" -*.")
            match = _RECIPE_LINE.match(line)
            if match is None and line:
                notes.add(Fact(v.RECIPE, v.ASKS_TO, line))
            elif match is not None:
                how = match["how"].lower()
                notes.add(Fact(match["thing"].strip(" ."), v.MUST_BE, _PARTICIPLE.get(how, how)))

    # -- what is carried --------------------------------------------------------------------------------------------

    def _read_inventory(self, text: str, view: GraphView, notes: _StatementCollector) -> None:
        match = _CARRYING.search(text)
        if match is None:
            return
        listing = match["list"].strip()
        carried: list[MentionedThing] = []
        if not _NOTHING.match(listing):
            lines = [line.strip() for line in listing.splitlines() if line.strip()]
            for line in lines:
                carried += notes.things(line if re.match(r"(?:an?|some|the|your) ", line, re.I) else f"a {line}")
        for one in carried:
            notes.add(v.place(one.name, v.IS_IN, v.INVENTORY), override=True)
            notes.states(one)
        names = {normalise_name(one.name) for one in carried}
        notes.drop_carried_except(names)
        gone = [f for f in view.facts(relation=v.IS_IN, object=v.INVENTORY) if f.key[0] not in names]
        notes.end(gone, "no longer carried")

    def _settle(self, view: GraphView, notes: _StatementCollector) -> None:
        """A key that unlocks after all ends the note that it does not."""
        for statement in list(notes.statements):
            if isinstance(statement, Fact) and statement.key[1] == v.UNLOCKS:
                notes.end(view.facts(statement.subject, v.DOES_NOT_UNLOCK, statement.object), "it unlocks after all")


class _Title(NamedTuple):
    """A room's title in a text: the name, and what stands before and after it."""

    name: str
    before: str
    after: str


def _title(text: str, action: str | None, is_room: Callable[[str], bool]) -> _Title | None:
    """The title of the room that ``text`` describes.

    After a move every line that could be a title is taken for one; after other actions only that of a known room, and a
    name in capitals with a description right below it.
    """
    titles = list(_MARKED_TITLE.finditer(text))
    if titles:
        marked = titles[-1]
        return _Title(marked["title"] or marked["title2"], text[: titles[0].start()], text[marked.end() :])
    moves = action is not None and (direction_of(action) is not None or action.lower() in ("look", "l"))
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        name = _POSTURE.sub("", line.strip())
        above = lines[number - 1].strip() if number else ""
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if not _PLAIN_TITLE.match(line.strip()) or line[:1] == " " or above.endswith(":"):
            continue
        if moves or is_room(name) or (not above and len(below) >= _DESCRIPTION and _is_name(name)):
            found.append((number, name))
    if not found:
        return None
    number, name = found[-1 if action is None else 0]  # an opening names the game and its authors first
    return _Title(name, "\n".join(lines[:number]), "\n".join(lines[number + 1 :]))


def _is_dark(text: str, action: str | None) -> bool:
    """Whether an action led to where it is too dark to see."""
    if action is None or not _DARK.search(text):
        return False
    return direction_of(action) is not None or any(line.strip().lower() == v.DARKNESS for line in text.splitlines())


def _is_name(line: str) -> bool:
    """Whether all words but the small ones begin with capitals, and not all letters are capitals."""
    words = [word for word in line.split() if not _SMALL_WORD.match(word)]
    return not line.isupper() and all(not word[0].isalpha() or word[0].isupper() for word in words)


def _clean(phrase: str) -> str:
    """A noun phrase from the middle of a sentence: without article and leading conjunctions."""
    phrase = re.sub(r"^(?:and|but|so|then|because|while|only|in|on)\s+", "", phrase.strip(), flags=re.I)
    return re.sub(r"^(?:the|an?|your)\s+", "", phrase, flags=re.I).strip(" -'")


def _ingredients(text: str) -> list[str] | None:
    """The lines between "Ingredients:" and the next heading or blank line after them; ``None`` without that heading."""
    match = re.search(r"^\s*ingredients\s*:\s*$(?P<body>.*?)(?=^\s*\w+\s*:\s*$|\Z)", text, re.I | re.M | re.S)
    if match is None:
        return None
    return [line.strip(" -*") for line in match["body"].splitlines() if line.strip(" -*")]
