"""Random damage to every file of a memory: what is opened is right, or an error of ours says that it is not.

``WORLDTHREAD_TRIALS`` sets how many damaged files are opened (10,000 take some minutes); ``-s`` shows the table. A
trial is drawn from its kind and its number alone, so a violation can be repeated.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from worldthread import Memory
from worldthread.errors import WorldthreadError
from worldthread.stores import SQLiteStore
from worldthread.types import Ending, Episode, Extraction, Fact, Thesis

TRIALS: Final = int(os.environ.get("WORLDTHREAD_TRIALS", "300" if os.environ.get("WORLDTHREAD_THOROUGH") else "60"))
QUESTION: Final = "Where is the key?"
TEXTS: Final = [f"text {number}" for number in range(8)]
BLOCKS: Final = (16, 100, 512, 4096)
PADDING: Final = "".join(f" {number}" for number in range(900))


def seen(at: float, extractor: str = "test/1") -> Episode:
    facts = (
        Fact("key", "is in", f"room {at % 7}", "place of key"),
        Thesis(f"Thing {at} is a thing.", (f"thing {at}", "Ω")),
    )
    endings = (Ending(Fact("key", "is in", "room 3"), "it was moved"),) if at % 5 == 0 else ()
    text = f"seen at {at}" + (PADDING if at % 9 == 0 else "")
    return Episode(text, at, "test", Extraction(extractor, facts, endings), recorded_at=1000.0 + at)


def vectors(seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal((len(TEXTS), 6)).astype(np.float16).astype(np.float32)


def build(path: Path, first: int = 0) -> None:
    """Make a memory with a second namespace, vectors, a snapshot, an index, and changes that came after them."""
    with Memory(path, embedder="fake", model="none") as memory, memory.open_namespace("other") as other:
        memory.record.add_many([seen(at) for at in range(first, first + 14)])
        other.record.add_many([seen(at) for at in range(first + 100, first + 104)])
        memory.record.vectors  # noqa: B018
    with SQLiteStore.open(path) as store:
        store.put_vectors("model", TEXTS, vectors(first))
        store.forget(seen(first + 4).id)
        store.replace(seen(first + 5, "test/2"))
    with Memory(path, embedder="fake", model="none") as memory:
        memory.recall(QUESTION)
        memory.checkpoint()
    with SQLiteStore.open(path) as store:
        for at in range(first + 14, first + 18):
            store.append(seen(at))
        store.replace(seen(first + 6, "test/3"))


Contents = tuple[str, tuple[tuple[Episode, float | None, str], ...]]


def contents(store: SQLiteStore) -> Contents:
    episodes = tuple((e, e.recorded_at, e.extraction.digest) for e in store.episodes())
    return store.graph.state_hash(), episodes


@dataclass(frozen=True)
class Truth:
    """What a memory holds."""

    default: Contents
    other: Contents
    vectors: Any
    recalled: str | None


def read(path: Path, *, readonly: bool, recalls: bool) -> Truth:
    with SQLiteStore.open(path, readonly=readonly) as store, store.open_namespace("other") as other:
        found = store.get_vectors("model", TEXTS)
        truth = contents(store), contents(other), found
    names = SQLiteStore.namespaces(path)
    assert names == ["default", "other"], names
    if not recalls:
        return Truth(*truth, None)
    with Memory(path, embedder="fake", model="none", readonly=readonly) as memory:
        return Truth(*truth, memory.recall(QUESTION).text)


@dataclass(frozen=True)
class Kind:
    """A kind of file to damage: the folder with whole files, which of them, and what must be found then.

    An empty file with nothing beside it was never a memory, for all that anybody can know: it becomes a new one, so
    ``least`` bytes stay.
    """

    whole: Path
    files: list[Path]
    check: Callable[[Path, random.Random], str]
    others: list[bytes]
    least: int = 0


def damaged(content: bytes, chance: random.Random, others: list[bytes], least: int = 0) -> bytes:
    """Return content with one of the damages that disks, crashes and people do; ``least`` bytes stay."""
    data = bytearray(content)
    size = len(data)
    block = chance.choice(BLOCKS)
    start = chance.randrange(max(1, size))
    if size > block and chance.random() < 0.5:
        start -= start % block
    # damage to the beginning, where headers are, is as likely as damage to all the rest
    position = chance.randrange(min(size, 200) if chance.random() < 0.2 else max(size, 1)) if size else 0
    match chance.randrange(9 if size else 1):
        case 0:
            data += chance.choice([bytes(block), chance.randbytes(block), chance.choice(others)[:block]])
        case 1 | 2 | 3:
            data[position] ^= 1 << chance.randrange(8)
        case 4:
            for _ in range(chance.randint(2, 40)):
                data[chance.randrange(size)] ^= 1 << chance.randrange(8)
        case 5:
            data[start : start + block] = bytes(len(data[start : start + block]))
        case 6:
            other = chance.randrange(max(1, size - block))
            other -= other % block
            first, second = data[start : start + block], data[other : other + block]
            if len(first) == len(second) and abs(start - other) >= block:
                data[start : start + block], data[other : other + block] = second, first
        case 7:
            del data[max(least, 0 if chance.random() < 0.2 else start) :]
        case 8:
            source = chance.choice(others)
            place = start if chance.random() < 0.5 else chance.randrange(max(1, len(source)))
            part = source[place : place + block]
            data[start : start + len(part)] = part
    return bytes(data)


# -- what must be found ---------------------------------------------------------------------------------------------


def check_memory(truth: Truth, recalls: float) -> Callable[[Path, random.Random], str]:
    def check(folder: Path, chance: random.Random) -> str:
        path = folder / "memory"
        found = read(path, readonly=chance.random() < 0.5, recalls=chance.random() < recalls)
        compare(found, truth)
        if chance.random() < 0.3:  # damage that is met only when something is written
            new = seen(5000)
            with SQLiteStore.open(path) as store:
                store.append(new)
                expected = contents(store)
            with SQLiteStore.open(path, readonly=True) as store:
                assert contents(store) == expected, "an acknowledged change is lost"
            assert expected[1][:-1] == truth.default[1], "a write changed something else"
        return "right"

    return check


def compare(found: Truth, truth: Truth) -> None:
    assert found.default == truth.default, "another state"
    assert found.other == truth.other, "another state of the second namespace"
    assert found.recalled in (None, truth.recalled), "another recall"
    for text, vector in found.vectors.items():
        assert np.array_equal(vector, truth.vectors[text]), "another vector"


def check_always(truth: Truth, recalls: float) -> Callable[[Path, random.Random], str]:
    """Snapshots and indexes can be made again, so nothing that happens to them may be an error."""
    check = check_memory(truth, recalls)

    def without_error(folder: Path, chance: random.Random) -> str:
        try:
            return check(folder, chance)
        except WorldthreadError as error:
            raise AssertionError(f"an error: {error}") from error

    return without_error


def check_log(states: list[Contents], log_bytes: int) -> Callable[[Path, random.Random], str]:
    def check(folder: Path, chance: random.Random) -> str:
        size = (folder / "memory-wal").stat().st_size
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with SQLiteStore.open(folder / "memory", readonly=chance.random() < 0.5) as store:
                found = contents(store)
        assert found in states, "no state that the memory was ever in"
        if found == states[-1]:
            return "right"
        if warned:
            assert "the last changes" in str(warned[0].message)
            return "an earlier state, with a warning"
        # nobody can tell a log that lost its end from a shorter one, or a damaged end from an unfinished transaction
        assert size < log_bytes or found == states[-2], "an earlier state, without a word"
        return "an earlier state: the end of the log is missing"

    return check


def check_export(truth: Truth, opened: Callable[[Path], Any]) -> Callable[[Path, random.Random], str]:
    def check(folder: Path, chance: random.Random) -> str:
        with SQLiteStore.open(None) as store:
            try:
                with opened(folder / "export") as stream:
                    store.import_(stream)
            except WorldthreadError:
                assert not len(store.graph), "a part was imported"
                raise
            assert contents(store) == truth.default, "another state"
        return "right"

    return check


# -- the whole files ------------------------------------------------------------------------------------------------

LOGGED: Final = """
import os, sys
sys.path.insert(0, sys.argv[2])
from test_damaged_files import TEXTS, seen, vectors
from worldthread.stores import SQLiteStore
store = SQLiteStore.open(sys.argv[1])
for at in range(200, 212):
    store.append(seen(at))
    if at % 6 == 0:
        store.put_vectors("model", TEXTS, vectors(at))
    if at % 7 == 0:
        store.replace(seen(at - 1, "test/9"))
