"""How much clients may ask of the service."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_KEPT: Final = 10_000  # clients whose rate is known


@dataclass(frozen=True)
class ServiceLimits:
    """The limits of a service.

    Args:
        rate: requests per second that one token may send for long; ``math.inf`` for any number.
        burst: requests that it may send at once after a pause.
        body_bytes: the longest body of a request.
        remember_bytes: the longest body of a request to remember.
        import_bytes: the longest export that may be sent to be imported.
        requests: requests that are being answered at a time; more are sent away.
        threads: how many of them are worked on at a time; the others wait.
        jobs: jobs of one namespace that wait or run.
        running_jobs: jobs of all namespaces that run at a time; the others wait.
        open_memories: memories that stay open; another one is opened when it is used, and one that is idle is closed.
    """

    rate: float = 100.0
    burst: float = 200.0
    body_bytes: int = 256 * 1024
    remember_bytes: int = 16 * 1024 * 1024
    import_bytes: int = 256 * 1024 * 1024
    requests: int = 1000
    threads: int = 16
    jobs: int = 8
    running_jobs: int = 2
    open_memories: int = 256


class RateLimiter:
    """Limits the rate of requests of each client (a token bucket). Thread-safe.

    Args:
        rate: requests per second in the long run.
        burst: requests at once after a pause; at least 1.
        clock: gives the time in seconds.
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = max(1.0, burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and when that was so

    def seconds_to_wait(self, client: str) -> float:
        """Count a request of a client.

        Args:
            client: the name of the client.

        Returns:
            0 if it may be answered; else the seconds after which the next one may be sent. It is not counted then.
        """
        if math.isinf(self._rate):
            return 0.0
        with self._lock:
            now = self._clock()
            left, since = self._buckets.pop(client, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._rate)
            is_allowed = left >= 1.0
            self._buckets[client] = (left - 1.0 if is_allowed else left), now
            if len(self._buckets) > _KEPT:
                self._buckets.popitem(last=False)
        return 0.0 if is_allowed else (1.0 - left) / self._rate
