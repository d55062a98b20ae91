"""Retrieval as in AriGraph (Anokhin et al. 2024): semantic search, then episodic search from what it found.

**Semantic search** (Algorithm 2). A queue begins with the question. For each query taken from it, the ``width``
statements of highest inner product that hold are found, and their objects join the queue as queries one level deeper,
each once; there are no queries at level ``depth``. The paper has only facts; here a thesis is an edge between all its
objects. The score of a statement is its inner product with the query that found it, minus 2 for every level: statements
are ordered by level, and within a level by similarity.

**Episodic search** (equation 1). An episode that asserts N statements, n >= 1 of which were found, has the score
n / max(N, 1) x ln(max(N, 1)), which is 0 for an episode with one statement. The published code scores every episode, by
this divided by its maximum, plus the similarity of its text with the question (there: the plan) divided by its maximum;
it also takes n from what was found one step earlier, which a memory that is asked once does not have.

The paper shows its agent the best two episodes; here all have scores, and the caller chooses how many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.cache import CacheKey
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.select import best_holding
from worldthread.retrieve.sparse import Numbers
from worldthread.types import Fact
from worldthread_lab.published.linking import Embed
from worldthread_lab.published.name_vectors import Floats, fill_name_vectors
from worldthread_lab.published.paths import PathDescriptions, exact_sum
from worldthread_lab.published.traversal import OBJECT, FilteredGraph, vertex_graph, vertex_of

_LEVEL: Final = 2.0  # inner products of unit vectors lie within [-1, 1]
_IS_LIKE: Final = "is like"


@dataclass(frozen=True)
class AriGraphSettings:
    """Settings of :func:`arigraph`.

    Args:
        depth: number of levels of queries, at least 1; the question is the first level.
        width: how many statements a query finds at most, at least 1.
        least: statements with a lower inner product are not found. The paper has no such threshold; the published code
            has .75, for Contriever.
        theses: whether theses are searched as well as facts.
        episodic: the score of an episode as in the "paper" or as in the published "code".
        embed: embeds names of objects. Without it, the vector of an object is the normalised sum of the vectors of the
            statements about it that hold.
    """

    depth: int = 2
    width: int = 6
    least: float | None = None
    theses: bool = True
    episodic: Literal["paper", "code"] = "paper"
    embed: Embed | None = None

    def __post_init__(self) -> None:
        if self.depth < 1 or self.width < 1:
            raise InputError(f"depth and width must be at least 1, not {self.depth} and {self.width}")
        if self.episodic not in ("paper", "code"):
            raise InputError(f"episodic must be 'paper' or 'code', not {self.episodic!r}")


def arigraph(query: Query, index: RetrievalIndex, settings: AriGraphSettings | None = None) -> Scores:
    """Return the scores of AriGraph's two searches; the module has the formulas.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.

    Returns:
        Scores of what the searches find; the path of a statement leads over the objects that were queried to find it.
    """
    settings = settings or AriGraphSettings()
    found = _semantic_search(query, index, settings)
    numbers = np.array(list(found), np.int64)
    statements = np.full(len(index.statements), -np.inf, np.float32)
    statements[numbers] = [finding.score for finding in found.values()]
    episodes = _episodic_search(query, index, numbers, settings)
    return Scores(episodes, statements, PathDescriptions(numbers, lambda number: _path(index, found, number)))


def search_for_items(
    items: Mapping[str, int], index: RetrievalIndex, embed: Embed, width: int, least: float | None = None
) -> dict[int, str]:
    """Search the facts for several queries, each to a depth of its own (Algorithm 1: the crucial items).

    Args:
        items: the depth of the search, at least 1, by query.
        index: the index.
        embed: embeds the queries, and names of objects.
        width: how many facts a query finds at most, at least 1.
        least: facts with a lower inner product are not found; ``None`` for no limit.

    Returns:
        The numbers of the facts found, with the item that found each first, in the order of items and levels.
    """
    found: dict[int, str] = {}
    if not items:
        return found
    for (name, depth), vector in zip(items.items(), embed(list(items)), strict=True):
        settings = AriGraphSettings(depth=depth, width=width, least=least, theses=False, embed=embed)
        scores = arigraph(Query(name, vector), index, settings).statements
        numbers = np.flatnonzero(np.isfinite(scores))
        for number in numbers[np.argsort(-scores[numbers], kind="stable")].tolist():
            found.setdefault(number, name)
    return found


def episodic_relevance(found: int, asserted: int) -> float:
    """Return the relevance of an episode (equation 1): n / max(N, 1) x ln(max(N, 1)).

    Args:
        found: how many of its facts were found (n).
        asserted: how many facts it asserts (N).
    """
    size = max(asserted, 1)
    return found / size * math.log(size)


@dataclass(frozen=True)
class _Found:
    """How a statement was found.

    Args:
        score: see the module.
        name: the object that was the query; ``None`` for the question.
        before: the statement that this object is from.
    """

    score: float
    name: str | None = None
    before: int | None = None


def _semantic_search(query: Query, index: RetrievalIndex, settings: AriGraphSettings) -> dict[int, _Found]:
    """Return the statements found, by number, in the order of the search (Algorithm 2)."""
    graph = index.graph
    filtered = vertex_graph(index).filtered(query.at, query.only_current)
    searched = _searched(index, settings.theses)
    found: dict[int, _Found] = {}
    queried: set[str] = set()
    level: list[tuple[str | None, int | None]] = [(None, None)]
    vectors = query.vector[None, :]
    for depth in range(settings.depth):
        following: dict[str, int] = {}
        similarity = index.statements.similarity_matrix(vectors)
        for (name, before), row in zip(level, similarity, strict=True):
            for number in _top(row, searched, filtered, index.statement_ties, settings):
                score = float(row[number]) - _LEVEL * depth
                if number not in found or score > found[number].score:
                    found[number] = _Found(score, name, before)
                for end in graph.names_of(number):
                    if end not in queried:
                        following.setdefault(end, number)
        queried.update(following)
        level = list(following.items())
        if not level or depth + 1 == settings.depth:
            break
        vectors = _vectors_of(list(following), index, filtered, settings.embed)
    return found


def _searched(index: RetrievalIndex, theses: bool) -> NDArray[np.bool_]:
    """Return which statements are searched, by number: those that are asserted, and only facts without ``theses``."""

    def make() -> NDArray[np.bool_]:
        searched = index.links.episodes_of.filled
        return searched if theses else searched & index.are_facts

    return index.derived.get(CacheKey[NDArray[np.bool_]]("searched by arigraph", (theses,)), make)


def _top(
    similarity: Floats,
    searched: NDArray[np.bool_],
    filtered: FilteredGraph,
    ties: NDArray[np.uint64],
    settings: AriGraphSettings,
) -> list[int]:
    """Return the statements that a query finds, best first."""
    usable = np.where(searched, similarity, np.float32(-np.inf))
    if settings.least is not None:
        usable[similarity < settings.least] = -np.inf
    found: list[int] = best_holding(usable, settings.width, filtered.holds, ties).tolist()
    return found


def _vectors_of(names: Sequence[str], index: RetrievalIndex, filtered: FilteredGraph, embed: Embed | None) -> Floats:
    """Return the vectors of objects, shape (len(names), dimensions)."""
    full = filtered.full
    numbers = np.array([full.find(name) for name in names], np.int64)
    if embed is not None:
        fill_name_vectors(full, numbers, embed)
        return full.name_vectors.rows[numbers]
    vectors = np.zeros((len(names), index.statements.dimensions), np.float32)
    for row, number in enumerate(numbers.tolist()):
        _, edges = filtered.steps_from(vertex_of(number, OBJECT))
        labels = filtered.labels[edges]
        total = exact_sum(index.statements.rows[np.unique(labels[labels >= 0])])
        vectors[row] = total / max(float(np.linalg.norm(total)), 1e-9)
    return vectors


def _episodic_search(query: Query, index: RetrievalIndex, found: Numbers, settings: AriGraphSettings) -> Floats:
    """Return the score of every episode (equation 1); ``-inf`` for what is not found."""
    links = index.links
    searched = _searched(index, settings.theses)
    of_found = np.zeros(len(searched), bool)
    of_found[found] = True
    count = len(links.present)
    statements_of = links.statements_of.merged()
    asserted, episodes = statements_of.columns, statements_of.row_of_entry
    n = np.bincount(episodes[of_found[asserted]], minlength=count)
    total = np.maximum(np.bincount(episodes[searched[asserted]], minlength=count), 1)
    relevance = n / total * np.log(total)
    if settings.episodic == "paper":
        return np.where(n > 0, relevance, -np.inf).astype(np.float32)
    similarity = index.episodes.similarities(query.vector)
    both = _by_maximum(relevance) + _by_maximum(np.where(links.present, similarity, 0))
    return np.where(links.present, both, -np.inf).astype(np.float32)


def _by_maximum(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    highest = values.max(initial=0)
    return values / highest if highest > 0 else values


def _path(index: RetrievalIndex, found: dict[int, _Found], number: int) -> tuple[str, ...]:
    """Return the path to a statement from an object of the statement that the question itself found."""
    hops: list[tuple[int, str | None]] = []  # (statement, object that it was left by), last first
    leave, at = None, number
    while True:
        hops.append((at, leave))
        before = found[at].before
        if before is None:
            break
        leave, at = found[at].name, before
    path: tuple[str, ...] = ()
    for statement, leave in reversed(hops):
        hop = _hop(index, statement, path[-1] if path else None, leave)
        if not path or not hop:
            path += hop
        else:
            path += hop[1:] if path[-1] == hop[0] else (_IS_LIKE, *hop)
    return path


def _hop(index: RetrievalIndex, number: int, enter: str | None, leave: str | None) -> tuple[str, ...]:
    """Return a statement as part of a path: an object, the relation (of a thesis its text), and another object."""
    names = index.graph.names_of(number)
    statement = index.graph.numbered_statement(number)
    if not names:
        return ()
    first = enter if enter in names else next((name for name in names if name != leave), names[0])
    joined = statement.relation if isinstance(statement, Fact) else str(statement)
    others = [name for name in names if name != first]
    last = leave if leave in others else next(iter(others), None) if isinstance(statement, Fact) else None
    return (first, joined, last) if last is not None else (first,)
