"""Writes an agent file by Letta's own classes, without its server, which needs PostgreSQL.

Run it where `letta` is installed: ``python letta_dump.py FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from letta.schemas.agent_file import AgentFileSchema, AgentSchema, BlockSchema, MessageSchema
from letta.schemas.letta_message_content import TextContent
from letta.schemas.message import Message
from said import BEGIN, said, written


def main(folder: str) -> None:
    """Make the agent and write it."""
    messages = [
        MessageSchema.from_message(
            Message(role=role, content=[TextContent(text=text if role == "user" else "I see.")], agent_id="agent-0",
                    created_at=at)
        )
        for text, at in said()
        for role in ("user", "assistant")
    ]  # fmt: skip
    block = BlockSchema(id="block-0", label="human", value="Her name is Anna.", limit=5000)
    agent = AgentSchema(id="agent-0", name="helper", block_ids=[block.id], messages=messages)
    file = AgentFileSchema(
        agents=[agent], groups=[], blocks=[block], files=[], sources=[], tools=[], mcp_servers=[], created_at=BEGIN
    )
    written(Path(folder), "letta", file.model_dump(mode="json"), "letta", len(messages) + 1)


if __name__ == "__main__":
    main(sys.argv[1])
