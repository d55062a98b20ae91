"""Models: chat models, and embedders that turn texts into unit vectors.

>>> from worldthread.models import embedder
>>> embedder("fake").embed(["a rusty key", "the rusty keys"]).shape
(2, 256)
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import InputError
from worldthread.models.base import Embedder
from worldthread.models.cached import CachedEmbedder, VectorCache
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage

if TYPE_CHECKING:
    from worldthread.models.configured import ConfiguredChat, chat_model
    from worldthread.models.fake_chat import FakeChat

__all__ = [
    "EMBEDDERS",
    "CachedEmbedder",
    "ChatAnswer",
    "ChatModel",
    "ChatRequest",
    "ConfiguredChat",
    "Embedder",
    "FakeChat",
    "Message",
    "Usage",
    "VectorCache",
    "chat_model",
    "embedder",
]

EMBEDDERS: Final[dict[str, str]] = {
    "minilm": "worldthread.models.minilm:MiniLMEmbedder",
    "wordllama": "worldthread.models.static:WordLlamaEmbedder",
    "fake": "worldthread.models.fake:FakeEmbedder",
}
"""The class of every embedder by its short name; a class is imported on first use."""

_LAZY: Final = {
    "ConfiguredChat": "worldthread.models.configured",
    "FakeChat": "worldthread.models.fake_chat",
    "chat_model": "worldthread.models.configured",
}
# imported on first use: programs that only embed need none of them


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


ENVIRONMENT_VARIABLE: Final = "WORLDTHREAD_EMBEDDER"


def embedder(name: str | None = None) -> Embedder:
    """Make an embedder; its model is loaded on first use.

    Args:
        name: a key of :data:`EMBEDDERS`; ``None`` takes the environment variable ``WORLDTHREAD_EMBEDDER`` or, if not
            set, ``"minilm"``.

    Returns:
        A new embedder.

    Raises:
        InputError: no embedder has that name.
    """
    origin = ""
    if name is None:
        name = os.environ.get(ENVIRONMENT_VARIABLE)
        origin = f" (from ${ENVIRONMENT_VARIABLE})"
    name = name or "minilm"
    if name not in EMBEDDERS:
        raise InputError(f"no embedder is called {name!r}{origin}; embedders are: {', '.join(sorted(EMBEDDERS))}")
    module, _, attribute = EMBEDDERS[name].partition(":")
    made: Embedder = getattr(importlib.import_module(module), attribute)()
    return made
