"""The memory that questions of a data set are put to: made once, kept in a file, and measured."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from worldthread.bench.datasets import Dataset
from worldthread.errors import InputError
from worldthread.extract.base import Extractor
from worldthread.extract.model import ModelExtractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.graph import GraphView
from worldthread.memory import Memory
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel
from worldthread.retrieve import RetrievalIndex
from worldthread.retrieve.published.traversal import KINDS, THESIS, vertex_graph
from worldthread.types import Episode, Extraction, Fact

Triples: TypeAlias = Literal["given", "none", "model"]
"""Where facts come from: the data set, rules, or a chat model. Sentences are split by rules unless a model reads."""

TRIPLES: Final[tuple[Triples, ...]] = ("given", "none", "model")

_BATCH: Final = 64  # episodes recorded together


@dataclass(frozen=True)
class MemoryFigures:
    """A memory in numbers, as PersonalAI's Tables 15 to 18 give them.

    Args:
        dataset, triples: what it was made of, and how.
        reader: name of the chat model that read the passages; empty without one.
        passages: of the data set.
        unread: passages that the model could not read, or not wholly.
        episodes, theses, objects: numbers of vertices.
        episodic_edges, thesis_edges, object_edges: numbers of edges; an object edge is a fact.
        objects_by_episode, theses_by_episode, objects_by_thesis, objects_by_object: how many neighbours of one kind a
            vertex of the other has, on average.
        read: passages that were read the last time that any were.
        seconds: how long that took, without embedding.
        megabytes: of its file, and of those beside it.
    """

    dataset: str
    triples: str
    reader: str
    passages: int
    unread: int
    episodes: int
    theses: int
    objects: int
    episodic_edges: int
    thesis_edges: int
    object_edges: int
    objects_by_episode: float
    theses_by_episode: float
    objects_by_thesis: float
    objects_by_object: float
    read: int
    seconds: float
    megabytes: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class _WithoutEndings:
    """A reader for texts that have no order in time: none of them ends what another says."""

    def __init__(self, reader: Extractor) -> None:
        self._reader = reader
        self.name = reader.name
        self.concurrency = reader.concurrency

    def extract(self, text: str) -> Extraction:
        return self._reader.extract(text)

    def outdate(self, text: str, extraction: Extraction, view: GraphView) -> Extraction:
        return extraction


def digest_of(dataset: Dataset) -> str:
    """16 hexadecimal digits of all passages with their statements; other passages make another memory."""
    state = hashlib.blake2b(digest_size=8)
    for passage in dataset.passages:
        episode = passage.episode(given=True)
        state.update(f"{passage.id}\0{episode.id}\0{episode.extraction.digest}\n".encode())
    return state.hexdigest()


def is_dated(dataset: Dataset) -> bool:
    """Whether its passages have dates; those without have no order in time, and nothing of them is older."""
    return any(passage.at is not None for passage in dataset.passages)


def episodes_of(dataset: Dataset, triples: Triples) -> Iterator[Episode]:
    """The passages as episodes; those that a model shall read are not read yet."""
    reader = ProseExtractor()
    for passage in dataset.passages:
        at = 0.0 if passage.at is None else passage.at
        if triples == "model":
            yield Episode(passage.full_text, at, passage.id)
            continue
        found = reader.extract(passage.full_text)
        if triples == "given":
            sentences = tuple(s for s in found.statements if not isinstance(s, Fact))
            found = Extraction(f"{reader.name} and given", (*sentences, *passage.statements))
        yield Episode(passage.full_text, at, passage.id, found)


def open_memory(
    dataset: Dataset,
    triples: Triples,
    folder: Path,
    embedder: Embedder,
    reader: ChatModel | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Memory, int, float]:
    """The memory of a data set, made as far as it is not there yet; a killed attempt goes on. To be closed.

    Args:
        dataset: its passages are the only content.
        triples: where facts come from.
        folder: holds the file.
        embedder: of everything in it.
        reader: reads the passages when ``triples`` is ``"model"``.
        on_progress: is told what is being done, how many passages are done, and of how many.

    Returns:
        the memory, how many passages were read this time, and how long that took, in seconds.

    Raises:
        InputError: a model is to read, and there is none.
    """
    if triples == "model" and reader is None:
        raise InputError("--triples model wants a chat model that reads the passages (--model)")
    tell = on_progress or (lambda what, done, total: None)
    by = f"-{_harmless(reader.name)}" if triples == "model" and reader is not None else ""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_harmless(dataset.name)}-{triples}{by}-{digest_of(dataset)}.worldthread"
    reads: Extractor | None = None
    if triples == "model" and reader is not None:
        reads = ModelExtractor(reader)
        if not is_dated(dataset):
            reads = _WithoutEndings(reads)
    memory = Memory(path, model="none", extractor=reads, embedder=embedder)
    try:
        total, before = len(dataset.passages), len(memory.record.graph)
        start = time.perf_counter()
        if before < total:
            episodes = episodes_of(dataset, triples)
            while batch := list(islice(episodes, _BATCH)):  # what is recorded already is left alone
                memory.record.add_many(batch)
                tell(f"reading {dataset.name}", len(memory.record.graph), total)
        read = total - before
        if triples == "model":
            waiting = len(memory.unread())
            memory.retry(progress=lambda done, all_: tell(f"asking {by[1:]} to read {dataset.name}", done, waiting))
            read = waiting
        return memory, read, time.perf_counter() - start if read else 0.0
    except BaseException:
        memory.close()
        raise


def figures_of(
    memory: Memory, dataset: Dataset, triples: Triples, reader: str, read: int, took: float
) -> MemoryFigures:
    """A memory in numbers.

    Args:
        memory: made by :func:`open_memory` of ``dataset`` and ``triples``.
        reader: name of the model that read; empty without one.
        read, took: what :func:`open_memory` returned.
    """
    with memory.record.index() as corpus:
        counted = _counted(corpus)
    stats = memory.stats()
    assert memory.path is not None
    files = [memory.path, *memory.path.parent.glob(f"{memory.path.name}-*")]  # what is not yet in the file itself
    return MemoryFigures(
        dataset=dataset.name,
        triples=triples,
        reader=reader,
        passages=len(dataset.passages),
        unread=len(memory.unread()) if triples == "model" else 0,
        episodes=stats["episodes"],
        read=read,
        seconds=round(took, 2),
        megabytes=round(sum(file.stat().st_size for file in files if file.is_file()) / 2**20, 2),
        **counted,
    )


def _counted(corpus: RetrievalIndex) -> dict[str, Any]:
    over = vertex_graph(corpus)
    counts = over.counts()
    graph = corpus.graph
    theses = sum(not graph.is_fact(number) for number in graph.statement_numbers)
    episodic = over.ends[over.labels < 0]
    to_theses = int((episodic[:, 1] % KINDS == THESIS).sum())
    facts = over.ends[(over.labels >= 0) & (over.ends[:, 0] % KINDS != THESIS)]
    pairs = len(np.unique(np.sort(facts, axis=1), axis=0))

    def mean(edges: int, vertices: int) -> float:
        return round(edges / vertices, 2) if vertices else 0.0

    return {
        "theses": theses,
        "objects": counts["objects"],
        "episodic_edges": counts["episodic_edges"],
        "thesis_edges": counts["thesis_edges"],
        "object_edges": counts["object_edges"],
        "objects_by_episode": mean(len(episodic) - to_theses, len(graph)),
        "theses_by_episode": mean(to_theses, len(graph)),
        "objects_by_thesis": mean(counts["thesis_edges"], theses),
        "objects_by_object": mean(2 * pairs, counts["objects"]),
    }


def _harmless(name: str) -> str:
    """A name as a part of a file's name."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
