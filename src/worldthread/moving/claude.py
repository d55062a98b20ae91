"""Claude's export: ``conversations.json``, a list of conversations with their ``chat_messages``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from worldthread.moving.base import NO_TEXT, NO_TIME, Dump, DumpItem, JsonPart, LeftOut, Spacing, each_apart

SOURCE: Final = "claude"
_SPEAKERS: Final = {"human": "user", "assistant": "assistant"}


def detect(dump: Dump) -> bool:
    """Return whether the file is such an export."""
    return bool(dump.first_row("", "chat_messages"))


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield every message, and the text of every file that was attached to one.

    Args:
        dump: the file.

    Yields:
        The messages in order, and one item for each that is left out.

    Raises:
        FormatError: the file is not such an export; the message names the place.
    """
    root = dump.root
    conversations = [root.named("conversation 1")] if isinstance(root.value, dict) else root.each("conversation")
    yield from each_apart(conversations, lambda conversation: _conversation(dump, conversation), "conversations")


def _conversation(dump: Dump, conversation: JsonPart) -> Iterator[DumpItem]:
    session = conversation.required_text("uuid")
    spacing = Spacing(conversation.time("created_at"))
    for message in conversation.get("chat_messages").require(list).named(conversation.place).each("message"):
        at = spacing.place(message.time("created_at"))
        sender = message.required_text("sender").lower()
        if sender not in _SPEAKERS:
            yield LeftOut("of other senders")
        elif at is None:
            yield LeftOut(NO_TIME)
        else:
            known = {**conversation.plain("name"), "message": message.required_text("uuid")}
            yield dump.document(
                message.place, _text(message), at=at, source=SOURCE, speaker=_SPEAKERS[sender], session=session,
                metadata=known,
            )  # fmt: skip
            for attachment in message.get("attachments").each("attachment"):
                text, name = attachment.text("extracted_content"), attachment.text("file_name")
                if not text.strip():
                    yield LeftOut(f"of attachments {NO_TEXT}")
                    continue
                placed = spacing.place(at)
                assert placed is not None
                yield dump.document(
                    attachment.place, text, at=placed, source=SOURCE, session=session,
                    metadata={**known, "attachment": name},
                )  # fmt: skip


def _text(message: JsonPart) -> str:
    """Return what was written: the blocks of text, else the text as a whole, which also describes other blocks."""
    blocks = list(message.get("content").each("block"))
    if not blocks:
        return message.text("text")
    return "\n".join(block.text("text") for block in blocks if block.text("type") == "text" and block.has("text"))
