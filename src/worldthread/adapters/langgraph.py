"""A store for LangGraph: what its agents remember across threads."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from worldthread.adapters.keyed import KeyedEpisodes, KeyedItem, require_json
from worldthread.errors import MissingExtraError
from worldthread.memory.memory import Memory
from worldthread.types import TimeLike

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise MissingExtraError("the store for LangGraph", extra="langgraph", package="langgraph") from error

WHOLE: Final = "$"
"""The field that stands for the whole value."""


class LangGraphStore(BaseStore):  # type: ignore[misc]
    """A LangGraph ``BaseStore`` in a memory.

    Every version of an item is an episode, with the time of its writing as world time. So :meth:`as_of` shows the store
    as it was, ``memory.export`` contains it, and ``delete`` forgets an item with all its versions. A search with
    ``query`` is a recall with the embedder of the memory: an ``index`` configuration is not needed.

    Args:
        memory: holds the items; it stays open when the store is no longer used.
        fields: the fields of a value that are searched, as in the ``index`` configuration of LangGraph; ``"$"`` is the
            whole value.
        ttl: when items expire, as for other stores of LangGraph. An expired item is never returned; it is forgotten by
            :meth:`sweep_ttl`, which a write calls by itself every ``sweep_interval_minutes``.
        keep_versions: keep the earlier versions of an item that is written again.
        source: the source of the episodes; stores with different sources do not see each other's items.
        clock: returns the time in seconds since 1970-01-01 UTC.

    Examples:
        ::

            store = LangGraphStore(Memory("agents.worldthread"))
            graph = builder.compile(store=store)
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        fields: Sequence[str] = (WHOLE,),
        ttl: TTLConfig | None = None,
        keep_versions: bool = True,
        source: str = "langgraph",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.memory = memory
        self.ttl_config = ttl
        self._fields = tuple(fields)
        self._items = KeyedEpisodes(memory, source, keep_versions=keep_versions, clock=clock)
        self._as_of: TimeLike | None = None
        self._swept = clock()

    def as_of(self, at: TimeLike) -> LangGraphStore:
        """Return the store as it was at a time.

        Args:
            at: a world time; the time of writing counts.

        Returns:
            A store for reading.
        """
        past = object.__new__(type(self))
        past.__dict__.update(self.__dict__, _as_of=at)
        return past

    def sweep_ttl(self) -> int:
        """Forget the items that have expired.

        Returns:
            How many there were.
        """
        self._swept = self._items.clock()
        return self._items.sweep()

    # -- the interface of LangGraph -----------------------------------------------------------------------------------

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations: first all that read, then all that write, the last write of an item alone.

        Args:
            ops: the operations.

        Returns:
            The result of each operation, in their order.

        Raises:
            ValueError: an operation is unknown, or writes into the past.
        """
        results: list[Result] = []
        writes: dict[tuple[str, ...], PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._list_namespaces(op))
            elif isinstance(op, PutOp):
                writes[*op.namespace, op.key] = op
                results.append(None)
            else:
                raise ValueError(f"unknown operation: {type(op).__name__}")
        if writes:
            if self._as_of is not None:
                raise ValueError("the past cannot be written: this store was made by as_of")
            self._write(writes)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations on a thread, as :meth:`batch` does.

        Args:
            ops: the operations.

        Returns:
            The result of each operation, in their order.
        """
        return await asyncio.to_thread(self.batch, list(ops))

    # -- within -------------------------------------------------------------------------------------------------------

    def _write(self, writes: Mapping[tuple[str, ...], PutOp]) -> None:
        # first what can be refused, so that nothing is deleted then
        self._items.put([self._new(path, op) for path, op in writes.items() if op.value is not None])
        for path, op in writes.items():
            if op.value is None:
                self._items.forget(path)
        interval = (self.ttl_config or {}).get("sweep_interval_minutes")
        if interval is not None and self._items.clock() - self._swept >= 60 * interval:
            self.sweep_ttl()

    def _new(self, path: tuple[str, ...], op: PutOp) -> KeyedItem:
        require_json(op.value)
        fields = self._fields if op.index is None else op.index or ()
        texts = [text for field in fields for text in _texts(op.value, field)]
        whole = _json(op.value)
        text = "\n".join(texts) or whole
        return KeyedItem(
            path,
            text,
            {} if text == whole else {"item": dict(op.value or {})},
            searchable=bool(texts),
            ttl=None if op.ttl is None else 60.0 * op.ttl,
        )

    def _get(self, op: GetOp) -> Item | None:
        item = self._items.get((*op.namespace, op.key), as_of=self._as_of)
        if item is None:
            return None
        self._refresh([item], op.refresh_ttl)
        return Item(**_fields(item))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        def fits(item: KeyedItem) -> bool:
            return len(item.path) > len(op.namespace_prefix) and matches(_value(item), op.filter or {})

        end = op.offset + op.limit
        if op.query:
            found = self._items.search(op.query, op.namespace_prefix, k=max(end, 1), as_of=self._as_of, fits=fits)
        else:
            found = [item for item in self._items.list_items(op.namespace_prefix, as_of=self._as_of) if fits(item)]
        found = found[op.offset : end]
        self._refresh(found, op.refresh_ttl)
        return [SearchItem(**_fields(item), score=item.score) for item in found]

    def _refresh(self, items: Iterable[KeyedItem], wanted: bool) -> None:
        if wanted and self._as_of is None:
            for item in items:
                self._items.touch(item)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {item.path[:-1] for item in self._items.list_items(as_of=self._as_of)}
        fitting = [path for path in found if all(_is_met(one, path) for one in op.match_conditions or ())]
        listed = sorted({path[: op.max_depth] for path in fitting})
        return listed[op.offset : op.offset + op.limit]


