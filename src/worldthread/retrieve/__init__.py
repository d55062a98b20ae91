"""Retrieval: methods that score what a memory holds for a question. Functions over an index, without I/O."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.settings import Setting, as_arguments, require_settings, settings_of

__all__ = ["DEFAULT_METHOD", "METHODS", "Method", "Query", "RetrievalIndex", "Scores", "method", "method_settings"]

Method: TypeAlias = Callable[[Query, RetrievalIndex], Scores]
"""Scores every episode and statement of an index for a query."""

METHODS: Final[dict[str, str]] = {
    "thread": "worldthread.retrieve.thread:thread",
    "dense": "worldthread.retrieve.dense:dense",
    "lexical": "worldthread.retrieve.lexical:lexical",
    "fusion": "worldthread.retrieve.fusion:fusion",
    "astar": "worldthread_lab.published.astar:astar",
    "water_circles": "worldthread_lab.published.water_circles:water_circles",
    "beam": "worldthread_lab.published.beam:beam",
    "mixture": "worldthread_lab.published.mixture:mixture",
    "arigraph": "worldthread_lab.published.arigraph:arigraph",
    "pagerank": "worldthread_lab.published.hipporag:pagerank",
}
"""Where the function of each method is, by name of the method; imported on first use."""

DEFAULT_METHOD: Final = "thread"


def method(name: str) -> Method:
    """Return the retrieval method of a name.

    Args:
        name: a key of :data:`METHODS`; settings may follow it, such as ``"beam:max_depth=3,max_paths=5"``.

    Returns:
        A function from a query and an index to scores.

    Raises:
        InputError: no method has this name, or it has no such setting; the message lists those that there are.
    """
    name, colon, given = name.partition(":")
    function = _function(name)
    if not colon:
        return function
    known, settings = settings_of(function), _parsed(given)
    require_settings(f"the retrieval method {name!r}", known, settings)
    return functools.partial(function, **as_arguments(function, known, settings))


def method_settings(name: str) -> dict[str, Setting]:
    """Return the settings of a retrieval method.

    Args:
        name: a key of :data:`METHODS`.

    Returns:
        The settings by name.

    Raises:
        InputError: no method has this name; the message lists them.
    """
    return settings_of(_function(name))


def _parsed(text: str) -> dict[str, Any]:
    """Return settings of the form ``name=value,name=value``; a value that is JSON is decoded."""
    settings: dict[str, Any] = {}
    for pair in text.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().isidentifier():
            raise InputError(f"the settings of a method look like beam:max_depth=3,max_paths=5, not {text!r}")
        try:
            settings[key.strip()] = json.loads(value)
        except ValueError:
            settings[key.strip()] = value.strip()
    return settings


def _function(name: str) -> Method:
    if name not in METHODS:
        raise InputError(f"no retrieval method is called {name!r}; there are: {', '.join(sorted(METHODS))}")
    module, _, attribute = METHODS[name].partition(":")
    found: Method = getattr(importlib.import_module(module), attribute)
    return found
