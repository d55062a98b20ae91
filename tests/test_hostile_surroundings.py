"""Full disks, lost files and other processes: what was acknowledged stays, and the memory stays usable."""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import (
    ClosedError,
    ForeignFileError,
    InputError,
    ReadOnlyError,
    StoreError,
    StoreLockedError,
)


def opened(path: Path | None = None, **options: Any) -> Memory:
    return Memory(path, **{"embedder": "fake", "model": "none", **options})


def texts(path: Path) -> list[str]:
    with opened(path, readonly=True) as memory:
        return [episode.text for episode in memory.episodes()]


def child(code: str, *arguments: object) -> str:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    return run.stdout


def outcome(work: Callable[[], Any]) -> Any:
    """What a call gives, or the error that it raises."""
    try:
        return work()
    except BaseException as error:
        return error


# -- a full disk ----------------------------------------------------------------------------------------------------

# a limit on the size of files stands for the end of the disk: SQLite sees a write that fails
FULL_DISK = """
import os, resource, sys
from pathlib import Path
from worldthread import Memory
from worldthread.errors import StoreError
from worldthread.models import FakeChat

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(work):
    try:
        work()
    except StoreError as error:
        assert type(error) is StoreError, repr(error)
        assert str(path.parent) in str(error), error
        return str(error).replace(str(path.parent), "")
    raise AssertionError("the disk is full, and nothing was said")

path = Path(sys.argv[1])
with Memory(path, embedder="fake", model=FakeChat(lambda request: "no json")) as memory:
    memory.remember_many([f"Ben{n} lives in Oslo{n}. " + "x" * 900 for n in range(60)], at=1)
memory = Memory(path, embedder="fake", model="none")
memory.remember("Anna lives in Rome.", at=2)
memory.recall("Where does Anna live?")
"""

FILLING = """
limit(path.stat().st_size + 60_000)
kept = [e.text for e in memory.episodes()]
def fill():
    for n in range(10_000):
        text = f"Cid{n} likes tea. " + "y" * 900
        memory.remember(text, at=3 + n, wait=True)
        kept.append(text)
"""

FULL_CASES = {
    "remember": "said = refused(fill); assert len(kept) > 62",
    "remember_many": "said = refused(lambda: memory.remember_many(f'Dan{n} sings. ' * 800 for n in range(60)))",
    "retry": "said = refused(memory.retry)",
    "forget": "refused(fill); said = refused(lambda: [memory.forget(e) for e in list(memory.episodes())[:60]])",
    "export": "said = refused(lambda: (limit(500), memory.export(path.with_name('export'))))",
}

AFTER = """
print(said)
after = [e.text for e in memory.episodes()]
assert set(kept) <= set(after) or "{verb}" == "forget", "acknowledged and lost"
hash_ = memory.record.state_hash()
limit(resource.RLIM_INFINITY)
assert memory.remember("All is well.", at=99_999).added == 1
assert sorted(p.name for p in path.parent.iterdir() if "part" in p.name or p.name == "export") == []
count = memory.stats()["episodes"]
memory.close()
with Memory(path, embedder="fake", model="none") as memory:
    assert memory.stats()["episodes"] == count
    assert set(after) <= {{e.text for e in memory.episodes()}}
    memory.forget(max(memory.episodes(), key=lambda e: e.at))
    assert memory.record.state_hash() == hash_
"""


@pytest.mark.parametrize("verb", FULL_CASES)
def test_a_full_disk_is_told_and_loses_nothing_that_was_acknowledged(verb: str, tmp_path: Path) -> None:
    said = child(FULL_DISK + FILLING + FULL_CASES[verb] + AFTER.format(verb=verb), tmp_path / "m")
    assert "is the disk full?" in said or "File too large" in said, said
    assert verb != "remember" or "Nothing of this change was kept; every earlier change is safe" in said