store.append_many([seen(at) for at in range(212, 218)])
os.kill(os.getpid(), 9)
"""


def states_of_log(path: Path) -> list[Contents]:
    """Return the states that the memory was in while its log was written."""
    with SQLiteStore.open(path) as store:
        states = [contents(store)]
        for at in range(200, 212):
            store.append(seen(at))
            states.append(contents(store))
            if at % 7 == 0:
                store.replace(seen(at - 1, "test/9"))
                states.append(contents(store))
        store.append_many([seen(at) for at in range(212, 218)])
        states.append(contents(store))
    return states


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kind]:
    root = tmp_path_factory.mktemp("whole")
    (whole := root / "whole").mkdir()
    (other := root / "other").mkdir()
    build(whole / "memory")
    build(other / "memory", 1000)
    truth = read(whole / "memory", readonly=True, recalls=True)
    foreign = [file.read_bytes() for file in sorted(other.rglob("*")) if file.is_file() and file.stat().st_size]
    (bare := root / "bare").mkdir()
    shutil.copy(whole / "memory", bare / "memory")
    (logged := root / "logged").mkdir()
    shutil.copytree(whole, logged, dirs_exist_ok=True)
    shutil.copytree(whole, root / "replayed")
    states = states_of_log(root / "replayed" / "memory")
    here = str(Path(__file__).parent)
    subprocess.run([sys.executable, "-c", LOGGED, str(logged / "memory"), here], check=False)
    log_bytes = (logged / "memory-wal").stat().st_size
    assert log_bytes
    (exported := root / "exported").mkdir()
    (compressed := root / "compressed").mkdir()
    with SQLiteStore.open(whole / "memory", readonly=True) as store:
        store.export(exported / "export")
    (compressed / "export").write_bytes(gzip.compress((exported / "export").read_bytes()))
    with SQLiteStore.open(other / "memory", readonly=True) as store:
        store.export(other / "export")
    snapshot = whole / "memory-snapshot"
    indexes = [folder for folder in snapshot.glob("*/index-*") if folder.is_dir()]
    assert indexes
    arrays = list(snapshot.glob("*/*.npy"))
    return {
        "snapshot arrays": Kind(whole, arrays, check_always(truth, 0.05), foreign),
        "snapshot manifests": Kind(whole, list(snapshot.glob("*/manifest.json")), check_always(truth, 0.05), foreign),
        "index arrays": Kind(whole, [f for i in indexes for f in i.glob("*.npy")], check_always(truth, 1), foreign),
        "index manifests": Kind(whole, [i / "manifest.json" for i in indexes], check_always(truth, 1), foreign),
        "databases": Kind(whole, [whole / "memory"], check_memory(truth, 0.05), [(other / "memory").read_bytes()]),
        "databases without a snapshot": Kind(
            bare, [bare / "memory"], check_memory(truth, 0.05), [(other / "memory").read_bytes()], least=1
        ),
        "logs": Kind(logged, [logged / "memory-wal"], check_log(states, log_bytes), [(other / "memory").read_bytes()]),
        "databases under a log": Kind(
            logged, [logged / "memory"], check_log(states, log_bytes), [(other / "memory").read_bytes()]
        ),
        "exports": Kind(
            exported,
            [exported / "export"],
            check_export(truth, lambda path: open(path, "rb")),
            [(other / "export").read_bytes()],
        ),
        "compressed exports": Kind(
            compressed,
            [compressed / "export"],
            check_export(truth, gzip.open),
            [gzip.compress((other / "export").read_bytes())],
        ),
    }


SHARES: Final = {"databases": 4, "databases without a snapshot": 4, "logs": 2, "snapshot arrays": 2, "exports": 2}


def outcome(kind: Kind, name: str, number: int, folder: Path) -> str:
    """Damage a file and return what came of it."""
    chance = random.Random(f"{name} {number}")
    victim = chance.choice(sorted(kind.files))

    def copied(source: str, target: str) -> None:
        if source == str(victim):
            Path(target).write_bytes(damaged(victim.read_bytes(), chance, kind.others, kind.least))
        elif "snapshot" in source:
            os.link(source, target)  # never written again
        else:
            shutil.copyfile(source, target)

    shutil.copytree(kind.whole, folder, copy_function=copied)
    try:
        return kind.check(folder, chance)
    except WorldthreadError as error:
        return type(error).__name__
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return f"violation: {type(error).__name__}: {str(error)[:150]} ({name} {number}, {victim.name})"
    finally:
        shutil.rmtree(folder)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:.*no snapshot")
def test_damage_is_found_or_does_no_harm(kinds: dict[str, Kind], tmp_path: Path) -> None:
    violations = []
    total = sum(SHARES.get(name, 1) for name in kinds)
    print(f"\n{'kind':30}{'trials':>8}  outcomes")
    for name, kind in kinds.items():
        trials = TRIALS * SHARES.get(name, 1) // total
        found: Counter[str] = Counter()
        for number in range(trials):
            result = outcome(kind, name, number, tmp_path / "trial")
            if result.startswith("violation"):
                violations.append(result)
                result = "VIOLATION"
            found[result] += 1
        print(f"{name:30}{trials:>8}  " + ", ".join(f"{result} {count}" for result, count in found.most_common()))
    assert violations == []


def test_whole_files_are_right(kinds: dict[str, Kind], tmp_path: Path) -> None:
    for number, (name, kind) in enumerate(kinds.items()):
        shutil.copytree(kind.whole, tmp_path / str(number))
        assert kind.check(tmp_path / str(number), random.Random(name)) == "right"
