"""The contract of stores of vectors, and what all of them share: checks of arguments, one lock, the order of hits."""

from __future__ import annotations

import json
import math
import re
import sys
import threading
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import ClosedError, InputError
from worldthread.support.arguments import require_count, require_finite, require_unicode
from worldthread.support.closeable import Closeable

LONGEST_ID: Final = 1000
"""Bytes of the longest id of an item, in UTF-8."""

MOST_LABELS: Final = 64
"""Labels of one item."""

MOST_HITS: Final = 10_000
"""Hits of one search."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_PART: Final = 500  # items that are sent together


@dataclass(frozen=True)
class VectorItem:
    """A vector with what searches can be restricted to.

    Args:
        id: names the item in its table.
        vector: not zero; scaled to length 1 when it is added. Shape (dimensions,).
        labels: values by name, such as ``{"user": "anna"}``.
        begin: the world time from which on it holds, inclusive.
        end: the world time from which on it no longer holds; exclusive.

    Raises:
        InputError: an argument cannot be used.
    """

    id: str
    vector: NDArray[np.floating[Any]]
    labels: Mapping[str, str] = field(default_factory=dict)
    begin: float = -math.inf
    end: float = math.inf

    def __post_init__(self) -> None:
        _require_id(self.id)
        if len(self.labels) > MOST_LABELS:
            raise InputError(f"an item can have {MOST_LABELS} labels, not {len(self.labels)}")
        for name, value in self.labels.items():
            label_text(name, value)
        for time in (self.begin, self.end):
            _require_time(time)


@dataclass(frozen=True)
class VectorHit:
    """An item that a search found.

    Args:
        id: of the item.
        score: the cosine of its vector and that of the question, in [-1, 1] but for rounding.
    """

    id: str
    score: float


class VectorStore(Closeable):
    """A table of unit vectors with labels and intervals. Thread-safe.

    What :meth:`add` and :meth:`delete` did is seen by every later search, and survives in stores that have files.

    Args:
        address: where the store is.
        name: of the table: a letter, then at most 39 letters, digits and ``_``.
        dimensions: length of a vector.

    Raises:
        InputError: an argument cannot be used.
    """

    def __init__(self, address: str, name: str, dimensions: int) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(f"a table of vectors has a name of a letter and at most 39 of a-z A-Z 0-9 _, not {name!r}")
        self._name, self._dimensions = name, require_count(dimensions, "dimensions")
        self._lock = threading.RLock()
        self._shown = address
        self._is_open = True

    @property
    def address(self) -> str:
        """The address without secrets."""
        return self._shown

    @property
    def name(self) -> str:
        """Name of the table."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r}, name={self._name!r})"

    def add(self, items: Iterable[VectorItem]) -> None:
        """Add items; one with an id that is there takes the place of the old one, with all it has.

        Args:
            items: what to add. Of several with one id the last is kept.

        Raises:
            InputError: a vector has another length, is zero or not finite; nothing was added.
            StoreError: the store cannot be written; items before the failure may have been added.
            ClosedError: the store was closed.
        """
        kept = {item.id: item for item in items}
        rows = [self._unit(item.vector, f"the vector of {item.id!r}") for item in kept.values()]
        listed = list(kept.values())
        with self._lock:
            self._require_open()
            for start in range(0, len(listed), _PART):
                self._add(listed[start : start + _PART], np.stack(rows[start : start + _PART]))

    def search(
        self,
        vector: NDArray[np.floating[Any]],
        k: int = 10,
        *,
        labels: Mapping[str, str | Collection[str]] | None = None,
        as_of: float | None = None,
    ) -> list[VectorHit]:
        """Return the items whose vectors are most similar, among those that the restrictions let through.

        An approximate index may miss some of the most similar; whether an item is let through is always exact.

        Args:
            vector: of the question, shape (dimensions,).
            k: the greatest number of hits, at most 10,000.
            labels: for each name the value that an item must have, or several of which it must have one.
            as_of: a world time at which an item must hold; ``None`` for items of all times.

        Returns:
            The hits, best first; those with equal scores by their ids. Stores round scores in
            their own ways, and choose which of several equal ones still belong to the first ``k``.

        Raises:
            InputError: an argument cannot be used.
            StoreError: the store cannot be read.
            ClosedError: the store was closed.
        """
        query = self._unit(vector, "the vector of the question")
        if require_count(k, "k") > MOST_HITS:
            raise InputError(f"k is at most {MOST_HITS}, not {k}")
        if as_of is not None:
            require_finite(as_of, "as_of")
        wanted = [
            sorted({label_text(name, value) for value in ([values] if isinstance(values, str) else values)})
            for name, values in (labels or {}).items()
        ]
        with self._lock:
            self._require_open()
            found = self._search(query, k, wanted, as_of) if all(wanted) else []
        return sorted(found, key=lambda hit: (-hit.score, hit.id))

    def ids(self) -> Iterator[str]:
        """Yield the id of every item, in any order.

        Raises:
            StoreError: the store cannot be read.
            ClosedError: the store was closed.
        """
        with self._lock:
            self._require_open()
            found = self._ids_of_all()
        yield from found

    def get(self, ids: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of some items.

        Args:
            ids: of the items; one that is not there is passed over.

        Returns:
            Unit vectors by id, each of shape (dimensions,), as exactly as the store keeps them.

        Raises:
            InputError: an id cannot be used.
            StoreError: the store cannot be read.
            ClosedError: the store was closed.
        """
        listed = _listed(ids)
        found: dict[str, NDArray[np.float32]] = {}
        with self._lock:
            self._require_open()
            for start in range(0, len(listed), _PART):
                found |= self._get(listed[start : start + _PART])
        return found

    def delete(self, ids: Iterable[str]) -> None:
        """Delete items. No search finds them any more; see :meth:`purge` for the bytes in files.

        Args:
            ids: of the items; one that is not there is passed over.

        Raises:
            InputError: an id cannot be used.
            StoreError: the store cannot be written.
            ClosedError: the store was closed.
        """
        listed = _listed(ids)
        with self._lock:
            self._require_open()
            for start in range(0, len(listed), _PART):
                self._delete(listed[start : start + _PART])

    def purge(self) -> None:
        """Write the table anew, so that none of its files holds what was deleted or replaced.

        Nobody else may write to the table meanwhile.

        Raises:
            StoreError: the store cannot be written; the table is as it was.
            ClosedError: the store was closed.
        """
        with self._lock:
            self._require_open()
            self._purge()

    def drop(self) -> None:
        """Delete the table with everything in it, and close the store."""
        with self._lock:
            self._require_open()
            self._drop()
            self.close()

    def __len__(self) -> int:
        """Return the number of items."""
        with self._lock:
            self._require_open()
            return self._count()

    def close(self) -> None:
        """Close the store. May be called again."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._close()

    def _require_open(self) -> None:
        if not self._is_open:
            raise ClosedError("the store of vectors was closed: open it again", path=self._shown)

    def _unit(self, vector: NDArray[np.floating[Any]], what: str) -> NDArray[np.float32]:
        row = np.asarray(vector, np.float64)
        length = float(np.linalg.norm(row)) if row.shape == (self._dimensions,) else math.nan
        if not (math.isfinite(length) and length > 0):
            raise InputError(f"{what} must be {self._dimensions} finite numbers that are not all 0")
        return np.asarray(row / length, np.float32)

    @abstractmethod
    def _add(self, items: Sequence[VectorItem], rows: NDArray[np.float32]) -> None:
        """Add or replace some items with different ids; ``rows`` are their unit vectors."""

    @abstractmethod
    def _search(
        self, query: NDArray[np.float32], k: int, labels: Sequence[Sequence[str]], as_of: float | None
    ) -> list[VectorHit]:
        """Return hits in any order; an item must have one of each of ``labels``, see :func:`label_text`."""

    @abstractmethod
    def _ids_of_all(self) -> list[str]:
        """Return the ids of all items."""

    @abstractmethod
    def _get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those of some items that are there."""

    @abstractmethod
    def _delete(self, ids: Sequence[str]) -> None:
        """Delete some items."""

    @abstractmethod
    def _purge(self) -> None:
        """Write the table anew."""

    @abstractmethod
    def _drop(self) -> None:
        """Delete the table."""

    @abstractmethod
    def _count(self) -> int:
        """Return the number of items."""

    @abstractmethod
    def _close(self) -> None:
        """Close the connection."""


def label_text(name: str, value: str) -> str:
    """Return the one string that stands for a label in a store."""
    for part in (name, value):
        _require_plain(part, "the name and the value of a label")
    return json.dumps([name, value], ensure_ascii=False)


def labels_of(item: VectorItem) -> list[str]:
    """Return the :func:`label_text` of every label of an item."""
    return [label_text(name, value) for name, value in item.labels.items()]


def finite_time(time: float) -> float:
    """Return a world time for a store that holds no infinity: the largest number instead."""
    return min(max(float(time), -sys.float_info.max), sys.float_info.max)


def is_collection_of(table: str, collection: str) -> bool:
    """Return whether a collection of a server has what is behind the alias of a table, or had it before a purge."""
    return re.fullmatch(re.escape(table) + "__[0-9a-f]{8}", collection) is not None


def _listed(ids: Iterable[str]) -> list[str]:
    if isinstance(ids, str):
        raise InputError("ids must be several ids, not one string")
    return [_require_id(id_) for id_ in dict.fromkeys(ids)]


def _require_plain(value: object, what: str) -> str:
    text = require_unicode(value, what)
    if "\0" in text or len(text.encode()) > LONGEST_ID:
        raise InputError(f"{what} must be at most {LONGEST_ID} bytes without NUL")
    return text


def _require_id(value: object) -> str:
    if not _require_plain(value, "the id of an item"):
        raise InputError("the id of an item cannot be empty")
    return str(value)


def _require_time(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InputError(f"a world time of a vector must be a number, not {value!r}")
