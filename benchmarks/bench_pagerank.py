"""Speed of `pagerank` at the size of PersonalAI's graph of HotpotQA (by Qwen2.5), and its recall beside HippoRAG 2.

Speed: an episode is a passage of one question answering data set with the triples given for it, plus a passage of
another; theses are extracted from both by rule. To reach the size, passages are repeated with every capitalised word
renamed, so that a repetition mentions other things than its original; questions mention the originals. Vectors of
statements, passages and questions are random unit vectors, whose values do not change how much is computed.

Recall (--recall): the share of gold passages among the first 2, 5 and 10, with MiniLM and without the model filter, for
two ways of embedding the data: as an index of worldthread does, and as the published code of HippoRAG 2 does (lower
case, letters and digits only, a triple as Python prints a tuple). With the latter, the published code itself reaches
.438, .671 and .778. Embedding takes some minutes.

    python benchmarks/bench_pagerank.py --shared ../shared
    python benchmarks/bench_pagerank.py --shared ../shared --recall
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from worldthread.errors import InputError
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.graph import TemporalGraph
from worldthread.models import Embedder, embedder
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis
from worldthread_lab.published.hipporag import PageRankSettings, pagerank

SIZE = {"episodes": 3933, "theses": 31795, "facts": 38460}
DIMENSIONS = 384
DATA = "musique_train"
OTHER_DATA = "hotpotqa_train"
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")


def lines(shared: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(shared / "data" / "multihop" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def facts_of(row: dict[str, Any], written: Callable[[str], str] = str) -> list[Fact]:
    """Return the triples given for a passage that have a subject, a relation and an object."""
    found = []
    for triple in row["triples"]:
        try:
            found.append(Fact(*map(written, triple)))
        except (InputError, TypeError):
            continue
    return found


def renamed(text: str, generation: int) -> str:
    return _NAME.sub(lambda match: f"{match[0]}{generation}", text) if generation else text


def renamed_statement(statement: Statement, generation: int) -> Statement:
    if isinstance(statement, Fact):
        return Fact(*(renamed(part, generation) for part in (statement.subject, statement.relation, statement.object)))
    return Thesis(renamed(statement.text, generation), tuple(renamed(name, generation) for name in statement.objects))


def graph_of_size(shared: Path, times: float) -> tuple[TemporalGraph, dict[str, str]]:
    """Return a graph in which every count is at least ``times`` that of :data:`SIZE`, and the texts of its episodes."""
    extractor = ProseExtractor()
    others = list(lines(shared, f"{OTHER_DATA}_corpus"))
    rows = []
    for position, row in enumerate(lines(shared, f"{DATA}_corpus")):
        other = others[position % len(others)]
        text = f"{row['title']}\n{row['text']}\n\n{other['text']}"
        theses = [s for s in extractor.extract(text).statements if isinstance(s, Thesis) and s.aspect is None]
        rows.append((text, (*theses, *facts_of(row))))
    graph, texts = TemporalGraph(), {}
    for generation in count():
        for text, statements in rows:
            changed = tuple(renamed_statement(statement, generation) for statement in statements)
            episode = Episode(renamed(text, generation), generation, extraction=Extraction("benchmark", changed))
            graph.add(episode)
            texts[episode.id] = episode.text
            if len(texts) % 100 == 0:
                counts = graph.counts()
                if all(counts[name] >= times * least for name, least in SIZE.items()):
                    return graph, texts
    raise AssertionError


class Random(FakeEmbedder):
    """An embedder whose vectors are random."""

    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def embed(self, texts: Any) -> np.ndarray:
        vectors = self._rng.normal(size=(len(texts), DIMENSIONS)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def indexed(graph: TemporalGraph, texts: dict[str, str], model: Embedder) -> RetrievalIndex:
    index = RetrievalIndex(model)
    while pending := index.take(graph, lambda ids: [texts[i] for i in ids]):
        for part in pending:
            index.put(part, model.embed(part.texts))
    return index


def speed(shared: Path, times: float) -> dict[str, object]:
    graph, texts = graph_of_size(shared, times)
    index = indexed(graph, texts, Random())
    questions = [row["question"] for row in lines(shared, DATA)]
    asked = [Query(text, vector) for text, vector in zip(questions, Random().embed(questions), strict=True)]
    assert index.links.episodes
    start = time.perf_counter()
    pagerank(asked[0], index)
    first = time.perf_counter() - start
    took, alone = [], []
    for query in asked * 2:
        start = time.perf_counter()
        pagerank(query, index)
        took.append(1000 * (time.perf_counter() - start))
        start = time.perf_counter()
        index.statements.similarities(query.vector)
        index.episodes.similarities(query.vector)
        alone.append(1000 * (time.perf_counter() - start))
    took.sort()
    counts = graph.counts()
    return {
        **{name: counts[name] for name in SIZE},
        "objects": len(graph.objects()),
        "vectors": "random",
        "first_ms": round(1000 * first, 1),
        "ms_p50": round(statistics.median(took), 2),
        "ms_p95": round(took[int(0.95 * len(took))], 2),
        "of_which_similarities_ms_p50": round(statistics.median(alone), 2),
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def as_published(text: object) -> str:
    """Return a part of a triple as the published code embeds it."""
    return re.sub("[^a-z0-9 ]", " ", str(text).lower()).strip()


def recall(shared: Path, *, published: bool) -> Iterator[dict[str, object]]:
    model = embedder("minilm")
    graph, texts, numbers = TemporalGraph(), {}, {}
    for row in lines(shared, f"{DATA}_corpus"):
        facts = facts_of(row, as_published if published else str)
        episode = Episode(f"{row['title']}\n{row['text']}", row["id"], extraction=Extraction("given", tuple(facts)))
        graph.add(episode)
        texts[episode.id], numbers[episode.id] = episode.text, row["id"]
    index = indexed(graph, texts, model)
    if published:
        statements = [graph.numbered_statement(number) for number in graph.statement_numbers]
        triples = [str((s.subject, s.relation, s.object)) for s in statements if isinstance(s, Fact)]
        index.statements.put(np.arange(len(triples)), model.embed(triples))
    rows = list(lines(shared, DATA))
    vectors = model.embed([row["question"] for row in rows])
    for settings in (PageRankSettings(), PageRankSettings(embed=model.embed)):
        shares = []
        for row, vector in zip(rows, vectors, strict=True):
            scores = pagerank(Query(row["question"], vector), index, settings).episodes
            records = [graph.numbered_episode(number) for number in np.argsort(-scores, kind="stable")[:10].tolist()]
            found = [numbers[record.id] for record in records if record is not None]
            gold = set(row["gold_ids"])
            shares.append([len(gold.intersection(found[:k])) / len(gold) for k in (2, 5, 10)])
        means = np.mean(shares, axis=0).round(3).tolist()
        yield {
            "embedded": "as published" if published else "as indexed",
            "names_alike_joined": settings.embed is not None,
            **dict(zip(("recall_2", "recall_5", "recall_10"), means, strict=True)),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--times", type=float, default=1.0, help="how many times the size of PersonalAI's graph")
    parser.add_argument("--recall", action="store_true", help="measure recall instead of speed")
    given = parser.parse_args()
    if not given.recall:
        print(json.dumps({"pagerank": speed(given.shared, given.times)}), flush=True)
        return
    for published in (False, True):
        for report in recall(given.shared, published=published):
            print(json.dumps({"pagerank": report}), flush=True)


if __name__ == "__main__":
    main()
