"""Files and folders that hold what people said: who can read them, and what a killed process leaves."""

from __future__ import annotations

import ast
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread import Episode, Memory
from worldthread.errors import StoreError
from worldthread.files import paths
from worldthread.files.json_lines import JsonLinesWriter
from worldthread.files.paths import make_private_file, make_private_folder, replaced_file, write_private_file
from worldthread.models.chat import ChatRequest, Message
from worldthread.models.chat_cache import CachedChat, answers_in_file
from worldthread.models.configured import ServerFacts
from worldthread.models.fake_chat import FakeChat
from worldthread.models.recording import RecordingChat
from worldthread.stores import open_store
from worldthread_lab.play.run_files import write_summary


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    earlier = os.umask(request.param)
    yield
    os.umask(earlier)


@pytest.fixture(params=["without a name", "with a name"])
def naming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether a file that is being written has a name; without one only on Linux."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("only Linux writes files without a name")
    return str(request.param)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask", "naming")
def test_new_files_and_folders_are_private(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "a" / "b" / "c")
    make_private_folder(tmp_path / "a" / "b")
    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "a", exist_ok=False)
    make_private_file(tmp_path / "a" / "empty")
    write_private_file(tmp_path / "a" / "text", "said", fsync=True)
    modes = {path.name: mode_of(path) for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o700, "b": 0o700, "c": 0o700, "empty": 0o600, "text": 0o600}
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "file")


