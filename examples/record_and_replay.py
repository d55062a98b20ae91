"""Record all calls of a model while it reads a text, then read the same text again without any call.

The model is that of ``$WORLDTHREAD_MODEL``; without one, a fake model takes its place.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from worldthread import Memory
from worldthread.models import ChatModel, FakeChat, chat_model
from worldthread.models.recording import RecordingChat, ReplayChat

FACT = {"subject": "Anna", "relation": "lives in", "object": "Rome"}
FAKE = FakeChat({"Anna": json.dumps({"facts": [FACT], "theses": []})}, name="stand-in")


def read(model: ChatModel) -> str:
    """Read a letter with the model and return the state hash of the memory."""
    with Memory(model=model) as memory:
        done = memory.remember("Anna lives in Rome.", at="2023-05-01")
        print(f"{model.name}: {done.added} passage, {done.unread} not read")
        return memory.record.state_hash()


with tempfile.TemporaryDirectory() as folder:
    calls = Path(folder, "calls.jsonl")
    with RecordingChat(chat_model() or FAKE, calls) as recording:
        first = read(recording)
    replay = ReplayChat(calls)
    again = read(replay)

print("the same memory" if first == again else "another memory", f"({replay.unused} calls not asked for)")
