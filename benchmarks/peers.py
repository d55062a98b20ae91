"""Memories side by side: what they find in conversations without a model, and what that costs.

    make peers
    .venv-peers/bin/python benchmarks/peers.py [--systems worldthread,chroma] [--plain] [--data FOLDER] [--json]

Every system runs in a process of its own, one after the other, with the same embedder (all-MiniLM-L6-v2 as this
package ships it) through the hook for embedders that the system documents, and without a chat model. Turns are written
one by one, as an agent would, each as "Speaker: text" with an id (``--plain``: without the speaker). Every
conversation is a user, a namespace or a collection of its own in one store on the disk. Then every question with
evidence is asked once for 20 turns of its conversation. Time is of the wall; seconds within the embedder are measured
apart, because it is the same for all.

=============  ========================================================================================================
worldthread    ``Memory.remember`` and ``recall`` in a namespace for each conversation, as installed without extras
mem0           ``Memory.add(infer=False)`` and ``search``; local Qdrant on the disk; embedder provider ``langchain``.
               Its keyword score needs a file that fastembed downloads from a hub, so where none can be reached it has
               similarity alone
langgraph      ``SqliteStore`` with an index of the field ``text``, as its documentation writes it. Version 3.1.2 looks
               for that under another key, so what it embeds is the JSON of the value
langgraph-ram  ``InMemoryStore`` with the same index; nothing is on the disk
chroma         ``PersistentClient``; a collection with an embedding function and cosine distance
bm25s          words alone: English stop words and the stemmer of Snowball; it has no single writes, so each
               conversation is indexed at once and saved
embedder       no memory: only embeds all turns and questions, to compare resident memory with
=============  ========================================================================================================
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.episode_builder import MESSAGE_GAP
from worldthread.models.minilm import MiniLMEmbedder
from worldthread_lab.bench.conversations import CUTOFFS, load
from worldthread_lab.bench.datasets.conversations import Conversation
from worldthread_lab.bench.qa.metrics import recall_at
from worldthread_lab.play.statistics import bootstrap_interval

MOST = CUTOFFS[-1]
IMPORTS = 5

QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "OPENAI_API_KEY": "unused",  # mem0 makes a client of its default model; nothing is sent
    "ORT_DISABLE_TELEMETRY": "1",
}
"""Switches the telemetry of all systems off, and downloads from hubs."""


class TimedEmbedder:
    """The embedder of all systems; it counts the seconds that they spend in it."""

    def __init__(self) -> None:
        self._model = MiniLMEmbedder()
        self.name, self.dimensions = self._model.name, self._model.dimensions
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = time.perf_counter()
        vectors = self._model.embed(texts)
        self.seconds += time.perf_counter() - start
        return vectors


class System(ABC):
    """A memory that can be measured.

    Args:
        folder: an empty folder for its files.
        embedder: the embedder.
    """

    packages: tuple[str, ...]
    imported: str

    plain = False
    """Whether a turn is written without its speaker."""

    @abstractmethod
    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None: ...

    def said(self, speaker: str, text: str) -> str:
        """Return what is written of a turn."""
        return text if self.plain else f"{speaker}: {text}"

    @abstractmethod
    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        """Remember one turn."""

    def finish_writing(self, conversation: str) -> None:  # noqa: B027 - most need nothing
        """Do what a conversation needs before it can be asked about."""

    @abstractmethod
    def search(self, conversation: str, question: str) -> list[str]:
        """Return the ids of the best turns, best first."""

    def close(self) -> None:  # noqa: B027 - most need nothing
        """Write what is not yet on the disk."""


class Worldthread(System):
    packages = ("worldthread",)
    imported = "from worldthread import Memory"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        from worldthread import Memory

        self._memory = Memory(folder / "memory", model="none", embedder=embedder)
        self._namespaces: dict[str, Memory] = {}
        self._turn_of: dict[tuple[str, str], str] = {}

    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        if conversation not in self._namespaces:
            self._namespaces[conversation] = self._memory.open_namespace(conversation)
        message = {"role": "user", "content": text} if self.plain else {"speaker": speaker, "content": text}
        done = self._namespaces[conversation].remember([message], at=at, source=session)
        self._turn_of |= {(conversation, episode): turn for episode in done.episodes}

    def search(self, conversation: str, question: str) -> list[str]:
        found = self._namespaces[conversation].recall(question, k=MOST, kinds=["episode"])
        return [self._turn_of[conversation, hit.item.id] for hit in found.hits]

    def close(self) -> None:
        for memory in (*self._namespaces.values(), self._memory):
            memory.close()


class Mem0(System):
    packages = ("mem0ai", "qdrant-client")
    imported = "from mem0 import Memory"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory

        class Hook(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return embedder.embed(texts).tolist()

            def embed_query(self, text: str) -> list[float]:
                return embedder.embed([text])[0].tolist()

        store = {"path": str(folder / "qdrant"), "embedding_model_dims": embedder.dimensions, "on_disk": True}
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": {"model": Hook()}},
                "history_db_path": str(folder / "history.db"),
                "vector_store": {"provider": "qdrant", "config": store},
            }
        )

    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        message = {"role": "user", "content": self.said(speaker, text)}
        self._memory.add([message], user_id=conversation, metadata={"turn": turn}, infer=False)

    def search(self, conversation: str, question: str) -> list[str]:
        found = self._memory.search(question, top_k=MOST, filters={"user_id": conversation})
        return [hit["metadata"]["turn"] for hit in found["results"]]

    def close(self) -> None:
        self._memory.close()


class LangGraph(System):
    packages = ("langgraph", "langgraph-checkpoint-sqlite")
    imported = "from langgraph.store.sqlite import SqliteStore"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        from langgraph.store.sqlite import SqliteStore

        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            raise SystemExit("SqliteStore needs a Python whose sqlite3 can load extensions, such as that of Debian")
        self._context = SqliteStore.from_conn_string(str(folder / "store.sqlite"), index=self._index(embedder))
        self._store = self._context.__enter__()
        self._store.setup()

    @staticmethod
    def _index(embedder: TimedEmbedder) -> Any:
        return {
            "dims": embedder.dimensions,
            "embed": lambda texts: embedder.embed(texts).tolist(),
            "fields": ["text"],
        }

    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        self._store.put((conversation,), turn, {"text": self.said(speaker, text)})

    def search(self, conversation: str, question: str) -> list[str]:
        return [item.key for item in self._store.search((conversation,), query=question, limit=MOST)]

    def close(self) -> None:
        self._context.__exit__(None, None, None)


class LangGraphInMemory(LangGraph):
    packages = ("langgraph",)
    imported = "from langgraph.store.memory import InMemoryStore"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        from langgraph.store.memory import InMemoryStore

        self._store = InMemoryStore(index=self._index(embedder))

    def close(self) -> None:
        """There is nothing on the disk."""


class Chroma(System):
    packages = ("chromadb",)
    imported = "import chromadb"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        import chromadb

        class Hook(chromadb.EmbeddingFunction[Any]):
            def __init__(self) -> None:
                """The base class asks for one."""

            def __call__(self, input: list[str]) -> list[NDArray[np.float32]]:
                return list(embedder.embed(input))

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings)
        self._hook = Hook()
        self._collections: dict[str, Any] = {}

    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        if conversation not in self._collections:
            self._collections[conversation] = self._client.create_collection(
                f"conversation-{conversation}",
                embedding_function=self._hook,
                configuration={"hnsw": {"space": "cosine"}},
            )
        self._collections[conversation].add(ids=[turn], documents=[self.said(speaker, text)])

    def search(self, conversation: str, question: str) -> list[str]:
        found: list[str] = self._collections[conversation].query(query_texts=[question], n_results=MOST)["ids"][0]
        return found


class BM25S(System):
    packages = ("bm25s",)
    imported = "import bm25s"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        import Stemmer

        self._folder = folder
        self._stemmer = Stemmer.Stemmer("english")
        self._turns: dict[str, dict[str, str]] = {}
        self._indexes: dict[str, Any] = {}

    def _tokens(self, texts: list[str]) -> Any:
        import bm25s

        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        self._turns.setdefault(conversation, {})[turn] = self.said(speaker, text)

    def finish_writing(self, conversation: str) -> None:
        import bm25s

        index = self._indexes[conversation] = bm25s.BM25()
        texts = list(self._turns[conversation].values())
        index.index(self._tokens(texts), show_progress=False)
        index.save(self._folder / conversation, corpus=texts)

    def search(self, conversation: str, question: str) -> list[str]:
        turns = list(self._turns[conversation])
        found, _ = self._indexes[conversation].retrieve(self._tokens([question]), k=MOST, show_progress=False)
        return [turns[int(number)] for number in found[0]]


class EmbedderAlone(System):
    packages = ("worldthread",)
    imported = "from worldthread.models.minilm import MiniLMEmbedder"

    def __init__(self, folder: Path, embedder: TimedEmbedder) -> None:
        self._embedder = embedder

    def write(self, conversation: str, turn: str, speaker: str, text: str, session: str, at: float) -> None:
        self._embedder.embed([self.said(speaker, text)])

    def search(self, conversation: str, question: str) -> list[str]:
        self._embedder.embed([question])
        return []


SYSTEMS: Mapping[str, type[System]] = {
    "worldthread": Worldthread,
    "mem0": Mem0,
    "langgraph": LangGraph,
    "langgraph-ram": LangGraphInMemory,
    "chroma": Chroma,
    "bm25s": BM25S,
    "embedder": EmbedderAlone,
}


def resident_mb() -> float:
    """Return the resident memory of this process."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) / 1024


