"""An embedder that asks a cache first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import ModelError, StoreError
from worldthread.models.base import Embedder, require_texts


class VectorCache(Protocol):
    """Where vectors are kept, by model and text."""

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors, shape ``(dimensions,)``, of those ``texts`` that are known for ``model``, by text."""

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep row ``i`` of ``vectors``, shape ``(len(texts), dimensions)``, for ``texts[i]``; all are distinct.

        Half precision is enough.
        """


class CachedEmbedder:
    """Gives what ``embedder`` would give, rounded to half precision, and embeds each distinct text once.

    Args:
        embedder: computes what the cache does not know.
        cache: keeps vectors under the name of ``embedder``. That it cannot (the disk is full) stops nobody: they are
            computed again.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def name(self) -> str:
        """The name of the embedder behind."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`worldthread.models.Embedder.embed`.

        Raises:
            ModelError: the embedder did not give what it should, or the cache holds a vector of another length under
                this name.
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
        # as the cache may keep them, so that a vector is the same whether it was kept or computed
        rounded = vectors.astype(np.float16).astype(np.float32)
        lengths = np.linalg.norm(rounded, axis=1, keepdims=True)
        np.divide(rounded, lengths, out=rounded, where=lengths > 0)
        return rounded

    def compute(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """What the embedder behind gives, in full precision; the cache is neither asked nor told.

        Raises:
            ModelError: the embedder did not give what it should.
        """
        checked = require_texts(texts)
        vectors: object = self._embedder.embed(checked)
        wanted = (len(checked), self.dimensions)
        if not isinstance(vectors, np.ndarray) or vectors.dtype.kind != "f" or vectors.shape != wanted:
            given = (
                f"{vectors.dtype} of shape {vectors.shape}"
                if isinstance(vectors, np.ndarray)
                else type(vectors).__name__
            )
            raise ModelError(
                f"the embedder {self.name!r} gave {given} for {len(checked)} texts; an array of float32 vectors of "
                f"shape {wanted} is wanted"
            )
        if not np.isfinite(vectors).all():
            raise ModelError(f"the embedder {self.name!r} gave a vector with a number that is not finite")
        return vectors.astype(np.float32, copy=False)