def test_on_a_full_disk_one_can_still_ask(tmp_path: Path) -> None:
    # recall keeps the vector of a question; that it cannot must not stop it
    asking = """
refused(fill)
assert "Rome" in memory.recall("In which town does Anna live now?").text
assert memory.ask("Where is Anna living?").text
assert memory.about("Anna") and memory.timeline("Anna") and memory.stats()["episodes"]
said = "full"
"""
    child(FULL_DISK + FILLING + asking + AFTER.format(verb="recall"), tmp_path / "m")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_as_stream_is_an_error() -> None:
    with opened() as memory, open("/dev/full", "wb", buffering=0) as stream:
        memory.remember("Anna lives in Rome.", at=1)
        with pytest.raises((OSError, StoreError)):
            memory.export(stream)
        assert "Rome" in memory.recall("Anna").text


# -- files ----------------------------------------------------------------------------------------------------------


def _replace(path: Path) -> None:
    with opened(path.with_name("other")) as other:
        other.remember("Zoe lives in Prague.", at=1)
    path.with_name("other").replace(path)


LOSSES: dict[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "removed with its folder": lambda path: shutil.rmtree(path.parent),
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "replaced": _replace,
    "emptied": lambda path: os.truncate(path, 0),
    "cut short": lambda path: os.truncate(path, path.stat().st_size // 2),
}


@pytest.mark.filterwarnings("ignore:.*no snapshot")
@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_is_acknowledged_in_a_file_that_is_lost(loss: str, tmp_path: Path) -> None:
    # what remember reports as recorded is found when the file is opened again, or else an error says why not
    path = tmp_path / "house" / "m"
    path.parent.mkdir()
    memory = opened(path)
    memory.remember_many([f"Ben{n} lives in Oslo{n}." for n in range(60)], at=1)
    memory.checkpoint()
    LOSSES[loss](path)
    result = outcome(lambda: memory.remember("Anna lives in Rome.", at=2))
    closed = outcome(memory.close)
    for end in (result, closed):
        assert not isinstance(end, BaseException) or (isinstance(end, StoreError) and str(path) in str(end))
    if not isinstance(result, StoreError) and not isinstance(closed, StoreError):
        assert "Anna lives in Rome." in texts(path)


def test_what_is_no_memory_is_left_as_it_is(tmp_path: Path) -> None:
    foreign = tmp_path / "other.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE record (number INTEGER)")
    connection.close()
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("dear diary")
    for path in (foreign, tmp_path / "folder", tmp_path / "text"):
        for readonly in (False, True):
            with pytest.raises(ForeignFileError, match=r"memory|another program|folder"):
                opened(path, readonly=readonly)
    with pytest.raises(StoreError, match="does not exist"):
        opened(tmp_path / "absent" / "m")
    assert (tmp_path / "text").read_text() == "dear diary"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["folder", "other.sqlite", "text"]


def test_an_export_takes_the_place_of_files_only(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    with opened(tmp_path / "m") as memory:
        memory.remember("Anna lives in Rome.", at=1)
        for place in ("folder", "file/export", "m"):
            with pytest.raises((StoreError, InputError)):
                memory.export(tmp_path / place)
        assert memory.export(tmp_path / "absent" / "export") == 1  # makes its folder
        assert memory.export(tmp_path / "link") == 1
    assert (tmp_path / "absent" / "export").read_bytes() == (tmp_path / "file").read_bytes()
    assert texts(tmp_path / "m") == ["Anna lives in Rome."]
    assert (tmp_path / "link").is_symlink()
    with opened() as copy:
        assert copy.import_(tmp_path / "file").added == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_an_export_to_a_pipe_or_device_goes_into_it(tmp_path: Path) -> None:
    # it was renamed over: its reader waited for ever, and the device was gone
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "full").symlink_to("/dev/full")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    with opened() as memory:
        memory.remember("Anna lives in Rome.", at=1)
        assert memory.export(tmp_path / "pipe") == 1
        with pytest.raises(StoreError, match="No space left"):
            memory.export(tmp_path / "full")
    reader.join(600)
    assert (tmp_path / "pipe").is_fifo()
    with opened() as copy:
        assert copy.import_(io.BytesIO(read[0])).added == 1


