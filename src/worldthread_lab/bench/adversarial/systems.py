"""The memories that are attacked, each used as its own documentation says."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Final
from uuid import uuid4

from worldthread.memory.memory import Memory
from worldthread.models.fake import FakeEmbedder
from worldthread_lab.bench.adversarial.cognee import Cognee
from worldthread_lab.bench.adversarial.graphiti import Graphiti
from worldthread_lab.bench.adversarial.system import System


class Worldthread(System):
    """``Memory.remember``, ``forget``, ``recall``; a namespace for each user."""

    packages = ("worldthread",)

    def __init__(self, folder: Path) -> None:
        self._memory = Memory(folder / "memory", model="none", embedder=FakeEmbedder())
        self._of: dict[str, Memory] = {}
        self._lock = Lock()

    def _user(self, user: str) -> Memory:
        with self._lock:
            if user not in self._of:
                self._of[user] = self._memory.open_namespace(user)
            return self._of[user]

    def write(self, user: str, text: str, at: float) -> str:
        [episode] = self._user(user).remember(text, at=at).episodes
        return episode

    def delete(self, user: str, id: str) -> None:
        self._user(user).forget(id)

    def texts(self, user: str) -> list[str]:
        return [episode.text for episode in self._user(user).episodes()]

    def found(self, user: str, question: str) -> list[str]:
        return self._recalled(user, question, None)

    def found_at(self, user: str, question: str, at: float) -> list[str]:
        return self._recalled(user, question, at)

    def _recalled(self, user: str, question: str, at: float | None) -> list[str]:
        hits = self._user(user).recall(question, k=20, as_of=at, kinds=["episode"]).episodes
        return [hit.item.text for hit in hits if hasattr(hit.item, "text")]

    def close(self) -> None:
        for memory in (*self._of.values(), self._memory):
            memory.close()


class LangGraph(System):
    """``SqliteStore`` without an index; a namespace for each user. It has no search by meaning then, so it lists."""

    packages = ("langgraph-checkpoint-sqlite", "langgraph")
    not_claimed: ClassVar[Mapping[str, str]] = {
        "deleted texts are not in the files": "`delete` removes the item; nothing is said of the file",
        "a question about the past gets what held then": "the store holds the last version alone",
        "what no longer holds is not found": "items are what was put; nothing ends by itself",
    }

    def __init__(self, folder: Path) -> None:
        from langgraph.store.sqlite import SqliteStore

        self._context: AbstractContextManager[Any] = SqliteStore.from_conn_string(str(folder / "store.sqlite"))
        self._store = self._context.__enter__()
        self._store.setup()

    def write(self, user: str, text: str, at: float) -> str:
        key = str(uuid4())
        self._store.put((user,), key, {"text": text})
        return key

    def delete(self, user: str, id: str) -> None:
        self._store.delete((user,), id)

    def texts(self, user: str) -> list[str]:
        return [str(item.value["text"]) for item in self._store.search((user,), limit=100_000)]

    def found(self, user: str, question: str) -> list[str]:
        return self.texts(user)

    def close(self) -> None:
        self._context.__exit__(None, None, None)


def mem0_in(folder: Path) -> Any:
    """Return a memory of mem0 that keeps everything in a folder, with our embedder of tests and without a model."""
    from langchain_core.embeddings import Embeddings
    from mem0 import Memory

    embedder = FakeEmbedder()

    class Hook(Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [list(map(float, row)) for row in embedder.embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    store = {"path": str(folder / "qdrant"), "embedding_model_dims": embedder.dimensions, "on_disk": True}
    return Memory.from_config(
        {
            "embedder": {"provider": "langchain", "config": {"model": Hook()}},
            "history_db_path": str(folder / "history.db"),
            "vector_store": {"provider": "qdrant", "config": store},
        }
    )


class Mem0(System):
    """``Memory.add(infer=False)``, ``delete``, ``get_all`` and ``search``; local Qdrant; no model is asked."""

    packages = ("mem0ai", "qdrant-client", "langchain")
    not_claimed: ClassVar[Mapping[str, str]] = {
        "deleted texts are not in the files": "`delete` removes the memory; its history keeps what was deleted",
        "a question about the past gets what held then": "there is a history of each memory, and no search in the past",
        "what no longer holds is not found": "with infer=False nothing is compared, so nothing ends",
        "nor do users with odd names": "names are trimmed, and in its filters * means every user",
    }
    known: ClassVar[Mapping[str, str]] = {
        "threads write at one time": "qdrant/qdrant-client#1193, of the local store that is its default"
    }

    def __init__(self, folder: Path) -> None:
        logging.getLogger("mem0").setLevel(logging.ERROR)  # it warns of each optional package that is not there
        self._memory = mem0_in(folder)

    def write(self, user: str, text: str, at: float) -> str:
        done = self._memory.add([{"role": "user", "content": text}], user_id=user, infer=False)
        return str(done["results"][0]["id"])

    def delete(self, user: str, id: str) -> None:
        self._memory.delete(id)

    def texts(self, user: str) -> list[str]:
        return [str(one["memory"]) for one in self._memory.get_all(filters={"user_id": user}, top_k=100_000)["results"]]

    def found(self, user: str, question: str) -> list[str]:
        found = self._memory.search(question, top_k=20, filters={"user_id": user}, threshold=0.0)
        return [str(one["memory"]) for one in found["results"]]

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()  # which keeps the folder locked, and is closed by nothing else


SYSTEMS: Final[Mapping[str, type[System]]] = {
    "worldthread": Worldthread,
    "langgraph": LangGraph,
    "mem0": Mem0,
    "graphiti": Graphiti,
    "cognee": Cognee,
}
"""The systems by name."""
