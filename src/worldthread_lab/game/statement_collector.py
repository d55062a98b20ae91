"""Collects the statements that are found in one step of a game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from worldthread.names import normalise_name
from worldthread.types import Fact, Statement
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import MentionedThing, mentioned_thing, mentioned_things


class StatementCollector:
    """The statements and endings found so far.

    The first value of an aspect is kept and later ones are ignored, because a text names a thing's place or state
    outright before it mentions it in passing.

    Args:
        adjectives: adjectives before a noun that name a state, with that state; ``None`` as a state drops the
            adjective.

    Attributes:
        adjectives: the adjectives.
        statements: the statements, in the order in which they were found; each is its own value.
        endings: the statements that end, with the reason.
    """

    def __init__(self, adjectives: Mapping[str, str | None]) -> None:
        self.adjectives = adjectives
        self.statements: dict[Statement, Statement] = {}
        self.endings: dict[Statement, str] = {}
        self._aspects: set[str] = set()

    def add(self, statement: Statement, *, override: bool = False) -> None:
        """Add a statement, unless its aspect has a value already.

        Args:
            statement: the statement.
            override: replace the value that the aspect has.
        """
        if statement.aspect is not None and statement.aspect in self._aspects:
            if not override:
                return
            for other in [s for s in self.statements if s.aspect == statement.aspect]:
                del self.statements[other]
        if statement.aspect is not None:
            self._aspects.add(statement.aspect)
        self.statements.setdefault(statement, statement)

    def add_places(self, things: Iterable[MentionedThing], relation: str, where: str) -> None:
        """Add that each of ``things`` is in or on ``where``, and the states that it is mentioned with."""
        for found in things:
            self.add(v.place(found.name, relation, where))
            self.add_states(found)

    def add_states(self, found: MentionedThing) -> None:
        """Add the states that a thing is mentioned with; a thing that can be open or locked is a container."""
        for value in found.states:
            self.add(v.state(found.name, value))
            if value in v.LOCK_STATES:
                self.add(v.kind(found.name, "container"))

    def drop_carried_except(self, names: set[str]) -> None:
        """Drop the statements that things are carried, except for the normalised ``names``."""
        for statement in list(self.statements):
            if (
                isinstance(statement, Fact)
                and statement.key[1:] == (v.IS_IN, v.INVENTORY)
                and statement.key[0] not in names
            ):
                del self.statements[statement]

    def drop(self, statement: Statement) -> None:
        """Drop a statement that was added; what the memory holds under its aspect stays."""
        self.statements.pop(statement, None)
        if statement.aspect is not None:
            self._aspects.discard(statement.aspect)

    def put_before(self, place: int, start: int) -> None:
        """Put the statements from number ``start`` on before those from number ``place`` on."""
        found = list(self.statements)
        self.statements = {s: self.statements[s] for s in (*found[:place], *found[start:], *found[place:start])}

    def end(self, statements: Iterable[Statement], reason: str) -> None:
        """End older statements; the first reason for a statement is kept."""
        for statement in statements:
            self.endings.setdefault(statement, reason)

    def rename(self, facts: Iterable[Fact], name: str) -> None:
        """End what is known of a thing under older names, and add that the thing goes by them, too.

        Args:
            facts: where the thing is, or how, under the older names.
            name: the name that it goes by now.
        """
        for fact in facts:
            self.end([fact], "goes by another name")
            if fact.key[0] != normalise_name(name):
                self.add(v.other_name(name, fact.subject))

    def mentioned_thing(self, phrase: str) -> MentionedThing | None:
        """Return the thing that a noun phrase names, with the adjectives of this collector."""
        return mentioned_thing(phrase, self.adjectives)

    def mentioned_things(self, enumeration: str) -> list[MentionedThing]:
        """Return the things of an enumeration, with the adjectives of this collector."""
        return mentioned_things(enumeration, self.adjectives)
