"""worldthread: a world-model memory for agents. The graph is a fold of its episodes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldthread.errors import WorldthreadError
    from worldthread.memory import Memory
    from worldthread.types import Ending, Episode, Extraction, Fact, Interval, Thesis, Version

__version__ = "0.1.0"

__all__ = [
    "Ending",
    "Episode",
    "Extraction",
    "Fact",
    "Interval",
    "Memory",
    "Thesis",
    "Version",
    "WorldthreadError",
    "__version__",
]

_HOMES = {
    "Ending": "worldthread.types",
    "Episode": "worldthread.types",
    "Fact": "worldthread.types",
    "Interval": "worldthread.types",
    "Memory": "worldthread.memory",
    "Extraction": "worldthread.types",
    "Thesis": "worldthread.types",
    "Version": "worldthread.types",
    "WorldthreadError": "worldthread.errors",
}
# imported when first asked for, so that `import worldthread` stays light


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
