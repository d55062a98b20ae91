"""Where the record is kept: the contract of a store, and the default one, an SQLite file."""

from __future__ import annotations

from worldthread.stores.base import DEFAULT_NAMESPACE, Durability, ImportCounts, Store
from worldthread.stores.sqlite import SQLiteStore

__all__ = ["DEFAULT_NAMESPACE", "Durability", "ImportCounts", "SQLiteStore", "Store"]
