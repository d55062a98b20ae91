"""Reading on a real Ray cluster, which is started here: the result is that of one process, also when workers die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("ray")

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.groups import EpisodeGroup
from worldthread.memory.bulk import RayReaders

pytestmark = [pytest.mark.servers, pytest.mark.ray]

TEXTS = [f"{name} lives in {city}. {name} met Dan on day {number}." for number in range(40)
         for name, city in (("Anna", "Rome"), ("Bert", "Oslo"), ("Carla", "Paris"))]  # fmt: skip


@pytest.fixture(scope="module")
def readers() -> Iterator[RayReaders]:
    with RayReaders(workers=2, batch=8, retries=5) as started:
        yield started


def state(readers: RayReaders | None, texts: list[str] = TEXTS) -> tuple[str, dict[str, int]]:
    with Memory(model="none", embedder="fake", clock=lambda: 1e9) as memory:
        memory.remember_many(texts, readers=readers)
        return memory.record.state_hash(), memory.stats()


def workers() -> list[int]:
    """The workers of the cluster of this process, busy or idle."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            title, pid = (entry / "cmdline").read_bytes(), int(entry.name)
            while pid not in (os.getpid(), 0, 1):
                pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if title.startswith((b"ray::_read", b"ray::IDLE")) and pid == os.getpid():
            found.append(int(entry.name))
    return found


def test_a_cluster_records_what_one_process_records(readers: RayReaders) -> None:
    assert readers.description == "2 workers"
    assert state(readers) == state(None)


def test_killed_workers_are_replaced(readers: RayReaders, monkeypatch: pytest.MonkeyPatch) -> None:
    state(readers, TEXTS[:16])  # which starts the workers
    stopped = workers()
    assert stopped
    submit, submitted = readers.submit, []

    def submit_to_stopped(groups: Sequence[EpisodeGroup]) -> object:
        """Workers stand still until each of them has batches, and then one of them is killed."""
        submitted.append(submit(groups))
        if len(submitted) == readers.in_flight:
            os.kill(stopped[0], signal.SIGKILL)
            for pid in stopped[1:]:
                os.kill(pid, signal.SIGCONT)
        return submitted[-1]

    monkeypatch.setattr(readers, "submit", submit_to_stopped)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    read = state(readers)
    assert len(submitted) > readers.in_flight
    assert stopped[0] not in workers()
    assert read == state(None)


def test_errors_say_what_to_do() -> None:
    with pytest.raises(InputError, match="a running one has its own"):
        RayReaders("auto", workers=2)
    with pytest.raises(InputError, match="batch"):
        RayReaders(batch=0)


def test_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(TEXTS[:20]):
        (folder / f"{number:02}.txt").write_text(text)
    digests = []
    for name, options in (("a", []), ("b", ["--ray", "--workers", "2"])):
        done = subprocess.run(
            [sys.executable, "-m", "worldthread", "remember", *options, "--at", "2024-05-01", "--embedder", "fake",
             "--memory", str(tmp_path / name), str(folder)], capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "stored 20 new texts" in done.stdout
        with Memory(tmp_path / name, readonly=True, model="none") as memory:
            digests.append(memory.record.state_hash())
    assert digests[0] == digests[1]


def test_a_cluster_that_is_not_there_is_an_error() -> None:
    for address in ("127.0.0.1:9", "ray://127.0.0.1:9"):
        done = subprocess.run(
            [sys.executable, "-m", "worldthread", "remember", "--ray", address, __file__],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode != 0
        assert f"the Ray cluster '{address}' cannot be reached" in done.stderr.replace("\n", " ")
