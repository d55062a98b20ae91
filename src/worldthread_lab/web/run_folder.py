"""The runs and sweeps below a folder.

Browsers name a run by an id, which is looked up among the runs that were found below the folder: no part of a path
comes from a request.
"""

from __future__ import annotations

import glob
import hashlib
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import orjson

from worldthread.errors import FormatError, InputError, NotFoundError, WorldthreadError
from worldthread.files.json_lines import JsonLinesReader
from worldthread.files.regular_files import open_regular, require_no_links
from worldthread.models.recording_file import RecordedCall, Recording, read_recording
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.memories import MemoryLocation
from worldthread_lab.play.run import PERSON, Run, decode_run
from worldthread_lab.play.run_files import SUMMARY_FILE, read_summary, run_of
from worldthread_lab.play.run_model import RECORDING_FILE
from worldthread_lab.play.run_page import memory_in
from worldthread_lab.play.run_summary import require_all_figures
from worldthread_lab.play.sweep import RESULTS_FILE, RESULTS_VERSION
from worldthread_lab.play.trajectory import (
    TRAJECTORY_FILE,
    Trajectory,
    decode_header,
    decode_last_line,
    read_trajectory,
)

_MAX_DEPTH: Final = 8  # of folders below the root
_TAIL: Final = 1 << 18  # bytes at the end of a trajectory that are searched for its last line
_HEAD: Final = 1 << 16  # bytes at the beginning that are searched for the header
_MAX_CACHED: Final = 12  # trajectories and recordings in RAM
_MAX_BYTES: Final = 1 << 28  # of a file that is read as a whole, and of all files whose content is in RAM

V = TypeVar("V")


@dataclass(frozen=True)
class RunLocation:
    """The location of a run or a sweep.

    Args:
        id: the id for browsers.
        name: the path of its folder below the root, as shown to people.
        path: its trajectory, or its file of results.
    """

    id: str
    name: str
    path: Path


class _FileCache(Generic[V]):
    """Caches values made from files, each until its file changes. Thread-safe.

    Args:
        limit: the most values to keep.
        max_bytes: the most bytes of the files whose values are kept; the last one is kept in any case.
    """

    def __init__(self, limit: int, max_bytes: float = math.inf) -> None:
        self._limit = limit
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._items: OrderedDict[Path, tuple[tuple[int, int], V]] = OrderedDict()

    def get(self, path: Path, make: Callable[[Path], V]) -> V:
        stat = path.stat()
        state = stat.st_mtime_ns, stat.st_size
        with self._lock:
            cached = self._items.get(path)
            if cached is not None and cached[0] == state:
                self._items.move_to_end(path)
                return cached[1]
        value = make(path)
        with self._lock:
            self._items[path] = state, value
            while len(self._items) > 1 and (len(self._items) > self._limit or self._bytes() > self._max_bytes):
                self._items.popitem(last=False)
        return value

    def _bytes(self) -> int:
        return sum(size for (_, size), _ in self._items.values()) if self._max_bytes < math.inf else 0


