"""A store of vectors in Milvus: a server by its URL, or Milvus Lite on a folder of this machine."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError, MissingExtraError, StoreError, StoreUnavailableError, WorldthreadError
from worldthread.vectors.base import (
    LONGEST_ID,
    MOST_LABELS,
    VectorHit,
    VectorItem,
    VectorStore,
    finite_time,
    is_collection_of,
    labels_of,
)

_LOOKED_AT: Final = 200  # vectors that a search in the index keeps in sight (ef)
_SECONDS: Final = 60.0  # for an answer
_PART: Final = 500  # items that are copied at a time
_LISTED: Final = 10_000  # ids that are read at a time
_NOT_CONNECTED: Final = 2  # the code of errors of pymilvus when a server is away
_FIELDS: Final = ["key", "id", "vector", "labels", "begin_time", "end_time"]


class MilvusVectorStore(VectorStore):
    """A store in Milvus: one collection with an HNSW index, behind an alias with the name of the table.

    Labels are kept as digests: filters are made of them and of numbers alone, never of what somebody wrote.

    Args:
        address: ``"milvus+http://HOST:19530"``, or ``milvus+https`` with TLS, with ``USER:PASSWORD`` or a token in
            ``$MILVUS_TOKEN``; or ``"milvus:NAME.db"`` for Milvus Lite, in one process at a time.
        name: of the table.
        dimensions: length of a vector.

    Raises:
        InputError: an argument cannot be used.
        MissingExtraError: the package ``pymilvus`` is not installed.
        StoreUnavailableError: the server cannot be reached.
        StoreError: the server refuses, or the table has vectors of another length.
    """

    def __init__(self, address: str, name: str, dimensions: int) -> None:
        super().__init__("milvus", name, dimensions)
        try:
            import pymilvus
        except ImportError as error:
            raise MissingExtraError("a store of vectors in Milvus", extra="milvus", package="pymilvus") from error
        scheme, _, place = address.partition(":")
        is_server = "+" in scheme
        if not place.strip("/") or "@" in place or "?" in place or not (is_server or place.endswith(".db")):
            raise InputError(
                "the address of a store in Milvus is milvus:NAME.db or milvus+https://HOST:19530; its token belongs"
                " into $MILVUS_TOKEN"
            )
        self._shown = address
        self._library: Any = pymilvus
        with self._translated():
            self._client: Any = pymilvus.MilvusClient(
                f"{scheme.lower().partition('+')[2]}:{place}" if is_server else os.path.abspath(place),
                token=os.environ.get("MILVUS_TOKEN", "") if is_server else "",
                timeout=_SECONDS,
            )
        try:
            with self._translated():
                if self._collection() is None:
                    self._new_collection(None)
                self._require_dimensions()
                self._client.load_collection(self._name)
        except BaseException:
            self._close()
            raise

    def _collection(self) -> str | None:
        """Return the collection behind the alias."""
        if not self._client.has_collection(self._name):
            return None
        return str(self._client.describe_collection(self._name)["collection_name"])

    def _new_collection(self, old: str | None) -> None:
        """Make a collection with everything that is in an old one, and put it in its place."""
        kinds, name = self._library.DataType, f"{self._name}__{uuid.uuid4().hex[:8]}"
        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", kinds.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("id", kinds.VARCHAR, max_length=LONGEST_ID)
        schema.add_field("vector", kinds.FLOAT_VECTOR, dim=self._dimensions)
        schema.add_field("labels", kinds.ARRAY, element_type=kinds.VARCHAR, max_capacity=MOST_LABELS, max_length=64)
        schema.add_field("begin_time", kinds.DOUBLE)
        schema.add_field("end_time", kinds.DOUBLE)
        index = self._client.prepare_index_params()
        index.add_index("vector", index_type="HNSW", metric_type="IP", params={"M": 16, "efConstruction": 200})
        self._client.create_collection(name, schema=schema, index_params=index, consistency_level="Strong")
        if old is None:
            self._client.create_alias(name, self._name)
            return
        pages = self._client.query_iterator(old, batch_size=_PART, filter="", output_fields=_FIELDS)
        while rows := pages.next():
            self._client.insert(name, [{field: row[field] for field in _FIELDS} for row in rows])
        pages.close()
        self._client.flush(name)
        self._client.load_collection(name)
        self._client.alter_alias(name, self._name)
        self._drop_collections(but=name)

    def _drop_collections(self, but: str = "") -> None:
        """Drop the collections of this table: also those that a purge left when it was interrupted."""
        for collection in self._client.list_collections():
            if collection != but and is_collection_of(self._name, collection):
                self._client.drop_collection(collection)

    def _require_dimensions(self) -> None:
        fields = self._client.describe_collection(self._name)["fields"]
        found = next(int(one["params"]["dim"]) for one in fields if one["name"] == "vector")
        if found != self._dimensions:
            raise StoreError(
                f"the table {self._name!r} has vectors of {found} numbers, not {self._dimensions}: use another name",
                path=self._shown,
            )

    def _add(self, items: Sequence[VectorItem], rows: NDArray[np.float32]) -> None:
        data = [
            {
                "key": _digest(item.id), "id": item.id, "vector": row.tolist(),
                "labels": [_digest(label) for label in labels_of(item)],
                "begin_time": finite_time(item.begin), "end_time": finite_time(item.end),
            }
            for item, row in zip(items, rows, strict=True)
        ]  # fmt: skip
        with self._translated():
            self._client.upsert(self._name, data)

    def _search(
        self, query: NDArray[np.float32], k: int, labels: Sequence[Sequence[str]], as_of: float | None
    ) -> list[VectorHit]:
        parts = []
        for choices in labels:
            listed = ", ".join(f'"{_digest(choice)}"' for choice in choices)
            parts.append(f"array_contains_any(labels, [{listed}])")
        if as_of is not None:
            time = repr(finite_time(as_of))
            parts += [f"begin_time <= {time}", f"end_time > {time}"]
        with self._translated():
            (found,) = self._client.search(
                self._name, data=[query.tolist()], limit=k, filter=" and ".join(parts), output_fields=["id"],
                search_params={"metric_type": "IP", "params": {"ef": max(_LOOKED_AT, k)}}, consistency_level="Strong",
            )  # fmt: skip
        return [VectorHit(hit["entity"]["id"], float(hit["distance"])) for hit in found]

    def _ids_of_all(self) -> list[str]:
        found: list[str] = []
        with self._translated():
            pages = self._client.query_iterator(
                self._name, batch_size=_LISTED, filter="", output_fields=["id"], consistency_level="Strong"
            )
            while rows := pages.next():
                found += [row["id"] for row in rows]
            pages.close()
        return found

    def _get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        if not ids:
            return {}
        with self._translated():
            rows = self._client.get(
                self._name, ids=[_digest(id_) for id_ in ids], output_fields=["id", "vector"],
                consistency_level="Strong",
            )  # fmt: skip
        return {row["id"]: np.array(row["vector"], np.float32) for row in rows}

    def _delete(self, ids: Sequence[str]) -> None:
        with self._translated():
            self._client.delete(self._name, ids=[_digest(id_) for id_ in ids])

    def _purge(self) -> None:
        with self._translated():
            self._new_collection(self._collection())

    def _drop(self) -> None:
        with self._translated():
            if self._collection() is not None:
                self._client.drop_alias(self._name)
            self._drop_collections()

    def _count(self) -> int:
        with self._translated():
            rows = self._client.query(self._name, filter="", output_fields=["count(*)"], consistency_level="Strong")
        return int(rows[0]["count(*)"])

    def _close(self) -> None:
        with suppress(Exception):
            self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from pymilvus.exceptions import ConnectionConfigException, MilvusException, MilvusUnavailableException

        try:
            yield
        except WorldthreadError:
            raise
        except (MilvusException, OSError) as error:
            is_away = isinstance(error, MilvusUnavailableException | ConnectionConfigException)
            if is_away or getattr(error, "code", None) == _NOT_CONNECTED:
                raise StoreUnavailableError(
                    "Milvus cannot be reached: check that it runs (for a file: that milvus-lite is installed, and that"
                    " no other process uses it)",
                    path=self._shown,
                ) from error
            reason = str(error).partition("\n")[0]
            raise StoreError(f"Milvus refuses: {reason}", path=self._shown) from error


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
