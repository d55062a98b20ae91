"""The table of stores of PersonalAI (section IV.F) for ours: time and disk by database, with equal answers required.

    python benchmarks/servers/bench_stores.py CORPUS.jsonl.gz [--passages 300] [STORE...]

STORE is one of sqlite, postgresql, falkordb, neo4j (the memory, or its mirror), exact, pgvector, milvus, qdrant
(vectors); default: all but neo4j, which Maven fetches. Servers are started here. The passages are read by rule, once,
before the clock starts. Printed for each: seconds to write, processor seconds of this process (not of a server), bytes
on disk afterwards, and the median of a question. For a graph the question is for the names within two steps of a name,
which must be the same everywhere; for vectors for the 10 nearest. Vectors are random, of 384 numbers, one for each
statement. A store that cannot be had is named as such.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "servers"))

import cache_servers  # type: ignore[import-not-found]  # noqa: E402
from postgres_server import temporary_server  # type: ignore[import-not-found]  # noqa: E402

from worldthread import Memory  # noqa: E402
from worldthread.extract.documents import load  # noqa: E402
from worldthread.extract.prose.extractor import ProseExtractor  # noqa: E402
from worldthread.graph import GraphView  # noqa: E402
from worldthread.mirror import GraphServer, Mirror, MirrorView, open_graph  # noqa: E402
from worldthread.stores import open_store  # noqa: E402
from worldthread.types import Episode, Fact  # noqa: E402
from worldthread.vectors import VectorItem, open_vector_store  # noqa: E402

MEMORIES = ("sqlite", "postgresql")
MIRRORS = ("falkordb", "neo4j")
VECTORS = ("exact", "pgvector", "milvus", "qdrant")
DIMENSIONS = 384


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def database_bytes(server: Any, address: str) -> int:
    return int(server.sql(f"SELECT pg_database_size('{address.split('/')[3].split('?')[0]}')").strip())


def show(name: str, wall: float, used: float, disk: int | None, asked: list[float]) -> None:
    on_disk = "in RAM" if disk is None else f"{disk / 1e6:8.2f} MB"
    median = f"{statistics.median(asked) * 1000:9.2f} ms" if asked else "-"
    print(
        f"{name:12} {wall:8.2f} s {used:8.2f} s {on_disk:>12} {median:>12}   load {os.getloadavg()[0]:.0f}", flush=True
    )


@contextmanager
def timed(found: dict[str, float]) -> Iterator[None]:
    wall, used = time.perf_counter(), time.process_time()
    yield
    found["wall"], found["used"] = time.perf_counter() - wall, time.process_time() - used


def near(view: GraphView | MirrorView, name: str) -> list[str]:
    """Return the names within two steps of a name."""

    def ring(names: list[str]) -> set[str]:
        found: set[str] = set()
        for one in names:
            for statement in view.about(one):
                found.update(statement.key[::2] if isinstance(statement, Fact) else statement.key[1])
        return found

    return sorted(ring(sorted(ring([name]) | {name})))


def ask(view: GraphView | MirrorView, names: list[str], expected: dict[str, list[str]]) -> list[float]:
    asked = []
    for name in names:
        begin = time.perf_counter()
        found = near(view, name)
        asked.append(time.perf_counter() - begin)
        assert expected.setdefault(name, found) == found, name
    return asked


@contextmanager
def mirrored(kind: str) -> Iterator[tuple[GraphServer, Callable[[], int]]]:
    """A graph database, and what says how many bytes it has on disk."""
    if kind == "falkordb":
        with ExitStack() as stack:
            server = stack.enter_context(cache_servers.running_redis(falkordb=True))
            graph = stack.enter_context(open_graph(f"falkordb://:{server.password}@127.0.0.1:{server.port}/bench"))

            def saved() -> int:
                client: Any = graph._client  # type: ignore[attr-defined]
                client.save()
                folder, name = (client.config_get(one)[one] for one in ("dir", "dbfilename"))
                return Path(folder, name).stat().st_size

            yield graph, saved
    else:
        with cache_servers.running_neo4j() as address, open_graph(address) as graph:
            # the embedded server of the harness says where its files are
            rows = graph.run("SHOW SETTINGS 'server.directories.data' YIELD value RETURN value")
            yield graph, lambda: folder_bytes(Path(rows[0][0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("stores", nargs="*", default=[*MEMORIES, "falkordb", *VECTORS])
    parser.add_argument("--passages", type=int, default=300)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    extractor = ProseExtractor()
    documents = islice(load(options.corpus), options.passages)
    episodes = [
        Episode(one.text, float(number), str(number), extractor.extract(one.text))
        for number, one in enumerate(documents)
    ]
    with temporary_server() as server, tempfile.TemporaryDirectory() as name, Memory(model="none") as own:
        folder = Path(name)
        own.record.add_many(episodes)
        counts = own.stats()
        names = list(own.entities())[:: max(1, len(own.entities()) // options.questions)][: options.questions]
        expected: dict[str, list[str]] = {}
        asked = ask(own.view(), names, expected)
        print(f"{counts['episodes']} passages, {counts['facts']} facts, {counts['theses']} theses; {server.version}")
        print(f"{'store':12} {'written in':>10} {'processor':>10} {'on disk':>12} {'question':>12}")
        show("(in RAM)", 0, 0, None, asked)
        for store in options.stores:
            try:
                measure(store, folder, server, own, episodes, names, expected)
            except Exception as error:
                print(f"{store:12} could not be measured: {type(error).__name__}: {str(error)[:150]}", flush=True)


def measure(
    store: str, folder: Path, server: Any, own: Memory, episodes: list[Episode], names: list[str],
    expected: dict[str, list[str]],
) -> None:  # fmt: skip
    figures: dict[str, float] = {}
    if store in MEMORIES:
        place = str(folder / "m.worldthread") if store == "sqlite" else server.new_address()
        before = database_bytes(server, place) if store == "postgresql" else 0
        with timed(figures), open_store(place) as opened:
            opened.append_many(episodes)
        with Memory(place, model="none", readonly=True) as memory:
            assert memory.record.state_hash() == own.record.state_hash()
            asked = ask(memory.view(), names, expected)
        disk = Path(place).stat().st_size if store == "sqlite" else database_bytes(server, place) - before
        show(store, figures["wall"], figures["used"], disk, asked)
    elif store in MIRRORS:
        with mirrored(store) as (graph, disk_bytes):
            with timed(figures):
                mirror = Mirror(own, graph, "bench")
                mirror.update()
            asked = ask(MirrorView(graph, "bench"), names, expected)
            show(store, figures["wall"], figures["used"], disk_bytes(), asked)
    else:
        measure_vectors(store, folder, server, own)


def measure_vectors(store: str, folder: Path, server: Any, own: Memory) -> None:
    statements = own.list_statements(only_current=False, limit=1000)
    ids = [item.statement.id for item in statements.items]
    while statements.cursor is not None:
        statements = own.list_statements(only_current=False, limit=1000, cursor=statements.cursor)
        ids += [item.statement.id for item in statements.items]
    ids = list(dict.fromkeys(ids))
    random_ = np.random.default_rng(1)
    vectors = random_.normal(size=(len(ids), DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    place = folder / store
    place.mkdir()
    address = {
        "exact": "exact:", "milvus": f"milvus:{place}/table.db", "qdrant": f"qdrant:{place}/table",
        "pgvector": "",
    }[store]  # fmt: skip
    before = 0
    if store == "pgvector":
        address = server.new_address()
        server.sql("CREATE EXTENSION vector", address.split("/")[3].split("?")[0])
        before = database_bytes(server, address)
    figures: dict[str, float] = {}
    asked = []
    with open_vector_store(address, "statements", DIMENSIONS) as table:
        with timed(figures):
            table.add(VectorItem(id_, vector) for id_, vector in zip(ids, vectors, strict=True))
        for vector in vectors[:20]:
            begin = time.perf_counter()
            table.search(vector, k=10)
            asked.append(time.perf_counter() - begin)
    disk = {"exact": None, "pgvector": None}.get(store, folder_bytes(place))
    if store == "pgvector":
        disk = database_bytes(server, address) - before
    show(f"{store} ({len(ids)})", figures["wall"], figures["used"], disk, asked)


if __name__ == "__main__":
    main()
