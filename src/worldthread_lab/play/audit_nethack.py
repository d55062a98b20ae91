"""The audit of a memory of NetHack, by the game's own map.

After every step, the statements of a memory are compared with what the map shows
(:mod:`worldthread_lab.envs.nethack.truth`):

=========  =====================================================================================================
kind       statements, and when they are right
=========  =====================================================================================================
player     (player, is in, place): the player's square belongs to the room or corridor of this name
carried    (thing, is in, inventory): NetHack's inventory lists it
thing      (thing, is in or on, place): the map shows it on a square of the place, or it lay there in a pile when the
           player last stood on it, and the uppermost thing has not changed
creature   (creature, is in, place): the map shows one of this name there. It is wrong when the map shows one
           elsewhere only, or when the player is in the place and sees none; else it is not checked, nor when one
           stands on ground that was not seen, since it hides to which place the square belongs
door       (door, leads north from, place), (staircase, leads down from, place): the map shows it on that side
state      (door, is, open, closed or locked): the map shows it so, where "closed" may be locked
exit       (place, has or has no exit, direction): right and wrong by doors and stairs there. Passages have no
           direction of their own, so an exit without a door is not checked
way        (there, is north of, here): a door joins the two, and a step north leads from here to the door, or from the
           door, which belongs to either, to there
=========  =====================================================================================================

*Expected* is what an observation told and the map still shows: the player's place, all that is carried, things, doors
and stairs; creatures only while an observation tells of them. Exits and ways are checked and not expected. A level that
the player left is judged by its map at that time. Names are compared by their words in the singular, without number and
state. A name that no map and no inventory has shown is not checked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from worldthread.graph import GraphView, TemporalGraph
from worldthread.names import normalise_name
from worldthread_lab.agents import make_agent
from worldthread_lab.envs.nethack import NetHackEnvironment
from worldthread_lab.envs.nethack.items import plain_name, words_of
from worldthread_lab.envs.nethack.truth import TrueDoor, TrueLevel
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.audit_mapping import Key
from worldthread_lab.play.audit_story import StoryFigures
from worldthread_lab.play.loop import Play

KINDS: Final = ("player", "carried", "thing", "creature", "door", "state", "exit", "way")
"""The kinds of statements, as the table above names them."""
_NUMBER: Final = re.compile(r" \(\d+\)$")
_TEMPER: Final = re.compile(r"^(?:(?:an?|the) )?(?:tame|peaceful) ")
_STATES: Final = frozenset({"open", "closed", "locked"})

_Words: TypeAlias = tuple[str, ...]


@dataclass
class NetHackReport:
    """The result of the audit of plays.

    Attributes:
        figures: by kind of statement.
        steps: the number of audited steps.
        unchecked: statements that could not be checked, summed over steps.
        mistakes: turn, kind of statement, kind of mistake ("wrong", "stale", "missed") and words, each mistake once.
        lasted: for how many steps each of these mistakes was there.
    """

    figures: dict[str, StoryFigures] = field(default_factory=lambda: dict.fromkeys(KINDS, StoryFigures()))
    steps: int = 0
    unchecked: int = 0
    mistakes: list[tuple[int, str, str, str]] = field(default_factory=list)
    lasted: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    @property
    def total(self) -> StoryFigures:
        """All kinds together."""
        return sum(self.figures.values(), StoryFigures())

    def to_dict(self) -> dict[str, object]:
        """Return the report without the single mistakes, ready for JSON."""
        held = self.total.held
        return {
            "all": self.total.summary(),
            **{kind: figures.summary() for kind, figures in self.figures.items()},
            "steps": self.steps,
            "checked": round(held / (held + self.unchecked), 4) if held + self.unchecked else 1.0,
        }


def audit_nethack(
    seed: int, *, agent: str = "explorer", steps: int = 300, character: str = "valkyrie"
) -> NetHackReport:
    """Play NetHack with an agent that needs no model, and audit the agent's memory after every step.

    Args:
        seed: the seed of the game.
        agent: the agent's name, such as ``"explorer"`` or ``"random"``.
        steps: the largest number of moves; a game that is lost ends sooner.
        character: see :class:`~worldthread_lab.envs.nethack.engine.NetHackEngine`.

    Returns:
        The report.

    Raises:
        InputError: there is no such agent or character.
        MissingExtraError: nle is not installed.
    """
    graph = TemporalGraph()
    player = make_agent(agent, graph)
    auditor = NetHackAuditor()
    with NetHackEnvironment(character=character) as env:
        assert isinstance(env, NetHackEnvironment)
        for _ in Play(env, player, graph, seed=seed, max_moves=steps, audit=False):
            if (level := env.true_level()) is not None:
                auditor.check(level, graph.view())
    return auditor.report


class NetHackAuditor:
    """Compares a memory with NetHack's map, step by step.

    Attributes:
        report: the result so far.
    """

    def __init__(self) -> None:
        self.report = NetHackReport()
        self._now: TrueLevel
        self._levels: dict[str, TrueLevel] = {}
        self._piles: dict[str, dict[int, tuple[str, ...]]] = {}
        self._told: dict[str, set[int]] = {}
        self._told_doors: dict[str, str] = {}
        self._told_stairs: set[tuple[str, str]] = set()
        self._places: set[str] = set()
        self._level_of: dict[str, str] = {}
        self._seen_things: set[_Words] = set()
        self._seen_creatures: set[_Words] = set()
        self._true_once: set[Key] = set()

    def check(self, now: TrueLevel, view: GraphView) -> None:
        """Compare the memory with the map after a step.

        Args:
            now: the player's level.
            view: the memory.
        """
        self._observe(now)
        self.report.steps += 1
        held: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        keys = {_key(fact.subject, fact.relation, fact.object) for fact in view.facts()}
        for key in sorted(keys):
            kind, is_right = self._verdict(key)
            if kind is None:
                continue
            if is_right is None:
                self.report.unchecked += 1
                continue
            held[kind]["held"] += 1
            if is_right:
                held[kind]["true"] += 1
                self._true_once.add(key)
                continue
            mistake = "stale" if key in self._true_once else "wrong"
            held[kind]["stale"] += mistake == "stale"
            self._note(kind, mistake, ", ".join(key))
        for kind, found, words in self._expected(keys):
            held[kind]["expected"] += 1
            held[kind]["found"] += found
            if not found:
                self._note(kind, "missed", words)
        for kind, counts in held.items():
            self.report.figures[kind] += StoryFigures(**counts)

    # what is true

    def _observe(self, now: TrueLevel) -> None:
        self._now = now
        self._levels[now.level] = now
        for place in now.places:
            self._level_of[normalise_name(place)] = now.level
        piles = self._piles.setdefault(now.level, {})
        for square in [square for square in piles if square != now.here]:
            uppermost = now.things.get(square)
            if uppermost is None or _words(uppermost) not in map(_words, piles[square]):
                del piles[square]
        if now.underfoot is not None:
            piles[now.here] = now.underfoot
        told = self._told.setdefault(now.level, set())
        told |= now.told_things
        if now.underfoot:
            told.add(now.here)
        self._told_doors |= dict(now.told_doors)
        self._told_stairs |= {(direction, place) for direction, place in now.stairs if direction in now.told_stairs}
        lying = [*now.things.values(), *(now.underfoot or ()), *now.carried]
        self._seen_things |= {_words(name) for name in lying}
        self._seen_creatures |= {_words(name) for name, _ in now.creatures}

    def _lying(self, level: TrueLevel) -> Iterator[tuple[int, _Words, frozenset[str]]]:
        """Yield the things of a level: square, words, places."""
        piles = self._piles[level.level]
        for square in {*level.things, *piles}:
            names = piles.get(square) if square in piles else (level.things[square],)
            places = self._levels[level.level].places_of.get(square, frozenset())
            for name in names or ():
                yield square, _words(name), frozenset(map(normalise_name, places))

    def _verdict(self, key: Key) -> tuple[str | None, bool | None]:
        """Return the kind of a statement and whether it is right; ``None`` for what is not checked."""
        subject, relation, object_ = key
        if relation in (v.IS_IN, v.IS_ON):
            return self._place_verdict(subject, object_)
        if relation in v.DOOR_LEADS:
            direction = v.DOOR_LEADS[relation]
            level = self._level_named(object_)
            if subject.startswith(("staircase", "ladder")):
                stairs = {(way, normalise_name(place)) for way, place in level.stairs} if level else set()
                return "door", None if level is None else (direction, object_) in stairs
            sides = self._sides(subject)
            return "door", None if sides is None else (direction, object_) in sides
        if relation == v.IS and object_ in _STATES:
            door = self._door(subject)
            if door is None:
                return "state", None
            return "state", door == object_ or (door == "closed" and object_ == "locked")
        if relation in (v.HAS_EXIT, v.HAS_NO_EXIT):
            level = self._level_named(subject)
            if level is None:
                return "exit", None
            known = {side for door in level.doors for side in door.sides} | set(level.stairs)
            exists = (object_, subject) in {(way, normalise_name(place)) for way, place in known}
            return "exit", relation == v.HAS_EXIT if exists else None
        if relation in v.DIRECTION_OF:
            level = self._level_named(object_)
            direction = v.DIRECTION_OF[relation]
            if level is None or level is not self._level_named(subject) or direction in ("up", "down"):
                return "way", None
            return "way", any(_leads(door, object_, direction, subject) for door in level.doors)
        return None, None

    def _place_verdict(self, subject: str, where: str) -> tuple[str, bool | None]:
        now = self._now
        if subject == v.PLAYER:
            return "player", None if not now.place else where == normalise_name(now.place)
        words = _words(subject)
        if where == v.INVENTORY:
            return "carried", words in map(_words, now.carried)
        is_creature = words in self._seen_creatures
        kind = "creature" if is_creature else "thing"
        if where not in self._level_of or not (is_creature or words in self._seen_things):
            return kind, None
        if is_creature:
            if self._level_of[where] != now.level:
                return kind, None
            shown = [set(map(normalise_name, places)) for name, places in now.creatures if _words(name) == words]
            if any(where in places for places in shown):
                return kind, True
            if not all(shown):
                return kind, None
            return kind, False if shown or where == normalise_name(now.place) else None
        level = self._levels[self._level_of[where]]
        return kind, any(found == words and where in places for _, found, places in self._lying(level))

    def _level_named(self, place: str) -> TrueLevel | None:
        """Return the level of a room or corridor; ``None`` when no map has shown a place of this name."""
        return self._levels.get(self._level_of.get(place, ""))

    def _sides(self, name: str) -> set[tuple[str, str]] | None:
        for level in self._levels.values():
            for door in level.doors:
                if normalise_name(door.name) == name:
                    return {(direction, normalise_name(place)) for direction, place in door.sides}
        return None

    def _door(self, name: str) -> str | None:
        """Return the state of a door; ``None`` when no map has shown it."""
        doors = (door for level in self._levels.values() for door in level.doors)
        return next((door.state for door in doors if normalise_name(door.name) == name), None)

    # what a memory should hold

    def _expected(self, keys: set[Key]) -> Iterator[tuple[str, bool, str]]:
        """Yield kind, whether the memory holds it, and words."""
        now = self._now
        at = {(_words(subject), object_) for subject, relation, object_ in keys if relation in (v.IS_IN, v.IS_ON)}
        if now.place:
            found = (v.PLAYER, v.IS_IN, normalise_name(now.place)) in keys
            yield "player", found, f"player, is in, {now.place}"
        for words in dict.fromkeys(map(_words, now.carried)):
            yield "carried", (words, v.INVENTORY) in at, f"{' '.join(words)}, is in, inventory"
        creatures = {(_words(name), places) for name, places in now.creatures if name in now.told_creatures}
        for words, places in sorted(creatures, key=str):
            found = any((words, normalise_name(place)) in at for place in places)
            yield "creature", found, f"{' '.join(words)}, is in, {' or '.join(sorted(places))}"
        for level in self._levels.values():
            told = self._told[level.level]
            things = {(words, places) for square, words, places in self._lying(level) if square in told and places}
            for words, places in sorted(things, key=str):
                found = any((words, place) in at for place in places)
                yield "thing", found, f"{' '.join(words)}, is in, {' or '.join(sorted(places))}"
            yield from self._expected_doors(level, keys)

    def _expected_doors(self, level: TrueLevel, keys: set[Key]) -> Iterator[tuple[str, bool, str]]:
        for door in level.doors:
            if door.name not in self._told_doors:
                continue
            name = normalise_name(door.name)
            found = any((name, f"leads {way} from", normalise_name(place)) in keys for way, place in door.sides)
            yield "door", found, f"{door.name}, leads, {sorted(door.sides)}"
            if door.state and door.state == self._told_doors[door.name]:
                yield "state", (name, v.IS, door.state) in keys, f"{door.name}, is, {door.state}"
        leads = {(relation, object_) for _, relation, object_ in keys}
        for direction, place in sorted(level.stairs & self._told_stairs):
            found = (f"leads {direction} from", normalise_name(place)) in leads
            yield "door", found, f"stairs, lead {direction} from, {place}"

    def _note(self, kind: str, mistake: str, words: str) -> None:
        if (kind, mistake, words) not in self.report.lasted:
            self.report.mistakes.append((self.report.steps, kind, mistake, words))
        self.report.lasted[kind, mistake, words] += 1


def _leads(door: TrueDoor, here: str, direction: str, there: str) -> bool:
    """Whether a step in a direction, to the door or from it, belongs to a way through the door."""
    sides = {(way, normalise_name(place)) for way, place in door.sides}
    beyond = {(way, normalise_name(place)) for way, place in door.beyond}
    beside = {place for _, place in sides}
    return {here, there} <= beside and ((direction, here) in sides or (direction, there) in beyond)


def _key(subject: str, relation: str, object_: str) -> Key:
    return normalise_name(subject), normalise_name(relation), normalise_name(object_)


def _words(name: str) -> _Words:
    """Return the words of a thing's or creature's name in the singular, without number, state and temper."""
    return tuple(words_of(plain_name(_TEMPER.sub("", _NUMBER.sub("", name)))))
