"""Interpretation of a chat model's triplets as claims about the world, by the table ``claims.toml``.

The table is generous: a triplet may have several readings and is true if one of them is, names are compared by
letters and digits only, and a name may omit words as long as it stays unambiguous.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from worldthread.names import normalise_name, number_variants
from worldthread_lab.bench.arigraph.log_texts import Triplet
from worldthread_lab.envs.base import Proposition
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.audit_mapping import Key, is_checkable

WITHIN: Final = "is within"
NEXT_TO: Final = "is next to"
MADE_IN: Final = "is made in"
FLOOR: Final = "floor"
EMPTY: Final = "empty"
UNLOCKED: Final = "unlocked"

_BREAK: Final = "\x1f"  # between the parts of a triplet; no name holds it
_VALUE: Final = re.compile(r"\{\w+\}")
_STATE_WORDS: Final = v.LOCK_STATES | v.HEAT_STATES | v.CUT_STATES
_RELATIONS: Final = {
    v.HAS_EXIT: "exits", v.HAS_NO_EXIT: "exits", v.UNLOCKS: "keys", v.DOES_NOT_UNLOCK: "keys",
    v.NEEDS: "recipe", v.MUST_BE: "recipe", v.IS_A: "kinds",
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """The interpretation of a triplet or fact that the true state can decide.

    Args:
        statement: the triplet or fact as text.
        readings: facts, at least one; the claim is true if one of them is.
        kind: topic, see :func:`kind_of`.
        also: facts that the statement implies; they count as held and are not judged.
        past: whether the statement is about the past, and stays true once it was true.
        own: whether the game extractor also states such facts.
    """

    statement: str
    readings: tuple[Key, ...]
    kind: str
    also: tuple[Key, ...] = ()
    past: bool = False
    own: bool = True


def kind_of(key: Key) -> str:
    """Return the topic of a fact of the game extractor: place, carried, exits, ways, doors, locks, food, ..."""
    subject, relation, object_ = key
    if subject == v.PLAYER:
        return "player"
    if relation in (v.IS_IN, v.IS_ON):
        return "carried" if object_ == v.INVENTORY else "place"
    if relation == v.IS:
        return "locks" if object_ in v.LOCK_STATES else "food"
    if relation in v.DIRECTION_OF:
        return "ways"
    return "doors" if relation in v.DOOR_LEADS else _RELATIONS.get(relation, "other")


# -- the world ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A true state with the facts derived from it.

    Args:
        facts: facts that a memory may hold, and derived facts of the table.
        equivalents: facts of the vocabulary by the derived facts that imply them.
    """

    facts: frozenset[Key]
    equivalents: dict[Key, Key]


def world_of(propositions: frozenset[Proposition], allowed: frozenset[Key]) -> World:
    """Return the state in which the propositions hold and a memory may hold the allowed facts."""
    holders: dict[str, str] = {}
    derived: set[Key] = set()
    equivalents: dict[Key, Key] = {}
    for proposition in propositions:
        predicate, *arguments = proposition[0], *map(normalise_name, proposition[1:])
        if predicate in ("at", "in", "on") and arguments[0] != "p":
            holders[arguments[0]] = arguments[1]
            if predicate == "at":
                floor = (arguments[0], v.IS_ON, FLOOR)
                derived.add(floor)
                equivalents[floor] = (arguments[0], v.IS_IN, arguments[1])
        elif predicate in ("open", "closed"):
            derived.add((arguments[0], v.IS, UNLOCKED))
        elif predicate == "cooking_location":
            derived.add(("meal", MADE_IN, arguments[0]))
        elif predicate.endswith("_of") and predicate.removesuffix("_of") in v.OPPOSITE:
            derived.add((arguments[1], NEXT_TO, arguments[0]))
    derived |= {(thing, v.IS, EMPTY) for thing in holders.keys() - set(holders.values())}
    for thing, holder in holders.items():
        above: str | None = holder
        while above is not None and above != "i":
            derived.add((thing, WITHIN, above))
            above = holders.get(above)
    return World(allowed | derived, equivalents)


# -- the table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ClaimRule:
    pattern: re.Pattern[str]
    facts: tuple[tuple[str, str, str], ...]
    also: tuple[tuple[str, str, str], ...]
    kind: str
    past: bool
    own: bool


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("worldthread_lab.bench.arigraph").joinpath("claims.toml").read_text("utf-8"))


@cache
def _rules() -> tuple[_ClaimRule, ...]:
    """Return a rule for each pattern, in the order of the table."""
    return tuple(
        _ClaimRule(
            _compiled(triplet),
            tuple((s, r, o) for s, r, o in entry["facts"]),
            tuple((s, r, o) for s, r, o in entry.get("also", ())),
            entry["kind"],
            entry.get("past", False),
            entry.get("own", True),
        )
        for entry in _table()["rule"]
        for triplet in entry["triplets"]
    )


