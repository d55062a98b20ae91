"""Where the vectors of a memory are searched: in RAM, or in a store of vectors by address."""

from __future__ import annotations

import hashlib
import os
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final

from worldthread.errors import InputError
from worldthread.support.arguments import require_query
from worldthread.vectors import VECTOR_STORES, VectorStore, open_vector_store

if TYPE_CHECKING:
    from worldthread.models import Embedder
    from worldthread.stores import Store

SAME_SERVER: Final = "pgvector"
"""The address that stands for the server of the memory itself."""

_VARIABLE: Final = "WORLDTHREAD_VECTORS"  # that :mod:`worldthread.models.config` reads, which takes long to import
_IN_RAM: Final = ("exact", "quantised")
_POSTGRESQL: Final = ("postgres://", "postgresql://")


class MemoryVectors:
    """The store of the vectors of a memory, opened when it is first needed.

    Its tables are named by a digest of the place of the memory, of its namespace and of the embedder: a memory that is
    moved or copied has other tables.

    Args:
        store: holds the record.
        address: of the store of vectors; ``None`` takes the configured one, or searches in RAM if there is none.
        path: of the memory, as it was opened.

    Raises:
        InputError: there is no such store, or a memory in RAM names one that would outlive it.
        FormatError: the configuration file cannot be read.
    """

    def __init__(self, store: Store, address: str | None, path: str | os.PathLike[str] | None) -> None:
        self._store = store
        self._server = path if isinstance(path, str) and path.startswith(_POSTGRESQL) else None
        self._opened: tuple[VectorStore, VectorStore] | None = None
        self._given = None if address is None else require_query(address, "the address of a store of vectors")
        if address is not None or _VARIABLE in os.environ:
            self.address  # noqa: B018 (a wrong one is refused before anything is recorded)

    def copy(self, store: Store) -> MemoryVectors:
        """Return the same for another namespace of the same file or server."""
        other = copy(self)  # with the address, if it is known
        other._store, other._opened = store, None
        return other

    @cached_property
    def address(self) -> str | None:
        """The address of the store; ``None`` for search in RAM. It may hold a password.

        Raises:
            FormatError: the configuration file cannot be read.
            InputError: there is no such store.
        """
        if self._given is not None:
            return self._usable(self._given)
        if self._is_in_ram:
            return None
        from worldthread.models.config import load_vectors_address

        configured = load_vectors_address()
        return None if configured is None else self._usable(configured)

    @property
    def _is_in_ram(self) -> bool:
        return self._store.path is None and self._server is None

    def _usable(self, address: str) -> str:
        if address == SAME_SERVER:
            if self._server is None:
                raise InputError(
                    "pgvector stands for the PostgreSQL server of the memory, and this memory is on none: give the"
                    " address of a store of vectors"
                )
            return self._server
        scheme = address.partition(":")[0].lower()
        if ":" not in address or scheme not in VECTOR_STORES:
            known = ", ".join((SAME_SERVER, *VECTOR_STORES))
            raise InputError(f"there is no store of vectors for the scheme {scheme[:20]!r}; schemes are: {known}")
        if self._is_in_ram and scheme not in _IN_RAM:
            raise InputError("a memory in RAM has its vectors in RAM: give the memory a file or an address")
        return address

    @property
    def writes(self) -> bool:
        """Whether this process keeps the store up to date: a store in RAM is its own."""
        return not self._store.readonly or (self.address or "").partition(":")[0].lower() in _IN_RAM

    def open(self, embedder: Embedder, name: str) -> tuple[VectorStore, VectorStore]:
        """Return the tables of the texts of episodes and of statements.

        Args:
            embedder: whose vectors.
            name: under which its vectors are kept.

        Raises:
            StoreError: the store cannot be opened.
        """
        if self._opened is None:
            self._opened = self._tables(name, embedder.dimensions)
        return self._opened

    def drop(self, name: str, dimensions: int) -> None:
        """Drop the tables of another embedder.

        Args:
            name: of the embedder.
            dimensions: length of its vectors.

        Raises:
            StoreError: the store cannot be reached.
        """
        for table in self._tables(name, dimensions):
            table.drop()

    def _tables(self, name: str, dimensions: int) -> tuple[VectorStore, VectorStore]:
        assert self.address is not None
        path = self._store.path
        place = self._store.location if path is None else str(path.resolve())
        key = "\0".join((place, self._store.namespace, name)).encode("utf-8", "surrogatepass")
        table = f"memory_{hashlib.blake2b(key, digest_size=12).hexdigest()}"
        episodes = open_vector_store(self.address, f"{table}_e", dimensions)
        try:
            return episodes, open_vector_store(self.address, f"{table}_s", dimensions)
        except BaseException:
            episodes.close()
            raise

    def close(self) -> None:
        """Close the store. May be called again."""
        opened, self._opened = self._opened, None
        for table in opened or ():
            table.close()