def matches(value: Any, wanted: Any) -> bool:
    """Return whether a value meets a filter of LangGraph.

    Args:
        value: the value of an item, or a part of it; ``None`` where there is none.
        wanted: a value to be equal to; a mapping of fields to filters; or a mapping of the operators ``$eq``, ``$ne``,
            ``$gt``, ``$gte``, ``$lt`` and ``$lte`` to values. Only two numbers and two strings have an order.

    Returns:
        Whether it does.

    Raises:
        ValueError: there is no such operator.
    """
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compares(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, Mapping) and all(matches(value.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, list | tuple):
        is_list = isinstance(value, list | tuple) and len(value) == len(wanted)
        return is_list and all(matches(one, part) for one, part in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compares(value: Any, operator: str, operand: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return matches(value, operand) == (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"unknown operator of a filter: {operator!r}; there are $eq, $ne, $gt, $gte, $lt and $lte")
    left: Any = value
    right: Any = operand
    are_numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if not are_numbers and not (isinstance(left, str) and isinstance(right, str)):
        return False
    if operator in ("$gt", "$lte"):
        return bool(left > right) == (operator == "$gt")
    return bool(left < right) == (operator == "$lt")


def _is_met(condition: MatchCondition, path: tuple[str, ...]) -> bool:
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"unknown match type: {condition.match_type!r}; there are prefix and suffix")
    wanted = condition.path
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return len(path) >= len(wanted) and all(w in ("*", p) for w, p in zip(wanted, part, strict=True))


def _texts(value: Any, field: str) -> list[str]:
    return [_json(value)] if field == WHOLE else list(get_text_at_path(value, tokenize_path(field)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(item: KeyedItem) -> dict[str, Any]:
    value: dict[str, Any] = item.value["item"] if item.value else json.loads(item.text)
    return value


def _fields(item: KeyedItem) -> dict[str, Any]:
    return {
        "namespace": item.path[:-1],
        "key": item.path[-1],
        "value": _value(item),
        "created_at": datetime.fromtimestamp(item.created, UTC),
        "updated_at": datetime.fromtimestamp(item.updated, UTC),
    }
