"""Memory modules: what an agent is reminded of before it plans and acts, each behind one small contract."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import TypeAlias

from worldthread.agents.memory_modules.base import Asks, Means, Recollection, Situation
from worldthread.errors import InputError

__all__ = ["RECOLLECTIONS", "Asks", "MakeRecollection", "Means", "Recollection", "Situation", "make_recollection"]

MakeRecollection: TypeAlias = Callable[[Means], Recollection]
"""Makes a recollection: the class of one, or a function with settings of its own."""

RECOLLECTIONS: dict[str, str] = {
    "none": "worldthread.agents.memory_modules.history:Nothing",
    "full_history": "worldthread.agents.memory_modules.history:FullHistory",
    "summary": "worldthread.agents.memory_modules.summary:Summary",
    "rag": "worldthread.agents.memory_modules.rag:Rag",
    "reflexion": "worldthread.agents.memory_modules.reflexion:Reflexion",
    "simulacra": "worldthread.agents.memory_modules.simulacra:Simulacra",
    "arigraph": "worldthread.agents.memory_modules.arigraph:AriGraph",
    "worldthread": "worldthread.agents.memory_modules.worldthread:Worldthread",
    "oracle": "worldthread.agents.memory_modules.oracle:Oracle",
}
"""Recollections by name, as ``"module:Class"``, imported when one is made."""


def make_recollection(name: str, means: Means) -> Recollection:
    """A recollection by name.

    Raises:
        InputError: none is of that name, the message lists those that are; or it needs more means.
    """
    if name not in RECOLLECTIONS:
        near = difflib.get_close_matches(name, RECOLLECTIONS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no recollection named {name!r}{hint} (there are: {', '.join(RECOLLECTIONS)})")
    module, _, attribute = RECOLLECTIONS[name].partition(":")
    make: MakeRecollection = getattr(importlib.import_module(module), attribute)
    return make(means)
