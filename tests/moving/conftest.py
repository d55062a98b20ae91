"""Small files as ChatGPT, Claude, WhatsApp, mem0, LangGraph and Graphiti write them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

JANUARY = 1_704_103_200.0  # 2024-01-01 10:00 UTC


def chatgpt_message(id_: str, role: str, text: Any, at: float | None, **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    return {
        "id": id_, "author": {"role": role, "name": None, "metadata": {}}, "create_time": at, "update_time": None,
        "content": content, "status": "finished_successfully", "weight": 1.0, "metadata": {}, "recipient": "all",
        **more,
    }  # fmt: skip


def chatgpt_node(id_: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": id_, "message": message, "parent": parent, "children": []}


def chatgpt() -> list[dict[str, Any]]:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 1, "height": 1}
    code = {"content_type": "code", "text": "x"}
    spoken = {"content_type": "multimodal_text", "parts": [picture, "This is my dog Rex."]}
    mapping = {
        "root": chatgpt_node("root", None, None),
        "s": chatgpt_node("s", "root", chatgpt_message("s", "system", "", None)),
        "u1": chatgpt_node("u1", "s", chatgpt_message("u1", "user", "I live in Rome.", JANUARY)),
        "a0": chatgpt_node("a0", "u1", chatgpt_message("a0", "assistant", "A rejected answer.", JANUARY + 1)),
        "a1": chatgpt_node("a1", "u1", chatgpt_message("a1", "assistant", "Rome is old.", JANUARY + 2)),
        "t": chatgpt_node("t", "a1", chatgpt_message("t", "tool", "search results", JANUARY + 3)),
        "c": chatgpt_node("c", "t", chatgpt_message("c", "assistant", code, JANUARY + 4)),
        "u2": chatgpt_node("u2", "c", chatgpt_message("u2", "user", spoken, None)),
        "p": chatgpt_node("p", "u2", chatgpt_message("p", "user", {**spoken, "parts": [picture]}, JANUARY + 9)),
    }  # fmt: skip
    return [
        {"title": "Rome", "create_time": JANUARY, "update_time": JANUARY + 9, "mapping": mapping, "current_node": "p",
         "conversation_id": "c-1", "id": "c-1"},
    ]  # fmt: skip


def claude_message(uuid: str, sender: str, text: str, at: str, content: list[Any] | None = None) -> dict[str, Any]:
    return {
        "uuid": uuid, "text": text, "content": content or [], "sender": sender, "created_at": at, "updated_at": at,
        "attachments": [], "files": [],
    }  # fmt: skip


def claude() -> list[dict[str, Any]]:
    blocks = [
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "text", "text": "Paris is a city."},
    ]
    return [
        {
            "uuid": "k-1", "name": "Paris", "created_at": "2024-02-01T09:00:00.000000Z",
            "updated_at": "2024-02-01T09:05:00.000000Z", "account": {"uuid": "x"},
            "chat_messages": [
                claude_message("m1", "human", "I moved to Paris.", "2024-02-01T09:00:00.000000Z"),
                claude_message("m2", "assistant", "not supported", "2024-02-01T09:01:00.000000Z", blocks),
                claude_message("m3", "human", "", "2024-02-01T09:02:00.000000Z"),
            ],
        }
    ]  # fmt: skip


WHATSAPP = (
    "31/12/2023, 22:15 - Messages and calls are end-to-end encrypted. Tap to learn more.\n"
    "31/12/2023, 22:15 - Anna: I live in Rome.\n"
    "31/12/2023, 22:15 - Tom: Nice!\nSee you: at ten\n"
    "01/01/2024, 08:01 - Anna: <Media omitted>\n"
    "01/01/2024, 08:02 - Tom: IMG-20240101-WA0001.jpg (file attached)\nMy dog Rex\n"
    "01/01/2024, 08:03 - Tom: This message was deleted\n"
)

MEM0 = {
    "results": [
        {"id": "1", "memory": "Likes tea", "hash": "h", "metadata": {"topic": "drinks"}, "created_at":
         "2024-03-01T10:00:00.000000-08:00", "updated_at": None, "user_id": "anna", "run_id": "r1"},
        {"id": "2", "memory": "Lives in Rome", "hash": "i", "metadata": None, "created_at": "2024-03-01T10:00:00+00:00",
         "updated_at": "2024-03-02T10:00:00+00:00", "user_id": "anna", "agent_id": "helper", "role": "user"},
        {"id": "3", "memory": "Owns a dog", "hash": None, "created_at": None, "updated_at": None, "user_id": "anna"},
    ],
    "relations": [{"source": "anna", "relationship": "likes", "target": "tea"}],
}  # fmt: skip

LANGGRAPH = [
    {"namespace": ["memories", "anna"], "key": "k1",
     "value": {"kind": "Memory", "content": {"content": "Anna likes tea."}},
     "created_at": "2024-03-01T10:00:00+00:00", "updated_at": "2024-03-01T10:00:00+00:00", "score": None},
    {"namespace": ["memories", "anna"], "key": "k2",
     "value": {"kind": "Profile", "content": {"name": "Anna", "age": 30}},
     "created_at": "2024-03-01T10:00:00+00:00", "updated_at": "2024-03-05T10:00:00+00:00", "score": None},
]  # fmt: skip


def graphiti_edge(uuid: str, target: str, fact: str, start: str | None, end: str | None) -> dict[str, Any]:
    return {
        "uuid": uuid, "group_id": "g", "source_node_uuid": "n1", "target_node_uuid": target,
        "created_at": "2024-06-01T00:00:00Z", "name": "LIVES_IN", "fact": fact, "fact_embedding": None, "episodes": [],
        "expired_at": None, "valid_at": start, "invalid_at": end, "attributes": {},
    }  # fmt: skip


def graphiti() -> dict[str, Any]:
    nodes = [
        {"uuid": f"n{number}", "name": name, "group_id": "g", "labels": ["Entity"], "summary": ""}
        for number, name in enumerate(("Anna", "Rome", "Paris"), 1)
    ]
    edges = [
        graphiti_edge("e1", "n2", "Anna lived in Rome.", "2023-05-01T00:00:00Z", "2024-03-01T00:00:00Z"),
        graphiti_edge("e2", "n3", "Anna lives in Paris.", "2024-03-01T00:00:00Z", None),
        graphiti_edge("e3", "n3", "Anna was in Paris.", "2024-03-01T00:00:00Z", "2020-01-01T00:00:00Z"),
    ]
    return {"nodes": nodes, "edges": edges}


DUMPS = {
    "chatgpt": chatgpt(),
    "claude": claude(),
    "whatsapp": WHATSAPP,
    "mem0": MEM0,
    "langgraph": LANGGRAPH,
    "graphiti": graphiti(),
}


@pytest.fixture
def dumps() -> dict[str, Any]:
    """A small file of each format: JSON values, and the text of WhatsApp."""
    return copy.deepcopy(DUMPS)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file and returns its path."""

    def written(dump: Any, name: str = "dump") -> Path:
        path = tmp_path / name
        text = dump if isinstance(dump, str | bytes) else json.dumps(dump)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written
