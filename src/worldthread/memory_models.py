"""The chat model, the extractor and the embedder of a memory, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Collection
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
        self._chosen_embedder: Embedder | None = None
        if isinstance(embedder, str):
            _ = self._named_embedder
        if isinstance(model, str):
            _ = self.model

    def copy(self) -> MemoryModels:
        """Return the same configuration for another memory, which closes its own model."""
        copied = object.__new__(type(self))
        copied._given, copied._own_model, copied._chosen_embedder = self._given, None, None
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

    def embedder(self, cache: VectorCache, known: Callable[[], Collection[str]]) -> CachedEmbedder:
        """Return the embedder, which keeps its vectors in ``cache``.

        Args:
            cache: keeps the vectors.
            known: returns the names of the embedders whose vectors the memory has; it is called when no embedder was
                chosen.

        Returns:
            The embedder.
        """
        embedder = self._given[2]
        if embedder is None:
            from worldthread.models import default_embedder

            self._chosen_embedder = self._chosen_embedder or default_embedder(known)
            return CachedEmbedder(self._chosen_embedder, cache)
        return CachedEmbedder(embedder if not isinstance(embedder, str) else self._named_embedder, cache)

    @cached_property
    def _named_embedder(self) -> Embedder:
        """The embedder that was given by name."""
        from worldthread.models import embedder as make_embedder

        name = self._given[2]
        assert isinstance(name, str)
        return make_embedder(name)

    def close(self) -> None:
        """Close the model if it was made here."""
        if self._own_model is not None:
            self._own_model.close()
