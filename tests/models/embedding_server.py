"""A small HTTP server that speaks OpenAI's protocol of embeddings, well or badly, as a test tells it to."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from worldthread.models.fake import FakeEmbedder

if "chat_server" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("chat_server", Path(__file__).with_name("chat_server.py"))
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["chat_server"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["chat_server"])
chat_server: Any = sys.modules["chat_server"]
Reply = chat_server.Reply


class EmbeddingServer(chat_server.ChatServer):  # type: ignore[misc]
    """Answers with the vectors of the fake embedder, 3 times as long as unit vectors, and in reverse order.

    Attributes:
        dimensions: how many numbers of each vector it sends.
        most_texts: how many texts it takes in one request.
        most_characters: how many characters it takes in one text.
    """

    def __init__(self, *script: Any) -> None:
        super().__init__(*script)
        self.dimensions = FakeEmbedder.dimensions
        self.most_texts = 2048
        self.most_characters = 10_000

    def _choose(self, path: str, body: dict[str, Any]) -> Any:
        if path != "/v1/embeddings":
            return Reply(status=404, error={"message": f"no such path: {path}"})
        if self.script:
            return self.script.pop(0)
        if len(body["input"]) > self.most_texts:
            return Reply(status=422, error={"message": f"batch size > maximum allowed batch size {self.most_texts}"})
        if max(map(len, body["input"])) > self.most_characters:
            return Reply(status=400, error={"message": "the input length exceeds the context length"})
        return Reply(body=answer(body["input"], body.get("dimensions", self.dimensions)))


def answer(texts: list[str], dimensions: int = FakeEmbedder.dimensions) -> bytes:
    """The body of an answer with the vectors of some texts, the last one first."""
    vectors = 3 * FakeEmbedder().embed(texts)[:, :dimensions]
    data = [{"object": "embedding", "index": row, "embedding": vector.tolist()} for row, vector in enumerate(vectors)]
    usage = {"prompt_tokens": sum(len(text.split()) for text in texts), "total_tokens": 0}
    return json.dumps({"object": "list", "data": data[::-1], "model": "tiny", "usage": usage}).encode()
