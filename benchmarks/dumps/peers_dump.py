"""Writes what mem0, LangGraph's store and Graphiti keep of the sentences of :mod:`said`, as each is dumped.

    .venv-peers/bin/python benchmarks/dumps/peers_dump.py FOLDER

mem0 stores without a model (``infer=False``). Graphiti extracts over FalkorDB with the scripted model of the
adversarial suite. Beside each dump a file `*.made.json` says which package wrote it, and how many memories it counts.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from said import said, written

from worldthread.models.fake import FakeEmbedder
from worldthread_lab.agents.memory_modules.graphiti_client import FalkorDBProcess, make_client
from worldthread_lab.bench.adversarial.graphiti import answer
from worldthread_lab.bench.adversarial.systems import mem0_in


def mem0(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as own:
        memory = mem0_in(Path(own))
        for text, _ in said():
            memory.add([{"role": "user", "content": text}], user_id="anna", infer=False)
        dump = memory.get_all(filters={"user_id": "anna"}, top_k=100_000)
        client = memory.vector_store.client
        held = client.count(memory.vector_store.collection_name).count
        memory.close()
        client.close()
    written(folder, "mem0", dump, "mem0ai", held)


def langgraph(folder: Path) -> None:
    from langgraph.store.sqlite import SqliteStore

    with SqliteStore.from_conn_string(":memory:") as store:
        store.setup()
        for number, (text, _) in enumerate(said()):
            store.put(("memories", "anna"), str(number), {"text": text})
        [(held,)] = store.conn.execute("SELECT count(*) FROM store")
        dump = [item.dict() for item in store.search((), limit=100_000)]
    written(folder, "langgraph", dump, "langgraph-checkpoint-sqlite", held)


async def graphiti(folder: Path, database: str) -> None:
    from urllib.parse import urlsplit

    from graphiti_core.driver.falkordb_driver import FalkorDriver
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode, EpisodeType

    parts = urlsplit(database)
    driver = FalkorDriver(host=parts.hostname, port=parts.port, password=parts.password, database="talk")
    client = make_client(driver, lambda asked, messages, into: answer(asked, messages[-1].content), FakeEmbedder())
    await client.build_indices_and_constraints()
    for text, at in said():
        await client.add_episode(
            name="note", episode_body=text, source_description="a note", source=EpisodeType.text,
            reference_time=at, group_id="talk",
        )  # fmt: skip
    nodes = await EntityNode.get_by_group_ids(driver, ["talk"])
    edges = await EntityEdge.get_by_group_ids(driver, ["talk"])
    rows, _, _ = await driver.execute_query("MATCH ()-[e:RELATES_TO]->() RETURN count(e) AS held")
    dump = {
        "nodes": [one.model_dump(mode="json") for one in nodes],
        "edges": [one.model_dump(mode="json") for one in edges],
    }
    await client.close()
    written(folder, "graphiti", dump, "graphiti-core", rows[0]["held"])


def main(name: str) -> None:
    """Write all three."""
    os.environ |= {"OPENAI_API_KEY": "unused", "MEM0_TELEMETRY": "false", "GRAPHITI_TELEMETRY_ENABLED": "false"}
    folder = Path(name)
    folder.mkdir(exist_ok=True)
    mem0(folder)
    langgraph(folder)
    database = FalkorDBProcess()
    asyncio.run(graphiti(folder, database.address))
    database.close()


if __name__ == "__main__":
    main(sys.argv[1])
