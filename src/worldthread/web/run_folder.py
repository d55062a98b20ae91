"""The runs and sweeps below a folder.

A run is known to browsers by an id that is looked up in what was found below the folder: no part of a path ever comes
from a request.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import orjson

from worldthread.errors import NotFoundError, WorldthreadError
from worldthread.models.recording_file import RecordedCall, Recording, read_recording
from worldthread.play.run_files import SUMMARY_FILE, read_summary
from worldthread.play.run_model import RECORDING_FILE
from worldthread.play.runs import Run
from worldthread.play.sweep import RESULTS_VERSION
from worldthread.play.trajectory import TRAJECTORY_FILE, Trajectory, decode_header, read_trajectory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.memories import MemoryLocation

RESULTS_FILE: Final = "results.jsonl"
_DEEPEST: Final = 8  # folders below the folder
_TAIL: Final = 1 << 18  # bytes at the end of a trajectory in which its last line is looked for
_HEAD: Final = 1 << 16
_KEPT: Final = 12  # trajectories in RAM

V = TypeVar("V")


@dataclass(frozen=True)
class RunLocation:
    """A run or a sweep: its id, and the file that it is known by."""

    id: str
    name: str
    path: Path


class _FileCache(Generic[V]):
    """Remembers what was made of a file for as long as the file stays as it is. May be used from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._items: OrderedDict[Path, tuple[tuple[int, int], V]] = OrderedDict()

    def get(self, path: Path, make: Callable[[Path], V]) -> V:
        about = path.stat()
        state = about.st_mtime_ns, about.st_size
        with self._lock:
            known = self._items.get(path)
            if known is not None and known[0] == state:
                self._items.move_to_end(path)
                return known[1]
        made = make(path)
        with self._lock:
            self._items[path] = state, made
            while len(self._items) > self._most:
                self._items.popitem(last=False)
        return made


