"""The chat model, the extractor and the embedder of a memory, each made when it is first needed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from worldthread.arguments import require_methods
from worldthread.errors import InputError
from worldthread.models.cached import CachedEmbedder

if TYPE_CHECKING:
    from worldthread.extract.base import Extractor
    from worldthread.models import ConfiguredChat, Embedder
    from worldthread.models.cached import VectorCache
    from worldthread.models.chat import ChatModel


class MemoryModels:
    """What a memory asks when it reads and searches texts.

    A model and an embedder that are given by name are made in the constructor, so that a wrong name is an error before
    any file is created.

    Args:
        model: see :class:`~worldthread.memory.Memory`.
        extractor: see :class:`~worldthread.memory.Memory`.
        embedder: see :class:`~worldthread.memory.Memory`.

    Raises:
        InputError: an argument cannot be used.
        ModelConfigError: the named model cannot be reached as configured.
    """

    def __init__(
        self, model: ChatModel | str | None, extractor: Extractor | None, embedder: Embedder | str | None
    ) -> None:
        if isinstance(model, str):
            if not model.strip():
                raise InputError('the name of a model must not be empty; "none" does without one')
        elif model is not None:
            require_methods(model, ("complete",), "model", "a chat model, the name of one, or None")
        if embedder is not None and not isinstance(embedder, str):
            require_methods(embedder, ("embed",), "embedder", "an embedder, the name of one, or None")
        if extractor is not None:
            require_methods(extractor, ("extract", "outdate"), "extractor", "an extractor of statements, or None")
        self._given = model, extractor, embedder
        self._own_model: ConfiguredChat | None = None
        if isinstance(embedder, str):
            _ = self._plain_embedder
        if isinstance(model, str):
            _ = self.model

    def copy(self) -> MemoryModels:
        """Return the same configuration for another memory, which closes its own model."""
        copied = object.__new__(type(self))
        copied._given, copied._own_model = self._given, None
        return copied

    @cached_property
    def model(self) -> ChatModel | None:
        """The chat model; ``None`` without one.

        Raises:
            ModelConfigError: the model cannot be reached as configured.
        """
        model = self._given[0]
        if model is not None and not isinstance(model, str):
            return model
        from worldthread.models import chat_model

        self._own_model = chat_model(model)
        return self._own_model

    @cached_property
    def extractor(self) -> Extractor:
        """What turns text into statements."""
        return self._make_extractor(fresh=False)

    def fresh_extractor(self) -> Extractor:
        """Return an extractor that asks the model even where the cache holds an answer."""
        return self._make_extractor(fresh=True)

    def _make_extractor(self, *, fresh: bool) -> Extractor:
        extractor = self._given[1]
        if extractor is not None:
            return extractor
        model = self.model
        if model is not None:
            from worldthread.extract.model import ModelExtractor
            from worldthread.models import ConfiguredChat

            return ModelExtractor(model.without_cache() if fresh and isinstance(model, ConfiguredChat) else model)
        from worldthread.extract.parsed.parser import is_installed

        if is_installed():
            from worldthread.extract.parsed.extractor import ParsedExtractor

            return ParsedExtractor()
        from worldthread.extract.prose.extractor import ProseExtractor

        return ProseExtractor()

    def embedder(self, cache: VectorCache) -> CachedEmbedder:
        """Return the embedder, which keeps its vectors in ``cache``."""
        return CachedEmbedder(self._plain_embedder, cache)

    @cached_property
    def _plain_embedder(self) -> Embedder:
        embedder = self._given[2]
        if embedder is not None and not isinstance(embedder, str):
            return embedder
        from worldthread.models import embedder as make_embedder

        return make_embedder(embedder)

    def close(self) -> None:
        """Close the model if it was made here."""
        if self._own_model is not None:
            self._own_model.close()
