"""Extractors, models and embedders that throw or give odd things: nothing acknowledged is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Ending, Episode, Extraction, Fact, Memory, Thesis
from worldthread.errors import InputError, ModelError, WorldthreadError
from worldthread.models import FakeChat
from worldthread.models.fake import FakeEmbedder

ERRORS = [
    ValueError("odd"),
    KeyError("odd"),
    StopIteration(),
    RecursionError(),
    MemoryError(),
    TimeoutError(),
    SystemExit(3),
]
KNOWN = Episode("Anna lives in Rome.", 1, extraction=Extraction("test/1", (Fact("Anna", "lives in", "Rome"),)))


def opened(path: Path | None = None, **options: Any) -> Memory:
    return Memory(path, **{"embedder": "fake", "model": "none", **options})


def outcome(work: Callable[[], Any]) -> Any:
    """What a call gives, or the error that it raises."""
    try:
        return work()
    except BaseException as error:
        return error


class OddExtractor:
    """An extractor made of two functions, which may return anything."""

    name = "odd/1"

    def __init__(
        self,
        extract: Callable[..., Any],
        outdate: Callable[..., Any] = lambda text, extraction, *_: extraction,
        at_once: int = 1,
    ):
        self.extract, self.outdate, self.concurrency = extract, outdate, at_once


def throws(error: BaseException) -> Callable[..., Any]:
    def throw(*_: object) -> Any:
        raise error

    return throw


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("step", ["extract", "outdate", "model", "embed"])
def test_what_a_helper_throws_comes_out_and_nothing_is_lost(
    step: str, at_once: int, error: BaseException, tmp_path: Path
) -> None:
    # a StopIteration once ended the loop over the passages: they were reported as recorded, and were not
    options: dict[str, Any] = {"extractor": OddExtractor(lambda *_: Extraction("odd/1"), at_once=at_once)}
    if step == "embed":
        embedder = FakeEmbedder()
        embedder.embed = throws(error)  # type: ignore[method-assign]
        options["embedder"] = embedder
    elif step == "model":
        options = {"model": FakeChat(throws(error), concurrency=at_once)}
    else:
        setattr(options["extractor"], step, throws(error))
    with opened(tmp_path / "m", **options) as memory:
        memory.record.add(KNOWN)
        came = outcome(lambda: memory.remember_many(["Ben is ill.", "Cid is old."], at=2))
        if step == "embed" and isinstance(error, Exception):  # the texts are recorded by then
            assert (came.added, came.unread, len(came.problems)) == (2, 0, 1)
            assert came.problems[0].startswith("the texts are kept, and the next question computes their vectors")
            assert came.problems[0].endswith(f"failed now: {error}")
            assert {e.text for e in memory.episodes()} == {KNOWN.text, "Ben is ill.", "Cid is old."}
            came = outcome(lambda: memory.recall("Who is ill?"))
        assert isinstance(came, BaseException), f"{came} was reported"
        assert isinstance(came, (type(error), RuntimeError, WorldthreadError))
    with opened(tmp_path / "m") as memory:
        assert memory.episode(KNOWN.id) == KNOWN
        assert memory.remember_many(["Ben is ill.", "Cid is old."], at=2).unread == 0
        assert [e.text for e in memory.episodes()].count("Ben is ill.") == 1
        assert "Rome" in memory.recall("Where does Anna live?").text


ODD_EXTRACTIONS: dict[str, Any] = {
    "nothing": lambda: None,
    "a text": lambda: "Anna is ill.",
    "texts as statements": lambda: Extraction("odd/1", ("Anna is ill.",)),  # type: ignore[arg-type]
    "no statements": lambda: Extraction("odd/1", None),  # type: ignore[arg-type]
    "numbers as failures": lambda: Extraction("odd/1", failures=(5,)),  # type: ignore[arg-type]
    "texts as endings": lambda: Extraction("odd/1", endings=("Anna",)),  # type: ignore[arg-type]
    "an ending of a text": lambda: Extraction("odd/1", endings=(Ending("Anna", "why"),)),  # type: ignore[arg-type]
    "a text as objects": lambda: Extraction("odd/1", (Thesis("Anna is ill.", "Anna"),)),  # type: ignore[arg-type]
    "lists": lambda: Extraction("odd/1", [Fact("a", "is", "b")], [], ["what?"]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", ODD_EXTRACTIONS)
@pytest.mark.parametrize("step", ["extract", "outdate"])
def test_odd_extractions_never_make_a_memory_unreadable(step: str, kind: str, tmp_path: Path) -> None:
    # failures=(5,) was committed, and then nobody could open the memory any more
    odd = OddExtractor(lambda *_: Extraction("odd/1"))
    setattr(odd, step, lambda *_: ODD_EXTRACTIONS[kind]())
    with opened(tmp_path / "m", extractor=odd) as memory:
        memory.record.add(KNOWN)
        came = outcome(lambda: memory.remember("Ben is ill.", at=2))
        assert isinstance(came, BaseException) or came.added == 1
        assert memory.recall("Anna").hits
    with opened(tmp_path / "m") as memory:
        kept = list(memory.episodes())
        assert kept[0] == KNOWN
        assert len(kept) == (1 if isinstance(came, BaseException) else 2)
        assert memory.remember("Cid is old.", at=3).added == 1
        memory.export(tmp_path / "export")


@pytest.mark.parametrize("at_once", [0, -1, "3", None, 2.5, True])
def test_an_extractor_that_cannot_say_how_many_it_takes_at_once_is_refused(at_once: Any) -> None:
    with opened(extractor=OddExtractor(lambda *_: Extraction("odd/1"), at_once=at_once)) as memory:
        with pytest.raises(InputError, match=r"concurrency of the extractor 'odd/1' must be a whole number"):
            memory.remember_many(["Ben is ill.", "Cid is old."])
        assert list(memory.episodes()) == []


ODD_VECTORS: dict[str, Callable[[int], Any]] = {
    "nothing": lambda n: None,
    "text": lambda n: "vectors",
    "one row too many": lambda n: np.zeros((n + 1, 256), np.float32),
    "too short": lambda n: np.zeros((n, 5), np.float32),
    "flat": lambda n: np.zeros(n * 256, np.float32),
    "not a number": lambda n: np.full((n, 256), np.nan, np.float32),
    "infinite": lambda n: np.full((n, 256), np.inf, np.float32),
    "objects": lambda n: np.full((n, 256), "x", object),
}


@pytest.mark.parametrize("kind", ODD_VECTORS)
def test_odd_vectors_are_refused_and_not_kept(kind: str, tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.embed = lambda given: ODD_VECTORS[kind](len(list(given)))  # type: ignore[method-assign]
    with opened(tmp_path / "m", embedder=embedder) as memory:
        memory.record.add(KNOWN)
        told = memory.remember("Ben is ill.", at=2)  # the text is recorded by then
        assert (told.added, told.unread, len(told.problems)) == (1, 0, 1)
        assert told.problems[0].startswith("the texts are kept, and the next question computes their vectors")
        came = outcome(lambda: memory.recall("Anna"))
        assert isinstance(came, (ModelError, InputError)), came
        assert embedder.name in str(came) or "vector" in str(came)
        assert told.problems[0].endswith(f"failed now: {came}")
    with opened(tmp_path / "m") as memory:  # the same name, repaired
        assert memory.stats()["vectors"] == 0
        assert memory.episode(KNOWN.id) == KNOWN
        assert [e.text for e in memory.episodes()] == [KNOWN.text, "Ben is ill."]
        assert "Rome" in memory.recall("Where does Anna live?").text
        assert memory.stats()["vectors"] > 0
