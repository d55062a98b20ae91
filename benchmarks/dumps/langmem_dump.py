"""Writes what LangMem keeps of the sentences of :mod:`said`, which a scripted model extracts, and of its memory tool.

Run it where `langmem` is installed: ``python langmem_dump.py FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_memory_store_manager
from pydantic import BaseModel
from said import said, written

SAID = [text for text, _ in said()]


class Person(BaseModel):
    """What is known of somebody."""

    name: str
    city: str


class ScriptedModel(BaseChatModel):
    """Calls the memory tool once for each sentence that the conversation holds, then has nothing to add."""

    names: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        named = [tool["function"]["name"] if isinstance(tool, dict) and "function" in tool else
                 tool.get("name", tool.get("title", "")) if isinstance(tool, dict) else
                 getattr(tool, "name", None) or tool.__name__ for tool in tools]  # fmt: skip
        return ScriptedModel(names=tuple(named))

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        asked = "\n".join(str(message.content) for message in messages)
        calls = []
        if "Memory" in self.names:
            calls = [("Memory", {"content": text}) for text in SAID if text in asked]
        elif "Person" in self.names:
            calls = [("Person", {"name": "Anna", "city": "Rome"})]
        message = AIMessage(
            "", tool_calls=[{"name": name, "args": args, "id": f"c{n}"} for n, (name, args) in enumerate(calls)]
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def main(folder: str) -> None:
    """Make the memories and write them."""
    store, model = InMemoryStore(), ScriptedModel()
    conversation = {"messages": [{"role": "user", "content": text} for text in SAID]}
    configuration = {"configurable": {"user": "anna"}}
    memories = create_memory_store_manager(model, namespace=("memories", "{user}"), store=store)
    memories.invoke(conversation, config=configuration)
    profiles = create_memory_store_manager(
        model, schemas=[Person], namespace=("profiles", "{user}"), enable_inserts=False, store=store
    )
    profiles.invoke(conversation, config=configuration)
    tool = create_manage_memory_tool(namespace=("notes", "{user}"), store=store)
    tool.invoke({"content": "Anna speaks Spanish.", "action": "create"}, config=configuration)
    written(Path(folder), "langgraph-langmem", [item.dict() for item in store.search((), limit=100_000)], "langmem",
            sum(map(len, store._data.values())))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
