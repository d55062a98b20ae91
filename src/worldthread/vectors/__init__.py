"""Tables of unit vectors and search in them: in this process, and on servers of vectors, by address.

>>> import numpy as np
>>> with open_vector_store("exact:", "notes", dimensions=2) as store:
...     store.add([VectorItem("a", np.array([1.0, 0.0]), {"user": "anna"}), VectorItem("b", np.array([0.6, 0.8]))])
...     [(hit.id, round(hit.score, 3)) for hit in store.search(np.array([1.0, 0.0]), k=2)]
[('a', 1.0), ('b', 0.6)]
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Final

from worldthread.errors import InputError
from worldthread.vectors.base import VectorHit, VectorItem, VectorStore

__all__ = ["VECTOR_STORES", "VectorHit", "VectorItem", "VectorStore", "open_vector_store"]

VECTOR_STORES: Final[dict[str, str]] = {
    "exact": "worldthread.vectors.embedded:EmbeddedVectorStore",
    "milvus": "worldthread.vectors.milvus:MilvusVectorStore",
    "milvus+http": "worldthread.vectors.milvus:MilvusVectorStore",
    "milvus+https": "worldthread.vectors.milvus:MilvusVectorStore",
    "postgres": "worldthread.vectors.pgvector:PostgresVectorStore",
    "postgresql": "worldthread.vectors.pgvector:PostgresVectorStore",
    "qdrant": "worldthread.vectors.qdrant:QdrantVectorStore",
    "qdrant+http": "worldthread.vectors.qdrant:QdrantVectorStore",
    "qdrant+https": "worldthread.vectors.qdrant:QdrantVectorStore",
    "quantised": "worldthread.vectors.embedded:EmbeddedVectorStore",
}
"""The class of every store of vectors by the scheme of its addresses; imported when one is opened."""


def open_vector_store(address: str, name: str, dimensions: int) -> VectorStore:
    """Open a table of vectors by the address of its store, and make it if there is none.

    Args:
        address: ``"exact:"`` or ``"quantised:"`` (in the RAM of this process), ``"postgresql://..."`` (pgvector),
            ``"qdrant:FOLDER"`` or ``"qdrant+http://HOST:PORT"``, ``"milvus:FILE.db"`` (Milvus Lite) or
            ``"milvus+http://HOST:PORT"``; ``qdrant+https`` and ``milvus+https`` with TLS.
        name: of the table; the others in the same store are never seen.
        dimensions: length of a vector.

    Returns:
        The store; close it, or use it as a context manager.

    Raises:
        InputError: there is no store for this scheme, or an argument cannot be used.
        MissingExtraError: the client of the server is not installed.
        StoreError: the store cannot be opened, or its table has vectors of another length.
    """
    scheme, colon, _ = address.partition(":")
    if not colon or scheme.lower() not in VECTOR_STORES:
        known = ", ".join(VECTOR_STORES)
        raise InputError(f"there is no store of vectors for the scheme {scheme[:20]!r}; schemes are: {known}")
    opened: VectorStore = resolve_name(VECTOR_STORES[scheme.lower()])(address, name, dimensions)
    return opened
