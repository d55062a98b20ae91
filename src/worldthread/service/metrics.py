"""What the service counts, in the form of Prometheus. No name of a memory, a client or a user is in it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from worldthread import __version__

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The metrics of one service.

    Attributes:
        requests: answered requests, by route, method and status.
        seconds: how long answers took, by route.
        running: requests that are being answered.
        refused: requests that were sent away, by reason.
        jobs: jobs that ended, by kind and end.
        waiting_jobs: jobs that wait or run.
        episodes: episodes that were added.
    """

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "worldthread_requests", "Answered requests.", ("route", "method", "status"), registry=registry
        )
        self.seconds = Histogram(
            "worldthread_request_seconds", "Time to answer a request.", ("route",), buckets=_SECONDS, registry=registry
        )
        self.running = Gauge("worldthread_running_requests", "Requests that are being answered.", registry=registry)
        self.refused = Counter("worldthread_refused_requests", "Requests sent away.", ("reason",), registry=registry)
        self.jobs = Counter("worldthread_jobs", "Jobs that ended.", ("kind", "state"), registry=registry)
        self.waiting_jobs = Gauge("worldthread_waiting_jobs", "Jobs that wait or run.", registry=registry)
        self.episodes = Counter("worldthread_added_episodes", "Episodes that were added.", registry=registry)
        self.open_memories = Gauge("worldthread_open_memories", "Memories that are open.", registry=registry)
        version = Gauge("worldthread_info", "The version of worldthread.", ("version",), registry=registry)
        version.labels(__version__).set(1)

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
