"""A memory in an asynchronous program: calls that wait run on threads, and the event loop goes on."""

from __future__ import annotations

import asyncio

from worldthread import Memory

LETTERS = {
    "2023-05-01": "Anna lives in Rome. Bob works for Acme.",
    "2024-03-01": "Anna moved to Paris.",
    "2024-06-01": "Bob works for Globex.",
}
QUESTIONS = ("Where does Anna live?", "Who does Bob work for?")


async def main() -> None:
    with Memory() as memory:  # in RAM
        await asyncio.gather(*(memory.aremember(text, at=day) for day, text in LETTERS.items()))
        found = await asyncio.gather(*(memory.arecall(question, k=1, kinds=["fact"]) for question in QUESTIONS))
        for recall in found:
            print(recall.query, recall.facts[0].item)


asyncio.run(main())
