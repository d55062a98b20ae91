"""Which stored statements new ones can end: those that are shown to the model, which is asked only if there are any."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from worldthread.extract.model.answers import names_in
from worldthread.graph import GraphView
from worldthread.names import normalise_name, number_variants
from worldthread.types import Ending, Extraction, Fact, Statement

_OTHER_NAMES = 8  # of one thing, by which it is looked for beside its own


def clashing(extraction: Extraction, changed: Iterable[str], view: GraphView) -> list[Statement]:
    """Return the statements that hold and can clash with an extraction, the likeliest first.

    These are the statements about what has changed, by its name, another name of it, or one with more or fewer words;
    those that tell of it in other words of its owner ("Ida, wears, glasses" for "Ida's glasses"); those about the
    subject of a correction that is in other words than anything stored; and the facts that differ from a new fact of
    the same relation in one end and in the aspect. Two facts of one aspect need no judgement, unless one may never
    have been true, and two without any stand side by side.

    Args:
        extraction: the new statements.
        changed: names of what the text says has changed.
        view: what holds before the text is added.

    Returns:
        The candidates, without what the extraction itself states, ends, or replaces by its aspect: those that share
        most names with the new statements first, of these the latest first.
    """
    other_names = _other_names(extraction.same_names)
    about = {key for name in changed for key in (normalise_name(name), *other_names.get(normalise_name(name), ()))}
    things = [_thing(name) for name in sorted(about)]
    about |= {longer for name in sorted(about) for longer in view.longer_and_shorter(name)[:_OTHER_NAMES]}
    corrected = {normalise_name(fact.subject) for fact in _unmatched(extraction.endings, view)}
    about |= corrected
    new = {normalise_name(name) for statement in extraction.statements for name in names_in(statement)} | about
    new |= {owner for owner, _ in things if owner}
    shared: defaultdict[Statement, set[str]] = defaultdict(set)
    began: dict[Statement, float] = {}
    can_end: set[Statement] = set()
    for name in sorted({key for known in new for key in (known, *other_names.get(known, ()))}):
        for form in sorted({name} | number_variants(name)):
            for version in view.timeline(form):
                if view.covers(version.interval):
                    shared[version.statement].add(name)
                    began[version.statement] = version.interval.valid_from
                    if (
                        name in about
                        or _differs_by_aspect(version.statement, extraction.statements)
                        or (things and _tells_of(version.statement, things))
                    ):
                        can_end.add(version.statement)
    aspects = {statement.aspect for statement in extraction.statements if statement.aspect is not None}
    settled = {*extraction.statements, *(ending.statement for ending in extraction.endings)}
    return sorted(
        (
            statement
            for statement in can_end
            if statement not in settled
            and (statement.aspect not in aspects or not corrected.isdisjoint(map(normalise_name, names_in(statement))))
        ),
        key=lambda s: (-len(shared[s]), -began[s], s.id),
    )


def _thing(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the owner of a thing and the words that must be said of it: the last one, or all where nobody owns it."""
    owner, _, thing = name.rpartition("'s ")
    words = tuple(thing.split())
    return owner, words[-1:] if owner else words


def _tells_of(statement: Statement, things: Iterable[tuple[str, tuple[str, ...]]]) -> bool:
    """Return whether a statement about the owner of a thing, or any where nobody owns it, has the thing's words."""
    names = [normalise_name(name) for name in names_in(statement)]
    words = {
        variant
        for text in (*names, normalise_name(statement.relation if isinstance(statement, Fact) else statement.text))
        for word in re.findall(r"[\w'-]+", text)
        for variant in number_variants(word) | {word}
    }
    return any((not owner or owner in names) and words.issuperset(thing) for owner, thing in things)


def _unmatched(endings: Iterable[Ending], view: GraphView) -> Iterator[Fact]:
    """Yield what was never true by the text, and is stored in other words, if at all."""
    for ending in endings:
        fact = ending.statement
        if not ending.never or not isinstance(fact, Fact):
            continue
        if all(version.statement != fact for version in view.timeline(fact.subject)):
            yield fact


def _other_names(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    others: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        others[normalise_name(one)].add(normalise_name(other))
        others[normalise_name(other)].add(normalise_name(one))
    return others


def _differs_by_aspect(old: Statement, new: Iterable[Statement]) -> bool:
    """Return whether an old fact differs from a new one in one end and in its aspect."""
    return isinstance(old, Fact) and any(
        isinstance(fact, Fact)
        and fact.key[1] == old.key[1]
        and (fact.key[0] == old.key[0]) != (fact.key[2] == old.key[2])
        and fact.aspect != old.aspect
        for fact in new
    )