class RunFolder:
    """Finds and reads runs. May be used from several threads.

    Args:
        root: the folder; it need not be there.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self._summaries: _FileCache[dict[str, Any]] = _FileCache(100_000)
        self._trajectories: _FileCache[Trajectory] = _FileCache(_KEPT)
        self._recordings: _FileCache[Recording] = _FileCache(_KEPT)

    def _find(self, name: str) -> list[RunLocation]:
        """Files of a name below the folder; links are not followed."""
        found = []
        for folder, below, files in os.walk(self.root):
            here = Path(folder)
            relative = here.relative_to(self.root)
            if len(relative.parts) >= _DEEPEST:
                below.clear()
            below.sort()
            if name in files and not (here / name).is_symlink():
                shown = str(relative) if relative.parts else self.root.name
                found.append(RunLocation(self.id_of(here), shown.encode("utf-8", "replace").decode(), here / name))
        return found

    def id_of(self, folder: Path) -> str:
        """The id of a run in a folder below this one."""
        return hashlib.blake2b(os.fsencode(folder.relative_to(self.root)), digest_size=8).hexdigest()

    def runs(self) -> list[dict[str, Any]]:
        """What is known of every run at a glance, the latest first; one that cannot be read says why."""
        listed = [self._listed(found) for found in self._find(TRAJECTORY_FILE)]
        return sorted(listed, key=lambda run: -run["changed"])

    def _listed(self, found: RunLocation) -> dict[str, Any]:
        told: dict[str, Any] = {"id": found.id, "name": found.name, "error": None}
        try:
            told["changed"] = found.path.stat().st_mtime
            told |= self._summaries.get(found.path, _glance)
            told["has_memory"] = self.has_memory(found)
        except (OSError, WorldthreadError) as error:
            told |= {"changed": 0.0, **told, "error": str(error)}
        return told

    def run(self, id_: str) -> tuple[RunLocation, Trajectory, dict[str, Any]]:
        """A run with its trajectory, and its summary with what it cost, as far as it came to its end.

        Raises:
            NotFoundError: there is no such run.
            FormatError: its trajectory cannot be read.
        """
        found = self._one(TRAJECTORY_FILE, id_)
        trajectory = self._trajectories.get(found.path, read_trajectory)
        costs = read_summary(found.path.parent) if (found.path.parent / SUMMARY_FILE).exists() else None
        return found, trajectory, {**trajectory.summary, **(costs or {})}

    def calls(self, id_: str, step: int) -> list[RecordedCall]:
        """What the model was asked before a step of a run was made, and what it answered.

        A trajectory counts the calls of each step, and the recording holds them in their order. None are told of a
        recording that is absent, or ends before the step.

        Raises:
            NotFoundError: there is no such run.
            FormatError: its trajectory or its recording cannot be read.
        """
        found, trajectory, _ = self.run(id_)
        path = found.path.parent / RECORDING_FILE
        if step >= len(trajectory.steps) or not path.is_file() or path.is_symlink():
            return []
        numbers = [each.get("model_calls") or 0 for each in trajectory.steps[: step + 1]]
        calls = self._recordings.get(path, read_recording).calls
        return list(calls[sum(numbers[:-1]) : sum(numbers)]) if sum(numbers) <= len(calls) else []

    def memory_of(self, id_: str) -> MemoryLocation:
        """Where the memory of a run lies.

        Raises:
            NotFoundError: there is no such run, or it has no memory in its folder.
        """
        found = self._one(TRAJECTORY_FILE, id_)
        path = self._memory_file(found)
        if path is None:
            raise NotFoundError(f"the run {found.name} has no memory in its folder")
        return MemoryLocation(path, self._summaries.get(found.path, _glance)["namespace"])

    def has_memory(self, found: RunLocation) -> bool:
        """Whether there is a memory in the folder of a run."""
        return self._memory_file(found) is not None

    def _memory_file(self, found: RunLocation) -> Path | None:
        """The memory in the folder of a run: a header that names a file elsewhere is not followed."""
        name = self._summaries.get(found.path, _glance)["memory"]
        path = found.path.parent / name
        return path if name == Path(name).name and path.is_file() and not path.is_symlink() else None

    def sweeps(self) -> list[dict[str, Any]]:
        """The sweeps, the latest first."""
        listed = []
        for found in self._find(RESULTS_FILE):
            try:
                changed = found.path.stat().st_mtime
                done = len(_results(found.path))
            except OSError:
                continue
            listed.append({"id": found.id, "name": found.name, "changed": changed, "finished": done})
        return sorted(listed, key=lambda sweep: -sweep["changed"])

    def sweep(self, id_: str) -> tuple[RunLocation, list[tuple[Run, dict[str, Any]]]]:
        """A sweep with its finished runs.

        Raises:
            NotFoundError: there is no such sweep.
        """
        found = self._one(RESULTS_FILE, id_)
        return found, _results(found.path)

    def _one(self, name: str, id_: str) -> RunLocation:
        for found in self._find(name):
            if found.id == id_:
                return found
        raise NotFoundError("there is no such run (any more)")


def _glance(path: Path) -> dict[str, Any]:
    """What the first and the last line of a trajectory tell."""
    with path.open("rb") as file:
        head = file.read(_HEAD).split(b"\n", 1)[0]
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read().split(b"\n")[:-1]
    header = decode_header(head, path)
    last = _object(tail[-1]) if tail else {}
    settings = header.get("settings") or {}
    summary = last.get("summary") or {}
    memory = header.get("memory", "memory.worldthread")
    return {
        "game": str(header.get("game", "")),
        "agent": str(header.get("agent", "")),
        "module": str(settings.get("memory") or ""),
        "model": str(settings.get("model") or ""),
        "seed": header.get("seed"),
        "attempt": settings.get("attempt", 0),
        "is_complete": bool(summary),
        "won": summary.get("won", False),
        "ended_by": summary.get("ended_by"),
        "score": summary.get("score", last.get("score")),
        "max_score": summary.get("max_score"),
        "moves": summary.get("moves", last.get("turn")),
        "memory": memory if isinstance(memory, str) else "",
        "namespace": header.get("namespace") or DEFAULT_NAMESPACE,
    }


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _results(path: Path) -> list[tuple[Run, dict[str, Any]]]:
    """The finished runs of a sweep that may still go on; lines of other releases count for nothing."""
    done: dict[Run, dict[str, Any]] = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        entry = _object(line)
        if entry.get("version") != RESULTS_VERSION:
            continue
        try:
            done[Run(**entry["run"])] = entry["summary"]
        except (KeyError, TypeError):
            continue
    return list(done.items())
