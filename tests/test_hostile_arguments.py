"""Arguments that cannot be used: each is refused with an error of ours, and leaves the memory as it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory
from worldthread.errors import (
    ClosedError,
    ForeignFileError,
    InputError,
    ModelConfigError,
    StoreLockedError,
    WorldthreadError,
)
from worldthread.extract.documents import Document
from worldthread.models import ConfiguredChat, FakeChat
from worldthread.models.chat import ChatRequest, Message
from worldthread.models.config import load_config
from worldthread.models.recording import RecordingChat

WRONG = (5, 1.5, True, b"Anna", ["Anna"], ("Anna",), {"a": 1}, {1}, object(), len)


def anna(path: Path | None = None, **options: object) -> Memory:
    """A memory that knows where Anna lives."""
    memory = Memory(path, **{"embedder": "fake", "model": "none", **options})  # type: ignore[arg-type]
    memory.record.add(
        Episode("Anna lives in Rome.", 1, extraction=Extraction("test/1", (Fact("Anna", "lives in", "Rome"),)))
    )
    return memory


# -- times ----------------------------------------------------------------------------------------------------------


NO_TIMES = (math.nan, math.inf, -math.inf, 10**400, "nan", "1e999", "soon", "", "\ud800", True, b"1", [], 1j, object())


@pytest.mark.parametrize(
    "call",
    [
        lambda m, t: m.remember("Ben is ill.", at=t),
        lambda m, t: m.remember([{"role": "user", "content": "Hello.", "at": t}]),
        lambda m, t: m.remember(Document("Ben is ill.", t)),
        lambda m, t: m.recall("Anna", as_of=t),
        lambda m, t: m.ask("Anna", as_of=t),
        lambda m, t: m.about("Anna", as_of=t),
        lambda m, t: m.as_of(t),
        lambda m, t: m.as_of(None, t),
        lambda m, t: m.view(t).facts("Anna"),
    ],
    ids=["remember", "message", "document", "recall", "ask", "about", "as_of", "as_of recorded", "view"],
)
def test_what_is_no_time_is_refused(call: Callable[[Memory, object], object]) -> None:
    with anna() as memory:
        before = memory.record.state_hash()
        for wrong in NO_TIMES:
            with pytest.raises(InputError, match=r"time|'at'|\bat must"):
                call(memory, wrong)
        assert memory.record.state_hash() == before


def test_a_number_beyond_floats_is_refused_by_an_episode() -> None:
    with pytest.raises(InputError, match="finite"):
        Episode("Anna sings.", 10**400)


@pytest.mark.parametrize("at", [5e-324, -0.0, 9_999_999, -7])
def test_odd_turns_are_kept(at: float, tmp_path: Path) -> None:
    with anna(tmp_path / "m") as memory:
        memory.remember("Ben lives in Oslo.\n\n" + "Cid is old. " * 200, at=at)
        found = memory.recall("Where does Ben live?", as_of=at)
        assert "Oslo" in found.text
        memory.export(tmp_path / "export")
    with anna() as copy:
        copy.import_(tmp_path / "export")
        with anna(tmp_path / "m") as memory:
            assert copy.record.state_hash() == memory.record.state_hash()


@pytest.mark.parametrize("at", [1e308, -1e308, 2**70, "-1e300", date.min, datetime.max])
def test_absurd_times_are_refused_and_open_where_they_are_recorded(at: float | str | date, tmp_path: Path) -> None:
    absurd = Episode("Ben lives in Oslo.", 1e308, extraction=Extraction("test/1", (Fact("Ben", "lives in", "Oslo"),)))
    with Memory(tmp_path / "m", embedder="fake", model="none") as memory:
        memory.record._store.append(absurd)  # as an older release has recorded it
        with pytest.raises(InputError, match=r"time|'at'"):
            memory.remember("Cid is old.", at=at)
        assert memory.view().value("Ben", "lives in") == "Oslo"
        assert memory.forget(absurd) == 1
        with pytest.raises(InputError):
            memory.record.add(absurd)


# -- wrong types ----------------------------------------------------------------------------------------------------

STRING_ARGUMENTS: dict[str, Callable[[Memory, object], object]] = {
    "about": lambda m, x: m.about(x),  # type: ignore[arg-type]
    "timeline": lambda m, x: m.timeline(x),  # type: ignore[arg-type]
    "entities": lambda m, x: m.entities(x),  # type: ignore[arg-type]
    "episodes_about": lambda m, x: m.record.episodes_about(x),  # type: ignore[arg-type]
    "forget": lambda m, x: m.forget(x),  # type: ignore[arg-type]
    "forget entity": lambda m, x: m.forget(entity=x),  # type: ignore[arg-type]
    "episode": lambda m, x: m.episode(x),  # type: ignore[arg-type]
    "recall": lambda m, x: m.recall(x),  # type: ignore[arg-type]
    "ask": lambda m, x: m.ask(x),  # type: ignore[arg-type]
    "method": lambda m, x: m.recall("Anna", method=x),  # type: ignore[arg-type]
    "kinds": lambda m, x: m.recall("Anna", kinds=x),  # type: ignore[arg-type]
    "source": lambda m, x: m.remember("Ben is ill.", source=x),  # type: ignore[arg-type]
    "namespace": lambda m, x: m.open_namespace(x),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", STRING_ARGUMENTS)
def test_wrong_types_are_refused_in_words(call: str) -> None:
    with anna() as memory:
        before = memory.record.state_hash()
        for wrong in (*WRONG, *((0, b"", [], {}) if call == "source" else ())):
            with pytest.raises(WorldthreadError):
                STRING_ARGUMENTS[call](memory, wrong)
        assert memory.record.state_hash() == before


@pytest.mark.parametrize("contents", [None, 5, object(), "Anna lives in Rome.", b"Anna", {"role": "u", "content": "x"}])
def test_many_contents_are_not_one_content(contents: object) -> None:
    # a text given to remember_many would be remembered letter by letter
    with anna() as memory:
        before = memory.record.state_hash()
        with pytest.raises(InputError):
            memory.remember_many(contents)  # type: ignore[arg-type]
        if not isinstance(contents, str):
            with pytest.raises(InputError):
                memory.record.add_many(contents)  # type: ignore[arg-type]
        assert memory.record.state_hash() == before


def test_of_an_iterator_what_came_before_an_error_is_kept() -> None:
    with anna() as memory:
        with pytest.raises(InputError, match="cannot remember int"):
            memory.remember_many(iter(["Ben lives in Oslo.", 7]), at=2)  # type: ignore[list-item]
        assert [e.text for e in memory.episodes()] == ["Anna lives in Rome.", "Ben lives in Oslo."]


@pytest.mark.parametrize("wrong", [None, 5, [], object()])
def test_places_of_wrong_types_are_refused(wrong: object) -> None:
    with anna() as memory:
        for attempt in (lambda: memory.export(wrong), lambda: memory.import_(wrong)):  # type: ignore[arg-type]
            with pytest.raises(InputError, match=r"file|path|stream"):
                attempt()


@pytest.mark.parametrize("name", ["model", "extractor", "embedder", "clock"])
def test_helpers_of_wrong_types_are_refused(name: str) -> None:
    def use(wrong: object) -> None:
        with anna(**{name: wrong}) as memory:
            memory.remember("Ben lives in Oslo.")
            memory.recall("Ben")

    for wrong in (5, b"none", [], object()):
        with pytest.raises(InputError, match=name):
            use(wrong)


# -- parts of a whole ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["a\0b"])
def test_of_a_sequence_nothing_is_kept_when_a_late_part_is_refused(bad: str) -> None:
    # what comes late is in a later batch: all has to be checked before the first is recorded
    with anna() as memory:
        before = memory.record.state_hash()
        for attempt in (
            lambda: memory.remember_many([*(f"Ben{n} is fine." for n in range(200)), bad]),
            lambda: memory.remember_many([*(f"Ben{n} is fine." for n in range(200)), Document("Fine.", math.nan)]),
            lambda: memory.remember("Ben is fine. " * 20_000 + bad),
        ):
            with pytest.raises(InputError):
                attempt()
            assert memory.record.state_hash() == before


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_names_of_files_that_cannot_be(bad: str) -> None:
    with anna() as memory:
        for attempt in (lambda: memory.export(bad), lambda: memory.import_(bad), lambda: Memory(bad)):
            with pytest.raises(WorldthreadError, match=r"file|path"):
                attempt()


# -- helpers by name ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"model": "gpt-4o-mini", "embedder": "fake"}, ModelConfigError),
        ({"model": " ", "embedder": "fake"}, InputError),
        ({"model": "none", "embedder": "word2vec"}, InputError),
    ],
)
def test_a_model_or_embedder_that_does_not_exist_is_an_error_before_a_file_is_created(
    options: dict[str, Any], error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(error):
        Memory(tmp_path / "m", **options)
    assert not (tmp_path / "m").exists()


def test_a_memory_closes_the_model_that_it_made_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("WORLDTHREAD_CACHE", str(tmp_path))
    request = ChatRequest((Message("user", "Hi"),), "answer")
    with Memory(model="gpt-4o-mini", embedder="fake") as memory:
        own = memory.model
    assert own is not None
    with pytest.raises(ClosedError):
        own.complete(request)
    with pytest.raises(ForeignFileError):
        Memory(tmp_path, model="gpt-4o-mini", embedder="fake")
    lent = ConfiguredChat(load_config("gpt-4o-mini", record=tmp_path / "calls.jsonl"))
    Memory(model=lent, embedder="fake").close()
    with pytest.raises(StoreLockedError):
        RecordingChat(FakeChat([]), tmp_path / "calls.jsonl")
    lent.close()
    lent.close()
    with pytest.raises(InputError, match="another file"):  # it is free, and of another model
        RecordingChat(FakeChat([]), tmp_path / "calls.jsonl")
