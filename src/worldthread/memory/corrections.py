"""Corrections and updates by hand: episodes that say that a statement was never true, or has ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from worldthread.errors import InputError, NotFoundError
from worldthread.graph import TemporalGraph
from worldthread.graph.conditions import Condition
from worldthread.names import normalise_name, normalise_text
from worldthread.provenance import Labels
from worldthread.support.arguments import require_string, require_unicode
from worldthread.types import Ending, Episode, Extraction, Fact, Statement, Thesis, Version

StatementLike: TypeAlias = Statement | tuple[str, str, str]
"""A statement, or subject, relation and object of a fact."""

EXTRACTOR: Final = "correction/1"
"""The extractor of the episodes that corrections are recorded as."""
UPDATE_EXTRACTOR: Final = "update/1"
"""The extractor of the episodes that updates are recorded as."""


def correction(
    graph: TemporalGraph,
    statement: StatementLike,
    replacement: StatementLike | None,
    reason: str,
    at: float,
    source: str,
    labels: Labels,
) -> Episode:
    """Return the episode that says that a statement was never true.

    Args:
        graph: the memory's graph; it is not changed.
        statement: what was never true.
        replacement: what was true instead, in the intervals in which the other was held to be true, unless it states
            its own times.
        reason: why, in words; can be empty.
        at: world time of the correction; it comes after the episodes that it corrects.
        source: where the correction comes from.
        labels: whom and what the correction belongs to; it concerns what this user stated.

    Returns:
        The episode, which is not yet recorded.

    Raises:
        InputError: an argument is not a statement, or both are the same.
        NotFoundError: no episode before ``at`` states it.
    """
    wrong, right = _statement(statement), None if replacement is None else _statement(replacement)
    if wrong == right:
        raise InputError(f"the replacement says the same: {right}")
    stated = graph.view(user=labels.user).versions(wrong)
    versions = [v for v in stated if any(graph.episode(id_).at < at for id_ in v.sources)]
    if not versions:
        raise NotFoundError(f"no episode before {at:.16g} states {_words(wrong)!r}")
    parts = [f"Correction: it was never true that {_words(wrong)}."]
    why = [f"never true: {require_string(reason, 'reason').strip()}" if reason.strip() else "never true"]
    if right is not None:
        parts.append(f"True is: {_words(right)}.")
        why.append(f"true is: {_words(right)}")
    if reason.strip():
        parts.append(reason.strip())
    never = [Ending(one, "; ".join(why), never=True) for one in (wrong, *_same_in_words(graph, wrong, versions))]
    statements = () if right is None else tuple(_in_place_of(versions, right))
    endings = [] if right is None else [e for e in _endings_of(graph, versions, right) if e.statement not in statements]
    extraction = Extraction(EXTRACTOR, statements, (*never, *endings))
    return Episode(" ".join(parts), at, source, extraction, user=labels.user, agent=labels.agent)


def update(
    graph: TemporalGraph,
    statement: Statement,
    replacement: StatementLike | None,
    reason: str,
    at: float,
    source: str,
    labels: Labels,
) -> Episode:
    """Return the episode that says that a statement has ended, and what holds instead.

    Args:
        graph: the memory's graph; it is not changed.
        statement: what has ended.
        replacement: what holds from ``at`` on, with the aspect of the other unless it has its own.
        reason: why, in words; can be empty.
        at: world time of the change; it comes after the episodes that state the statement.
        source: where this comes from.
        labels: whom and what it belongs to; it concerns what this user stated.

    Returns:
        The episode, which is not yet recorded.

    Raises:
        InputError: an argument is not a statement, or both are the same.
        NotFoundError: the statement does not hold before ``at``.
    """
    new = None if replacement is None else _statement(replacement)
    if new == statement:
        raise InputError(f"the replacement says the same: {new}")
    stated = graph.view(user=labels.user).versions(statement)
    holding = [v for v in stated if v.interval.valid_from <= at < v.interval.valid_to]
    if not any(graph.episode(id_).at < at for version in holding for id_ in version.sources):
        raise NotFoundError(f"{_words(statement)!r} does not hold just before {at:.16g}")
    parts = [f"Update: it is no longer true that {_words(statement)}."]
    if new is not None:
        new = replace(new, aspect=new.aspect or holding[0].statement.aspect)
        parts.append(f"True is now: {_words(new)}.")
    why = require_string(reason, "reason").strip()
    parts += [why] if why else []
    ended = "; ".join([*([] if new is None else [f"replaced by: {new}"]), *([why] if why else [])]) or "no longer true"
    extraction = Extraction(UPDATE_EXTRACTOR, () if new is None else (new,), (Ending(statement, ended),))
    return Episode(" ".join(parts), at, source, extraction, user=labels.user, agent=labels.agent)


def meant_labels(graph: TemporalGraph, statement: Statement, condition: Condition | None) -> Labels:
    """Return the user whose statement is meant, and the agent that all of their episodes have which assert it, if any.

    So a filter that finds the statement also finds what is said of it by its id.

    Args:
        graph: the memory's graph.
        statement: the statement.
        condition: only what meets it is meant; ``None`` for anything.

    Returns:
        The labels; none when nobody states it.

    Raises:
        InputError: several users state it.
    """
    selection = None if condition is None else graph.select(condition)
    numbers = graph.numbers_of(statement)
    if selection is not None:
        numbers = [number for number in numbers if selection.versions_of(number)]
    if len(numbers) > 1:
        raise InputError(
            f"{len(numbers)} users state {_words(statement)!r}: say whose is meant, with where=Filter(user=...)"
        )
    if not numbers:
        return Labels()
    agents = {graph.episode(id_).provenance.labels.agent for id_ in graph.asserting(numbers[0])}
    return Labels(graph.user_of(numbers[0]), agents.pop() if len(agents) == 1 else "")


def statement_of(graph: TemporalGraph, given: StatementLike | str) -> Statement:
    """Return a statement that is given as such, or by its id.

    Args:
        graph: the memory's graph.
        given: a statement, three strings, or an id.

    Returns:
        The statement.

    Raises:
        InputError: this is no statement.
        NotFoundError: no episode asserts a statement with this id.
    """
    if not isinstance(given, str):
        return _statement(given)
    found = graph.numbered_statement(statement_numbers(graph, given)[0])
    assert found is not None
    return found


def statement_numbers(graph: TemporalGraph, statement_id: str) -> list[int]:
    """Return the numbers of a statement by its id, one for each user who states it.

    Args:
        graph: the memory's graph.
        statement_id: 32 hexadecimal digits.

    Returns:
        The numbers, at least one.

    Raises:
        InputError: this is not a string.
        NotFoundError: no episode asserts a statement with this id.
    """
    numbers = graph.numbers_of(require_unicode(statement_id, "the id of a statement").strip().lower())
    if not numbers:
        raise NotFoundError(f"no episode states anything with the id {statement_id!r}")
    return numbers


def episodes_stating(graph: TemporalGraph, statement_id: str, condition: Condition | None = None) -> list[str]:
    """Return the episodes that state a statement, by its id.

    Args:
        graph: the memory's graph.
        statement_id: 32 hexadecimal digits.
        condition: only episodes that meet it; ``None`` for those of the only user who states it.

    Returns:
        Ids of episodes, in order of world time, then id.

    Raises:
        InputError: this is not a string, or several users state it and there is no condition.
        NotFoundError: no episode asserts a statement with this id.
    """
    numbers = statement_numbers(graph, statement_id)
    if len(numbers) > 1 and condition is None:
        raise InputError(f"{len(numbers)} users state this: say whose is meant, with where=Filter(user=...)")
    found = {id_ for number in numbers for id_ in graph.asserting(number)}
    return [
        id_ for id_ in (graph.episodes() if condition is None else graph.selected_episodes(condition)) if id_ in found
    ]


def _statement(given: StatementLike) -> Statement:
    if isinstance(given, Fact | Thesis):
        return given
    if not isinstance(given, tuple) or len(given) != 3:
        raise InputError(f"a statement is a Fact, a Thesis, or three strings, not {given!r}")
    return Fact(*given)


def _words(statement: Statement) -> str:
    if isinstance(statement, Fact):
        return f"{statement.subject} {statement.relation} {statement.object}"
    return statement.text.strip().rstrip(".")


def _same_in_words(graph: TemporalGraph, wrong: Statement, versions: list[Version]) -> Iterator[Statement]:
    """Yield the theses that say what a fact says: with the same words, or with its aspect and its names."""
    if not isinstance(wrong, Fact):
        return
    names = {normalise_name(wrong.subject), normalise_name(wrong.object)}
    found = {}
    for source in (source for version in versions for source in version.sources):
        stated = graph.extracted(source)
        aspects = {s.aspect for s in stated if s == wrong} - {None}
        for thesis in (s for s in stated if isinstance(s, Thesis)):
            is_named = thesis.aspect in aspects and names <= set(map(normalise_name, thesis.objects))
            if is_named or normalise_text(thesis.text) == normalise_text(_words(wrong)):
                found[thesis.id] = thesis
    for id_ in sorted(found):
        yield found[id_]


def _in_place_of(versions: list[Version], right: Statement) -> Iterator[Statement]:
    """Yield what is true instead, once for each interval in which the other statement was held to be true."""
    aspect = right.aspect or versions[0].statement.aspect
    if right.valid_from is not None or right.valid_to is not None:
        yield replace(right, aspect=aspect)
        return
    for interval in (version.interval for version in versions):
        if interval.valid_from < interval.valid_to:
            end = None if interval.is_open else interval.valid_to
            yield replace(right, aspect=aspect, valid_from=interval.valid_from, valid_to=end)


def _endings_of(graph: TemporalGraph, versions: list[Version], right: Statement) -> Iterator[Ending]:
    """Yield what the corrected statement replaced when it began, and what has not come back since.

    The replacement of a version that is over is past, and what is past replaces nothing by itself.
    """
    for version in versions:
        if version.interval.is_open:
            continue
        for statement, _ in graph.ended_by(version.sources[0]):
            last = graph.view(user=graph.episode(version.sources[0]).provenance.labels.user).versions(statement)[-1]
            if (last.ended_by, last.interval.valid_to) == (version.sources[0], version.interval.valid_from):
                yield Ending(statement, f"replaced by: {right}", version.interval.valid_from)
