"""Stores, which hold recorded episodes: the contract, and the default store, an SQLite file."""

from __future__ import annotations

import os
import re
from pkgutil import resolve_name
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.stores.backups import BackupCounts, backup, restore
from worldthread.stores.base import DEFAULT_NAMESPACE, Durability, ImportCounts, NamespaceSize, Store
from worldthread.stores.sqlite import SQLiteStore

__all__ = [
    "DEFAULT_NAMESPACE",
    "STORES",
    "BackupCounts",
    "Durability",
    "ImportCounts",
    "NamespaceSize",
    "SQLiteStore",
    "Store",
    "backup",
    "open_store",
    "restore",
]

STORES: Final[dict[str, str]] = {
    "postgres": "worldthread.stores.postgresql:PostgresStore",
    "postgresql": "worldthread.stores.postgresql:PostgresStore",
    "sqlite": "worldthread.stores.sqlite:SQLiteStore",
}
"""The class of every store by the scheme of its addresses, as ``"module:Class"``, imported when one is opened."""

_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+]+)://")


def open_store(address: str | os.PathLike[str] | None, **options: Any) -> Store:
    """Open a store by its address.

    Args:
        address: the path of an SQLite file, ``"SCHEME://REST"`` for a store of :data:`STORES`, which
            opens ``REST``; or ``None`` for an SQLite database in RAM, as is ``":memory:"``, the name that SQLite
            has for it.
        options: see :meth:`Store.open`.

    Returns:
        The store; close it, or use it as a context manager.

    Raises:
        InputError: there is no store for this scheme, or an option cannot be used.
        StoreError: the store cannot be opened; see :meth:`Store.open`.
    """
    scheme, rest = _split(address) if isinstance(address, str) else (None, "")
    if scheme is None:
        return SQLiteStore.open(None if address == ":memory:" else address, **options)
    if scheme not in STORES:
        raise InputError(f"there is no store for {scheme}:// addresses; stores are: {', '.join(sorted(STORES))}")
    store: type[Store] = resolve_name(STORES[scheme])
    return store.open(rest, **options)


def _split(address: str) -> tuple[str | None, str]:
    """Return the scheme of an address, if it has one, and what follows ``://``."""
    found = _ADDRESS.match(address)
    return (found[1], address[found.end() :]) if found else (None, address)
