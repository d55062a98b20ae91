"""Names that mean the same: what is said of one of them counts as said of one name.

Episodes say that two names are the same (:attr:`~worldthread.types.Extraction.same_names`). All names that are
connected in this way are one class. Its *canonical* name is the one that others are merged into and that is itself
merged into none; of several, or when there is none, the longest, then the first by alphabet. So it depends on the set
of pairs only, not on the order in which they were said. What the episodes of one user say counts for that user alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeAlias

from worldthread.names import normalise_name
from worldthread.types import Extraction, Fact, Statement

SameNames: TypeAlias = tuple[str, str, str]
"""The user whose episode says so, a name, and the name that it is merged into."""

_WORD: Final = re.compile(r"\w+")


class MergedNames:
    """Reads statements with canonical names.

    Args:
        pairs: a name, and the name that it is merged into, as written.
    """

    __slots__ = ("_canonical", "_first_words", "_members", "_patterns")

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        written: dict[str, str] = {}
        merged: dict[str, set[str]] = {}
        connected: dict[str, set[str]] = {}
        for name, into in pairs:
            keys = normalise_name(name), normalise_name(into)
            for key, text in zip(keys, (name, into), strict=True):
                written[key] = min(text, written.get(key, text))
                connected.setdefault(key, {key}).update(keys)
            merged.setdefault(keys[0], set()).add(keys[1])
        self._canonical: dict[str, str] = {}
        self._members: dict[str, set[str]] = {}
        """Canonical name -> the keys of its class."""
        # of classes that an aspect was read with
        self._first_words: dict[str, set[str] | None] = {}
        self._patterns: dict[str, re.Pattern[str]] = {}
        while connected:
            members = _connected(connected)
            chosen = min((key for key in members if key not in merged), key=_rank, default=min(members, key=_rank))
            self._members[written[chosen]] = members
            self._canonical.update(dict.fromkeys(members, written[chosen]))

    def __bool__(self) -> bool:
        return bool(self._canonical)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MergedNames) and self._canonical == other._canonical

    __hash__ = None  # type: ignore[assignment]

    def name(self, name: str) -> str:
        """Return a name as it counts: the canonical name of its class; a name that was not merged stays as written."""
        key = normalise_name(name)
        canonical = self._canonical.get(key, name)
        return name if normalise_name(canonical) == key else canonical

    def text(self, text: str) -> str:
        """Return a text with canonical names instead of others of their class, found as whole words in any case."""
        if not self._canonical:
            return text
        return _pattern(self._canonical).sub(lambda found: self.name(found.group()), text)

    def statement(self, statement: Statement) -> Statement:
        """Return a statement with canonical names; in its aspect, names of the same classes are canonical too."""
        if not self._canonical:
            return statement
        names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
        classes = [key for key in map(normalise_name, names) if key in self._canonical]
        if not classes:
            return statement
        aspect = statement.aspect
        for key in dict.fromkeys(classes) if aspect is not None else ():
            aspect = self._aspect(self._canonical[key], aspect or "")
        if isinstance(statement, Fact):
            subject, object_ = map(self.name, names)
            return replace(statement, subject=subject, object=object_, aspect=aspect)
        return replace(statement, objects=tuple(map(self.name, names)), aspect=aspect)

    def _aspect(self, canonical: str, aspect: str) -> str:
        """Return an aspect with a canonical name instead of the others of its class."""
        if canonical not in self._first_words:
            members = self._members[canonical]
            # a name that begins with a letter or digit can only be where its first word is; other letters than those of
            # ASCII may have several lower cases
            is_plain = all(key.isascii() and _WORD.match(key) for key in members)
            first_words = {_WORD.match(key)[0] for key in members} if is_plain else None  # type: ignore[index]
            self._first_words[canonical] = first_words
        first_words = self._first_words[canonical]
        if first_words is not None and aspect.isascii() and first_words.isdisjoint(_WORD.findall(aspect.lower())):
            return aspect
        if canonical not in self._patterns:
            self._patterns[canonical] = _pattern(self._members[canonical])
        return normalise_name(canonical).join(self._patterns[canonical].split(aspect))

    def members(self, key: str) -> set[str]:
        """Return the keys that are in one class with a key, this one included."""
        return self._members[self._canonical[key]] if key in self._canonical else {key}

    def differences(self, other: MergedNames) -> tuple[set[str], set[str]]:
        """Compare with other merged names.

        Returns:
            The keys that are read as another name; and all keys of the classes that have others in them.
        """
        read_otherwise: set[str] = set()
        regrouped: set[str] = set()
        for key in self._canonical.keys() | other._canonical.keys():
            one, two = self._canonical.get(key, key), other._canonical.get(key, key)
            if one != two and not normalise_name(one) == normalise_name(two) == key:
                read_otherwise.add(key)
            if key not in regrouped and self.members(key) != other.members(key):
                regrouped |= self.members(key) | other.members(key)
        return read_otherwise, regrouped

    def extraction(self, extraction: Extraction) -> Extraction:
        """Return an extraction with canonical names; the same object when it has none of the merged names."""
        statements = tuple(map(self.statement, extraction.statements))
        ended = tuple(self.statement(ending.statement) for ending in extraction.endings)
        is_same = all(map(_is, statements, extraction.statements))
        if is_same and all(map(_is, ended, (ending.statement for ending in extraction.endings))):
            return extraction
        endings = tuple(replace(e, statement=s) for e, s in zip(extraction.endings, ended, strict=True))
        return replace(extraction, statements=statements, endings=endings)


_UNMERGED: Final = MergedNames()


class MergedNamesByUser:
    """The names that are merged in the episodes of each user.

    Args:
        pairs: each with the user whose episode says it; the empty string for those without a user.
    """

    __slots__ = ("_by_user", "_everybody")

    def __init__(self, pairs: Iterable[SameNames] = ()) -> None:
        said: dict[str, list[tuple[str, str]]] = {}
        for user, name, into in pairs:
            said.setdefault(user, []).append((name, into))
        self._by_user = {user: MergedNames(those) for user, those in said.items()}
        self._everybody = MergedNames(pair for those in said.values() for pair in those)

    def __bool__(self) -> bool:
        return bool(self._by_user)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MergedNamesByUser) and self._by_user == other._by_user

    __hash__ = None  # type: ignore[assignment]

    def of(self, user: str) -> MergedNames:
        """Return the names that are merged for a user."""
        return self._by_user.get(user, _UNMERGED)

    def users(self) -> Iterable[str]:
        """Return the users for whom names are merged."""
        return self._by_user.keys()

    def names(self, name: str) -> list[str]:
        """Return a name, and every other name as which it counts for some user."""
        found = {normalise_name(name): name}
        for merged in self._by_user.values():
            canonical = merged.name(name)
            found.setdefault(normalise_name(canonical), canonical)
        return list(found.values())

    def name(self, name: str, user: str | None = None) -> str:
        """Return a name as it counts for a user; ``None`` for what anybody merges."""
        return (self._everybody if user is None else self.of(user)).name(name)

    def text(self, text: str, user: str | None = None) -> str:
        """Return a text with the canonical names of a user; ``None`` for those that anybody merges."""
        return (self._everybody if user is None else self.of(user)).text(text)


def _is(one: object, other: object) -> bool:
    return one is other


def _pattern(keys: Iterable[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(key) for key in sorted(keys, key=_rank))
    return re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE)


def _rank(key: str) -> tuple[int, str]:
    return -len(key), key


def _connected(connections: dict[str, set[str]]) -> set[str]:
    """Take the names that are connected with one of them out of ``connections``, and return them."""
    first = next(iter(connections))
    members, waiting = {first}, [first]
    while waiting:
        new = connections.pop(waiting.pop()) - members
        members |= new
        waiting += new
    return members
