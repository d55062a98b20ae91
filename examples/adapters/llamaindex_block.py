import asyncio

from llama_index.core.llms import ChatMessage

from worldthread import Memory
from worldthread.adapters.llamaindex import LlamaIndexMemoryBlock


async def main() -> None:
    with Memory() as memory:  # in RAM; Memory("chat.worldthread") for a file
        block = LlamaIndexMemoryBlock(memory=memory, user="Anna")
        # In a chat: Memory.from_defaults(session_id="monday", memory_blocks=[block]) of llama_index.core.memory
        await block.aput([ChatMessage(role="user", content="I live in Rome.")], session_id="monday")
        print("Rome" in await block.aget([ChatMessage(role="user", content="Where do I live?")]))


asyncio.run(main())
