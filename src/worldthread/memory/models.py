"""The chat model, the extractor and the embedder of a memory, each made when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from worldthread.errors import InputError
from worldthread.models.cached import CachedEmbedder
from worldthread.support.arguments import require_methods

if TYPE_CHECKING:
    from worldthread.extract.base import Extractor
    from worldthread.models import ConfiguredChat, Embedder
    from worldthread.models.cached import VectorCache
    from worldthread.models.chat import ChatModel
    from worldthread.models.shared_vectors import SharedVectors


class MemoryModels:
    """What a memory asks when it reads and searches texts.

    A model and an embedder that are given by name are made in the constructor, so that a wrong name is an error before
    any file is created.

    Args:
        model: see :class:`~worldthread.Memory`.
        extractor: see :class:`~worldthread.Memory`.
        embedder: see :class:`~worldthread.Memory`.

    Raises:
        InputError: an argument cannot be used.
        ModelConfigError: the named model cannot be reached as configured.
    """

    def __init__(
        self, model: ChatModel | str | None, extractor: Extractor | str | None, embedder: Embedder | str | None
    ) -> None:
        if isinstance(model, str):
            if not model.strip():
                raise InputError('the name of a model must not be empty; "none" does without one')
        elif model is not None:
            require_methods(model, ("complete",), "model", "a chat model, the name of one, or None")
        if embedder is not None and not isinstance(embedder, str):
            require_methods(embedder, ("embed",), "embedder", "an embedder, the name of one, or None")
        if extractor is None or isinstance(extractor, str):
            from worldthread.extract.registry import extractor as extractor_named

            extractor = extractor_named(extractor)
        else:
            wanted = "an extractor of statements, the name of one, or None"
            require_methods(extractor, ("extract", "outdate"), "extractor", wanted)
        self._shared = _SharedModels(model, embedder)
        self._extractor = extractor
        self._is_open = True
        if isinstance(embedder, str):
            _ = self._shared.named_embedder
        if isinstance(model, str):
            _ = self.model

    def copy(self) -> MemoryModels:
        """Return the models for another memory, which shares them: they are made once, and closed with the last."""
        copied = object.__new__(type(self))
        copied._shared, copied._extractor = self._shared.for_another(), self._extractor
        copied._is_open = True
        return copied

    @property
    def model(self) -> ChatModel | None:
        """The chat model; ``None`` without one.

        Raises:
            ModelConfigError: the model cannot be reached as configured.
        """
        return self._shared.model

    @cached_property
    def extractor(self) -> Extractor:
        """What turns text into statements."""
        return self._make_extractor(fresh=False)

    def fresh_extractor(self) -> Extractor:
        """Return an extractor that asks the model even where the cache holds an answer."""
        return self._make_extractor(fresh=True)

    def _make_extractor(self, *, fresh: bool) -> Extractor:
        if self._extractor is not None:
            return self._extractor
        model = self.model
        if model is not None:
            from worldthread.extract.model import ModelExtractor
            from worldthread.models import ConfiguredChat

            return ModelExtractor(model.without_cache() if fresh and isinstance(model, ConfiguredChat) else model)
        from worldthread.extract.reader.extractor import ReaderExtractor

        return ReaderExtractor()

    def embedder(self, cache: VectorCache, known: Callable[[], Collection[str]]) -> CachedEmbedder:
        """Return the embedder, which keeps its vectors in ``cache``.

        Args:
            cache: keeps the vectors.
            known: returns the names of the embedders whose vectors the memory has; it is called when no embedder was
                chosen.

        Returns:
            The embedder.
        """
        shared = self._shared.vectors
        if shared is not None:
            from worldthread.models.shared_vectors import ChainedVectors

            cache = ChainedVectors(cache, shared)
        return CachedEmbedder(self._shared.named_embedder or self._shared.default_embedder(known), cache)

    def close(self) -> None:
        """Close the model if it was made here and no other memory uses it. May be called again."""
        if self._is_open:
            self._is_open = False
            self._shared.close()


class _SharedModels:
    """The model and the embedder of all namespaces of a file, each made when it is first needed. Thread-safe.

    Args:
        model: as given to the first memory.
        embedder: as given to the first memory.
    """

    def __init__(self, model: ChatModel | str | None, embedder: Embedder | str | None) -> None:
        self._given = model, embedder
        self._lock = threading.Lock()
        self._users = 1
        self._own_model: ConfiguredChat | None = None
        self._has_own_model = False
        self._own_embedder: Embedder | None = None
        self._default_embedders: dict[str, Embedder] = {}
        self._vectors: SharedVectors | None = None
        self._has_vectors = False

    def for_another(self) -> _SharedModels:
        """Return these models for one more memory."""
        with self._lock:
            self._users += 1
        return self

    @property
    def model(self) -> ChatModel | None:
        """The chat model; ``None`` without one."""
        model = self._given[0]
        if model is not None and not isinstance(model, str):
            return model
        with self._lock:
            if not self._has_own_model:
                from worldthread.models import chat_model

                self._own_model = chat_model(model)
                self._has_own_model = True
            return self._own_model

    @property
    def vectors(self) -> SharedVectors | None:
        """The vectors that memories share; ``None`` unless the configuration says that they do."""
        with self._lock:
            if not self._has_vectors:
                from worldthread.models.config import load_cache_config

                config = load_cache_config()
                if config is not None and config.vectors:
                    from worldthread.caches import open_cache
                    from worldthread.models.shared_vectors import VECTORS, SharedVectors

                    self._vectors = SharedVectors(open_cache(config.address, VECTORS, config.limits))
                self._has_vectors = True
            return self._vectors

    @property
    def named_embedder(self) -> Embedder | None:
        """The embedder that was given, or given by name; ``None`` without one."""
        embedder = self._given[1]
        if not isinstance(embedder, str):
            return embedder
        with self._lock:
            if self._own_embedder is None:
                from worldthread.models import embedder as make_embedder

                self._own_embedder = make_embedder(embedder)
            return self._own_embedder

    def default_embedder(self, known: Callable[[], Collection[str]]) -> Embedder:
        """Return the embedder of a memory whose vectors were made by the embedders with the ``known`` names."""
        from worldthread.models import default_embedder

        made = default_embedder(known)
        with self._lock:  # loading one takes a second and 100 MB, so memories share it
            return self._default_embedders.setdefault(made.name, made)

    def close(self) -> None:
        """Note that a memory needs them no longer; the last one closes the model."""
        with self._lock:
            self._users -= 1
            if not self._users and self._own_model is not None:
                self._own_model.close()
            if not self._users and self._vectors is not None:
                self._vectors.close()
