"""Items of a LangGraph store, such as LangMem keeps them: ``[item.dict() for item in store.search(...)]`` as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from worldthread.moving.base import NO_TIME, Dump, DumpItem, JsonPart, LeftOut, each_apart

SOURCE: Final = "langgraph"
_TEXTS: Final = ("content", "text", "memory")


def detect(dump: Dump) -> bool:
    """Return whether the file holds such items."""
    return bool(dump.first_row("items", "namespace", "key"))


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield every item at the time at which it was last changed; its session is its namespace.

    Args:
        dump: the file.

    Yields:
        The items, and one item for each that is left out.

    Raises:
        FormatError: the file does not hold such items; the message names the place.
    """
    yield from each_apart(dump.rows("items").each("item"), lambda item: [_item(dump, item)], "items")


def _item(dump: Dump, item: JsonPart) -> DumpItem:
    namespace = [str(part.require(str).value) for part in item.get("namespace").require(list).each("part")]
    key, value, at = item.required_text("key"), item.get("value").require(dict), item.last_change()
    if at is None:
        return LeftOut(NO_TIME)
    return dump.document(
        item.place, _text(value), at=at, source=SOURCE, session="/".join(namespace),
        metadata={"key": key, **value.plain("kind")},
    )  # fmt: skip


def _text(part: JsonPart) -> str:
    """Return the text of a value: its content, which may be nested, else its fields line by line.

    Raises:
        FormatError: it is nested too deeply.
    """
    value = part.value
    while isinstance(value, Mapping):
        inner = next((value[name] for name in _TEXTS if isinstance(value.get(name), str | Mapping)), None)
        if inner is None:
            try:
                return "\n".join(f"{name}: {_line(field)}" for name, field in value.items() if field is not None)
            except orjson.JSONEncodeError as error:
                raise part.fail(f"it cannot be written as text: {error}") from None
        value = inner
    return str(value)


def _line(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
