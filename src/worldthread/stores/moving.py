"""Copying a memory from one store to another, with the proof that the copy is the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from worldthread.errors import InputError, NotFoundError, StoreError
from worldthread.stores.base import NamespaceSize, Store
from worldthread.stores.rows import texts_of
from worldthread.support.progress import Progress, show_progress
from worldthread.types import Episode

_BATCH: Final = 500  # episodes whose vectors are copied together
_SAMPLE: Final = 16  # of them, which show the embedders that were used


class MovedNamespace(NamedTuple):
    """What was copied of one namespace.

    Args:
        name: the name of the namespace.
        episodes: how many episodes it has.
        added: how many of them the target did not have before.
        vectors: how many vectors were copied.
        state_hash: the digest of the state, which both stores share.
    """

    name: str
    episodes: int
    added: int
    vectors: int
    state_hash: str


def move(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    namespace: str | None = None,
    into: str | None = None,
    wait: float = 0.0,
    progress: bool | Progress | None = False,
) -> list[MovedNamespace]:
    """Copy a memory to another store, and compare the digests of both states. The source stays as it is.

    The episodes of a namespace are copied all or none, then their vectors, and namespaces before it stay copied; after
    an error or a kill, do it again. Texts, times, extractions and recorded times are copied, and the vectors of what
    was embedded. An index is built again where it is used.

    Args:
        source: the file or the address of the memory.
        target: the file or the address of the other store; it is made where there is none.
        namespace: copy only this namespace; ``None`` for all of them.
        into: another name for that namespace in the target.
        wait: seconds to wait for a process that writes to the target.
        progress: see :func:`~worldthread.support.progress.show_progress`; counts episodes.

    Returns:
        What was copied of each namespace, in order of their names.

    Raises:
        InputError: an argument cannot be used.
        NotFoundError: there is nothing to copy.
        StoreError: a store cannot be used; or the target holds other episodes in that namespace, and nothing of it was
            changed.
    """
    if into is not None and namespace is None:
        raise InputError("a new name needs the namespace that gets it")
    with _opened(source, namespace, readonly=True) as origin:
        sizes = origin.list_namespaces()
        names = [one.name for one in sizes] if namespace is None else [namespace]
        if not set(names) <= {one.name for one in sizes} or not names:
            raise NotFoundError(f"there is nothing to copy: {_whereabouts(origin, sizes)}")
        with _opened(target, into or names[0], wait=wait) as destination:
            total = sum(one.episodes for one in sizes if one.name in names)
            with show_progress(progress, "copying", total) as advance:
                moved = []
                for name in names:
                    with origin.open_namespace(name) as old, destination.open_namespace(into or name) as new:
                        moved.append(_move_namespace(old, new))
                        advance(moved[-1].episodes)
    return moved


def _opened(
    place: str | os.PathLike[str], namespace: str | None, *, readonly: bool = False, wait: float = 0.0
) -> Store:
    from worldthread.stores import DEFAULT_NAMESPACE, open_store

    return open_store(place, namespace=namespace or DEFAULT_NAMESPACE, readonly=readonly, wait=wait)


def _whereabouts(store: Store, sizes: list[NamespaceSize]) -> str:
    if not sizes:
        return f"{store.location} is empty"
    return f"the namespaces of {store.location} are: {', '.join(repr(one.name) for one in sizes)}"


def _move_namespace(old: Store, new: Store) -> MovedNamespace:
    with old.read_lock() as graph:
        expected = graph.state_hash()
        with new.write_lock() as present:
            strangers = set(present.episodes()) - set(graph.episodes())
            if strangers:
                raise StoreError(
                    f"the namespace {new.namespace!r} holds {len(strangers):,} episodes that {old.location} does not"
                    " have: copy into another namespace, or merge the two with an export and an import",
                    path=new.location,
                )
            added = new.append_many(old.episodes())
            vectors = sum(_copy_vectors(old, new, chunk) for chunk in _chunks(old.episodes()))
            found = new.graph.state_hash()
            if found != expected:
                raise StoreError(
                    f"the copy of the namespace {new.namespace!r} differs from {old.location}: its state is {found},"
                    f" not {expected}. Please report this",
                    path=new.location,
                )
        return MovedNamespace(new.namespace, len(graph), added, vectors, expected)


def _copy_vectors(old: Store, new: Store, episodes: list[Episode]) -> int:
    """Copy the vectors of some episodes, and return how many there were."""
    import numpy as np

    # of each text by itself: some episodes may never have been embedded
    sample = episodes[:: max(1, len(episodes) // _SAMPLE)]
    models = set[str]().union(*(old.vector_models([episode.text]) for episode in sample))
    texts = sorted({text for episode in episodes for text in texts_of(episode)})
    count = 0
    for model in sorted(models):
        found = old.get_vectors(model, texts)
        if found:
            new.put_vectors(model, list(found), np.stack(list(found.values())))
        count += len(found)
    return count


def _chunks(episodes: Iterator[Episode]) -> Iterator[list[Episode]]:
    while chunk := list(islice(episodes, _BATCH)):
        yield chunk
