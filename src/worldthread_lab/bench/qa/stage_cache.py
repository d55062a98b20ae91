"""Keeps what the stages of question answering found, so that a question is retrieved once for one state of a memory."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Final, NamedTuple

import msgspec

from worldthread.caches import Cache
from worldthread.files.decoding import decode_json
from worldthread.graph import TemporalGraph
from worldthread.types import Kind

KIND: Final = "stages"
"""Kind of the entries."""


class KeptHit(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """A retrieved statement or episode.

    Args:
        kind: fact, thesis or episode.
        id: its id.
        score: its score.
        path: names that lead to it.
    """

    kind: Kind
    id: str
    score: float
    path: tuple[str, ...]


class KeptStages(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """What the stages before the answer found.

    Args:
        vertices: the matched objects.
        found: how many candidates there were before the filter.
        hits: what the filter kept.
    """

    vertices: tuple[str, ...]
    found: int
    hits: tuple[KeptHit, ...]


class StageCache:
    """Results of the stages by question, stages and state of the memory. Thread-safe.

    Answers of models are not here: the cache of answers has them.

    Args:
        cache: holds them.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._state: _StageState | None = None

    def key(self, graph: TemporalGraph, *parts: object) -> str:
        """Return the key of a result.

        Args:
            graph: the graph of the memory, locked against changes.
            parts: all that the result depends on, with a ``repr`` that says everything.

        Returns:
            A digest of these, of the state of the graph and of the release.
        """
        state = self._state
        if state is None or state.graph is not graph or state.changes != graph.change_count:
            self._state = state = _StageState(graph, graph.change_count, graph.state_hash())
        text = repr((version("worldthread"), state.digest, *parts))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()

    def get(self, key: str) -> KeptStages | None:
        """Return the result of a key; ``None`` if there is none, or if it cannot be read."""
        value = self._cache.get([key]).get(key)
        try:
            return None if value is None else decode_json(value, KeptStages)
        except msgspec.DecodeError:
            return None

    def put(self, key: str, result: KeptStages) -> None:
        """Store the result of a key."""
        self._cache.put({key: msgspec.json.encode(result)})


class _StageState(NamedTuple):
    graph: TemporalGraph
    changes: int
    digest: str
