"""Writes a COGX archive of a dataset that cognee made of a few sentences, with a scripted model.

Run it where `cognee` is installed: ``python cognee_dump.py FOLDER``.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from typing import Any

SAID = ("Anna lives in Rome.", "Anna likes tea.", "Bob works at Acme.")
_SENTENCE = re.compile(r"([A-Z]\w+) (lives in|likes|works at) (\w+)\.")


async def scripted(text_input: str, system_prompt: str, response_model: Any, **options: Any) -> Any:
    """Return what a model would answer: the entities and relations of plain sentences; the text as its summary."""
    if response_model is str:
        return text_input
    fields = response_model.model_fields
    if {"nodes", "edges"} <= set(fields):
        found = _SENTENCE.findall(text_input)
        names = dict.fromkeys(name for subject, _, object_ in found for name in (subject, object_))
        return response_model.model_validate(
            {
                "nodes": [{"id": name, "name": name, "type": "Thing", "description": name} for name in names],
                "edges": [
                    {"source_node_id": subject, "target_node_id": object_,
                     "relationship_name": relation.replace(" ", "_"), "description": f"{subject} {relation} {object_}."}
                    for subject, relation, object_ in found
                ],
            }
        )  # fmt: skip
    return response_model.model_validate(
        {name: text_input if field.annotation is str else [] for name, field in fields.items() if field.is_required()}
    )


class Words:
    """Counts words, in place of a tokenizer that cognee would download."""

    model_input_limit = None

    def extract_tokens(self, text: str) -> list[str]:
        return text.split()

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def decode_single_token(self, token: int) -> str:
        return str(token)


async def export(folder: str, destination: str) -> None:
    """Make the dataset below a folder and export it."""
    import cognee
    from cognee.infrastructure.databases.vector.embeddings import LiteLLMEmbeddingEngine as embeddings
    from cognee.infrastructure.llm.LLMGateway import LLMGateway

    LLMGateway.acreate_structured_output = staticmethod(scripted)
    embeddings.resolve_embedding_tokenizer = lambda **options: Words()
    cognee.config.data_root_directory(f"{folder}/data")
    cognee.config.system_root_directory(f"{folder}/system")
    for text in SAID:
        await cognee.add(text, dataset_name="talk")
    await cognee.cognify(datasets=["talk"])
    print(await cognee.export(dataset="talk", format="cogx", destination=destination))


def main(destination: str) -> None:
    """Export into a folder."""
    os.environ |= {"MOCK_EMBEDDING": "true", "LLM_API_KEY": "none", "TELEMETRY_DISABLED": "1",
                   "COGNEE_SKIP_CONNECTION_TEST": "true", "LOG_LEVEL": "ERROR"}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(export(folder, os.path.abspath(destination)))


if __name__ == "__main__":
    main(sys.argv[1])
