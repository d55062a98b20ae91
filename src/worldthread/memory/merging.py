"""Merging names by hand: the episode that says that two names mean the same, and suggestions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.retrieve.text import shown_statement
from worldthread.support.arguments import require_name, require_string
from worldthread.types import Episode, Extraction, Fact

EXTRACTOR: Final = "merge/1"
"""The extractor of the episodes that merges are recorded as."""

_LONGEST_NAME: Final = 3  # words of a full name, of which the first alone may mean the same


@dataclass(frozen=True, order=True)
class MergeSuggestion:
    """Two names that probably mean the same.

    Args:
        name: a normalised name.
        into: the normalised name that says more.
        evidence: why they may mean the same, in words.
        user: in whose talk; empty for that without a user.
    """

    name: str
    into: str
    evidence: str
    user: str = ""


def merging(name: str, into: str, reason: str, at: float, source: str, user: str = "") -> Episode:
    """Return the episode that says that two names mean the same.

    Args:
        name: a name.
        into: the name that is shown for both.
        reason: why, in words; can be empty.
        at: world time.
        source: where this comes from.
        user: in whose talk they are the same; empty for that without a user.

    Returns:
        The episode, which is not yet recorded.

    Raises:
        InputError: an argument is not a name, or both are one name.
    """
    pair = require_name(name, "name").strip(), require_name(into, "into").strip()
    text = f'"{pair[0]}" means "{pair[1]}".'
    if require_string(reason, "reason").strip():
        text += f" {reason.strip()}"
    return Episode(text, at, source, Extraction(EXTRACTOR, same_names=(pair,)), user=user)


def user_meant(graph: TemporalGraph, name: str, into: str) -> str:
    """Return in whose talk two names are merged when nobody says it: that of the only user who speaks of them.

    Args:
        graph: the graph.
        name: a name.
        into: the name that is shown for both.

    Returns:
        The user; empty for none.

    Raises:
        InputError: several users speak of the name.
    """
    for one in (name, into):
        speaking = {graph.user_of(number) for number in graph.numbers_about(one)}
        if len(speaking) > 1:
            raise InputError(f"{len(speaking)} users speak of {one!r}: say in whose talk it is meant, with user=...")
        if speaking:
            return speaking.pop()
    users = list(graph.users)
    return users[0] if len(users) == 1 else ""


def suggestions(graph: TemporalGraph) -> list[MergeSuggestion]:
    """Return names of a graph that probably mean the same.

    Args:
        graph: the graph; it is not changed.

    Returns:
        The suggestions, sorted: a word that is the first one of exactly one full name of a person (a name that is
        the subject of a fact), a handle and the name in it, and "somebody's sister" where a fact names the sister. The
        names of different users never mean the same.
    """
    names: dict[str, set[str]] = {}
    facts: dict[str, list[Fact]] = {}
    for number in graph.statement_numbers:
        statement, user = graph.numbered_statement(number), graph.user_of(number)
        if statement is not None:
            names.setdefault(user, set()).update(graph.names_of(number))
            facts.setdefault(user, []).extend([statement] if isinstance(statement, Fact) else [])
    return sorted(found for user in names for found in _suggestions(names[user], facts[user], user))


def _suggestions(names: set[str], facts: list[Fact], user: str) -> set[MergeSuggestion]:
    """Return which names of one user probably mean the same."""
    subjects = {fact.key[0] for fact in facts}
    full: dict[str, set[str]] = {}
    for name in names:
        words = name.split()
        if 1 < len(words) <= _LONGEST_NAME and all(word.isalpha() for word in words):
            full.setdefault(words[0], set()).add(name)
    found = {
        MergeSuggestion(first, next(iter(those)), f'"{first}" begins one name only', user)
        for first, those in full.items()
        if len(those) == 1 and first in subjects and those <= subjects
    }
    for name in names:
        if name.startswith("@") and name[1:] in names:
            found.add(MergeSuggestion(name, name[1:], "the same without @", user))
    for fact in facts:
        subject, relation, object_ = fact.key
        role = f"{subject}'s {relation.removeprefix('has ')}"
        if role in names and role != object_:
            evidence = f'it is stated that "{shown_statement(fact)}"'
            found.add(MergeSuggestion(role, object_, evidence, user))
    return found
