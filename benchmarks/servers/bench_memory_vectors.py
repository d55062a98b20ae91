"""A memory whose vectors are searched on a server: what does an approximate, cut-off search change?

    python benchmarks/servers/bench_memory_vectors.py DATA [--conversation conv-26] [--hits 1000 100] [STORE...]

Remembers one conversation of LoCoMo (in the folder DATA) once, then opens it with each STORE (exact, pgvector, milvus,
qdrant; default: all). Printed for each: the mean share of the 10 best episodes of `dense` that it has too, recall@5, 10
and 20 of the evidence by the default method, for how many questions its list of 20 is that of the default, and the
median of a recall. ``--hits`` is how many results a server is asked for: 100 of a small memory stand for what 1,000 are
for one that is ten times as large.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import temporary_server  # type: ignore[import-not-found]  # noqa: E402

from worldthread import Memory  # noqa: E402
from worldthread.retrieve import stored_table  # noqa: E402
from worldthread_lab.bench.conversations import Conversation, load, remember_turns  # noqa: E402
from worldthread_lab.bench.qa.metrics import recall_at  # noqa: E402

STORES = ("exact", "pgvector", "milvus", "qdrant")
CUTOFFS = (5, 10, 20)


def asked(
    memory: Memory, conversation: Conversation, turns: dict[str, str]
) -> tuple[list[list[str]], list[list[str]], list[list[float]], float]:
    """Return the lists of dense and of the default method, the recalls of the latter, and its median in ms."""
    dense, usual, recalls, took = [], [], [], []
    memory.recall("What is new?", k=1)
    for question in conversation.questions:
        if not question.evidence:
            continue
        found = memory.recall(question.text, k=10, kinds=["episode"], method="dense").hits
        dense.append([hit.item.id for hit in found])
        begin = time.perf_counter()
        found = memory.recall(question.text, k=20, kinds=["episode"]).hits
        took.append(1000 * (time.perf_counter() - begin))
        usual.append([hit.item.id for hit in found])
        ranking = list(dict.fromkeys(turns[id_] for id_ in usual[-1]))
        recalls.append([recall_at(k, ranking, tuple(question.evidence)) for k in CUTOFFS])
    return dense, usual, recalls, statistics.median(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("stores", nargs="*", default=STORES)
    parser.add_argument("--conversation", default="")
    parser.add_argument("--hits", type=int, nargs="*", default=[stored_table.HITS, 100])
    options = parser.parse_args()
    conversations = load("locomo", options.data)
    conversation = next(one for one in conversations if options.conversation in (one.id, ""))
    with tempfile.TemporaryDirectory() as name, temporary_server() as server:
        file = Path(name) / "memory.worldthread"
        with Memory(file, model="none", embedder="minilm") as memory:
            turns = remember_turns(memory, conversation)
            dense, usual, recalls, took = asked(memory, conversation, turns)
            counts = memory.stats()
        print(f"{conversation.id}: {counts['episodes']} episodes, {counts['facts'] + counts['theses']} statements,"
              f" {len(dense)} questions; {server.version}")  # fmt: skip
        show("(in RAM)", dense, dense, usual, usual, recalls, took)
        address = server.new_address()
        server.sql("CREATE EXTENSION vector", address.split("/")[3].split("?")[0])
        addresses = {
            "exact": "exact:", "pgvector": address, "milvus": f"milvus:{name}/vectors.db",
            "qdrant": f"qdrant:{name}/qdrant",
        }  # fmt: skip
        for store in options.stores:
            begin = time.perf_counter()
            with Memory(file, model="none", embedder="minilm", vectors=addresses[store]) as memory:
                memory.recall("What is new?", k=1)
                filled = time.perf_counter() - begin
                for hits in [stored_table.HITS] if store == "exact" else options.hits:
                    for table in (memory._index._index.episodes, memory._index._index.statements):  # type: ignore[union-attr]
                        table._hits = table._hits if store == "exact" else hits  # type: ignore[union-attr]
                    found = asked(memory, conversation, turns)
                    label = store if store == "exact" else f"{store}, {hits} hits"
                    show(f"{label} (filled in {filled:.1f} s)", dense, found[0], usual, *found[1:])


def show(
    name: str, dense: list[list[str]], found: list[list[str]], usual: list[list[str]], lists: list[list[str]],
    recalls: list[list[float]], took: float,
) -> None:  # fmt: skip
    same = statistics.fmean(len(set(one) & set(other)) / len(one) for one, other in zip(dense, found, strict=True))
    equal = sum(one == other for one, other in zip(usual, lists, strict=True))
    means = " / ".join(f"{statistics.fmean(one[place] for one in recalls):.3f}" for place in range(len(CUTOFFS)))
    print(f"{name:42} dense@10 {same:.4f}  evidence@5/10/20 {means}  equal {equal} of {len(usual)}  {took:.0f} ms",
          flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