def timed(embedder: TimedEmbedder, work: Callable[[], Any]) -> tuple[Any, float, float, float]:
    """Return the result of some work, its seconds, those outside of the embedder, and those of the processor."""
    embedding, used, start = embedder.seconds, time.process_time(), time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    return result, seconds, seconds - (embedder.seconds - embedding), time.process_time() - used


def write_all(system: System, conversation: Conversation) -> int:
    """Remember a conversation turn by turn; return the number of turns."""
    count = 0
    for session in conversation.sessions:
        for place, turn in enumerate(session.turns):
            if turn.text.strip():
                at = session.at + place * MESSAGE_GAP
                system.write(conversation.id, turn.id, turn.speaker, turn.text, session.name, at)
                count += 1
    system.finish_writing(conversation.id)
    return count


def measure(name: str, conversations: Sequence[Conversation], plain: bool) -> dict[str, Any]:
    """Measure one system in this process."""
    embedder = TimedEmbedder()
    embedder.embed(["The model is loaded before anything is measured."])
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        system = SYSTEMS[name](folder, embedder)
        system.plain = plain
        written = [timed(embedder, lambda c=c: write_all(system, c)) for c in conversations]  # type: ignore[misc]
        turns, seconds, without, used = (sum(column) for column in zip(*written, strict=True))
        recalls, took, took_without = [], [], []
        for conversation in conversations:
            system.search(conversation.id, "What is new?")  # what is computed once is not part of a question
            for question in conversation.questions:
                if question.evidence:
                    asked = timed(embedder, lambda c=conversation, q=question: system.search(c.id, q.text))  # type: ignore[misc]
                    evidence = tuple(question.evidence)
                    ranking = list(dict.fromkeys(asked[0]))
                    recalls.append([recall_at(k, ranking, evidence) for k in CUTOFFS])
                    took.append(1000 * asked[1])
                    took_without.append(1000 * asked[2])
        resident = resident_mb()
        system.close()
        disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20
    return {
        "system": name,
        "versions": ", ".join(f"{package} {version(package)}" for package in SYSTEMS[name].packages),
        "turns": turns,
        "questions": len(recalls),
        "recalls": recalls,
        "writes_a_second": round(turns / seconds, 1),
        "writes_a_second_without_embedding": round(turns / without, 1) if without > 0 else None,
        "writes_a_second_of_processor": round(turns / used, 1),
        "search_ms_p50": round(float(np.percentile(took, 50)), 2),
        "search_ms_p95": round(float(np.percentile(took, 95)), 2),
        "search_ms_p50_without_embedding": round(float(np.percentile(took_without, 50)), 2),
        "search_ms_p95_without_embedding": round(float(np.percentile(took_without, 95)), 2),
        "disk_mb": round(disk, 1),
        "resident_mb": round(resident),
    }


