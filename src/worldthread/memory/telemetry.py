"""What the spans of a memory's operations say, by the GenAI conventions of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from worldthread.errors import NotFoundError
from worldthread.memory.ingestion import Remembered
from worldthread.telemetry import Operation, Traced
from worldthread.types import Episode, Recall

_STORE: Final = "gen_ai.memory.store.id"
_RECORD: Final = "gen_ai.memory.record.id"
_COUNT: Final = "gen_ai.memory.record.count"


class _Named(Protocol):
    @property
    def namespace(self) -> str: ...

    def episode(self, episode_id: str) -> Episode: ...


def _remembered(operation: Operation, memory: _Named, result: Remembered) -> None:
    operation.record(
        {
            _STORE: memory.namespace,
            _COUNT: len(result.episodes),
            _RECORD: result.episodes[0] if len(result.episodes) == 1 else None,
            "worldthread.memory.record.added": result.added,
            "worldthread.memory.record.unread": result.unread,
        }
    )
    operation.record_content(lambda: {"gen_ai.memory.records": list(_records(memory, result.episodes))})


def _records(memory: _Named, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    for id_ in ids:
        with suppress(NotFoundError):  # somebody else has forgotten it meanwhile
            yield {"id": id_, "content": memory.episode(id_).text}


def _recalled(operation: Operation, memory: _Named, result: Recall) -> None:
    operation.record(
        {_STORE: memory.namespace, _COUNT: len(result.hits), "worldthread.retrieval.method": result.method}
    )
    operation.record_content(
        lambda: {
            "gen_ai.memory.query.text": result.query,
            "gen_ai.memory.records": [_shown(hit.item, hit.score) for hit in result.hits],
        }
    )


def _shown(item: Any, score: float) -> dict[str, Any]:
    return {"id": item.id, "content": item.text if isinstance(item, Episode) else str(item), "score": float(score)}


def _changed(operation: Operation, memory: _Named, result: Episode) -> None:
    operation.record({_STORE: memory.namespace, _COUNT: 1, _RECORD: result.id})
    operation.record_content(lambda: {"gen_ai.memory.records": [{"id": result.id, "content": result.text}]})


def _counted(operation: Operation, memory: _Named, result: int) -> None:
    operation.record({_STORE: memory.namespace, _COUNT: result})


# it creates records, and ends what they replace, without the caller choosing which
remembering: Final = Traced("upsert_memory", _remembered)
recalling: Final = Traced("search_memory", _recalled)
changing: Final = Traced("update_memory", _changed)
forgetting: Final = Traced("delete_memory", _counted)
