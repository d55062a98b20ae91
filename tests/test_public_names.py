"""The public names: few, complete, and cheap to import."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import worldthread
from worldthread import AsyncMemory, Document, ImportCounts, Memory, Recall, Remembered, Version, errors
from worldthread.memory import ingestion

OF_USERS = {
    "Answer", "AsyncMemory", "BatchReaders", "ChatModel", "Document", "Embedder", "Ending", "Episode", "Extraction",
    "Extractor", "Fact", "Filter", "GraphView", "Hit", "ImportCounts", "Interval", "Memory", "MergeSuggestion",
    "NamespaceSize", "Page", "Recall", "Record", "Remembered", "Reranker", "Thesis", "TimeLike", "Version",
    "__version__",
}  # fmt: skip
MEMBERS = {
    "about", "as_of", "ask", "checkpoint", "close", "correct", "delete_namespace", "embedder", "entities", "episode",
    "episodes", "export", "extractor", "forget", "import_", "list_episodes", "list_statements", "merge", "model",
    "namespace", "namespaces", "open_namespace", "path", "readonly", "reading_done", "recall", "reembed", "remember",
    "remember_many", "retry", "share_file", "stats", "suggest_merges", "timeline", "unread", "update", "view",
    "warm_up", "watch_indexing",
}  # fmt: skip


def classes(annotation: Any) -> Iterator[type]:
    """The classes of worldthread in a type, those in its parts included."""
    if inspect.isclass(annotation) and annotation.__module__.startswith("worldthread"):
        yield annotation
    for part in get_args(annotation):
        yield from classes(part)


def types_of(member: Any) -> dict[str, Any]:
    """The types of the parameters and the result of a method or property, those that are imported late included."""
    function = inspect.unwrap(member.fget if isinstance(member, property) else member)
    public = {name: getattr(worldthread, name) for name in worldthread.__all__}
    return get_type_hints(function, public | vars(ingestion) | function.__globals__)


def test_every_public_name_is_there_and_no_other() -> None:
    tree = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert sorted(worldthread.__all__) == worldthread.__all__
    assert set(worldthread.__all__) == OF_USERS | tree
    assert set(worldthread._HOMES) == {*worldthread.__all__} - {"__version__"}
    for name, home in worldthread._HOMES.items():
        value = getattr(worldthread, name)
        assert value is getattr(importlib.import_module(home), name)
        if name != "TimeLike":  # an alias
            assert value.__name__ == name
            assert value.__module__ == home
            assert value.__doc__
    assert set(worldthread.__all__) <= set(dir(worldthread))
    star: dict[str, object] = {}
    exec("from worldthread import *", star)
    assert set(worldthread.__all__) <= star.keys()


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
def test_what_methods_take_and_return_is_public(kind: type) -> None:
    members = [kind.__init__, *(member for name, member in vars(kind).items() if not name.startswith("_"))]
    found = {one for member in members for part in types_of(member).values() for one in classes(part)}
    assert {Recall, Remembered, Version, ImportCounts} <= found
    assert {one.__name__ for one in found} <= set(worldthread.__all__)


def test_a_memory_has_few_members_and_its_twin_the_same() -> None:
    with Memory() as memory:
        assert {name for name in dir(memory) if not name.startswith("_")} == MEMBERS | {"record"}
    twin = {name for name in dir(AsyncMemory) if not name.startswith("_")}
    assert twin == MEMBERS - {"model", "extractor", "embedder"} | {"record", "memory"}
    for name in twin & MEMBERS:
        of_memory, of_twin = getattr(Memory, name), getattr(AsyncMemory, name)
        if inspect.isfunction(of_memory):
            assert inspect.signature(of_memory).parameters == inspect.signature(of_twin).parameters, name
            assert inspect.iscoroutinefunction(of_twin) or inspect.isasyncgenfunction(of_twin), name
            assert of_twin.__qualname__ == f"AsyncMemory.{name}"
    assert inspect.signature(Memory.__init__) == inspect.signature(AsyncMemory.__init__)


def test_public_objects_have_short_representations(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "notes.worldthread", model="none", embedder="fake")
    done = memory.remember("Anna lives in Rome. " + "It was a long day. " * 20, at=1)
    found = memory.recall("Where does Anna live?", k=1)
    answer = memory.ask("Where does Anna live?")
    assert repr(memory) == "Memory('notes.worldthread', namespace='default', 1 episode)"
    assert repr(memory.record) == "Record('notes.worldthread', namespace='default', 1 episode)"
    assert repr(done) == "Remembered(added=1, known=0, unread=0)"
    assert repr(found).startswith("Recall('Where does Anna live?', facts=1, ")
    assert repr(found.facts[0]).startswith("Hit(fact 'Anna, lives in, Rome', score=")
    assert repr(answer) == f"Answer({str(answer)!r}, question='Where does Anna live?', sources=1)"
    for value in (memory.view(1), next(memory.episodes()), Document("word " * 100), *found.hits):
        assert len(repr(value)) < 160
    assert "now" in repr(memory.view())
    memory.close()
    assert repr(memory) == "Memory('notes.worldthread', namespace='default', closed)"
    assert repr(AsyncMemory()) == "AsyncMemory(not open)"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memroy'"):
        worldthread.Memroy  # noqa: B018
    assert not hasattr(worldthread, "sqlite3")


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, worldthread; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "worldthread" in loaded
    assert not loaded & {
        "numpy",
        "sqlite3",
        "orjson",
        "onnxruntime",
        "textworld",
        "jericho",
        "typer",
        "worldthread.memory.memory",
    }
