"""Retrieval: methods that score what a memory holds for a question. Functions over an index, without I/O."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final, TypeAlias

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores

__all__ = ["DEFAULT_METHOD", "METHODS", "Method", "Query", "RetrievalIndex", "Scores", "method"]

Method: TypeAlias = Callable[[Query, RetrievalIndex], Scores]
"""Scores every episode and statement of an index for a query."""

METHODS: Final[dict[str, str]] = {
    "thread": "worldthread.retrieve.thread:thread",
    "dense": "worldthread.retrieve.dense:dense",
    "lexical": "worldthread.retrieve.lexical:lexical",
    "fusion": "worldthread.retrieve.fusion:fusion",
    "astar": "worldthread.retrieve.published.astar:astar",
    "water_circles": "worldthread.retrieve.published.water_circles:water_circles",
    "beam": "worldthread.retrieve.published.beam:beam",
    "mixture": "worldthread.retrieve.published.mixture:mixture",
    "arigraph": "worldthread.retrieve.published.arigraph:arigraph",
    "pagerank": "worldthread.retrieve.published.hipporag:pagerank",
}
"""Where the function of each method is, by name of the method; imported on first use."""

DEFAULT_METHOD: Final = "thread"


def method(name: str) -> Method:
    """Return the retrieval method of a name.

    Args:
        name: a key of :data:`METHODS`.

    Returns:
        A function from a query and an index to scores.

    Raises:
        InputError: no method has this name; the message lists them.
    """
    if name not in METHODS:
        raise InputError(f"no retrieval method is called {name!r}; there are: {', '.join(sorted(METHODS))}")
    module, _, attribute = METHODS[name].partition(":")
    found: Method = getattr(importlib.import_module(module), attribute)
    return found
