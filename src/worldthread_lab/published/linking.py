"""Where a search through the graph begins: what a question names, as vertices (PersonalAI, section III.C, stage 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.names import normalise_name, number_variants
from worldthread.retrieve.index import PendingVectors, RetrievalIndex
from worldthread.retrieve.query import Query, names_in
from worldthread.retrieve.select import best_holding
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.words import words_of
from worldthread_lab.published.traversal import OBJECT, THESIS, FilteredGraph, vertex_graph, vertex_of

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Returns the unit vectors of texts, shape (len(texts), dimensions)."""

PROPER: Final = 1.0
COMMON: Final = 0.5

_BATCH: Final = 512  # names embedded at a time


@dataclass(frozen=True)
class Entities:
    """What a question mentions.

    Args:
        starts: vertices that a search begins from, without repetition, in order of mention.
        vertices: objects that count as mentioned: first those that are starts, then common nouns.
        weights: for each of ``vertices``: :data:`PROPER` for names and numbers, :data:`COMMON` for other words.
    """

    starts: Numbers
    vertices: Numbers
    weights: NDArray[np.float64]


def entities_of(
    query: Query,
    index: RetrievalIndex,
    filtered: FilteredGraph,
    names: Sequence[str] | None = None,
    *,
    nearest: int = 0,
) -> Entities:
    """Return the entities of a question: the objects that it mentions and that have an edge.

    Args:
        query: the question.
        index: the index.
        filtered: the part of the graph that the query may use.
        names: the entities, when the caller knows them (:func:`link` matches them to the graph); all are starts.
            ``None``: the objects that the question names word for word. Its proper names and numbers are starts; its
            common nouns are starts only when it has none of these.
        nearest: when nothing is named, the search begins at this many statements most similar to the question.
            PersonalAI has no such step.

    Returns:
        The entities; no starts when nothing is named and nothing holds.
    """
    full = filtered.full

    def find(name: str) -> int | None:
        number = full.find(name)
        return number if number is not None and len(filtered.steps_from(vertex_of(number, OBJECT))[0]) else None

    if names is None:
        known = [index.names.names[number] for number in query.names]
        numbers = list(dict.fromkeys((*names_in(query.text, find), *(n for k in known if (n := find(k)) is not None))))
        marked = _marked_words(query.text)
    else:
        numbers = list(dict.fromkeys(n for name in names if (n := find(normalise_name(name))) is not None))
        marked = {word for name in names for word in _marked_words(name)}
    proper = [number for number in numbers if not marked.isdisjoint(words_of(full.names[number]))]
    begin = numbers if names is not None else proper or numbers
    rest = [number for number in numbers if number not in begin]
    vertices = np.array([vertex_of(number, OBJECT) for number in (*begin, *rest)], np.int64)
    weights = np.array([PROPER if number in proper else COMMON for number in (*begin, *rest)], np.float64)
    starts = vertices[: len(begin)] if begin else _nearest(query, index, filtered, nearest)
    return Entities(starts, vertices, weights)


def _marked_words(text: str) -> set[str]:
    """Return the words with a capital or a digit."""
    marked = [word for word in text.split() if any(letter.isupper() or letter.isdigit() for letter in word)]
    return {word for part in marked for word in words_of(part)}


def _nearest(query: Query, index: RetrievalIndex, filtered: FilteredGraph, count: int) -> Numbers:
    """Return vertices of the current statements most similar to the question: theses, and the objects of facts."""
    if count <= 0 or not len(index.statements):
        return np.zeros(0, np.int64)
    graph = filtered.full.graph
    scores = index.statements.similarities(query.vector)
    found = best_holding(scores, count, filtered.holds, index.statement_ties)
    vertices: dict[int, None] = {}
    for number in found.tolist():
        if filtered.may[THESIS] and not graph.is_fact(number):
            vertices[vertex_of(number, THESIS)] = None
            continue
        objects = (filtered.full.find(name) for name in graph.names_of(number))
        vertices |= {vertex_of(object_, OBJECT): None for object_ in objects if object_ is not None}
    return np.array(list(vertices), np.int64)


def link(entities: Iterable[str], index: RetrievalIndex, embed: Embed | None = None) -> tuple[str, ...]:
    """Return the objects of the graph that some entities mean.

    An entity means the object of the same normalised name; else one whose name differs in number ("lockers",
    "locker"), the first by name; else, with ``embed``, the one whose name has the nearest vector, among the names that
    have one (:func:`pending_names`). PersonalAI links by vectors alone.

    Args:
        entities: names as a question or a model writes them.
        index: the index.
        embed: embeds names that are unknown; without it they mean nothing.

    Returns:
        Normalised names of objects, without repetition.
    """
    full = vertex_graph(index)
    anything = full.filtered(only_current=False)

    def is_there(number: int | None) -> bool:
        """Return whether something in the graph names an object: what was forgotten keeps its number."""
        return number is not None and len(anything.steps_from(vertex_of(number, OBJECT))[0]) > 0

    def may_be_meant(numbers: Numbers) -> NDArray[np.bool_]:
        return np.array([filled[number] and is_there(number) for number in numbers.tolist()], bool)

    filled = full.name_vectors.filled
    found: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for entity in entities:
        key = normalise_name(entity)
        candidates = (key, *sorted(number_variants(key)))
        name = next((candidate for candidate in candidates if is_there(full.find(candidate))), None)
        found[name if name is not None else key] = None
        if name is None:
            unknown[key] = None
    nearest: dict[str, str] = {}
    if unknown and embed is not None:
        similarity = full.name_vectors.similarity_matrix(embed(list(unknown)))
        for key, row in zip(unknown, similarity, strict=True):
            likely = best_holding(row, 1, may_be_meant, full.name_ties)
            if len(likely):
                nearest[key] = full.names[likely[0]]
    named = (nearest.get(name) if name in unknown else name for name in found)
    return tuple(dict.fromkeys(name for name in named if name is not None))


def pending_names(index: RetrievalIndex) -> list[PendingVectors]:
    """Return the names of objects that have no vector yet; embed each part and :meth:`~RetrievalIndex.put` it.

    :func:`link` needs these vectors for unknown entities, and ``astar`` to compare objects by name.

    Args:
        index: the index.

    Returns:
        Parts of at most 512 names.
    """
    full = vertex_graph(index)
    missing = full.name_vectors.missing()
    parts = (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))
    return [
        PendingVectors(full.name_vectors, np.array(part, np.int64), [full.names[n] for n in part]) for part in parts
    ]