READ_ONLY_FOLDER = """
import os, sys
from worldthread import Memory
from worldthread.errors import ReadOnlyError, StoreError
with Memory(embedder="fake", model="none") as memory:  # import everything while that is allowed
    memory.remember("Ben lives in Oslo.")
    memory.recall("Ben")
if os.geteuid() == 0:
    os.setuid(65534)
try:
    Memory(sys.argv[1], embedder="fake", model="none")
except StoreError as error:
    print(error)
with Memory(sys.argv[1], embedder="fake", model="none", readonly=True) as memory:
    print(memory.recall("Where does Anna live?").text)
    try:
        memory.remember("Ben lives in Oslo.")
    except ReadOnlyError as error:
        print(error)
    try:
        memory.export(sys.argv[1] + ".jsonl")
    except StoreError as error:
        print(error)
"""


def test_a_memory_in_a_read_only_folder_is_read_and_refuses_the_rest() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        path = Path(name) / "m"
        with opened(path) as memory:
            memory.remember("Anna lives in Rome.", at=1)
        path.chmod(0o644)  # a new memory can be read by its owner only
        os.chmod(name, 0o555)
        try:
            out = child(READ_ONLY_FOLDER, path)
        finally:
            os.chmod(name, 0o755)
        assert str(path) in out.splitlines()[0]
        assert "Anna lives in Rome" in out
        assert "readonly=True" in out
        assert "cannot be written" in out
        assert texts(path) == ["Anna lives in Rome."]


# -- others ---------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from worldthread import Memory
for n in range(3):
    with Memory(sys.argv[1], embedder="fake", model="none", wait=600) as memory:
        memory.remember(f"{sys.argv[2]}{n} lives in Rome.", at=n)
"""


def test_processes_that_write_at_once_take_turns(tmp_path: Path) -> None:
    names = ("Anna", "Ben", "Cid")
    command = [sys.executable, "-c", WRITER, str(tmp_path / "m")]
    writers = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in names]
    assert [writer.communicate(timeout=600)[1] for writer in writers] == ["", "", ""]
    assert sorted(texts(tmp_path / "m")) == sorted(f"{name}{n} lives in Rome." for name in names for n in range(3))
    with opened(tmp_path / "m") as memory:
        with pytest.raises(StoreLockedError, match=r"wait=SECONDS in Python, --wait SECONDS on the command line"):
            opened(tmp_path / "m")
        assert memory.stats()["episodes"] == 9


def test_closing_while_others_work_is_an_error_of_ours_to_them(tmp_path: Path) -> None:
    for attempt in range(6):
        memory = opened(tmp_path / str(attempt))
        memory.remember_many([f"Ben{n} lives in Oslo{n}." for n in range(12)], at=1)
        acknowledged: list[str] = []
        ends: list[BaseException] = []

        def work(kind: int, memory: Memory = memory, recorded: list[str] = acknowledged, ends: Any = ends) -> None:
            try:
                for n in range(10**6):
                    if kind:
                        memory.recall(f"Where does Ben{n} live?", k=2)
                        memory.about("Ben1")
                    else:
                        memory.remember(f"Anna{n} lives in Rome.", at=n)
                        recorded.append(f"Anna{n} lives in Rome.")
            except BaseException as error:
                ends.append(error)

        threads = [threading.Thread(target=work, args=(kind,)) for kind in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.04 * attempt)
        memory.close()
        for thread in threads:
            thread.join(600)
        assert [type(end) for end in ends] == [ClosedError] * 3
        assert set(acknowledged) <= set(texts(tmp_path / str(attempt)))


def test_a_reader_only_memory_stays_so(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as memory:
        memory.remember("Anna lives in Rome.", at=1)
    before = (tmp_path / "m").read_bytes()
    with opened(tmp_path / "m", readonly=True) as memory:
        for change in (
            lambda: memory.remember("Ben is ill."),
            lambda: memory.remember_many([]),
            lambda: memory.retry(),
            lambda: memory.forget(entity="Anna"),
            lambda: memory.import_(tmp_path / "absent"),
        ):
            assert isinstance(outcome(change), (ReadOnlyError, StoreError))
    assert (tmp_path / "m").read_bytes() == before
