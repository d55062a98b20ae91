"""Small files as ChatGPT, Claude, WhatsApp, mem0, LangGraph, Zep, Graphiti, Letta and cognee write them."""

from __future__ import annotations

import copy
import gzip
import io
import json
import tarfile
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


def zep() -> dict[str, Any]:
    times = {"created_at": "2024-06-01T00:00:00Z"}
    messages = [
        {
            "uuid": "m1",
            "role": "user",
            "name": "Anna",
            "content": "I live in Rome.",
            "thread_uuid": "t",
            "reference_time": "2024-05-01T10:00:00Z",
            "metadata": {"topic": "home"},
            "processed": True,
            **times,
        },
        {"uuid": "m2", "role": "assistant", "content": "Rome is old.", "thread_uuid": "t", **times},
        {"uuid": "m3", "role": "system", "content": "Be kind.", "thread_uuid": "t", **times},
    ]
    episodes = [
        {"uuid": "p1", "content": "Anna likes tea.", "source": "text", "graph_uuid": "g", **times},
        {
            "uuid": "p2",
            "content": "I live in Rome.",
            "source": "message",
            "thread_uuid": "t",
            "graph_uuid": "g",
            **times,
        },
    ]
    nodes = [
        {
            "uuid": f"n{number}",
            "name": name,
            "labels": ["Entity"],
            "summary": "",
            "graph_uuid": "g",
            "episode_uuids": [],
            "episode_uuids_truncated": False,
            **times,
        }
        for number, name in enumerate(("Anna", "Rome", "Paris"), 1)
    ]
    edges = [
        {"uuid": "e1", "name": "LIVES_IN", "fact": "Anna lived in Rome.", "source_node_uuid": "n1", "graph_uuid": "g",
         "target_node_uuid": "n2", "valid_at": "2023-05-01T00:00:00Z", "invalid_at": "2024-03-01T00:00:00Z", **times},
        {"uuid": "e2", "name": "LIVES_IN", "fact": "Anna lives in Paris.", "source_node_uuid": "n1", "graph_uuid": "g",
         "source_node_name": "Anna", "target_node_name": "Paris", "target_node_uuid": "n3",
         "valid_at": "2024-03-01T00:00:00Z", **times},
    ]  # fmt: skip
    return {"messages": messages, "episodes": episodes, "nodes": nodes, "edges": edges}


