"""An embedder that looks into a cache before it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import ModelError, StoreError
from worldthread.models.base import Embedder, embed_queries, require_texts


class VectorCache(Protocol):
    """Stores vectors by model and text. Implementations are thread-safe."""

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Look up vectors.

        Args:
            model: name of the embedder.
            texts: the texts to look up.

        Returns:
            The vectors that are stored for ``model``, by text, each of shape ``(dimensions,)``; texts without a stored
            vector are absent.

        Raises:
            StoreError: the cache cannot be read.
        """

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors; half precision is enough.

        Args:
            model: name of the embedder.
            texts: distinct texts.
            vectors: row ``i`` is the vector of ``texts[i]``; shape ``(len(texts), dimensions)``.

        Raises:
            StoreError: the cache cannot be written.
        """


class CachedEmbedder:
    """Returns the vectors of ``embedder``, rounded to half precision, and embeds each distinct text once.

    Args:
        embedder: computes the vectors that are not in the cache.
        cache: stores vectors under the name of ``embedder``. If it cannot store them (for example because the disk is
            full), embedding continues and they are computed again later.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def inner(self) -> Embedder:
        """The wrapped embedder."""
        return self._embedder

    @property
    def name(self) -> str:
        """The name of the wrapped embedder."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; see :meth:`worldthread.models.Embedder.embed`.

        Args:
            texts: the texts.

        Returns:
            One row for each text.

        Raises:
            ModelError: the embedder returned something other than its contract says, or the cache holds a vector of
                another length under this name.
        """
        checked = require_texts(texts)
        vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
        if not checked:
            return vectors
        distinct = list(dict.fromkeys(checked))
        known = dict(self._cache.get_vectors(self.name, distinct))
        for text, vector in known.items():
            if vector.shape != (self.dimensions,):
                raise ModelError(
                    f"the cache holds a vector of shape {vector.shape} for {text!r} under the name {self.name!r}, "
                    f"whose vectors have shape ({self.dimensions},): clear the cache, or rename the embedder"
                )
        unknown = [text for text in distinct if text not in known]
        if unknown:
            computed = self.compute(unknown)
            with suppress(StoreError):
                self._cache.put_vectors(self.name, unknown, computed)
            known.update(zip(unknown, computed, strict=True))
        for row, text in enumerate(checked):
            vectors[row] = known[text]
        # round as the cache does, so that a vector is the same whether it was stored or computed
        rounded = vectors.astype(np.float16).astype(np.float32)
        lengths = np.linalg.norm(rounded, axis=1, keepdims=True)
        np.divide(rounded, lengths, out=rounded, where=lengths > 0)
        return rounded

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions in full precision, without the cache, so that they leave no trace in it.

        Args:
            texts: the questions.

        Returns:
            One row for each question, as the wrapped embedder returns it.

        Raises:
            ModelError: the embedder returned something other than its contract says.
        """
        checked = require_texts(texts)
        return self._checked(embed_queries(self._embedder, checked), len(checked))

    def compute(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts in full precision, without the cache.

        Args:
            texts: the texts.

        Returns:
            One row for each text, as the wrapped embedder returns it.

        Raises:
            ModelError: the embedder returned something other than its contract says.
        """
        checked = require_texts(texts)
        return self._checked(self._embedder.embed(checked), len(checked))

    def _checked(self, vectors: object, count: int) -> NDArray[np.float32]:
        """Return vectors that are what the contract of embedders says."""
        wanted = (count, self.dimensions)
        if not isinstance(vectors, np.ndarray) or vectors.dtype.kind != "f" or vectors.shape != wanted:
            given = (
                f"{vectors.dtype} of shape {vectors.shape}"
                if isinstance(vectors, np.ndarray)
                else type(vectors).__name__
            )
            raise ModelError(
                f"the embedder {self.name!r} returned {given} for {count} texts; expected an array of float32 "
                f"vectors of shape {wanted}"
            )
        if not np.isfinite(vectors).all():
            raise ModelError(f"the embedder {self.name!r} returned a vector with a number that is not finite")
        return vectors.astype(np.float32, copy=False)
