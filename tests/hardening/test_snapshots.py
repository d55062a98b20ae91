"""Snapshots and indexes that somebody damaged, cut short or forged: they are ignored, and the memory opens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from worldthread import Memory
from worldthread.errors import InputError, WorldthreadError
from worldthread.graph import TemporalGraph
from worldthread.graph.columns import pack_strings
from worldthread.stores import SQLiteStore
from worldthread.stores.snapshots import ChangePosition, Snapshots, array_digest
from worldthread.types import Ending, Episode, Extraction, Fact, Thesis

EPISODES = [
    Episode(
        f"seen at {at}",
        at,
        "test",
        Extraction(
            "test/1",
            (
                Fact("key", "is in", f"room {at % 7}", "place of key"),
                Thesis(f"Thing {at} is a thing.", (f"thing {at}",)),
            ),
            (Ending(Fact("key", "is in", "room 3"), "it was moved"),) if at % 5 == 0 else (),
        ),
        recorded_at=1000.0 + at,
    )
    for at in range(40)
]
EXPECTED = TemporalGraph(EPISODES).state_hash()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    with SQLiteStore.open(path) as store:
        store.append_many(EPISODES)
        store.checkpoint()
        assert store.save_index("index/1", {"rows": np.arange(60, dtype=np.int32).reshape(-1, 3)}, store.graph, 0)
    return path


def arrays_of(path: Path) -> list[Path]:
    return sorted(Path(f"{path}-snapshot").glob("*/*.npy"))


def loaded(path: Path) -> str | None:
    """The hash of the graph of the snapshot; ``None`` when it was ignored."""
    found = Snapshots(path, "default").load(lambda position: position.number == len(EPISODES))
    return found and found[0].state_hash()


def opened(path: Path) -> str:
    with SQLiteStore.open(path, readonly=True) as store:
        assert store.graph.view(at=3).value("key", "is in") == "room 3"
        return store.graph.state_hash()


def test_no_flipped_bit_of_a_header_keeps_a_memory_shut(path: Path) -> None:
    assert loaded(path) == EXPECTED
    for name in ("strings", "format"):
        (file,) = [file for file in arrays_of(path) if file.stem == name]
        content = file.read_bytes()
        for position in range(128):
            for bit in (0, 3, 6):
                flipped = bytearray(content)
                flipped[position] ^= 1 << bit
                file.write_bytes(flipped)
                assert loaded(path) in (EXPECTED, None), (name, position, bit)
        file.write_bytes(content)
    assert loaded(path) == EXPECTED


@pytest.mark.parametrize("content", [b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', ((((((", b"[" * 100_000, b"\xff\xfe"])
def test_no_header_is_parsed_as_python(content: bytes, path: Path) -> None:
    for file in arrays_of(path):
        file.write_bytes(content)
    assert opened(path) == EXPECTED


def test_a_snapshot_cut_short_beneath_a_reader_does_not_kill_it(path: Path) -> None:
    code = """
import sys
from worldthread.stores import SQLiteStore
with SQLiteStore.open(sys.argv[1], readonly=True) as store:
    graph = store.graph
    index = store.load_index("index/1")
    print("open", flush=True)
    sys.stdin.readline()
    print(graph.state_hash(), int(index["rows"].sum()))