class RunFolder:
    """Finds and reads the runs and sweeps below a folder. Thread-safe.

    Args:
        root: the folder; it need not exist.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self._summaries: _FileCache[dict[str, Any]] = _FileCache(100_000)
        self._trajectories: _FileCache[Trajectory] = _FileCache(_MAX_CACHED, _MAX_BYTES)
        self._results: _FileCache[list[tuple[Run, dict[str, Any]]]] = _FileCache(100, _MAX_BYTES)
        self._recordings: _FileCache[Recording] = _FileCache(_MAX_CACHED, _MAX_BYTES)
        self._figures: _FileCache[dict[str, Any]] = _FileCache(100_000)
        self._headers: _FileCache[dict[str, Any]] = _FileCache(1000)

    def _find(self, name: str) -> list[RunLocation]:
        """Return the files with a name below the root; links are not followed."""
        found = []
        for folder, subfolders, files in os.walk(self.root):
            here = Path(folder)
            relative = here.relative_to(self.root)
            if len(relative.parts) >= _MAX_DEPTH:
                subfolders.clear()
            subfolders.sort()
            if name in files and not (here / name).is_symlink():
                shown = str(relative) if relative.parts else self.root.name
                found.append(RunLocation(self.id_of(here), shown.encode("utf-8", "replace").decode(), here / name))
        return found

    def id_of(self, folder: Path) -> str:
        """Return the id of the run in a folder below the root."""
        return hashlib.blake2b(os.fsencode(folder.relative_to(self.root)), digest_size=8).hexdigest()

    def runs(self) -> list[dict[str, Any]]:
        """Return a summary of every run, the latest first; for a run that cannot be read, the error."""
        listed = [self._summary(found) for found in self._find(TRAJECTORY_FILE)]
        return sorted(listed, key=lambda run: -run["changed"])

    def _summary(self, found: RunLocation) -> dict[str, Any]:
        summary: dict[str, Any] = {"id": found.id, "name": found.name, "error": None}
        try:
            summary["changed"] = found.path.stat().st_mtime
            summary |= self._summaries.get(found.path, _read_summary)
            summary |= self._costs(found.path.parent)
            summary["has_memory"] = self.has_memory(found)
        except (OSError, WorldthreadError) as error:
            summary |= {"changed": 0.0, **summary, "error": str(error)}
        return summary

    def _costs(self, folder: Path) -> dict[str, Any]:
        """Return what a finished run cost; nothing for one that is not finished, or whose figures cannot be read."""
        try:
            return self._figures.get(folder / SUMMARY_FILE, _read_costs)
        except (OSError, WorldthreadError):
            return {}

    def people(self, games: Collection[str]) -> list[tuple[Run, dict[str, Any]]]:
        """Return the finished runs of some games that a person played.

        Args:
            games: the games, as runs name them.

        Returns:
            Each run with its figures; runs without all figures, or of another form, are left out.
        """
        found = []
        for location in self._find(TRAJECTORY_FILE):
            try:
                summary = self._summaries.get(location.path, _read_summary)
                if summary["agent"] != PERSON or summary["game"] not in games or not summary["is_complete"]:
                    continue
                header = self._headers.get(location.path, _read_header)
                figures = require_all_figures(read_summary(location.path.parent))
                found.append((run_of(header, location.path)[0], figures))
            except (OSError, WorldthreadError):
                continue
        return found

    def parting(self, id_: str, other: str) -> dict[str, Any] | None:
        """Return where two runs part.

        Args:
            id_: the id of a run.
            other: the id of another one.

        Returns:
            The ``step`` from 0 that is the first to differ, and ``by`` what: ``"action"``, ``"observation"``, or
            ``"end"`` when one run ends where the other goes on. ``None`` for runs with the same steps.

        Raises:
            NotFoundError: there is no such run.
            FormatError: a trajectory cannot be read.
        """
        steps, others = (self.run(one)[1].steps for one in (id_, other))
        for number, (step, theirs) in enumerate(zip(steps, others, strict=False)):
            for field in ("action", "observation"):
                if step.get(field) != theirs.get(field):
                    return {"step": number, "by": field}
        if len(steps) == len(others):
            return None
        return {"step": min(len(steps), len(others)), "by": "end"}

    def run(self, id_: str) -> tuple[RunLocation, Trajectory, dict[str, Any]]:
        """Return a run.

        Args:
            id_: the id of the run.

        Returns:
            Its location, its trajectory, and its summary including the costs; empty if the run is unfinished.

        Raises:
            NotFoundError: there is no such run.
            FormatError: its trajectory cannot be read.
        """
        found = self._locate(TRAJECTORY_FILE, id_)
        with _translated(found.path):
            trajectory = self._trajectories.get(found.path, _read_trajectory)
        costs = read_summary(found.path.parent)
        return found, trajectory, {**trajectory.summary, **(costs or {})}

    def calls(self, id_: str, step: int) -> list[RecordedCall]:
        """Return the model calls of a step of a run.

        A trajectory counts the calls of each step, and the recording holds them in order.

        Args:
            id_: the id of the run.
            step: number of the step, from 0.

        Returns:
            The calls; none if the recording is missing or ends before the step.

        Raises:
            NotFoundError: there is no such run.
            FormatError: its trajectory or its recording cannot be read.
        """
        found, trajectory, _ = self.run(id_)
        path = found.path.parent / RECORDING_FILE
        if step >= len(trajectory.steps) or not path.is_file() or path.is_symlink():
            return []
        counts = [each.get("model_calls") or 0 for each in trajectory.steps[: step + 1]]
        with _translated(path):
            calls = self._recordings.get(path, _read_recording).calls
        return list(calls[sum(counts[:-1]) : sum(counts)]) if sum(counts) <= len(calls) else []

    def memory_of(self, id_: str) -> MemoryLocation:
        """Return the location of the memory of a run.

        Args:
            id_: the id of the run.

        Returns:
            The location.

        Raises:
            NotFoundError: there is no such run, or it has no memory in its folder.
        """
        found = self._locate(TRAJECTORY_FILE, id_)
        path = self._memory_file(found)
        if path is None:
            raise NotFoundError(f"the run {found.name} has no memory in its folder")
        with _translated(found.path):
            return MemoryLocation(path, self._summaries.get(found.path, _read_summary)["namespace"])

    def has_memory(self, found: RunLocation) -> bool:
        """Return whether there is a memory in the folder of a run."""
        return self._memory_file(found) is not None

    def _memory_file(self, found: RunLocation) -> Path | None:
        """Return the memory file of a run; ``None`` if its header names no file in the folder of the run."""
        with _translated(found.path):
            path = memory_in(found.path.parent, self._summaries.get(found.path, _read_summary))
            if path is None or not path.is_file():
                return None
            try:
                # the database has files beside it, which are opened with it
                require_no_links(path.parent.glob(f"{glob.escape(path.name)}*"))
            except FormatError:
                return None
            return path

    def sweeps(self) -> list[dict[str, Any]]:
        """Return a summary of every sweep, the latest first; for one that cannot be read, the error."""
        listed = []
        for found in self._find(RESULTS_FILE):
            sweep: dict[str, Any] = {
                "id": found.id, "name": found.name, "changed": 0.0, "finished": 0, "error": None
            }  # fmt: skip
            try:
                sweep["changed"] = found.path.stat().st_mtime
                sweep["finished"] = len(self._results.get(found.path, _read_results))
            except (OSError, WorldthreadError) as error:
                sweep["error"] = str(error)
            listed.append(sweep)
        return sorted(listed, key=lambda sweep: -sweep["changed"])

    def sweep(self, id_: str) -> tuple[RunLocation, list[tuple[Run, dict[str, Any]]]]:
        """Return a sweep.

        Args:
            id_: the id of the sweep.

        Returns:
            Its location, and its finished runs with their summaries.

        Raises:
            NotFoundError: there is no such sweep.
            FormatError: its results cannot be read.
        """
        found = self._locate(RESULTS_FILE, id_)
        with _translated(found.path):
            return found, self._results.get(found.path, _read_results)

    def _locate(self, name: str, id_: str) -> RunLocation:
        for found in self._find(name):
            if found.id == id_:
                return found
        raise NotFoundError("this run does not exist, or was removed")


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Translate errors of the system: the file may have gone, or may not be readable."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError("this run does not exist, or was removed") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _read_trajectory(path: Path) -> Trajectory:
    return read_trajectory(path, max_bytes=_MAX_BYTES)


def _read_recording(path: Path) -> Recording:
    return read_recording(path, max_bytes=_MAX_BYTES)


def _read_summary(path: Path) -> dict[str, Any]:
    """Return a summary of a trajectory from its first and its last line."""
    with open_regular(path) as file:
        head = file.read(_HEAD).split(b"\n", 1)[0]
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read().split(b"\n")[:-1]
    header = decode_header(head, path)
    last = decode_last_line(tail[-1], path) if tail else {}
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


def _read_header(path: Path) -> dict[str, Any]:
    """Return the header of a trajectory."""
    with open_regular(path) as file:
        return decode_header(file.read(_HEAD).split(b"\n", 1)[0], path)


def _read_costs(path: Path) -> dict[str, Any]:
    """Return the figures of a finished run that its trajectory does not hold, as the list of runs shows them."""
    summary = read_summary(path.parent) or {}
    audit = summary.get("audit") or {}
    return {
        "decisions": summary.get("decisions"),
        "tokens": (summary.get("prompt_tokens") or 0) + (summary.get("completion_tokens") or 0),
        "cost_usd": summary.get("cost_usd") if summary.get("model_calls") else None,
        "seconds": summary.get("seconds"),
        "precision": audit.get("precision"),
        "recall": audit.get("recall"),
    }


def _json_object(line: bytes | str) -> dict[str, Any]:
    """Return the JSON object in a line; an empty one if the line holds something else."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _read_results(path: Path) -> list[tuple[Run, dict[str, Any]]]:
    """Return the finished runs of a sweep; damaged lines and those of other releases are skipped."""
    finished: dict[Run, dict[str, Any]] = {}
    with open_regular(path, max_bytes=_MAX_BYTES) as stream:
        for line in JsonLinesReader(stream, path, decode=_json_object):
            if line.value.get("version") != RESULTS_VERSION:
                continue
            try:
                finished[decode_run(line.value["run"])] = require_all_figures(line.value["summary"])
            except (KeyError, InputError):
                continue
    return list(finished.items())
