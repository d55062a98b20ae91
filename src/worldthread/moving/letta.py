"""Letta's agent files (``.af``): the conversation and the memory blocks of agents, of both revisions of the format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import orjson

from worldthread.moving.base import NO_TIME, Dump, DumpItem, JsonPart, LeftOut, Spacing

SOURCE: Final = "letta"
_CALLS: Final = "of thoughts or calls of tools"
_PACKED: Final = "user_message"
_SPEAKS: Final = "send_message"


def detect(dump: Dump) -> bool:
    """Return whether the file is an agent file."""
    value = dump.root.value
    if not isinstance(value, dict):
        return False
    agents = value.get("agents")
    if isinstance(agents, list) and agents and isinstance(agents[0], dict):
        return "blocks" in value and "messages" in agents[0]
    return {"agent_type", "core_memory", "messages"} <= value.keys()


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield the messages that user and agent exchanged, and the text of every memory block.

    A block has the time of its last change where the file says it, else that of the export.

    Args:
        dump: the file.

    Yields:
        The messages and blocks, and one item for each that is left out.

    Raises:
        FormatError: the file is not an agent file; the message names the place.
    """
    root = dump.root.require(dict)
    if root.has("core_memory"):  # a single agent, as the first revision has it
        for block in root.get("core_memory").each("block"):
            yield _block(dump, block, None, root.text("name"))
        yield from _messages(dump, root, root.text("name"))
        return
    exported_at = root.time("created_at")
    agents = list(root.get("agents").require(list).named("the file").each("agent"))
    names: dict[str, list[str]] = {}
    for agent in agents:
        for block_id in agent.get("block_ids").each("block"):
            names.setdefault(str(block_id.require(str).value), []).append(agent.text("name"))
    for block in root.get("blocks").require(list).named("the file").each("block"):
        owners = names.get(block.required_text("id"), [])
        yield _block(dump, block, exported_at, owners[0] if len(owners) == 1 else "")
    for agent in agents:
        yield from _messages(dump, agent, agent.text("name") or agent.required_text("id"))
    for file in root.get("files").named("the file").each("file"):
        yield _file(dump, file)


def _block(dump: Dump, block: JsonPart, exported_at: float | None, agent: str) -> DumpItem:
    at = block.last_change()
    at = exported_at if at is None else at
    label, text = block.required_text("label"), str(block.get("value").require(str).value)
    if at is None:
        return LeftOut(NO_TIME)
    return dump.document(block.place, text, at=at, source=SOURCE, agent=agent, metadata={"block": label})


def _file(dump: Dump, file: JsonPart) -> DumpItem:
    at, text = file.time("file_creation_date"), file.text("content")
    if not text:
        return LeftOut("files without their content")
    if at is None:
        return LeftOut(NO_TIME)
    return dump.document(file.place, text, at=at, source=SOURCE, metadata=file.plain("file_name"))


def _messages(dump: Dump, agent: JsonPart, name: str) -> Iterator[DumpItem]:
    spacing = Spacing()
    for message in agent.get("messages").require(list).named(agent.place).each("message"):
        role = message.required_text("role")
        at = spacing.place(message.time("created_at"))
        reason, text = _said(message, role)
        if reason:
            yield LeftOut(reason)
        elif at is None:
            yield LeftOut(NO_TIME)
        else:
            yield dump.document(
                message.place, text, at=at, source=SOURCE, speaker=role, agent=name,
                session=message.text("group_id") or name, metadata=message.plain("id", "model"),
            )  # fmt: skip


def _said(message: JsonPart, role: str) -> tuple[str, str]:
    """Return why a message is left out (empty if it is not), and its text."""
    text = _text(message)
    if role == "user":
        return _unpacked(text)
    if role != "assistant":
        return f"of the role {role[:40]}", ""
    calls = list(message.get("tool_calls").each("call"))
    spoken = [_spoken(call) for call in calls]
    if any(spoken):
        return "", "\n".join(filter(None, spoken))
    return (_CALLS if calls else ""), text


def _text(message: JsonPart) -> str:
    content = message.get("content")
    if isinstance(content.value, str) or content.value is None:
        return content.value or message.text("text")
    parts = content.each("part")
    return "\n".join(
        part.text("text") for part in parts if (part.text("type") or "text") == "text" and part.has("text")
    )


def _unpacked(text: str) -> tuple[str, str]:
    """Return the text within the JSON in which Letta packs what a user says with its time."""
    if not text.startswith("{"):
        return "", text
    try:
        packed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return "", text
    if not isinstance(packed, dict) or not isinstance(packed.get("type"), str):
        return "", text
    if packed["type"] != _PACKED:
        return "of Letta itself", ""
    said = packed.get("message")
    return ("", said) if isinstance(said, str) else ("", text)


def _spoken(call: JsonPart) -> str:
    """Return what a call of the tool for answering says; empty for another tool."""
    function = call.get("function")
    if function.text("name") != _SPEAKS:
        return ""
    try:
        arguments = orjson.loads(function.text("arguments"))
    except orjson.JSONDecodeError:
        return ""
    said = arguments.get("message") if isinstance(arguments, dict) else None
    return said if isinstance(said, str) else ""
