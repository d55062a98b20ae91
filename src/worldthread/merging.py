"""Merging names by hand: the episode that says that two names mean the same, and suggestions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from worldthread.arguments import require_name, require_string
from worldthread.graph import TemporalGraph
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
    """

    name: str
    into: str
    evidence: str


def merging(name: str, into: str, reason: str, at: float, source: str) -> Episode:
    """Return the episode that says that two names mean the same.

    Args:
        name: a name.
        into: the name that is shown for both.
        reason: why, in words; can be empty.
        at: world time.
        source: where this comes from.

    Returns:
        The episode, which is not yet recorded.

    Raises:
        InputError: an argument is not a name, or both are one name.
    """
    pair = require_name(name, "name").strip(), require_name(into, "into").strip()
    text = f'"{pair[0]}" means "{pair[1]}".'
    if require_string(reason, "reason").strip():
        text += f" {reason.strip()}"
    return Episode(text, at, source, Extraction(EXTRACTOR, same_names=(pair,)))


def suggestions(graph: TemporalGraph) -> list[MergeSuggestion]:
    """Return names of a graph that probably mean the same.

    Args:
        graph: the graph; it is not changed.

    Returns:
        The suggestions, sorted: a word that is the first one of exactly one full name of a person (a name that is
        the subject of a fact), a handle and the name in it, and "somebody's sister" where a fact names the sister.
    """
    names = set(graph.objects())
    facts = [v[0].statement for v in graph.all_versions() if isinstance(v[0].statement, Fact)]
    subjects = {fact.key[0] for fact in facts}
    full: dict[str, set[str]] = {}
    for name in names:
        words = name.split()
        if 1 < len(words) <= _LONGEST_NAME and all(word.isalpha() for word in words):
            full.setdefault(words[0], set()).add(name)
    found = {
        MergeSuggestion(first, next(iter(those)), f'"{first}" begins one name only')
        for first, those in full.items()
        if len(those) == 1 and first in subjects and those <= subjects
    }
    for name in names:
        if name.startswith("@") and name[1:] in names:
            found.add(MergeSuggestion(name, name[1:], "the same without @"))
    for fact in facts:
        subject, relation, object_ = fact.key
        role = f"{subject}'s {relation.removeprefix('has ')}"
        if role in names and role != object_:
            found.add(
                MergeSuggestion(role, object_, f'it is stated that "{fact.subject} {fact.relation} {fact.object}"')
            )
    return sorted(found)