"""
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        for file in Path(f"{path}-snapshot").rglob("*.npy"):
            os.truncate(file, 0)
        said, _ = child.communicate("go\n")
    assert child.returncode == 0
    assert said.split() == [EXPECTED, str(sum(range(60)))]


def test_a_snapshot_that_cannot_be_used_is_written_anew(path: Path) -> None:
    for file in arrays_of(path):
        file.write_bytes(file.read_bytes()[:-1])
    with SQLiteStore.open(path) as store:
        assert store.graph.state_hash() == EXPECTED
        store.checkpoint()
    assert loaded(path) == EXPECTED


def manifest_of(path: Path) -> Path:
    (found,) = Path(f"{path}-snapshot").glob("*/manifest.json")
    return found


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"[" * 200_000,
        b'{"format": 1}',
        b'{"format": 1, "namespace": 3, "number": 18446744073709551615, "token": "00", "arrays": {}}',
        b'{"format": 1, "namespace": "%KEY%", "number": 18446744073709551615, "token": "00", "arrays": {}}',
        b'{"format": 1, "namespace": "%KEY%", "number": 40, "token": "%TOKEN%", "arrays": {}}',
        b'{"format": 1, "namespace": "%KEY%", "number": 40, "token": "%TOKEN%", "arrays": 5}',
        b'{"format": 1, "namespace": "%KEY%", "number": 40, "token": "%TOKEN%", "arrays": {"\\u0000": ""}}',
        b'{"format": 1, "namespace": "%KEY%", "number": 40, "token": "%TOKEN%", "arrays": {"../x": 7}}',
    ],
)
def test_a_forged_manifest_is_ignored(content: bytes, path: Path) -> None:
    file = manifest_of(path)
    key, _, token = file.parent.name.partition("-")
    file.write_bytes(content.replace(b"%KEY%", key.encode()).replace(b"%TOKEN%", token.encode()))
    assert opened(path) == EXPECTED


@pytest.mark.parametrize("name", ["manifest.json", "strings.npy"])
def test_a_pipe_in_the_place_of_a_file_does_not_hang(name: str, path: Path) -> None:
    file = manifest_of(path).with_name(name)
    file.unlink()
    os.mkfifo(file)
    assert opened(path) == EXPECTED


def forge(path: Path, **changed: Any) -> None:
    """Replace arrays of the snapshot, with the digests that belong to them."""
    file = manifest_of(path)
    manifest = orjson.loads(file.read_bytes())
    for name, array in changed.items():
        np.save(file.with_name(f"{name}.npy"), array)
        manifest["arrays"][name] = array_digest(array)
    file.write_bytes(orjson.dumps(manifest))


def changed_at(array: Any, index: Any, value: Any) -> Any:
    copy = array.copy()
    copy[index] = value
    return copy


FORGERIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a name that does not exist": lambda a: {"keys": changed_at(a["keys"], (0, 0), 10**9)},
    "a negative name": lambda a: {"forms": changed_at(a["forms"], (0, 1), -5)},
    "a name that is absent": lambda a: {"forms": changed_at(a["forms"], (0, 1), -1)},
    "a statement that does not exist": lambda a: {"forms": changed_at(a["forms"], (0, 0), len(a["keys"]))},
    "a reason that does not exist": lambda a: {"ended_rows": changed_at(a["ended_rows"], (0, 1), 10**9)},
    "an episode that does not exist": lambda a: {"asserted_rows": changed_at(a["asserted_rows"], (0, 0), 40)},
    "an ending by an episode that does not exist": lambda a: {
        "versions_rows": changed_at(a["versions_rows"], (0, 2), 40)
    },
    "an assertion that does not exist": lambda a: {"versions_rows": changed_at(a["versions_rows"], (0, 1), 10**6)},
    "a version without assertions": lambda a: {"versions_rows": changed_at(a["versions_rows"], (0, 0), 10**6)},
    "offsets that descend": lambda a: {"taken_pointers": changed_at(a["taken_pointers"], 3, -4)},
    "offsets past the end": lambda a: {"taken_pointers": changed_at(a["taken_pointers"], -1, 10**9)},
    "too few offsets": lambda a: {"taken_pointers": a["taken_pointers"][:-1]},
    "rows of another width": lambda a: {"taken_rows": a["taken_rows"].reshape(1, -1)},
    "rows without a width": lambda a: {"taken_rows": a["taken_rows"].reshape(-1)},
    "numbers of another kind": lambda a: {"taken_rows": a["taken_rows"].astype(np.float64)},
    "names that are not UTF-8": lambda a: {"strings": changed_at(a["strings"], 0, 0xFF)},
    "names without an end": lambda a: {"strings": a["strings"][:-1]},
    "a name that comes twice": lambda a: {"strings": np.concatenate((a["strings"], a["strings"]))},
    "an id that is not hexadecimal": lambda a: {"ids": changed_at(a["ids"], 3, ord("x"))},
    "ids of another length": lambda a: {"ids": pack_strings(["00"] * 40)},
    "one id for all": lambda a: {"ids": pack_strings(["0" * 32] * 40)},
    "too few digests": lambda a: {"digests": a["digests"][:33]},
    "too few times": lambda a: {"at": a["at"][:-1]},
    "too few recorded times": lambda a: {"recorded": a["recorded"][:-1]},
    "a time that is not a number": lambda a: {"at": changed_at(a["at"], 0, np.nan)},
    "an infinite recorded time": lambda a: {"recorded": changed_at(a["recorded"], 0, np.inf)},
    "a source that does not exist": lambda a: {"source": changed_at(a["source"], 0, 10**9)},
    "an extractor that is absent": lambda a: {"readers": changed_at(a["readers"], 0, -1)},
    "too few sources": lambda a: {"source": a["source"][1:]},
    "fewer failures than none": lambda a: {"failures": changed_at(a["failures"], 0, -1)},
    "a number where an array belongs": lambda a: {"at": np.float64(3.0).reshape(())},
    "an index of other strings": lambda a: {"string_index": a["string_index"][1:]},
    "an index that finds one string twice": lambda a: {
        "string_index": changed_at(a["string_index"], 1, a["string_index"][0])
    },
    "an index of a string that does not exist": lambda a: {
        "string_index": changed_at(a["string_index"], -1, np.iinfo(np.uint64).max)
    },
    "an index that is not sorted": lambda a: {"string_index": a["string_index"][::-1].copy()},
    "times of a form that does not exist": lambda a: {
        "forms_timed": np.array([10**6]),
        "forms_times": np.zeros((1, 2), np.int64),
    },
    "times that belong to nothing": lambda a: {"forms_times": np.zeros((1, 2), np.int64)},
    "no format": lambda a: {"format": np.zeros(0, np.int64)},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_arrays_that_do_not_fit_each_other_are_ignored(forgery: str, path: Path) -> None:
    arrays = TemporalGraph(EPISODES).to_arrays()
    changed = FORGERIES[forgery](arrays)
    with pytest.raises(InputError):
        TemporalGraph.from_arrays({**arrays, **changed})
    forge(path, **changed)
    assert loaded(path) is None
    assert opened(path) == EXPECTED


def read_all(graph: TemporalGraph) -> None:
    graph.state_hash()
    graph.counts()
    for id_ in graph.episodes():
        graph.episode(id_)
        graph.extracted(id_)
        graph.ended_by(id_)


def test_every_integer_of_every_array_may_be_forged(path: Path) -> None:
    # whatever a forged number leads to, reading the graph gives an answer and no exception
    arrays = TemporalGraph(EPISODES[:6]).to_arrays()
    accepted = 0
    for name, array in arrays.items():
        if array.dtype not in (np.int32, np.int64, np.uint64):
            continue
        for position in range(array.size):
            for value in (
                int(array.dtype.type(-2 % 2**64)) if array.dtype == np.uint64 else -2,
                1,
                np.iinfo(array.dtype).max // 2 + 1,
            ):
                forged = array.copy()
                forged.flat[position] = value
                try:
                    graph = TemporalGraph.from_arrays({**arrays, name: forged})
                except InputError:
                    continue
                accepted += 1
                with suppress(WorldthreadError):  # a name that is empty, for example
                    read_all(graph)
    assert accepted > 20


def test_a_damaged_index_is_built_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    with Memory(path, embedder="fake", model="none") as memory:
        memory.remember_many([f"Ben{number} lives in Oslo{number}." for number in range(50)], at=1)
        memory.checkpoint()
        expected = memory.recall("Where does Ben7 live?")
        memory.checkpoint()
    folders = list(Path(f"{path}-snapshot").glob("*/index-*"))
    assert len(folders) == 1
    for number, file in enumerate(sorted(folders[0].iterdir())):
        content = file.read_bytes()
        damages = (b"", content[:-1], content[:70] + b"((((" + content[74:], bytes(len(content)))
        file.write_bytes(damages[number % len(damages)])
        with Memory(path, embedder="fake", model="none", readonly=True) as memory:
            assert memory.recall("Where does Ben7 live?") == expected
        file.write_bytes(content)


def test_a_forged_index_is_built_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    with Memory(path, embedder="fake", model="none") as memory:
        memory.remember_many([f"Ben{number} lives in Oslo{number}." for number in range(50)], at=1)
        expected = memory.recall("Where does Ben7 live?")
        memory.checkpoint()
    (folder,) = Path(f"{path}-snapshot").glob("*/index-*")
    _, _, token = folder.parent.name.partition("-")
    position = ChangePosition(50, bytes.fromhex(token))
    snapshots = Snapshots(path, "default")
    name = orjson.loads((folder / "manifest.json").read_bytes())["name"]
    arrays = snapshots.load_index(position, name)
    assert arrays is not None
    for forged in ("asserted", "mentioned", "episode_words", "name_words", "within"):
        rows = np.array(arrays[forged])
        for value in (-7, 2**30):
            if rows.size:
                snapshots.write_index(position, name, {**arrays, forged: np.full_like(rows, value)})
                with Memory(path, embedder="fake", model="none", readonly=True) as memory:
                    assert memory.recall("Where does Ben7 live?") == expected
