"""Stores, which hold recorded episodes: the contract, and the default store, an SQLite file."""

from __future__ import annotations

from worldthread.stores.base import DEFAULT_NAMESPACE, Durability, ImportCounts, Store
from worldthread.stores.sqlite import SQLiteStore

__all__ = ["DEFAULT_NAMESPACE", "Durability", "ImportCounts", "SQLiteStore", "Store"]