def letta_message(id_: str, role: str, text: str, at: str, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    named = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {
        "type": "message", "id": id_, "role": role, "content": [{"type": "text", "text": text}], "name": None,
        "model": None, "agent_id": "agent-0", "tool_calls": named or None, "tool_call_id": None, "created_at": at,
    }  # fmt: skip


def letta() -> dict[str, Any]:
    packed = json.dumps({"type": "user_message", "message": "I have a dog.", "time": "2024-03-01 11:00:00 AM UTC"})
    messages = [
        letta_message("message-0", "system", "You are Letta.", "2024-03-01T10:00:00Z"),
        letta_message("message-1", "user", json.dumps({"type": "login"}), "2024-03-01T10:00:00Z"),
        letta_message("message-2", "user", "I live in Rome.", "2024-03-01T10:01:00Z"),
        letta_message("message-3", "assistant", "Rome is old.", "2024-03-01T10:01:01Z"),
        letta_message("message-4", "user", packed, "2024-03-01T11:00:00Z"),
        letta_message(
            "message-5", "assistant", "A fact.", "2024-03-01T11:00:01Z", ("memory_insert", {"new_str": "Rex"})
        ),
        letta_message("message-6", "tool", '{"status": "OK"}', "2024-03-01T11:00:02Z"),
        letta_message(
            "message-7", "assistant", "A", "2024-03-01T11:00:03Z", ("send_message", {"message": "Nice dog!"})
        ),
    ]
    agent = {"id": "agent-0", "name": "helper", "block_ids": ["block-0"], "messages": messages, "system": "...",
             "agent_type": "letta_v1_agent", "in_context_message_ids": []}  # fmt: skip
    block = {"id": "block-0", "label": "human", "value": "Her name is Anna.", "limit": 5000, "metadata": {}}
    return {
        "agents": [agent], "blocks": [block], "groups": [], "files": [], "sources": [], "tools": [], "mcp_servers": [],
        "skills": [], "metadata": {"revision_id": "x"}, "created_at": "2024-03-02T00:00:00Z",
    }  # fmt: skip


def cogx() -> dict[str, Any]:
    """The records of an archive by the name of their file; :func:`packed` makes the file."""

    def record(kind: str, id_: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "external_system": "zep", "external_id": id_, "scope": {}, "metadata": {}, **more}

    turns = [
        {"role": "user", "content": "I live in Rome.", "occurred_at": "2024-03-01T10:00:00Z"},
        {"role": "assistant", "content": "Rome is old.", "occurred_at": "2024-03-01T10:00:00Z"},
        {"role": "tool", "content": "x", "occurred_at": "2024-03-01T10:00:00Z"},
    ]
    made = {"created_at": "2024-03-01T00:00:00Z"}
    return {
        "manifest.json": [{"cogx_version": "0.1", "source_system": "zep", "exported_at": "2024-06-01T00:00:00Z",
                           "counts": {"fact": 3}, "notes": []}],
        "documents.jsonl": [record("document", "d1", content="Anna likes tea.", title="Notes", **made)],
        "episodes.jsonl": [record("episode", "p1", turns=turns, scope={"user_id": "anna", "session_id": "s"})],
        "entities.jsonl": [record("entity", "n1", name="Anna", **made), record("entity", "n2", name="Rome", **made)],
        "facts.jsonl": [
            record("fact", "e1", subject_ref="n1", predicate="LIVES_IN", object_ref="n2",
                   fact_text="Anna lived in Rome.", valid_at="2023-05-01T00:00:00Z", invalid_at="2024-03-01T00:00:00Z"),
            record("fact", "e2", subject_ref="n1", predicate="likes", object_ref="green tea"),
            record("fact", "e3", subject_ref="c1", predicate="contains", object_ref="n1"),
        ],
        "memories.jsonl": [record("memory", "m1", content="Owns a dog", categories=["pets"], **made)],
        "memory_blocks.jsonl": [record("memory_block", "b1", label="human", value="Her name is Anna.", limit=5000)],
        "nodes.jsonl": [{"id": "c1", "type": "DocumentChunk", "text": "Anna likes tea.", "created_at": 1709251200000}],
    }  # fmt: skip


def packed(files: dict[str, Any], *, compressed: bool = True) -> bytes:
    """An archive of COGX with these records."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, records in files.items():
            lines = records if isinstance(records, list) else [records]
            data = "\n".join(json.dumps(record) for record in lines).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(stream.getvalue(), 1) if compressed else stream.getvalue()


DUMPS = {
    "chatgpt": chatgpt(),
    "claude": claude(),
    "whatsapp": WHATSAPP,
    "mem0": MEM0,
    "langgraph": LANGGRAPH,
    "zep": zep(),
    "graphiti": graphiti(),
    "letta": letta(),
    "cogx": cogx(),
}


@pytest.fixture
def dumps() -> dict[str, Any]:
    """A small file of each format: JSON values, and the text of WhatsApp."""
    return copy.deepcopy(DUMPS)


@pytest.fixture
def pack() -> Callable[..., bytes]:
    """Makes an archive of COGX from the records of each of its files."""
    return packed


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file and returns its path."""

    def written(dump: Any, name: str = "dump") -> Path:
        path = tmp_path / name
        if isinstance(dump, dict) and "manifest.json" in dump:
            dump = packed(dump)
        text = dump if isinstance(dump, str | bytes) else json.dumps(dump)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written
