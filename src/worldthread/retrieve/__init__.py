"""Retrieval: methods that score what a memory holds for a question. Functions over an index, without I/O."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.support import extensions
from worldthread.support.settings import Setting, as_arguments, require_settings, settings_of

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "Method",
    "Query",
    "RetrievalIndex",
    "Scores",
    "method",
    "method_settings",
    "methods",
]

Method: TypeAlias = Callable[[Query, RetrievalIndex], Scores]
"""Scores every episode and statement of an index for a query."""

METHODS: Final[dict[str, str]] = {
    "thread": "worldthread.retrieve.thread:thread",
    "dense": "worldthread.retrieve.dense:dense",
    "lexical": "worldthread.retrieve.lexical:lexical",
    "fusion": "worldthread.retrieve.fusion:fusion",
}
"""Where the function of each method of the memory itself is, by name; imported on first use."""

DEFAULT_METHOD: Final = "thread"


def methods() -> tuple[str, ...]:
    """Return the names of all retrieval methods: those of the memory itself, then those that other packages add.

    Returns:
        The names; see :mod:`worldthread.support.extensions`.

    Raises:
        ExtensionError: two methods have one name.
    """
    return (*METHODS, *extensions.extensions(extensions.METHODS, METHODS))


def method(name: str) -> Method:
    """Return the retrieval method of a name.

    Args:
        name: one of :func:`methods`; settings may follow it, such as ``"beam:max_depth=3,max_paths=5"``.

    Returns:
        A function from a query and an index to scores.

    Raises:
        InputError: no method has this name, or it has no such setting; the message lists those that there are.
        ExtensionError: another package adds the method, and it cannot be imported.
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
        name: one of :func:`methods`.

    Returns:
        The settings by name.

    Raises:
        InputError: no method has this name; the message lists them.
        ExtensionError: another package adds the method, and it cannot be imported.
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
    found: Method
    if name in METHODS:  # first, so that a question does not wait for the metadata of all packages
        found = resolve_name(METHODS[name])
    elif name in methods():
        found = extensions.load_extension(extensions.METHODS, name)
    else:
        raise InputError(f"no retrieval method is called {name!r}; there are: {', '.join(sorted(methods()))}")
    return found
