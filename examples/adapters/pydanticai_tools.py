from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from worldthread import Memory
from worldthread.adapters.pydanticai import memory_toolset

with Memory() as memory:  # in RAM; Memory("agent.worldthread") for a file
    memory.remember("Anna lives in Rome.", at="2023-05-01", user="anna")
    # TestModel calls every tool without a key; a real one: Agent("openai:gpt-5-mini", toolsets=[...])
    agent = Agent(TestModel(call_tools=["recall", "timeline"]), toolsets=[memory_toolset(memory, user="anna")])
    result = agent.run_sync("Where do I live?")
    print(
        [
            part.tool_name
            for message in result.all_messages()
            for part in message.parts
            if part.part_kind == "tool-return"
        ]
    )
