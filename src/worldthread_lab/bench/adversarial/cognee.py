"""cognee with its own embedded databases and a scripted model: attacked as its documentation uses it."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlparse

from worldthread.models.fake import FakeEmbedder
from worldthread_lab.bench.adversarial.scripted import statements_of
from worldthread_lab.bench.adversarial.system import System

_SETTINGS: Mapping[str, str] = {
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "EMBEDDING_DIMENSIONS": str(FakeEmbedder().dimensions),
    "LLM_API_KEY": "none",
    "LOG_LEVEL": "CRITICAL",
    "MOCK_EMBEDDING": "true",
    "TELEMETRY_DISABLED": "1",
}
_ENDS = "what is added stays; its temporal mode dates events, and a model answers from them"


class Cognee(System):
    """``add`` and ``cognify`` for each text, ``datasets.delete_data``, ``search`` for chunks; a dataset for each user.

    The scripted model reads the statements of each sentence as entities and relations.
    """

    packages = ("cognee",)
    not_claimed: ClassVar[Mapping[str, str]] = {
        "deleted texts are not in the files": "`delete_data` removes data and what came of it; files are not named",
        "a question about the past gets what held then": _ENDS,
        "what no longer holds is not found": _ENDS,
    }
    known: ClassVar[Mapping[str, str]] = {
        "threads write at one time": "topoteretes/cognee#2717, locks of its databases"
    }

    def __init__(self, folder: Path) -> None:
        self._cognee = prepared(folder)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _dataset(self, user: str) -> Any:
        """Return the dataset of a user; ``None`` when nothing was written to it."""
        return next((one for one in await self._cognee.datasets.list_datasets() if one.name == user), None)

    def write(self, user: str, text: str, at: float) -> str:
        async def add() -> str:
            done = await self._cognee.add(text, dataset_name=user)
            await self._cognee.cognify(datasets=[user])
            return str(done.data_ingestion_info[0]["data_id"])

        return str(self._run(add()))

    def delete(self, user: str, id: str) -> None:
        from uuid import UUID

        async def remove() -> None:
            await self._cognee.datasets.delete_data((await self._dataset(user)).id, UUID(id))

        self._run(remove())

    def texts(self, user: str) -> list[str]:
        async def listed() -> list[str]:
            dataset = await self._dataset(user)
            data = [] if dataset is None else await self._cognee.datasets.list_data(dataset.id)
            return [Path(unquote(urlparse(one.raw_data_location).path)).read_text("utf-8") for one in data]

        return list(self._run(listed()))

    def found(self, user: str, question: str) -> list[str]:
        async def search() -> list[str]:
            if await self._dataset(user) is None:
                return []
            found = await self._cognee.search(
                question, query_type=self._cognee.SearchType.CHUNKS, datasets=[user], top_k=20
            )
            return list(_texts_in(found))

        return list(self._run(search()))

    def close(self) -> None:
        async def end() -> None:
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def prepared(folder: Path) -> Any:
    """Return the module ``cognee`` with its files in a folder, the scripted model and the fake embedder.

    Args:
        folder: where its databases lie.
    """
    os.environ |= _SETTINGS
    import cognee
    from cognee.infrastructure.databases.vector.embeddings import LiteLLMEmbeddingEngine as embeddings
    from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingResult
    from cognee.infrastructure.llm.LLMGateway import LLMGateway

    logging.disable(logging.CRITICAL)  # it sets its loggers up when it is imported
    embedder = FakeEmbedder()

    async def embed(engine: Any, texts: list[str]) -> Any:
        return EmbeddingResult(vectors=[list(map(float, row)) for row in embedder.embed(texts)], tokens=0)

    LLMGateway.acreate_structured_output = staticmethod(_answer)
    embeddings.resolve_embedding_tokenizer = lambda **options: _Words()
    embeddings.LiteLLMEmbeddingEngine.embed_text = embed
    cognee.config.data_root_directory(str(folder / "data"))
    cognee.config.system_root_directory(str(folder / "system"))
    return cognee


class _Words:
    """Counts words, in place of a tokenizer that cognee would download."""

    model_input_limit = None

    def extract_tokens(self, text: str) -> list[str]:
        return text.split()

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def decode_single_token(self, token: int) -> str:
        return str(token)


async def _answer(text_input: str, system_prompt: str, response_model: Any, **options: Any) -> Any:
    """Return the scripted answer: the entities and relations of the sentences; the text as its own summary."""
    if response_model is str:
        return text_input
    fields = response_model.model_fields
    if {"nodes", "edges"} <= set(fields):
        said = statements_of(text_input)
        names = dict.fromkeys(name for one in said for name in (one.subject, one.object))
        return response_model.model_validate(
            {
                "nodes": [{"id": name, "name": name, "type": "Thing", "description": name} for name in names],
                "edges": [
                    {"source_node_id": one.subject, "target_node_id": one.object,
                     "relationship_name": one.relation.replace(" ", "_"), "description": one.sentence}
                    for one in said
                ],
            }
        )  # fmt: skip
    return response_model.model_validate(
        {name: text_input if field.annotation is str else [] for name, field in fields.items() if field.is_required()}
    )


def _texts_in(found: Any) -> list[str]:
    """Return the texts of chunks, however deep the result of a search nests them."""
    if isinstance(found, dict):
        text = found.get("text")
        return [text] if isinstance(text, str) else [one for value in found.values() for one in _texts_in(value)]
    if isinstance(found, list | tuple):
        return [one for value in found for one in _texts_in(value)]
    return _texts_in(found.model_dump()) if hasattr(found, "model_dump") else []
