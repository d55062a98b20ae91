"""A store of vectors in Qdrant: a server by its URL, or the engine of ``qdrant-client`` on a folder of this machine."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import (
    InputError,
    MissingExtraError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
    WorldthreadError,
)
from worldthread.vectors.base import VectorHit, VectorItem, VectorStore, finite_time, is_collection_of, labels_of

_LOOKED_AT: Final = 200  # vectors that a search in the index keeps in sight (hnsw_ef)
_SECONDS: Final = 60  # for an answer
_PART: Final = 500  # points that are copied at a time
_LISTED: Final = 10_000  # ids that are read at a time
_folders: dict[str, tuple[Any, int]] = {}  # the client of each folder, which takes no second one, and its users
_folders_lock = threading.Lock()


class QdrantVectorStore(VectorStore):
    """A store in Qdrant: one collection, behind an alias with the name of the table.

    Args:
        address: ``"qdrant+http://HOST:6333"``, or ``qdrant+https`` with TLS, with the API key in ``$QDRANT_API_KEY``;
            or ``"qdrant:FOLDER"``, which one process at a time uses, and which compares a question with every vector.
        name: of the table.
        dimensions: length of a vector.

    Raises:
        InputError: an argument cannot be used.
        MissingExtraError: the package ``qdrant-client`` is not installed.
        StoreLockedError: another process uses the folder.
        StoreUnavailableError: the server cannot be reached.
        StoreError: the server refuses, or the table has vectors of another length.
    """

    def __init__(self, address: str, name: str, dimensions: int) -> None:
        super().__init__("qdrant", name, dimensions)
        try:
            import qdrant_client
        except ImportError as error:
            raise MissingExtraError("a store of vectors in Qdrant", extra="qdrant", package="qdrant-client") from error
        scheme, _, place = address.partition(":")
        if not place.strip("/") or "@" in place or "?" in place:
            raise InputError(
                "the address of a store in Qdrant is qdrant:FOLDER or qdrant+https://HOST:6333; its API key belongs"
                " into $QDRANT_API_KEY"
            )
        self._shown = address
        self._models: Any = qdrant_client.models
        self._is_server = "+" in scheme
        self._folder = "" if self._is_server else os.path.realpath(place)
        with self._translated():
            if self._is_server:
                self._client: Any = qdrant_client.QdrantClient(
                    url=f"{scheme.lower().partition('+')[2]}:{place}", api_key=os.environ.get("QDRANT_API_KEY"),
                    timeout=_SECONDS, check_compatibility=False,
                )  # fmt: skip
            else:
                self._client = self._client_of_folder(qdrant_client)
        try:
            with self._translated():
                if self._collection() is None:
                    self._new_collection(None)
                self._require_dimensions()
        except BaseException:
            self._close()
            raise

    def _client_of_folder(self, library: Any) -> Any:
        with _folders_lock:
            client, users = _folders.get(self._folder, (None, 0))
            if client is None:
                client = library.QdrantClient(path=self._folder, force_disable_check_same_thread=True)
            _folders[self._folder] = client, users + 1
        return client

    def _collection(self) -> str | None:
        """Return the collection behind the alias."""
        aliases = self._client.get_aliases().aliases
        return next((str(alias.collection_name) for alias in aliases if alias.alias_name == self._name), None)

    def _new_collection(self, old: str | None) -> None:
        """Make a collection with everything that is in an old one, and put it in its place."""
        models, name = self._models, f"{self._name}__{uuid.uuid4().hex[:8]}"
        self._client.create_collection(
            name, vectors_config=models.VectorParams(size=self._dimensions, distance=models.Distance.DOT)
        )
        if self._is_server:  # without one, Qdrant reads every payload; on a folder there are none
            for key, kind in (("labels", "keyword"), ("begin", "float"), ("end", "float")):
                self._client.create_payload_index(name, key, field_schema=kind)
        if old is not None:
            offset: Any = None
            while True:
                points, offset = self._client.scroll(old, limit=_PART, offset=offset, with_vectors=True)
                if points:
                    copies = [models.PointStruct(id=p.id, vector=p.vector, payload=p.payload) for p in points]
                    self._client.upsert(name, copies, wait=True)
                if offset is None:
                    break
        create = models.CreateAlias(collection_name=name, alias_name=self._name)
        operations: list[Any] = [models.CreateAliasOperation(create_alias=create)]
        if old is not None:
            delete = models.DeleteAlias(alias_name=self._name)
            operations.insert(0, models.DeleteAliasOperation(delete_alias=delete))
        self._client.update_collection_aliases(operations)
        if old is not None:
            self._drop_collections(but=name)

    def _drop_collections(self, but: str = "") -> None:
        """Drop the collections of this table: also those that a purge left when it was interrupted."""
        for one in self._client.get_collections().collections:
            if one.name != but and is_collection_of(self._name, one.name):
                self._client.delete_collection(one.name)  # with its alias

    def _require_dimensions(self) -> None:
        found = self._client.get_collection(self._name).config.params.vectors.size
        if found != self._dimensions:
            raise StoreError(
                f"the table {self._name!r} has vectors of {found} numbers, not {self._dimensions}: use another name",
                path=self._shown,
            )

    def _add(self, items: Sequence[VectorItem], rows: NDArray[np.float32]) -> None:
        points = [
            self._models.PointStruct(
                id=_point(item.id),
                vector=row.tolist(),
                payload={
                    "id": item.id, "labels": labels_of(item),
                    "begin": finite_time(item.begin), "end": finite_time(item.end),
                },
            )
            for item, row in zip(items, rows, strict=True)
        ]  # fmt: skip
        with self._translated():
            self._client.upsert(self._name, points, wait=True)

    def _search(
        self, query: NDArray[np.float32], k: int, labels: Sequence[Sequence[str]], as_of: float | None
    ) -> list[VectorHit]:
        models = self._models
        must = [models.FieldCondition(key="labels", match=models.MatchAny(any=list(choices))) for choices in labels]
        if as_of is not None:
            time = finite_time(as_of)
            must.append(models.FieldCondition(key="begin", range=models.Range(lte=time)))
            must.append(models.FieldCondition(key="end", range=models.Range(gt=time)))
        # the engine on a folder has no index
        parameters = models.SearchParams(hnsw_ef=max(_LOOKED_AT, k)) if self._is_server else None
        with self._translated():
            found = self._client.query_points(
                self._name, query=query.tolist(), limit=k, query_filter=models.Filter(must=must) if must else None,
                search_params=parameters, with_payload=["id"],
            )  # fmt: skip
        return [VectorHit(point.payload["id"], float(point.score)) for point in found.points]

    def _ids_of_all(self) -> list[str]:
        found: list[str] = []
        offset: Any = None
        with self._translated():
            while True:
                points, offset = self._client.scroll(self._name, limit=_LISTED, offset=offset, with_payload=["id"])
                found += [point.payload["id"] for point in points]
                if offset is None:
                    return found

    def _get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._translated():
            points = self._client.retrieve(
                self._name, ids=[_point(id_) for id_ in ids], with_payload=["id"], with_vectors=True
            )
        return {point.payload["id"]: np.array(point.vector, np.float32) for point in points}

    def _delete(self, ids: Sequence[str]) -> None:
        points = self._models.PointIdsList(points=[_point(id_) for id_ in ids])
        with self._translated():
            self._client.delete(self._name, points_selector=points, wait=True)

    def _purge(self) -> None:
        with self._translated():
            self._new_collection(self._collection())

    def _drop(self) -> None:
        with self._translated():
            self._drop_collections()

    def _count(self) -> int:
        with self._translated():
            return int(self._client.count(self._name, exact=True).count)

    def _close(self) -> None:
        if not self._is_server:
            with _folders_lock:
                client, users = _folders.pop(self._folder)
                if users > 1:
                    _folders[self._folder] = client, users - 1
                    return
        with suppress(Exception):
            self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

        try:
            yield
        except WorldthreadError:
            raise
        except UnexpectedResponse as error:
            raise StoreError(
                f"Qdrant refuses: {error.status_code} {error.reason_phrase}; for 401 and 403 set $QDRANT_API_KEY",
                path=self._shown,
            ) from error
        except (ApiException, ConnectionError) as error:
            raise StoreUnavailableError("Qdrant cannot be reached: check that it runs", path=self._shown) from error
        except RuntimeError as error:
            if "already accessed" not in str(error):
                raise StoreError(f"Qdrant refuses: {error}", path=self._shown) from error
            raise StoreLockedError("another process uses this folder: close it there", path=self._shown) from error
        except (ValueError, OSError) as error:
            raise StoreError(f"Qdrant refuses: {error}", path=self._shown) from error


def _point(id_: str) -> str:
    """Return the name of a point, which is a UUID in Qdrant."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, id_))
