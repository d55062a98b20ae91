"""Use a memory in an asynchronous program: each call runs on a thread while the event loop goes on."""

from __future__ import annotations

import asyncio

from worldthread import AsyncMemory

LETTERS = {
    "2023-05-01": "Anna lives in Rome. Bob works for Acme.",
    "2024-03-01": "Anna moved to Paris.",
    "2024-06-01": "Bob works for Globex.",
}
QUESTIONS = ("Where does Anna live?", "Who does Bob work for?")


async def main() -> None:
    async with AsyncMemory() as memory:  # in RAM
        await asyncio.gather(*(memory.remember(text, at=day) for day, text in LETTERS.items()))
        found = await asyncio.gather(*(memory.recall(question, k=1, kinds=["fact"]) for question in QUESTIONS))
        for recall in found:
            print(recall.query, recall.facts[0].item)


asyncio.run(main())
