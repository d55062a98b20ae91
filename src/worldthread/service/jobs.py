"""Long work that goes on after its request was answered."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from worldthread.errors import ClosedError, NotFoundError, WorldthreadError
from worldthread.schemas.results import RememberResult
from worldthread.service.metrics import Metrics
from worldthread.service.problems import ProblemError, problem_of
from worldthread.service.requests import ImportResult, JobResult, JobState

_KEPT: Final = 100  # jobs of one namespace that have ended
_AGAIN: Final = "send the same again: what is recorded is skipped"
_log = logging.getLogger(__name__)


class CancelledError(Exception):
    """A job was cancelled, or the service is ending."""


@dataclass
class Job:
    """One piece of work.

    Args:
        kind: what it does.
        namespace: the memory that it changes.
        work: does it, and reports with :meth:`advance` how far it is.
    """

    kind: Literal["remember", "import"]
    namespace: str
    work: Work
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    state: JobState = "waiting"
    done: int = 0
    total: int | None = None
    created: float = field(default_factory=time.time)
    ended: float | None = None
    result: RememberResult | ImportResult | None = None
    problem: str | None = None
    is_cancelled: bool = False

    def advance(self, done: int, total: int | None) -> None:
        """Note how far the work is.

        Args:
            done: how much is recorded.
            total: how much there is; ``None`` if that is not known.

        Raises:
            CancelledError: the work is to end here.
        """
        self.done, self.total = done, total
        if self.is_cancelled:
            raise CancelledError

    def shown(self) -> JobResult:
        """Return the job as clients see it."""
        return JobResult(
            id=self.id, kind=self.kind, state=self.state, done=self.done, total=self.total,
            created=_iso(self.created), ended=None if self.ended is None else _iso(self.ended),
            result=self.result, problem=self.problem,
        )  # fmt: skip


Work: TypeAlias = "Callable[[Job], RememberResult | ImportResult]"


class Jobs:
    """Runs jobs on a few threads, in the order in which they came. They are forgotten when the process ends.

    Args:
        running: how many run at a time.
        most: how many of one namespace may wait or run.
        metrics: counts them.
    """

    def __init__(self, running: int, most: int, metrics: Metrics) -> None:
        self._running = running
        self._most = most
        self._metrics = metrics
        self._lock = threading.Condition()
        self._jobs: dict[str, OrderedDict[str, Job]] = {}
        self._queue: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._active = 0
        self._is_ending = False

    def start(self, job: Job) -> Job:
        """Let a job begin as soon as its turn comes.

        Args:
            job: the job.

        Returns:
            The same job.

        Raises:
            ProblemError: too many jobs of its namespace wait, or the service is ending.
        """
        with self._lock:
            self.require_room(job.namespace)
            jobs = self._jobs.setdefault(job.namespace, OrderedDict())
            jobs[job.id] = job
            ended = [one for one in jobs.values() if one.ended is not None]
            for one in ended[: max(0, len(ended) - _KEPT)]:
                del jobs[one.id]
            self._active += 1
            self._metrics.waiting_jobs.set(self._active)
            self._queue.put(job)
            if len(self._threads) < self._running:
                # a daemon: what it has recorded is safe, and the end of the process need not wait for the rest
                thread = threading.Thread(target=self._run, daemon=True, name="worldthread-job")
                self._threads.append(thread)
                thread.start()
        return job

    def require_room(self, namespace: str) -> None:
        """Check that another job of a namespace may be started, before much is sent for it.

        Args:
            namespace: the namespace.

        Raises:
            ProblemError: see :meth:`start`.
        """
        with self._lock:
            if self._is_ending:
                raise ProblemError(503, "the service is ending: send this again to the next one", Retry_After="5")
            jobs = self._jobs.get(namespace, OrderedDict())
            if sum(1 for one in jobs.values() if one.ended is None) >= self._most:
                raise ProblemError(
                    429, f"{self._most} jobs of this memory wait or run: wait until one has ended", Retry_After="10"
                )

    def of(self, namespace: str) -> list[Job]:
        """Return the jobs of a namespace, the latest first."""
        with self._lock:
            return list(reversed(self._jobs.get(namespace, {}).values()))

    def job(self, namespace: str, id_: str) -> Job:
        """Return a job.

        Args:
            namespace: its namespace; the jobs of others are not found.
            id_: its id.

        Returns:
            The job.

        Raises:
            NotFoundError: there is no such job.
        """
        with self._lock:
            jobs = self._jobs.get(namespace)
            found = None if jobs is None else jobs.get(id_)
        if found is None:
            raise NotFoundError(f"there is no such job; jobs end with the process of the service: {_AGAIN}")
        return found

    def cancel(self, namespace: str, id_: str) -> Job:
        """End a job before its next batch. What it has recorded stays.

        Args:
            namespace: its namespace.
            id_: its id.

        Returns:
            The job, which may still run for a moment.

        Raises:
            NotFoundError: there is no such job.
        """
        job = self.job(namespace, id_)
        with self._lock:
            job.is_cancelled = True
            if job.state == "waiting":
                self._end(job, "cancelled", f"it was cancelled before it began; to do it, {_AGAIN}")
        return job

    def cancel_all(self) -> None:
        """Cancel all jobs, and take no more."""
        with self._lock:
            self._is_ending = True
            for jobs in self._jobs.values():
                for job in jobs.values():
                    job.is_cancelled = True
                    if job.state == "waiting":
                        self._end(job, "cancelled", f"the service ended before it began; {_AGAIN}")

    def wait(self, seconds: float) -> None:
        """Wait until no job runs.

        Args:
            seconds: the longest wait.
        """
        with self._lock:
            self._lock.wait_for(lambda: not self._active, seconds)

    def _run(self) -> None:
        while True:
            job = self._queue.get()
            with self._lock:
                if job.state != "waiting":
                    continue
                job.state = "running"
            state: JobState = "failed"
            problem: str | None = None
            try:
                job.result = job.work(job)
                state = "done"
            except (CancelledError, ClosedError):
                state, problem = "cancelled", f"it was ended after {job.done}, which are recorded; to go on, {_AGAIN}"
            except ProblemError as error:
                problem = error.detail
            except WorldthreadError as error:
                problem = problem_of(error)[1]
            except Exception:
                _log.exception("a job failed")
                problem = f"the service failed, its log says why; {_AGAIN}"
            with self._lock:
                self._end(job, state, problem)

    def _end(self, job: Job, state: JobState, problem: str | None) -> None:
        job.state, job.problem, job.ended = state, problem, time.time()
        job.work = _nothing  # releases the text
        self._active -= 1
        self._metrics.waiting_jobs.set(self._active)
        self._metrics.jobs.labels(job.kind, state).inc()
        self._lock.notify_all()


def _nothing(job: Job) -> RememberResult | ImportResult:
    raise CancelledError


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
