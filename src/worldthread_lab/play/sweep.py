"""Sweeps: play many runs in parallel, each in its own folder, and resume them after an interruption."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import orjson

from worldthread.errors import FormatError, InputError, MissingExtraError
from worldthread.files.json_lines import JsonLinesReader, JsonLinesWriter
from worldthread.files.regular_files import open_regular, require_no_links
from worldthread.support.closeable import Closeable
from worldthread_lab.play.run import Run, decode_run, run_settings
from worldthread_lab.play.run_files import play_in, read_summary
from worldthread_lab.play.run_summary import has_all_figures, require_figures
from worldthread_lab.play.trajectory import TRAJECTORY_FILE

RESULTS_FILE: Final = "results.jsonl"
"""Name of the file of finished runs in the folder of a sweep."""

RESULTS_VERSION: Final = 2
"""Version of the lines of finished runs; runs in lines of an older version are left alone, and played again."""

_TICK: Final = 0.5  # seconds between two looks at the unfinished runs
_TAIL: Final = 1 << 18  # bytes at the end of a trajectory that are searched for its last line


class SweepResults(Closeable):
    """Finished runs in a JSON Lines file; a run counts as finished when its line is on the disk.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file.

    Args:
        path: the file; made with the first run. A torn last line is dropped. Lines of an older release stay, and are
            ignored.

    Attributes:
        path: the file.
        done: the figures of each finished run, in the order in which the runs ended.

    Raises:
        FormatError: a line is damaged, or a newer release wrote it.
        StoreLockedError: another sweep writes the file.
        StoreError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        _require_own_results(path)
        self._log = JsonLinesWriter(
            path, busy="another sweep is writing this file: wait for it, or name another folder"
        )
        with self._log.opening() as reader:
            self.done = _finished(reader)
            self._log.repair()

    @property
    def folder(self) -> Path:
        """The folder of the sweep; each run has its own folder in it, :attr:`Run.folder`."""
        return self.path.parent

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        self._log.close()

    def add(self, run: Run, summary: dict[str, Any]) -> None:
        """Record a finished run; it is on the disk when this returns.

        Args:
            run: the run.
            summary: its figures.

        Raises:
            StoreError: the file cannot be written.
        """
        line = orjson.dumps({"version": RESULTS_VERSION, "run": run_settings(run), "summary": summary})
        self._log.append(line, fsync=True)
        self.done[run] = summary


def read_results(path: Path) -> dict[Run, dict[str, Any]]:
    """Read the finished runs of a sweep, which may still be going on.

    Args:
        path: the file of its results.

    Returns:
        The figures of each finished run, in the order in which the runs ended.

    Raises:
        FormatError: see :class:`SweepResults`.
        InputError: the file cannot be read.
    """
    _require_own_results(path)
    try:
        with open_regular(path) as stream:
            return _finished(JsonLinesReader(stream, path, skip_torn=True))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _require_own_results(path: Path) -> None:
    """Check that neither the file of results nor its lock leads out of the folder of the sweep."""
    try:
        require_no_links([path, path.with_name(f"{path.name}.lock")])
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _finished(reader: JsonLinesReader) -> dict[Run, dict[str, Any]]:
    done: dict[Run, dict[str, Any]] = {}
    for line in reader:
        try:
            version = line.value.get("version", 1)
            reader.require_version(version, RESULTS_VERSION)
            fields, summary = line.value["run"], line.value["summary"]
            if version == RESULTS_VERSION:
                run = decode_run(fields)
                if has_all_figures(require_figures(summary)):  # else an older release wrote it: play the run again
                    done[run] = summary
        except (AttributeError, KeyError, TypeError, InputError) as error:
            if isinstance(error, FormatError):
                raise
            raise reader.error(f"not a finished run: {error}") from error
    return done


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


def play_run(
    run: Run, folder: Path, argument: str | None = None, *, allow_code: Collection[str] = ()
) -> dict[str, Any]:
    """Play a run in its folder, or resume it there; a finished run is not played again.

    Args:
        run: the run.
        folder: the folder of the run.
        argument: the name of the model as given by the caller; see
            :func:`worldthread_lab.play.run_model.recorded_model`.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.

    Returns:
        The figures of the run.

    Raises:
        WorldthreadError: see :func:`worldthread_lab.play.run_files.play_in`.
    """
    # a sweep may be killed after the end of a run and before its results are written
    summary = read_summary(folder)
    if summary is not None and has_all_figures(summary):
        return summary
    return play_in(folder, run, argument, allow_code=allow_code)


def _attempt(run: Run, root: Path, argument: str | None, allow_code: tuple[str, ...]) -> dict[str, Any] | str:
    """Play a run and return its figures or its error as text, since not every exception can be pickled."""
    try:
        folder = root / run.folder
        if not folder.resolve().is_relative_to(root.resolve()):
            raise InputError(f"{folder} leads out of the folder of the sweep: remove the link")
        return play_run(run, folder, argument, allow_code=allow_code)
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
    allow_code: Collection[str] = (),
) -> dict[Run, str]:
    """Play every run that is not finished, in several processes.

    A run whose process dies counts as failed; the runs that were in progress beside it are resumed.

    Args:
        runs: the runs.
        results: the file of finished runs, in whose folder each run has its own folder.
        jobs: the number of processes.
        on_done: called at the end of each run with its summary or its error.
        on_tick: called about twice a second with the progress of the unfinished runs.
        argument: the name of the model as given by the caller; see
            :func:`worldthread_lab.play.run_model.recorded_model`.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.

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

    allowed = tuple(allow_code)
    todo = [(run, results.folder, argument, allowed) for run in dict.fromkeys(runs) if run not in results.done]
    lost = _in_parallel(todo, jobs, end, tick)
    while lost:  # one at a time and in order: the first run that is lost again is the one whose process died
        lost = _in_parallel(lost, 1, end, tick)
        if lost:
            end(lost.pop(0)[0], "the process that played it died")
    return failures


Job = tuple[Run, Path, str | None, tuple[str, ...]]


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
        with open_regular(folder / TRAJECTORY_FILE) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read().split(b"\n")[:-1]
        last = orjson.loads(lines[-1]) if lines else {}
        turn, score = last["turn"], last["score"]
    except (OSError, FormatError, orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return RunProgress(run, turn, score) if type(turn) is int and isinstance(score, int | float) else None


def require_statistics() -> None:
    """Check before hours of play that the packages for the statistics of a sweep are installed.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if importlib.util.find_spec("scipy") is None:
        raise MissingExtraError("the summary of a sweep", extra="report", package="scipy")
