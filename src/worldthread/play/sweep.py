"""Many runs: in parallel, each in its folder, so that a sweep that was killed goes on where it stopped."""

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

from worldthread.errors import InputError, MissingExtraError
from worldthread.json_lines import JsonLinesReader, JsonLinesWriter
from worldthread.play.runs import Run, play_in, read_summary
from worldthread.play.trajectory import TRAJECTORY_FILE

RESULTS_FILE: Final = "results.jsonl"
"""Name of the file of finished runs in the folder of a sweep."""

RESULTS_VERSION: Final = 2
"""Version of the lines of finished runs; runs in lines of an older version are left alone, and played again."""

_TICK: Final = 0.5  # seconds between two looks at the runs that go on
_TAIL: Final = 1 << 18  # bytes at the end of a trajectory in which its last line is looked for


class SweepResults:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, run: Run, summary: dict[str, Any]) -> None:
        """Record a finished run; it is on the disk when this returns.

        Args:
            run: the run.
            summary: its figures.

        Raises:
            StoreError: the file cannot be written.
        """
        line = orjson.dumps({"version": RESULTS_VERSION, "run": asdict(run), "summary": summary})
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
    try:
        with path.open("rb") as stream:
            return _finished(JsonLinesReader(stream, path, skip_torn=True))
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
                done[Run(**fields)] = summary
        except (AttributeError, KeyError, TypeError) as error:
            raise reader.error(f"not a finished run: {error}") from error
    return done


@dataclass(frozen=True)
class RunProgress:
    """How a run stands that goes on.

    Args:
        run: which one.
        moves: moves so far.
        score: points so far.
    """

    run: Run
    moves: int
    score: float


def play_run(run: Run, folder: Path, argument: str | None = None) -> dict[str, Any]:
    """Play a run in its folder, going on with what is there: its figures.

    Args:
        run: what is to be played.
        folder: of the run.
        argument: names the model; see :func:`worldthread.play.runs.recorded_model`.

    Raises:
        WorldthreadError: see :func:`worldthread.play.runs.play_in`.
    """
    # a sweep may be killed after the run came to its end and before it was acknowledged
    return read_summary(folder) or play_in(folder, run, argument)


def _attempt(run: Run, folder: Path, argument: str | None) -> dict[str, Any] | str:
    """:func:`play_run`, or its error in words: not every error can travel between processes."""
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
    """Play what is not done yet, ``jobs`` at a time; failed runs with their errors.

    A run whose process dies fails; the runs that were going on beside it go on from where they were.

    Args:
        runs: what is to be played.
        results: where finished runs are kept, in whose folder each run has its own.
        jobs: how many processes play.
        on_done: called for each run as it ends, with its summary or its error.
        on_tick: called about twice a second with the runs that go on.
        argument: names the model; see :func:`worldthread.play.runs.recorded_model`.
    """
    failures: dict[Run, str] = {}

    def end(run: Run, outcome: dict[str, Any] | str) -> None:
        if isinstance(outcome, str):
            failures[run] = outcome
        else:
            results.add(run, outcome)
        on_done(run, outcome)

    def tick(going: list[Run]) -> None:
        if on_tick is not None:
            on_tick([s for run in going if (s := standing(run, results.folder / run.folder)) is not None])

    todo = [(run, results.folder / run.folder, argument) for run in dict.fromkeys(runs) if run not in results.done]
    lost = _in_parallel(todo, jobs, end, tick)
    while lost:  # one by one and in order, the first that is lost again is the one whose process died
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
    """Do ``jobs`` in processes, begun in order; those, in order, that did not end since a process died."""
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
        ours.close()  # nobody waits for what the processes still play
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        lifeline.close()
    return [job for job in jobs if job in lost]


def _live_with_parent(lifeline: Connection) -> None:
    """End this process when the sweep's own process ends, however that ends; it alone heeds Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv_bytes()  # nothing is ever sent: returns when the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def standing(run: Run, folder: Path) -> RunProgress | None:
    """How a run stands that another process plays; ``None`` before its first step."""
    try:
        with (folder / TRAJECTORY_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read().split(b"\n")[:-1]
        last = orjson.loads(lines[-1]) if lines else {}
        return RunProgress(run, last["turn"], last["score"])
    except (OSError, orjson.JSONDecodeError, KeyError):
        return None


def require_statistics() -> None:
    """Make sure, before hours of play, that the statistics of a sweep will have what they need.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if importlib.util.find_spec("scipy") is None:
        raise MissingExtraError("the statistics of a sweep", extra="report", package="scipy")
