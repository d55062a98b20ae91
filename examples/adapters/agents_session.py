import asyncio

from worldthread import Memory
from worldthread.adapters.agents_sdk import AgentsSession


async def main() -> None:
    with Memory() as memory:  # in RAM; Memory("agent.worldthread") for a file
        monday = AgentsSession(memory, "monday", user="Anna")
        # With a model: Runner.run(agent, "I live in Rome.", session=monday). The SDK then adds such items itself.
        await monday.add_items([{"role": "user", "content": "I live in Rome."}])
        tuesday = AgentsSession(memory, "tuesday", user="Anna")
        print(await tuesday.get_items())
        print((await tuesday.recall("Where do I live?")).facts[0].item)
        print(tuesday.recall_tool().name)  # Agent(tools=[tuesday.recall_tool()])


asyncio.run(main())
