"""What the routes of the service share."""

from __future__ import annotations

from worldthread.service.clients import ClientDirectory
from worldthread.service.jobs import Jobs
from worldthread.service.limits import ServiceLimits
from worldthread.service.memories import ServiceMemories
from worldthread.service.metrics import Metrics
from worldthread.service.remembering import IdempotencyKeys


class Service:
    """A service: its memories, its clients, and what it does for them.

    Args:
        memories: the memories; the caller closes them after :meth:`end`.
        directory: knows the clients.
        limits: what clients may ask; ``None`` for the usual.

    Attributes:
        keys: the idempotency keys.
        metrics: what is counted.
        jobs: the long work.
        is_ending: whether the service is ending.
    """

    def __init__(
        self, memories: ServiceMemories, directory: ClientDirectory, limits: ServiceLimits | None = None
    ) -> None:
        self.memories = memories
        self.directory = directory
        self.limits = limits or ServiceLimits()
        self.keys = IdempotencyKeys()
        self.metrics = Metrics()
        self.jobs = Jobs(self.limits.running_jobs, self.limits.jobs, self.metrics)
        self.is_ending = False

    def begin_to_end(self) -> None:
        """Say that the service is ending. Requests that are running are answered, and jobs end at their next batch."""
        self.is_ending = True
        self.jobs.cancel_all()

    def end(self, seconds: float) -> None:
        """Wait for the jobs, which are cancelled, and close the memories.

        Args:
            seconds: the longest wait.
        """
        self.begin_to_end()
        self.jobs.wait(seconds)
        self.memories.close()
