"""Memory modules: what an agent recalls before it plans and acts, behind one small contract."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, TypeAlias

from worldthread.errors import InputError
from worldthread.support.settings import require_settings, settings_of
from worldthread_lab.agents.memory_modules.base import MemoryModule, ModelCaller, ModuleContext, Situation

__all__ = [
    "MEMORY_MODULES",
    "MemoryModule",
    "MemoryModuleFactory",
    "ModelCaller",
    "ModuleContext",
    "Situation",
    "make_memory_module",
    "memory_module_class",
]

MemoryModuleFactory: TypeAlias = Callable[[ModuleContext], MemoryModule]
"""Makes a memory module: its class, or a function that sets further arguments."""

MEMORY_MODULES: dict[str, str] = {
    "none": "worldthread_lab.agents.memory_modules.history:NoMemoryModule",
    "full_history": "worldthread_lab.agents.memory_modules.history:FullHistoryModule",
    "summary": "worldthread_lab.agents.memory_modules.summary:SummaryModule",
    "rag": "worldthread_lab.agents.memory_modules.rag:RagModule",
    "reflexion": "worldthread_lab.agents.memory_modules.reflexion:ReflexionModule",
    "simulacra": "worldthread_lab.agents.memory_modules.simulacra:SimulacraModule",
    "arigraph": "worldthread_lab.agents.memory_modules.arigraph:AriGraphModule",
    "worldthread": "worldthread_lab.agents.memory_modules.worldthread:WorldthreadModule",
    "graphiti": "worldthread_lab.agents.memory_modules.graphiti:GraphitiModule",
    "oracle": "worldthread_lab.agents.memory_modules.oracle:OracleModule",
}
"""Memory modules by name, as ``"module:Class"``, imported when one is made."""


def make_memory_module(name: str, context: ModuleContext, settings: Mapping[str, Any] | None = None) -> MemoryModule:
    """Make a memory module by name.

    Args:
        name: one of :data:`MEMORY_MODULES`.
        context: what the module may use.
        settings: further arguments of its class.

    Returns:
        The memory module, before its first percept.

    Raises:
        InputError: no memory module has that name, it has no such setting (the message lists the names), or ``context``
            lacks what it needs.
    """
    make: Callable[..., MemoryModule] = memory_module_class(name)
    require_settings(f"the memory module {name!r}", settings_of(memory_module_class(name)), settings or {})
    return make(context, **(settings or {}))


def memory_module_class(name: str) -> type[MemoryModule]:
    """Return the class of a memory module, imported.

    Args:
        name: one of :data:`MEMORY_MODULES`.

    Returns:
        The class.

    Raises:
        InputError: no memory module has that name; the message lists the names.
    """
    if name not in MEMORY_MODULES:
        near = difflib.get_close_matches(name, MEMORY_MODULES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"no memory module named {name!r}{hint} (memory modules are: {', '.join(MEMORY_MODULES)})")
    found: type[MemoryModule] = resolve_name(MEMORY_MODULES[name])
    return found
