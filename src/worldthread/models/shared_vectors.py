"""Vectors in a cache that many memories, processes and machines share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.caches import Cache
from worldthread.models.cached import VectorCache

VECTORS: Final = "vectors"
"""Kind of the entries that hold vectors."""


class SharedVectors:
    """Vectors by the name of the embedder and the text, of which only a digest is kept.

    A :class:`~worldthread.models.cached.VectorCache`.

    Args:
        cache: holds them; it is closed with this.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Look up vectors; see :meth:`worldthread.models.cached.VectorCache.get_vectors`."""
        keys = {_digest(model, text): text for text in texts}
        found = self._cache.get(list(keys))
        return {
            keys[key]: np.frombuffer(value, "<f2").astype(np.float32)
            for key, value in found.items()
            if value and not len(value) % 2
        }

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors; see :meth:`worldthread.models.cached.VectorCache.put_vectors`."""
        rows = vectors.astype("<f2")
        self._cache.put({_digest(model, text): row.tobytes() for text, row in zip(texts, rows, strict=True)})

    def close(self) -> None:
        """Close the cache. May be called again."""
        self._cache.close()


class ChainedVectors:
    """Looks into a first cache, then into a second, and keeps in the first what the second had.

    Args:
        first: the nearer one, such as a store.
        second: the one that others share.
    """

    def __init__(self, first: VectorCache, second: VectorCache) -> None:
        self._first = first
        self._second = second

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Look up vectors; see :meth:`worldthread.models.cached.VectorCache.get_vectors`."""
        known = dict(self._first.get_vectors(model, texts))
        missing = [text for text in texts if text not in known]
        found = self._second.get_vectors(model, missing) if missing else {}
        if found:
            self._first.put_vectors(model, list(found), _stacked(found.values()))
        return known | dict(found)

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors in both; see :meth:`worldthread.models.cached.VectorCache.put_vectors`."""
        self._first.put_vectors(model, texts, vectors)
        self._second.put_vectors(model, texts, vectors)


def _stacked(vectors: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.stack(list(vectors))


def _digest(model: str, text: str) -> str:
    return hashlib.blake2b(f"{model}\0{text}".encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
