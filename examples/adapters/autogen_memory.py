import asyncio

from autogen_core.memory import MemoryContent
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import UserMessage

from worldthread import Memory
from worldthread.adapters.autogen import AutoGenMemorySlot


async def main() -> None:
    with Memory() as memory:  # in RAM; Memory("agent.worldthread") for a file
        slot = AutoGenMemorySlot(memory, user="anna")  # AssistantAgent("helper", model_client, memory=[slot])
        await slot.add(MemoryContent(content="I live in Rome.", mime_type="text/plain"))
        # An agent does this by itself before it answers.
        context = UnboundedChatCompletionContext()
        await context.add_message(UserMessage(content="Where do I live?", source="anna"))
        await slot.update_context(context)
        print("Rome" in str((await context.get_messages())[-1].content))


asyncio.run(main())
