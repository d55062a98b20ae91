"""Writes a COGX archive of what cognee made of the sentences of :mod:`said`, and lets cognee import one of ours.

    .venv-cognee/bin/python benchmarks/dumps/cognee_dump.py FOLDER

The model is the scripted one of the adversarial suite. cognee then imports an archive that worldthread exported from
the same sentences; how many statements that has, and what cognee's graph holds of it, is printed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from said import said, written

from worldthread import Memory
from worldthread.moving import export_statements
from worldthread_lab.bench.adversarial.cognee import prepared
from worldthread_lab.bench.adversarial.scripted import statements_of


async def export(cognee: Any, folder: Path) -> None:
    """Make the dataset and export it."""
    for text, _ in said():
        await cognee.add(text, dataset_name="talk")
    await cognee.cognify(datasets=["talk"])
    done = await cognee.export(dataset="talk", format="cogx", destination=str(folder / "cogx"))
    print(done)
    written(folder, "cogx", None, "cognee", len(await cognee.datasets.list_data((await dataset(cognee, "talk")).id)))


async def dataset(cognee: Any, name: str) -> Any:
    return next(one for one in await cognee.datasets.list_datasets() if one.name == name)


async def take(cognee: Any, folder: Path, own: Path) -> None:
    """Let cognee import an archive of ours, and write what came of it."""
    from cognee.infrastructure.databases.graph import get_graph_engine
    from cognee.modules.migration.sources.cogx_archive import COGXArchiveSource

    with Memory(model="none", embedder="fake") as memory:
        for text, at in said():
            memory.remember([(one.subject, one.relation, one.object) for one in statements_of(text)], at)
        count = export_statements(memory, own / "ours.cogx.tar.gz", "cogx", only_current=False)
    with tarfile.open(own / "ours.cogx.tar.gz") as archive:
        archive.extractall(own / "ours")  # our own archive; older releases of Python know no filter
    done = await cognee.remember(COGXArchiveSource(own / "ours"), dataset_name="ours")
    print(done)
    nodes, edges = await (await get_graph_engine()).get_graph_data()
    (folder / "cogx-back.txt").write_text(json.dumps({"ours": count, "nodes": len(nodes), "edges": len(edges)}))
    print(count, len(nodes), len(edges), edges[:3])


def main(name: str) -> None:
    """Export, then import."""
    folder = Path(name).resolve()
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as own:

        async def both() -> None:
            cognee = prepared(Path(own))
            await export(cognee, folder)
            await take(cognee, folder, Path(own))

        asyncio.run(both())


if __name__ == "__main__":
    main(sys.argv[1])
