"""ChatGPT's export: ``conversations.json``, a list of conversations, each a tree of messages with a current branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from worldthread.moving.base import NO_TIME, Dump, DumpItem, JsonPart, LeftOut, Spacing, each_apart

SOURCE: Final = "chatgpt"
_ANOTHER_BRANCH: Final = "on another branch"
_HIDDEN: Final = "hidden in the conversation"
_READ: Final = ("text", "multimodal_text")
_LEFT_OUT_ROLES: Final = {"system": "of the system", "tool": "of tools"}


def detect(dump: Dump) -> bool:
    """Return whether the file is such an export."""
    return bool(dump.first_row("", "mapping"))


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield every message.

    Args:
        dump: the file.

    Yields:
        The messages of the current branch of each conversation, in order, and one item for each that is left out.

    Raises:
        FormatError: the file is not such an export; the message names the place.
    """
    root = dump.root
    conversations = [root.named("conversation 1")] if isinstance(root.value, dict) else root.each("conversation")
    yield from each_apart(conversations, lambda conversation: _conversation(dump, conversation), "conversations")


def _conversation(dump: Dump, conversation: JsonPart) -> Iterator[DumpItem]:
    session = conversation.text("conversation_id") or conversation.required_text("id")
    mapping = conversation.get("mapping").require(dict)
    nodes = {id_: mapping.get(id_).require(dict) for id_ in mapping.value}
    branch = _branch(conversation, nodes)
    others = nodes.keys() - set(branch)
    yield from (LeftOut(_ANOTHER_BRANCH) for id_ in others if nodes[id_].has("message"))
    spacing = Spacing(conversation.time("create_time"))
    title = conversation.plain("title")
    for id_ in branch:
        if not nodes[id_].has("message"):
            continue
        message = nodes[id_].get("message").named(f"{conversation.place}, message {id_!r}").require(dict)
        at = spacing.place(message.time("create_time"))
        role, reason, text = _content(message)
        if reason:
            yield LeftOut(reason)
        elif at is None:
            yield LeftOut(NO_TIME)
        else:
            yield dump.document(
                message.place, text, at=at, source=SOURCE, speaker=role, session=session,
                metadata={**title, "message": id_, **message.get("metadata").plain("model_slug")},
            )  # fmt: skip


def _branch(conversation: JsonPart, nodes: dict[str, JsonPart]) -> list[str]:
    """Return the ids from the root to the current node."""
    current = conversation.text("current_node")
    if not current and nodes:
        parents = {node.text("parent") for node in nodes.values()}
        leaves = [id_ for id_ in nodes if id_ not in parents]
        if len(leaves) != 1:
            raise conversation.get("current_node").fail(f"expected the id of one of the {len(leaves)} last messages")
        current = leaves[0]
    branch: dict[str, None] = {}
    while current:
        if current in branch:
            raise conversation.fail(f"the parents of the message {current!r} form a circle")
        if current not in nodes:
            raise conversation.fail(f"there is no message {current!r}, which is on the current branch")
        branch[current] = None
        current = nodes[current].text("parent")
    return list(branch)[::-1]


def _content(message: JsonPart) -> tuple[str, str, str]:
    """Return the role, why the message is left out (empty if it is not), and its text."""
    role = message.get("author").required_text("role")
    if role not in ("user", "assistant"):
        return role, _LEFT_OUT_ROLES.get(role, "of other roles"), ""
    if message.get("metadata").has("is_visually_hidden_from_conversation"):
        return role, _HIDDEN, ""
    content = message.get("content")
    kind = content.text("content_type") or "text"
    if kind not in _READ or message.text("recipient") not in ("", "all"):
        return role, "of code, thoughts or calls of tools", ""
    found: list[str] = []
    for part in content.get("parts").each("part"):
        if isinstance(part.value, dict):  # a picture has no text, speech has what was heard
            found.append(part.text("text"))
        elif part.value is not None:
            found.append(part.require(str).value)
    return role, "", "\n".join(text for text in found if text.strip())
