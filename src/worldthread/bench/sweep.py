"""Many plays: in parallel, each finished one kept, so that a sweep that was killed goes on where it stopped."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import statistics
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from worldthread.bench.audit import NOTHING_AUDITED, AuditResult
from worldthread.bench.statistics import bootstrap_interval, wilson_interval
from worldthread.errors import FormatError, InputError, MissingExtraError


@dataclass(frozen=True)
class Run:
    """One play of a sweep: everything that decides how it goes.

    Args:
        game: as :func:`worldthread.envs.make` takes it.
        agent: name of the agent.
        seed: of the game.
        steps: limit of moves; ``None``: the game's own.
        audit: whether the memory is compared with the truth.
        valid_actions: whether the agent sees the list of valid actions.
        version: of worldthread; what another version played is played again.
    """

    game: str
    agent: str
    seed: int
    steps: int | None = None
    audit: bool = True
    valid_actions: bool = True
    version: str = ""


class Results:
    """Finished runs in a JSON Lines file; a run is acknowledged when its line is on the disk.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file.

    Args:
        path: the file; made when it does not exist. A last line that was cut off is dropped.

    Raises:
        FormatError: a line other than the last is damaged.
        InputError: another sweep writes the file, or the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        self.path = path
        self.done: dict[Run, dict[str, Any]] = {}
        self._lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise InputError(f"another sweep is writing {path}: wait for it, or name another folder") from None
        except OSError as error:
            raise InputError(f"cannot write to the folder {path.parent}: {error.strerror}") from error
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        data = self.path.read_bytes() if self.path.exists() else b""
        complete = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(complete.splitlines(), 1):
            try:
                entry = orjson.loads(line)
                self.done[Run(**entry["run"])] = entry["summary"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise FormatError(f"not a finished run: {error}", path=self.path, line=number) from error
        if len(complete) != len(data):
            with self.path.open("r+b") as file:
                file.truncate(len(complete))

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
            file.write(orjson.dumps({"run": asdict(run), "summary": summary}) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[run] = summary


def play_once(run: Run) -> dict[str, Any]:
    """Play one run in memory: its summary, with the audit's raw figures under ``audit_figures``."""
    from worldthread.agents import make_agent
    from worldthread.bench.games import Play
    from worldthread.envs import make
    from worldthread.graph import TemporalGraph

    with make(run.game, seed=run.seed, max_moves=run.steps) as env:
        graph = TemporalGraph()
        agent = make_agent(run.agent, graph, use_valid_actions=run.valid_actions)
        play = Play(env, agent, graph, run.seed, max_moves=run.steps, audit=run.audit)
        for _ in play:
            pass
        figures = asdict(play.auditor.result()) if run.audit else None
        return play.summary() | {"audit_figures": figures}


def _attempt(run: Run) -> dict[str, Any] | str:
    """:func:`play_once`, or its error in words: not every error can travel between processes."""
    try:
        return play_once(run)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def sweep(
    runs: Iterable[Run], results: Results, *, jobs: int, on_done: Callable[[Run, dict[str, Any] | str], None]
) -> dict[Run, str]:
    """Play what is not done yet, ``jobs`` at a time; failed runs with their errors.

    ``on_done`` is called for each run as it ends, with its summary or its error. A run whose process dies fails; the
    runs that were going on beside it are played again.
    """
    failures: dict[Run, str] = {}

    def end(run: Run, outcome: dict[str, Any] | str) -> None:
        if isinstance(outcome, str):
            failures[run] = outcome
        else:
            results.add(run, outcome)
        on_done(run, outcome)

    todo = [run for run in dict.fromkeys(runs) if run not in results.done]
    lost = _in_parallel(todo, jobs, end)
    while lost:  # one by one and in order, the first that is lost again is the one whose process died
        lost = _in_parallel(lost, 1, end)
        if lost:
            end(lost.pop(0), "the process that played it died")
    return failures


def _in_parallel(runs: list[Run], jobs: int, end: Callable[[Run, dict[str, Any] | str], None]) -> list[Run]:
    """Play ``runs`` in processes, begun in order; those, in order, that did not end since a process died."""
    context = get_context("spawn")
    lifeline, ours = context.Pipe(duplex=False)
    lost = set()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_live_with_parent, initargs=(lifeline,))
    try:
        futures = {pool.submit(_attempt, run): run for run in runs}
        for future in as_completed(futures):
            try:
                outcome = future.result()
            except BrokenProcessPool:
                lost.add(futures[future])
            else:
                end(futures[future], outcome)
    except BaseException:
        ours.close()  # nobody waits for what the processes still play
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        lifeline.close()
    return [run for run in runs if run in lost]


def _live_with_parent(lifeline: Connection) -> None:
    """End this process when the sweep's own process ends, however that ends; it alone heeds Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv_bytes()  # nothing is ever sent: returns when the other end is closed
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def aggregate(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures over the runs of one game, ready for JSON; intervals are at 95 %."""
    scores = [s["normalized"] if s["normalized"] is not None else float(s["won"]) for s in summaries]
    ratios = [s["moves"] / s["optimal_moves"] for s in summaries if s["won"] and s["optimal_moves"]]
    optimal = [s["optimal_moves"] for s in summaries if s["optimal_moves"]]
    wins = sum(s["won"] for s in summaries)
    figures = [AuditResult(**s["audit_figures"]) for s in summaries if s["audit_figures"]]
    pooled = sum(figures, NOTHING_AUDITED)
    return {
        "game": summaries[0]["game"],
        "agent": summaries[0]["agent"],
        "runs": len(summaries),
        "wins": wins,
        "win_interval": wilson_interval(wins, len(summaries)),
        "score": round(statistics.fmean(scores), 5),
        "score_interval": bootstrap_interval(scores),
        "median_moves": statistics.median(s["moves"] for s in summaries),
        "median_decisions": statistics.median(s["decisions"] for s in summaries),
        "median_optimal_moves": statistics.median(optimal) if optimal else None,
        "median_ratio": round(statistics.median(ratios), 4) if ratios else None,
        "stuck_decisions": sum(s["stuck"] for s in summaries),
        "model_calls": sum(s["model_calls"] for s in summaries),
        "median_seconds": round(statistics.median(s["seconds"] for s in summaries), 3),
        "audit": pooled.summary() if figures else None,
        "not_won": sorted(s["seed"] for s in summaries if not s["won"]),
    }


def require_statistics() -> None:
    """Make sure, before hours of play, that :func:`aggregate` will have what it needs.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if importlib.util.find_spec("scipy") is None:
        raise MissingExtraError("the statistics of a sweep", extra="report", package="scipy")
