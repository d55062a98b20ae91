"""Where a search through the graph begins: what a question names, as vertices (PersonalAI, section III.C, stage 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.names import normalise_name, number_variants
from worldthread.retrieve.index import PendingVectors, RetrievalIndex
from worldthread.retrieve.published.traversal import OBJECT, THESIS, FilteredGraph, vertex_graph, vertex_of
from worldthread.retrieve.query import Query, names_in
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.words import words_of
from worldthread.vectors.exact import best

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Gives texts unit vectors, shape (len(texts), dimensions)."""

PROPER: Final = 1.0
COMMON: Final = 0.5
NEAREST: Final = 3

_BATCH: Final = 512  # names embedded at a time


@dataclass(frozen=True)
class Entities:
    """What a question speaks of.

    Args:
        starts: vertices that a search begins from, without repetition, in order of mention.
        vertices: objects that count as named: the starts among them first, then common nouns.
        weights: of each of ``vertices``: :data:`PROPER` for names and numbers, :data:`COMMON` for other words.
    """

    starts: Numbers
    vertices: Numbers
    weights: NDArray[np.float64]


def entities_of(
    query: Query,
    corpus: RetrievalIndex,
    walk: FilteredGraph,
    names: Sequence[str] | None = None,
    *,
    nearest: int = NEAREST,
) -> Entities:
    """The entities of a question: of the objects that it names, those from which a step can be made.

    Args:
        query: the question.
        corpus: the index.
        walk: what may be walked over.
        names: the entities, where somebody has found them already (:func:`link` fits them to the graph); all are
            starts. ``None``: the objects that the question names word for word. Its proper names and numbers are
            starts; its common nouns only when it has none of these.
        nearest: where nothing is named, the search begins at this many statements most like the question. PersonalAI
            has no such step.
    """
    over = walk.over

    def find(name: str) -> int | None:
        number = over.find(name)
        return number if number is not None and len(walk.steps_from(vertex_of(number, OBJECT))[0]) else None

    if names is None:
        known = [corpus.names.names[number] for number in query.names]
        numbers = list(dict.fromkeys((*names_in(query.text, find), *(n for k in known if (n := find(k)) is not None))))
        marked = _marked_words(query.text)
    else:
        numbers = list(dict.fromkeys(n for name in names if (n := find(normalise_name(name))) is not None))
        marked = {word for name in names for word in _marked_words(name)}
    proper = [number for number in numbers if not marked.isdisjoint(words_of(over.names[number]))]
    begin = numbers if names is not None else proper or numbers
    rest = [number for number in numbers if number not in begin]
    vertices = np.array([vertex_of(number, OBJECT) for number in (*begin, *rest)], np.int64)
    weights = np.array([PROPER if number in proper else COMMON for number in (*begin, *rest)], np.float64)
    starts = vertices[: len(begin)] if begin else _nearest(query, corpus, walk, nearest)
    return Entities(starts, vertices, weights)


def _marked_words(text: str) -> set[str]:
    """Words written with a capital or a digit."""
    marked = [word for word in text.split() if any(letter.isupper() or letter.isdigit() for letter in word)]
    return {word for part in marked for word in words_of(part)}


def _nearest(query: Query, corpus: RetrievalIndex, walk: FilteredGraph, count: int) -> Numbers:
    """Vertices of the statements that hold and are most like the question: theses, and the objects of facts."""
    if count <= 0 or not len(corpus.statements):
        return np.zeros(0, np.int64)
    graph = walk.over.graph
    scores = corpus.statements.similarities(query.vector)
    width = count
    while True:
        likely = best(scores, width, corpus.statement_ties)
        found = likely[walk.holds(likely)][:count]
        if len(found) == count or width >= len(scores):
            break
        width *= 4
    vertices: dict[int, None] = {}
    for number in found.tolist():
        if walk.may[THESIS] and not graph.is_fact(number):
            vertices[vertex_of(number, THESIS)] = None
            continue
        objects = (walk.over.find(name) for name in graph.names_of(number))
        vertices |= {vertex_of(object_, OBJECT): None for object_ in objects if object_ is not None}
    return np.array(list(vertices), np.int64)


def link(entities: Iterable[str], corpus: RetrievalIndex, embed: Embed | None = None) -> tuple[str, ...]:
    """The objects of the graph that entities mean: for each one name, normalised, or none; without repetition.

    The object of the same normalised name; else one that differs in number ("lockers", "locker"), the first by name;
    else, where ``embed`` is given, the one whose name has the nearest vector, among those that have one
    (:func:`pending_names`). PersonalAI links by vectors alone.
    """
    over = vertex_graph(corpus)
    found: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for entity in entities:
        key = normalise_name(entity)
        candidates = (key, *sorted(number_variants(key)))
        name = next((candidate for candidate in candidates if over.find(candidate) is not None), None)
        found[name if name is not None else key] = None
        if name is None:
            unknown[key] = None
    filled = np.flatnonzero(over.name_vectors.filled)
    nearest: dict[str, str] = {}
    if unknown and embed is not None and len(filled):
        likeness = over.name_vectors.rows[filled] @ embed(list(unknown)).T
        nearest = {key: over.names[filled[np.argmax(likeness[:, n])]] for n, key in enumerate(unknown)}
    named = (nearest.get(name) if name in unknown else name for name in found)
    return tuple(dict.fromkeys(name for name in named if name is not None))


def pending_names(corpus: RetrievalIndex) -> list[PendingVectors]:
    """The names of objects that have no vector yet; embed each part's texts and :meth:`~RetrievalIndex.put` them.

    Needed by :func:`link` for entities that nothing is called like, and by ``astar`` to compare objects by name.
    """
    over = vertex_graph(corpus)
    missing = over.name_vectors.missing()
    parts = (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))
    return [
        PendingVectors(over.name_vectors, np.array(part, np.int64), [over.names[n] for n in part]) for part in parts
    ]
