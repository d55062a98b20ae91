"""The memory that answers the questions of a data set: built once, kept in a file, and measured."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from worldthread.errors import InputError
from worldthread.extract.base import Extractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.files.paths import make_private_folder
from worldthread.memory.memory import Memory
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel
from worldthread.retrieve import RetrievalIndex
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.bench.datasets import Dataset
from worldthread_lab.bench.qa.memorize import Memorize
from worldthread_lab.published.traversal import KINDS, THESIS, vertex_graph

Triples: TypeAlias = Literal["given", "none", "model"]
"""Source of the facts: the data set, rules, or a chat model. Rules extract the theses unless a chat model does."""

TRIPLES: Final[tuple[Triples, ...]] = ("given", "none", "model")

DEFAULT_MEMORIZE: Final = Memorize()
"""One call for theses and triples; outdated statements are sought where passages have dates."""

_BATCH: Final = 64  # episodes recorded together


@dataclass(frozen=True)
class MemoryFigures:
    """Figures of a memory, as in PersonalAI's Tables 15 to 18.

    Args:
        dataset: name of the data set.
        triples: source of the facts.
        reader: name of the chat model that extracts facts from the passages; empty without one.
        passages: number of passages of the data set.
        unread: number of passages from which the model could not extract everything.
        episodes: number of episode vertices.
        theses: number of thesis vertices.
        objects: number of object vertices.
        episodic_edges: number of edges between an episode and a thesis or an object.
        thesis_edges: number of edges between a thesis and an object.
        object_edges: number of edges between objects; each is a fact.
        objects_by_episode: mean number of objects that are neighbours of an episode.
        theses_by_episode: mean number of theses that are neighbours of an episode.
        objects_by_thesis: mean number of objects that are neighbours of a thesis.
        objects_by_object: mean number of objects that are neighbours of an object.
        read: number of passages that the last extraction processed.
        seconds: duration of that extraction, without embedding.
        megabytes: size of the memory's file and the files beside it, in MiB.
        lengths: of the questions, answers and passages of the data set, their number and the median, mean and standard
            deviation of their length in characters.
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
    lengths: Mapping[str, Mapping[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        return asdict(self)


def digest_of(dataset: Dataset) -> str:
    """Return a digest of all passages with their statements, 16 hexadecimal digits; it identifies the memory."""
    state = hashlib.blake2b(digest_size=8)
    for passage in dataset.passages:
        episode = passage.episode(given=True)
        state.update(f"{passage.id}\0{episode.id}\0{episode.extraction.digest}\n".encode())
    return state.hexdigest()


def is_dated(dataset: Dataset) -> bool:
    """Return whether any passage has a date; passages without dates have no order in time."""
    return any(passage.at is not None for passage in dataset.passages)


def episodes_of(dataset: Dataset, triples: Triples, *, numbered: bool = False) -> Iterator[Episode]:
    """Yield the passages as episodes, without an extraction when a model is to extract their facts.

    Args:
        dataset: the data set.
        triples: source of the facts.
        numbered: whether passages without dates follow each other in time; else all are at 0.

    Yields:
        The episodes.

    Raises:
        InputError: ``triples`` is ``"given"``, and the data set has none.
    """
    if triples == "given" and not any(passage.statements for passage in dataset.passages):
        raise InputError(f"{dataset.name} has no triples of its own: give --triples none, or model with a model")
    extractor = ProseExtractor()
    for number, passage in enumerate(dataset.passages):
        at = (float(number) if numbered else 0.0) if passage.at is None else passage.at
        if triples == "model":
            yield Episode(passage.full_text, at, passage.id)
            continue
        found = extractor.extract(passage.full_text)
        if triples == "given":
            sentences = tuple(s for s in found.statements if not isinstance(s, Fact))
            found = Extraction(f"{extractor.name} and given", (*sentences, *passage.statements))
        yield Episode(passage.full_text, at, passage.id, found)


def open_memory(
    dataset: Dataset,
    triples: Triples,
    folder: Path,
    embedder: Embedder,
    model: ChatModel | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
    memorize: Memorize = DEFAULT_MEMORIZE,
) -> tuple[Memory, int, float]:
    """Open the memory of a data set; build what is missing, so that an interrupted build continues.

    Args:
        dataset: its passages are the only content.
        triples: source of the facts.
        folder: folder of the memory's file.
        embedder: embeds everything in the memory.
        model: extracts facts from the passages when ``triples`` is ``"model"``.
        on_progress: called with a description of the work, the number of finished passages, and their total.
        memorize: how the model reads the passages.

    Returns:
        The memory, which the caller closes; the number of passages processed now; and the duration, in seconds.

    Raises:
        InputError: ``triples`` is ``"model"``, and there is no model.
    """
    if triples == "model" and model is None:
        raise InputError(
            "--triples model needs a chat model that extracts facts from the passages: give one with --model"
        )
    show_progress = on_progress or (lambda what, done, total: None)
    by = f"-{_file_name_part(model.name)}" if triples == "model" and model is not None else ""
    by += f"-{memorize.label}" if by and memorize.label else ""
    make_private_folder(folder)
    path = folder / f"{_file_name_part(dataset.name)}-{triples}{by}-{digest_of(dataset)}.worldthread"
    extractor: Extractor | None = None
    if triples == "model" and model is not None:
        extractor = memorize.extractor(model, dated=is_dated(dataset))
    memory = Memory(path, model="none", extractor=extractor, embedder=embedder)
    try:
        total, before = len(dataset.passages), len(memory.record.graph)
        start = time.perf_counter()
        if before < total:
            numbered = triples == "model" and memorize.outdates(dated=is_dated(dataset))
            episodes = episodes_of(dataset, triples, numbered=numbered)
            while batch := list(islice(episodes, _BATCH)):  # add_many skips what is already recorded
                memory.record.add_many(batch)
                show_progress(f"reading {dataset.name}", len(memory.record.graph), total)
        read = total - before
        if triples == "model":
            waiting = len(memory.unread())
            memory.retry(
                progress=lambda done, _: show_progress(f"asking {by[1:]} to read {dataset.name}", done, waiting)
            )
            read = waiting
        return memory, read, time.perf_counter() - start if read else 0.0
    except BaseException:
        memory.close()
        raise


def figures_of(memory: Memory, dataset: Dataset, triples: str, reader: str, read: int, took: float) -> MemoryFigures:
    """Return the figures of a memory.

    Args:
        memory: the memory from :func:`open_memory`.
        dataset: its data set.
        triples: source of the facts, with how the model read the passages.
        reader: name of the model that extracted the facts; empty without one.
        read: number of passages processed, as :func:`open_memory` returns it.
        took: duration in seconds, as :func:`open_memory` returns it.

    Returns:
        The figures.
    """
    with memory.record.index() as index:
        counted = _counted(index)
    stats = memory.stats()
    assert memory.path is not None
    files = [
        memory.path,
        *memory.path.parent.glob(f"{memory.path.name}-*"),
    ]  # includes the write-ahead log
    return MemoryFigures(
        dataset=dataset.name,
        triples=triples,
        reader=reader,
        passages=len(dataset.passages),
        unread=len(memory.unread()) if triples.startswith("model") else 0,
        episodes=stats["episodes"],
        read=read,
        seconds=round(took, 2),
        megabytes=round(sum(file.stat().st_size for file in files if file.is_file()) / 2**20, 2),
        lengths=lengths_of(dataset),
        **counted,
    )


def lengths_of(dataset: Dataset) -> dict[str, dict[str, float]]:
    """Return the figures of a data set in PersonalAI's Table 13.

    Args:
        dataset: the data set.

    Returns:
        For ``questions``, ``answers`` (the first right answer of each question) and ``passages``: their ``number``, and
        ``median``, ``mean`` and population standard deviation (``std``) of their length in characters.
    """
    texts = {
        "questions": [question.text for question in dataset.questions],
        "answers": [question.answers[0] for question in dataset.questions],
        "passages": [passage.text for passage in dataset.passages],
    }
    found = {}
    for what, listed in texts.items():
        lengths = np.array([len(text) for text in listed] or [0])
        figures = {"median": np.median(lengths), "mean": lengths.mean(), "std": lengths.std()}
        found[what] = {"number": len(listed), **{name: round(float(value), 2) for name, value in figures.items()}}
    return found


def _counted(index: RetrievalIndex) -> dict[str, Any]:
    vertices = vertex_graph(index)
    counts = vertices.counts()
    graph = index.graph
    theses = sum(not graph.is_fact(number) for number in graph.statement_numbers)
    episodic = vertices.ends[vertices.labels < 0]
    to_theses = int((episodic[:, 1] % KINDS == THESIS).sum())
    facts = vertices.ends[(vertices.labels >= 0) & (vertices.ends[:, 0] % KINDS != THESIS)]
    pairs = len(np.unique(np.sort(facts, axis=1), axis=0))

    def mean(neighbours: int, number: int) -> float:
        return round(neighbours / number, 2) if number else 0.0

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


def _file_name_part(name: str) -> str:
    """Return a name with all characters replaced that a file name should not contain."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
