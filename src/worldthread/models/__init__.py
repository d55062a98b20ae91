"""Embedding models: texts into unit vectors.

>>> from worldthread.models import embedder
>>> embedder("fake").embed(["a rusty key", "the rusty keys"]).shape
(2, 256)
"""

from __future__ import annotations

import importlib
import os
from typing import Final

from worldthread.errors import InputError
from worldthread.models.base import Embedder
from worldthread.models.cached import CachedEmbedder, VectorCache

__all__ = ["EMBEDDERS", "CachedEmbedder", "Embedder", "VectorCache", "embedder"]

EMBEDDERS: Final[dict[str, str]] = {
    "minilm": "worldthread.models.minilm:MiniLMEmbedder",
    "wordllama": "worldthread.models.static:WordLlamaEmbedder",
    "fake": "worldthread.models.fake:FakeEmbedder",
}
"""The class of every embedder by its short name, imported when it is asked for."""

ENVIRONMENT_VARIABLE: Final = "WORLDTHREAD_EMBEDDER"


def embedder(name: str | None = None) -> Embedder:
    """A new embedder; its model is loaded when it is first used.

    Args:
        name: a key of :data:`EMBEDDERS`. ``None`` takes ``$WORLDTHREAD_EMBEDDER``, and ``"minilm"`` without it.

    Raises:
        InputError: there is no embedder of that name.
    """
    origin = ""
    if name is None:
        name = os.environ.get(ENVIRONMENT_VARIABLE)
        origin = f" (from ${ENVIRONMENT_VARIABLE})"
    name = name or "minilm"
    if name not in EMBEDDERS:
        raise InputError(f"no embedder is called {name!r}{origin}; there are: {', '.join(sorted(EMBEDDERS))}")
    module, _, attribute = EMBEDDERS[name].partition(":")
    made: Embedder = getattr(importlib.import_module(module), attribute)()
    return made
