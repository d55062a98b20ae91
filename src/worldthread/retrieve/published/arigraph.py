"""Retrieval as in AriGraph (Anokhin et al. 2024): semantic search, then episodic search from what it found.

**Semantic search** (Algorithm 2). A queue begins with the question. For each query taken from it, the ``width``
statements of highest inner product that hold are found, and the objects of those join the queue as queries one level
deeper, each once; queries at level ``depth`` are not made. The paper has facts only; a thesis is treated as an edge
between all its objects. A statement's score is its inner product with the query that found it, less 2 for every level:
so the order is that of the search, and within a level that of likeness.

**Episodic search** (equation 1). Of an episode that asserts N statements, n >= 1 of which were found, the score is
n / max(N, 1) x ln(max(N, 1)): that of an episode with one statement is 0. The published code scores every episode, by
this divided by its maximum, plus the likeness of its text and the question (there: the plan) divided by its maximum;
it also counts n on what was found a step before, which a memory that is asked once does not have.

The paper gives the best two episodes to its agent; here all have scores, and whoever asks says how many are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.linking import Embed
from worldthread.retrieve.published.name_vectors import Floats, fill_name_vectors
from worldthread.retrieve.published.paths import PathDescriptions
from worldthread.retrieve.published.traversal import OBJECT, FilteredGraph, vertex_graph, vertex_of
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.types import Fact
from worldthread.vectors.exact import best

_LEVEL: Final = 2.0  # inner products of unit vectors lie within [-1, 1]
_MORE: Final = 4  # how many more statements are looked at when too few of the first hold
_IS_LIKE: Final = "is like"


@dataclass(frozen=True)
class AriGraphSettings:
    """Settings of :func:`arigraph`.

    Args:
        depth: how many levels of queries, the question being the first.
        width: how many statements a query finds at most.
        least: statements of a lower inner product are not found. The paper has no such threshold; the published code
            has .75, for Contriever.
        theses: whether theses are searched as well as facts.
        episodic: the score of an episode, as in the paper or as in the published code.
        embed: gives the vectors of names of objects. Without it, the vector of an object is the mean of those of the
            statements about it that hold, at length 1.
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
            raise InputError(f"episodic is 'paper' or 'code', not {self.episodic!r}")


def arigraph(query: Query, corpus: RetrievalIndex, settings: AriGraphSettings | None = None) -> Scores:
    """See the module. The path of a statement leads over the objects that were queried to find it."""
    settings = settings or AriGraphSettings()
    found = _semantic_search(query, corpus, settings)
    numbers = np.array(list(found), np.int64)
    statements = np.full(len(corpus.statements), -np.inf, np.float32)
    statements[numbers] = [finding.score for finding in found.values()]
    episodes = _episodic_search(query, corpus, numbers, settings)
    return Scores(episodes, statements, PathDescriptions(numbers, lambda number: _path(corpus, found, number)))


@dataclass(frozen=True)
class _Found:
    """How a statement was found.

    Args:
        score: see the module.
        name: the object that was the query; ``None``: the question was.
        before: the statement whose object that is.
    """

    score: float
    name: str | None = None
    before: int | None = None


def _semantic_search(query: Query, corpus: RetrievalIndex, settings: AriGraphSettings) -> dict[int, _Found]:
    """The statements found, by number, in the order of the search."""
    graph = corpus.graph
    walk = vertex_graph(corpus).walk(query.at, query.only_current)
    searched = _searched(corpus, settings.theses)
    found: dict[int, _Found] = {}
    queried: set[str] = set()
    level: list[tuple[str | None, int | None]] = [(None, None)]
    vectors = query.vector[None, :]
    for depth in range(settings.depth):
        following: dict[str, int] = {}
        likeness = corpus.statements.similarity_matrix(vectors)
        for (name, before), row in zip(level, likeness, strict=True):
            for number in _top(row, searched, walk, corpus.statement_ties, settings):
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
        vectors = _vectors_of(list(following), corpus, walk, settings.embed)
    return found