@pytest.mark.usefixtures("umask", "naming")
@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o600, 0o600), (0o400, 0o400), (0o640, 0o600)])
def test_a_file_that_is_replaced_gains_no_permission(before: int, after: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(before)
    write_private_file(path, "new")
    assert (path.read_text(), mode_of(path)) == ("new", after)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("naming")
def test_a_block_that_fails_leaves_all_as_it_was(tmp_path: Path) -> None:
    for path in (tmp_path / "new", tmp_path / "old"):
        if path.name == "old":
            path.write_text("old")
        with pytest.raises(ZeroDivisionError), replaced_file(path) as stream:
            stream.write(b"half" * (1 // 0))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old": "old"}


@pytest.mark.usefixtures("naming")
def test_two_may_replace_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replaced_file(path) as one:
        with replaced_file(path) as two:
            two.write(b"two")
        assert path.read_text() == "two"
        one.write(b"one")
    assert path.read_text() == "one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("umask")
def test_a_link_stays_and_a_pipe_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_private_file(link, "new")
    assert link.is_symlink()
    assert (target.read_text(), mode_of(target)) == ("new", 0o600)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "made")
    write_private_file(dangling, "new")
    assert (tmp_path / "made").read_text() == "new"
    write_private_file(Path("/dev/null"), "new")
    with pytest.raises(OSError, match="directory"):
        write_private_file(tmp_path, "new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["dangling", "link", "made", "target"]


KILLED = """
import sys
from pathlib import Path
from worldthread import Episode, Memory
from worldthread.stores import exchange
if sys.argv[3] == "with a name":
    import os
    vars(os).pop("O_TMPFILE", None)
original, count = exchange.encode_episode, 0
def slow(episode):
    global count
    count += 1
    if count == 300:
        print("ready", flush=True)
        sys.stdin.read()
    return original(episode)
exchange.encode_episode = slow
Memory(Path(sys.argv[1]), readonly=True, embedder="fake").export(Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    "end", [signal.SIGKILL, *(pytest.param(end, marks=pytest.mark.slow) for end in (signal.SIGTERM, signal.SIGINT))]
)
@pytest.mark.parametrize("is_new", [True, False])
def test_a_killed_export_leaves_no_text(end: signal.Signals, is_new: bool, naming: str, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    target = folder / "export.jsonl"
    if not is_new:
        target.write_text("old")
    memory_file = tmp_path / "memory.worldthread"
    with open_store(memory_file) as store:
        store.append_many(Episode(f"whisper {number} " * 20, number) for number in range(400))
    command = [sys.executable, "-c", KILLED, str(memory_file), str(target), naming]
    for _ in range(2):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == b"ready\n"
            run.send_signal(end)
            run.wait()
        left = [path for path in folder.iterdir() if path != target]
        if naming == "without a name" or end is signal.SIGINT:
            assert not left
        assert len(left) <= 1, "the next export removes what is left of this one"
        assert all(mode_of(path) == 0o600 for path in left)
        assert target.exists() is not is_new
    with Memory(memory_file, readonly=True, embedder="fake") as memory:
        assert memory.export(target) == 400
    assert [path.name for path in folder.iterdir()] == ["export.jsonl"]


@pytest.mark.usefixtures("umask")
def test_what_holds_words_of_people_is_private(tmp_path: Path) -> None:
    request = ChatRequest((Message("user", "a whisper"),), "act")
    cache_file, recording = tmp_path / "answers" / "cache.sqlite", tmp_path / "run" / "calls.jsonl"
    with answers_in_file(cache_file) as cache, RecordingChat(FakeChat(["whispered"]), recording) as model:
        CachedChat(model, cache).complete(request)
        files = {path.name: mode_of(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert {"cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm", "calls.jsonl"} <= files.keys()
    ServerFacts(tmp_path / "modes" / "modes.json")["server"] = "words"
    write_summary(tmp_path / "run", {"score": 1})
    with Memory(embedder="fake", extractor=None) as memory:
        memory.remember("A whisper.", at=1)
        memory.export(tmp_path / "export.jsonl")
    files |= {path.name: mode_of(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert {"modes.json", "summary.json", "export.jsonl"} <= files.keys()
    assert set(files.values()) == {0o600}
    assert {mode_of(path) for path in tmp_path.rglob("*") if path.is_dir()} == {0o700}


def test_a_log_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    for mode in (0o400, 0o644):
        path = tmp_path / f"{mode}.jsonl"
        path.write_bytes(b"1\n")
        path.chmod(0o600 if mode == 0o400 else mode)
        with JsonLinesWriter(path, busy="busy") as log:
            log.append(b"2")
        assert path.read_bytes() == b"1\n2\n"
        assert mode_of(path) == (0o600 if mode == 0o400 else mode)


def test_an_export_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Memory(embedder="fake") as memory:
        for path in (tmp_path / "file" / "export.jsonl", tmp_path):
            with pytest.raises(StoreError, match="cannot be written"):
                memory.export(path)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        assert memory.export(tmp_path / "missing" / "export.jsonl") == 0
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["export.jsonl", "file", "missing"]


WRITERS = {"write_text", "write_bytes", "mkdir", "makedirs", "touch", "NamedTemporaryFile", "mkdtemp"}
ELSEWHERE = {
    "worldthread_lab/envs/cache.py": "games that were generated hold no words of people",
    "worldthread_lab/envs/jericho_cache.py": "neither do the actions of a game",
    "worldthread/models/chat_cache.py": "connects to a file that make_private_file made",
    "worldthread/files/paths.py": "is the rule",
    "worldthread/stores/backups.py": "copies of a memory are made by the store",
    "worldthread/stores/database.py": "the file of a memory has its own rule",
    "worldthread/stores/snapshots.py": "and the snapshots beside it",
    "worldthread/caches/sqlite.py": "connects to a file that make_private_file made",
    "worldthread/cli/configuring.py": "copies of the prompts of the package",
    "worldthread_lab/bench/adversarial/checks.py": "folders of a benchmark, in a temporary folder",
    "worldthread/moving/cogx_archive.py": "packs an archive in RAM",
    "worldthread_lab/bench/adversarial/graphiti.py": "notes a port, in a temporary folder",
    "worldthread_lab/agents/memory_modules/graphiti_client.py": "settings of a server, in a temporary folder",
    "worldthread/adapters/langgraph.py": "touches an item, which renews its time, and no file",
}


def writes(call: ast.Call) -> bool:
    """Whether a call makes a file or a folder without saying who may read it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    modes += [keyword.value.value for keyword in call.keywords if isinstance(keyword.value, ast.Constant)]
    opens = name == "open" and any(re.fullmatch(r"[wax]b?\+?t?", str(mode)) for mode in modes)
    return (
        name in WRITERS
        or ast.unparse(call.func) == "sqlite3.connect"
        or (opens and "opener" not in [keyword.arg for keyword in call.keywords])
    )


def test_every_other_file_is_made_by_these_functions() -> None:
    source = Path(paths.__file__).parents[1]
    found = {
        file.relative_to(source).as_posix()
        for wing in ("worldthread", "worldthread_lab")
        for file in (source / wing).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and writes(node)
    }
    assert not found - ELSEWHERE.keys()
