"""A dump of mem0: what ``get_all`` returns, as JSON. Memories with a role were said by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from worldthread.moving.base import NO_TIME, Dump, DumpItem, JsonPart, LeftOut, each_apart

SOURCE: Final = "mem0"
EXPIRY: Final = "expiration_date"
"""The metadata that say when a memory expires."""

_KNOWN: Final = (
    "id", "memory", "user_id", "agent_id", "run_id", "created_at", "updated_at", "metadata", "role", "hash", "score",
)  # fmt: skip
_ROLES: Final = ("user", "assistant")


def detect(dump: Dump) -> bool:
    """Return whether the file is such a dump."""
    return bool(dump.first_row("results", "memory"))


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield every memory at the time at which it was last changed, and one item for each relation, which has no time.

    Args:
        dump: the file.

    Yields:
        The memories, and one item for each that is left out.

    Raises:
        FormatError: the file is not such a dump; the message names the place.
    """
    memories = dump.rows("results").each("memory")
    yield from each_apart(memories, lambda memory: [_memory(dump, memory)], "memories")
    root = dump.root
    if root.has("relations"):
        yield from (LeftOut(f"relations {NO_TIME}") for _ in root.get("relations").each("relation"))


def _memory(dump: Dump, memory: JsonPart) -> DumpItem:
    text, at = memory.get("memory").require(str).value, memory.last_change()
    if at is None:
        return LeftOut(NO_TIME)
    role, id_ = memory.text("role"), memory.required_text("id")
    own, long = memory.get("metadata").fields()
    more, longer = memory.fields(*_KNOWN)
    return dump.document(
        memory.place, text, at=at, source=SOURCE, speaker=role if role in _ROLES else "",
        user=memory.text("user_id"), agent=memory.text("agent_id"), session=memory.text("run_id"),
        metadata={**more, **own, "memory": id_}, payload=long or longer,
    )  # fmt: skip