def _searched(corpus: RetrievalIndex, theses: bool) -> NDArray[np.bool_]:
    """Which statements are searched, by number: those that are asserted, and facts if there must be."""
    key = f"arigraph, theses: {theses}"
    if key not in corpus.derived:
        searched = corpus.links.episodes_of.filled
        if not theses:
            searched = searched & [corpus.graph.is_fact(number) for number in corpus.graph.statement_numbers]
        corpus.derived[key] = searched
    found: NDArray[np.bool_] = corpus.derived[key]
    return found


def _top(
    likeness: Floats,
    searched: NDArray[np.bool_],
    walk: FilteredGraph,
    ties: NDArray[np.uint64],
    settings: AriGraphSettings,
) -> list[int]:
    """The statements that a query finds, best first."""
    usable = np.where(searched, likeness, np.float32(-np.inf))
    if settings.least is not None:
        usable[likeness < settings.least] = -np.inf
    width = 2 * settings.width
    while True:
        likely = best(usable, width, ties)
        holding: list[int] = likely[walk.holds(likely)][: settings.width].tolist()
        if len(holding) == settings.width or len(likely) < width:
            return holding
        width *= _MORE


def _vectors_of(names: Sequence[str], corpus: RetrievalIndex, walk: FilteredGraph, embed: Embed | None) -> Floats:
    """Vectors of objects, shape (len(names), dimensions)."""
    over = walk.over
    numbers = np.array([over.find(name) for name in names], np.int64)
    if embed is not None:
        fill_name_vectors(over, numbers, embed)
        return over.name_vectors.rows[numbers]
    vectors = np.zeros((len(names), corpus.statements.dimensions), np.float32)
    for row, number in enumerate(numbers.tolist()):
        _, edges = walk.steps_from(vertex_of(number, OBJECT))
        labels = walk.labels[edges]
        total = corpus.statements.rows[np.unique(labels[labels >= 0])].sum(0)
        vectors[row] = total / max(float(np.linalg.norm(total)), 1e-9)
    return vectors


def _episodic_search(query: Query, corpus: RetrievalIndex, found: Numbers, settings: AriGraphSettings) -> Floats:
    """The score of every episode; ``-inf`` where there is none."""
    links = corpus.links
    searched = _searched(corpus, settings.theses)
    of_found = np.zeros(len(searched), bool)
    of_found[found] = True
    count = len(links.present)
    asserted = links.statements_of.columns
    episodes = np.repeat(np.arange(count), np.diff(links.statements_of.pointers))
    n = np.bincount(episodes[of_found[asserted]], minlength=count)
    total = np.maximum(np.bincount(episodes[searched[asserted]], minlength=count), 1)
    relevance = n / total * np.log(total)
    if settings.episodic == "paper":
        return np.where(n > 0, relevance, -np.inf).astype(np.float32)
    likeness = corpus.episodes.similarities(query.vector)
    both = _by_maximum(relevance) + _by_maximum(np.where(links.present, likeness, 0))
    return np.where(links.present, both, -np.inf).astype(np.float32)


def _by_maximum(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    highest = values.max(initial=0)
    return values / highest if highest > 0 else values


def _path(corpus: RetrievalIndex, found: dict[int, _Found], number: int) -> tuple[str, ...]:
    """From an object of the statement that the question found, by those that were queried, to a statement."""
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
        hop = _hop(corpus, statement, path[-1] if path else None, leave)
        if not path or not hop:
            path += hop
        else:
            path += hop[1:] if path[-1] == hop[0] else (_IS_LIKE, *hop)
    return path


def _hop(corpus: RetrievalIndex, number: int, enter: str | None, leave: str | None) -> tuple[str, ...]:
    """A statement as part of a path: an object, the relation (the text of a thesis), and another object."""
    names = corpus.graph.names_of(number)
    statement = corpus.graph.numbered_statement(number)
    if not names:
        return ()
    first = enter if enter in names else next((name for name in names if name != leave), names[0])
    joined = statement.relation if isinstance(statement, Fact) else str(statement)
    others = [name for name in names if name != first]
    last = leave if leave in others else next(iter(others), None) if isinstance(statement, Fact) else None
    return (first, joined, last) if last is not None else (first,)