def import_seconds(statement: str, environment: Mapping[str, str]) -> float:
    """Return the median time that an import takes in a fresh process, interpreter left out."""
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", code]
    took = [
        float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout)
        for _ in range(IMPORTS)
    ]
    return round(statistics.median(took), 2)


def in_process_of_its_own(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Measure one system in a fresh process that cannot leave anything behind."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, **QUIET, "HOME": home, "MEM0_DIR": home}
        command = [sys.executable, __file__, "--measure", name, "--dataset", given.dataset]
        command += ["--data", str(given.data)] if given.data else []
        command += ["--limit", str(given.limit)] if given.limit else []
        command += ["--plain"] if given.plain else []
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        columns = dict(zip(CUTOFFS, zip(*found.pop("recalls"), strict=True), strict=True))
        return found | {
            "recall": {k: round(statistics.fmean(column), 3) for k, column in columns.items()},
            "intervals": {k: bootstrap_interval(column) for k, column in columns.items()},
            "import_seconds": import_seconds(SYSTEMS[name].imported, environment),
        }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a table in Markdown."""
    columns = ("system", "R@5", "R@10", "R@20", "writes/s", "without embedding", "search ms p50 / p95",
               "without embedding", "disk MB", "resident MB", "import s")  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in rows:
        recalls = [
            f"{row['recall'][k]:.3f} [{row['intervals'][k][0]:.2f}, {row['intervals'][k][1]:.2f}]".replace("0.", ".")
            for k in CUTOFFS
        ]
        is_memory = row["system"] != "embedder"
        cells = (
            row["versions"] if is_memory else "the embedder alone",
            *(recalls if is_memory else ["-"] * len(recalls)),
            f"{row['writes_a_second']:,}",
            f"{row['writes_a_second_without_embedding']:,}" if is_memory else "-",
            f"{row['search_ms_p50']} / {row['search_ms_p95']}",
            f"{row['search_ms_p50_without_embedding']} / {row['search_ms_p95_without_embedding']}"
            if is_memory
            else "-",
            f"{row['disk_mb']}",
            f"{row['resident_mb']}",
            f"{row['import_seconds']:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="separated by commas")
    parser.add_argument("--dataset", default="locomo", help="locomo or beam")
    parser.add_argument("--data", type=Path, help="the file or folder of the data; default: $WORLDTHREAD_DATA")
    parser.add_argument("--limit", type=int, help="take only the first N conversations")
    parser.add_argument("--plain", action="store_true", help="write turns without their speakers; ours then knows none")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each system instead of a table")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure, load(given.dataset, given.data)[: given.limit], given.plain)))
        return
    rows = []
    for name in given.systems.split(","):
        rows.append(in_process_of_its_own(name, given))
        print(
            json.dumps(rows[-1]) if given.json else f"measured {name}",
            file=None if given.json else sys.stderr,
            flush=True,
        )
    if not given.json:
        print(f"{rows[0]['turns']:,} turns, {rows[0]['questions']:,} questions with evidence\n\n{table(rows)}")


if __name__ == "__main__":
    main()