def _compiled(triplet: Iterable[str]) -> re.Pattern[str]:
    values = _table()["values"]

    def word(text: str) -> str:
        if text == "*":
            return f"[^{_BREAK}]+"
        if text.startswith("$"):
            return f"(?P<{text[1:]}>[^{_BREAK}]+)"
        if text.startswith("{"):
            return f"(?P<{text[1:-1]}>{'|'.join(values[text[1:-1]])})"
        return re.escape(text)

    return re.compile(_BREAK.join(" ".join(map(word, part.split())) for part in triplet))


class Claims:
    """Interprets triplets as claims about one world.

    Args:
        propositions: a state of the world; its arguments are the known names.
    """

    def __init__(self, propositions: frozenset[Proposition]) -> None:
        known = {normalise_name(argument) for proposition in propositions for argument in proposition[1:]}
        aliases: dict[str, list[str]] = _table()["names"]
        names = (known - {"p", "i", "recipe"}) | {v.PLAYER, v.INVENTORY, v.RECIPE}
        self._aliases = {alias: name for name, others in aliases.items() for alias in others}
        self._names = {_letters(name): name for name in sorted(names)}
        self._words = {name: f" {name} " for name in names}
        self._interpreted: dict[Triplet, Claim | None] = {}

    def of(self, triplet: Triplet, allowed: frozenset[Key]) -> Claim | None:
        """Interpret a triplet.

        Args:
            triplet: the triplet.
            allowed: facts that a memory may hold in the present state; a thing without a lock is neither open nor
                closed.

        Returns:
            The claim; ``None`` if the state cannot decide the triplet.
        """
        if triplet not in self._interpreted:
            self._interpreted[triplet] = self._interpret(triplet)
        claim = self._interpreted[triplet]
        return claim if claim is not None and any(_is_decidable(key, allowed) for key in claim.readings) else None

    def _interpret(self, triplet: Triplet) -> Claim | None:
        parts = [normalise_name(part) for part in triplet]
        subject, relation, object_ = (self._aliases.get(part, part) for part in parts)
        text = _BREAK.join((subject, relation, object_))
        for rule in _rules():
            match = rule.pattern.fullmatch(text)
            bound = None if match is None else self._bound(match.groupdict())
            if bound is None:
                continue
            names, states = bound
            return Claim(
                ", ".join(triplet),
                tuple(_filled(fact, names) for fact in rule.facts),
                rule.kind,
                (*(_filled(fact, names) for fact in rule.also), *states),
                rule.past,
                rule.own,
            )
        return None

    def _bound(self, groups: dict[str, str]) -> tuple[dict[str, str], list[Key]] | None:
        """Return the values of the variables and the states in names ("locked chest"); ``None`` for an unknown name."""
        values = _table()["values"]
        names: dict[str, str] = {}
        states: list[Key] = []
        for variable, text in groups.items():
            if variable in values:
                names[f"{{{variable}}}"] = text
                continue
            found = self._resolve(text)
            if found is None:
                return None
            names[f"${variable}"], states_of_name = found
            states += states_of_name
        return names, states

    def _resolve(self, text: str) -> tuple[str, list[Key]] | None:
        """Return the known name that ``text`` means, and the states that it mentions."""
        states: list[str] = []
        while True:
            name = self._known(self._aliases.get(text, text))
            if name is not None:
                return name, [(name, v.IS, state) for state in states]
            first, _, rest = text.partition(" ")
            if first not in _STATE_WORDS or not rest:
                return None
            states.append(first)
            text = rest

    def _known(self, text: str) -> str | None:
        for form in (text, *sorted(number_variants(text))):
            if _letters(form) in self._names:
                return self._names[_letters(form)]
        longer = [name for name, words in self._words.items() if f" {text} " in words]
        return longer[0] if len(longer) == 1 else None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name))


def _filled(fact: tuple[str, str, str], values: dict[str, str]) -> Key:
    subject, relation, object_ = (
        values[part] if part in values else _VALUE.sub(lambda found: values[found[0]], part) for part in fact
    )
    return subject, relation, object_


def _is_decidable(key: Key, allowed: frozenset[Key]) -> bool:
    subject, relation, object_ = key
    if relation == v.IS and object_ == UNLOCKED:
        return is_checkable((subject, v.IS, v.OPEN), allowed)
    if (relation, object_) == (v.IS, EMPTY) or relation in (WITHIN, NEXT_TO, MADE_IN):
        return True
    return is_checkable(key, allowed)
