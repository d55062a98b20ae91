"""Sweeps: play many runs in parallel, each in its own folder, and resume them after an interruption."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from worldthread.errors import FormatError, InputError, MissingExtraError
from worldthread.play.file_lock import hold
from worldthread.play.run_files import play_in, read_summary
from worldthread.play.runs import Run
from worldthread.play.trajectory import TRAJECTORY_FILE

RESULTS_FILE: Final = "results.jsonl"
"""Name of the file in the folder of a sweep in which its finished runs are kept."""

RESULTS_VERSION: Final = 2
"""Version of the lines of finished runs; what was written in an older one is left alone, and played again."""

_TICK: Final = 0.5  # seconds between two looks at the unfinished runs
_TAIL: Final = 1 << 18  # bytes at the end of a trajectory that are searched for its last line


class SweepResults:
    """Finished runs in a JSON Lines file; a run is acknowledged when its line is on the disk.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file.

    Args:
        path: the file; made when it does not exist. A last line that was cut off is dropped. Lines of an older release
            stay, and count for nothing.

    Raises:
        FormatError: a line other than the last is damaged, or was written by a newer release.
        InputError: another sweep writes the file, or the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[Run, dict[str, Any]] = {}
        self._lock = hold(path, taken=f"another sweep is writing {path}: wait for it, or name another folder")
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """Where the runs lie, each in :attr:`Run.folder`."""
        return self.path.parent

    def _load(self) -> None:
        if not self.path.exists():
            return
        self.done, end = _finished(self.path)
        if end < self.path.stat().st_size:
            with self.path.open("r+b") as file:
                file.truncate(end)

    def close(self) -> None:
        """Let others write. May be called again."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, run: Run, summary: dict[str, Any]) -> None:
        """Keep a finished run."""
        with self.path.open("ab") as file:
            file.write(orjson.dumps({"version": RESULTS_VERSION, "run": asdict(run), "summary": summary}) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[run] = summary


def read_results(path: Path) -> dict[Run, dict[str, Any]]:
    """The finished runs that a file holds, in the order in which they ended, also while a sweep writes it.

    Raises:
        FormatError: see :class:`SweepResults`.
        InputError: the file cannot be read.
    """
    try:
        return _finished(path)[0]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _finished(path: Path) -> tuple[dict[Run, dict[str, Any]], int]:
    """The finished runs that a file holds, and where its last whole line ends."""
    done: dict[Run, dict[str, Any]] = {}
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    for number, line in enumerate(data[:end].splitlines(), 1):
        try:
            entry = orjson.loads(line)
            version = entry.get("version", 1)
            if version > RESULTS_VERSION:
                raise FormatError(
                    f"written by a newer release (version {version}, this one reads {RESULTS_VERSION}): upgrade, "
                    "or name another folder",
                    path=path,
                    line=number,
                )
            fields, summary = entry["run"], entry["summary"]
            if version == RESULTS_VERSION:
                done[Run(**fields)] = summary
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
            raise FormatError(f"not a finished run: {error}", path=path, line=number) from error
    return done, end


@dataclass(frozen=True)
class RunProgress:
    """The progress of an unfinished run.

    Args:
        run: the run.
        moves: the number of moves so far.
        score: the score after the last move.
    """

    run: Run
    moves: int
    score: float


def play_run(run: Run, folder: Path, argument: str | None = None) -> dict[str, Any]:
    """Play a run in its folder, or resume it there; a finished run is not played again.

    Args:
        run: the run.
        folder: the folder of the run.
        argument: the name of the model as given by the caller; see :func:`worldthread.play.run_model.recorded_model`.

    Returns:
        The figures of the run.

    Raises:
        WorldthreadError: see :func:`worldthread.play.run_files.play_in`.
    """
    # a sweep may be killed after the end of a run and before its results are written
    return read_summary(folder) or play_in(folder, run, argument)


def _attempt(run: Run, folder: Path, argument: str | None) -> dict[str, Any] | str:
    """Play a run and return its figures or its error as text, since not every exception can be pickled."""
    try:
        return play_run(run, folder, argument)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def sweep(
    runs: Iterable[Run],
    results: SweepResults,
    *,
    jobs: int,
    on_done: Callable[[Run, dict[str, Any] | str], None],
    on_tick: Callable[[list[RunProgress]], None] | None = None,
    argument: str | None = None,
) -> dict[Run, str]:
    """Play every run that is not finished, in several processes.

    A run whose process dies counts as failed; the runs that were in progress beside it are resumed.

    Args:
        runs: the runs.
        results: the file of finished runs, in whose folder each run has its own folder.
        jobs: the number of processes.
        on_done: called at the end of each run with its summary or its error.
        on_tick: called about twice a second with the progress of the unfinished runs.
        argument: the name of the model as given by the caller; see :func:`worldthread.play.run_model.recorded_model`.

    Returns:
        The failed runs with their errors.
    """
    failures: dict[Run, str] = {}

    def end(run: Run, outcome: dict[str, Any] | str) -> None:
        if isinstance(outcome, str):
            failures[run] = outcome
        else:
            results.add(run, outcome)
        on_done(run, outcome)

    def tick(running: list[Run]) -> None:
        if on_tick is not None:
            on_tick([p for run in running if (p := read_progress(run, results.folder / run.folder)) is not None])

    todo = [(run, results.folder / run.folder, argument) for run in dict.fromkeys(runs) if run not in results.done]
    lost = _in_parallel(todo, jobs, end, tick)
    while lost:  # one at a time and in order: the first run that is lost again is the one whose process died
        lost = _in_parallel(lost, 1, end, tick)
        if lost:
            end(lost.pop(0)[0], "the process that played it died")
    return failures


Job = tuple[Run, Path, str | None]


def _in_parallel(
    jobs: list[Job],
    processes: int,
    end: Callable[[Run, dict[str, Any] | str], None],
    tick: Callable[[list[Run]], None],
) -> list[Job]:
    """Run ``jobs`` in processes and return, in order, those that did not end because a process died."""
    context = get_context("spawn")
    lifeline, ours = context.Pipe(duplex=False)
    lost = set()
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_live_with_parent, initargs=(lifeline,))
    try:
        futures: dict[Future[dict[str, Any] | str], Job] = {pool.submit(_attempt, *job): job for job in jobs}
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, timeout=_TICK, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    lost.add(futures[future])
                else:
                    end(futures[future][0], outcome)
            tick([futures[future][0] for future in futures if future in waiting and future.running()])
    except BaseException:
        ours.close()  # ends the processes, whose results are not needed any more
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        lifeline.close()
    return [job for job in jobs if job in lost]


def _live_with_parent(lifeline: Connection) -> None:
    """End this process when the process of the sweep ends in any way; only that process handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv_bytes()  # nothing is ever sent: this returns when the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def read_progress(run: Run, folder: Path) -> RunProgress | None:
    """Return the progress of a run that another process plays; ``None`` before its first step."""
    try:
        with (folder / TRAJECTORY_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read().split(b"\n")[:-1]
        last = orjson.loads(lines[-1]) if lines else {}
        return RunProgress(run, last["turn"], last["score"])
    except (OSError, orjson.JSONDecodeError, KeyError):
        return None


def require_statistics() -> None:
    """Check before hours of play that the packages for the statistics of a sweep are installed.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if importlib.util.find_spec("scipy") is None:
        raise MissingExtraError("the statistics of a sweep", extra="report", package="scipy")
