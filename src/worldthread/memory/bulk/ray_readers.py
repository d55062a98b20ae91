"""Readers on a Ray cluster: on this machine, or on as many as the cluster has."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import ClusterError, InputError, MissingExtraError
from worldthread.extract.base import Extractor
from worldthread.extract.groups import EpisodeGroup
from worldthread.memory.bulk.readers import BatchReading
from worldthread.memory.bulk.worker import packed, read_batch, unpacked
from worldthread.support.arguments import require_count
from worldthread.support.closeable import Closeable

if TYPE_CHECKING:
    from worldthread.models.base import Embedder

LOCAL: Final = "local"
"""The address that means: start a cluster on this machine, and stop it at the end."""

_BATCHES_EACH: Final = 3  # batches for every processor that are under way: one is read, others are on their way
_CONNECT_SECONDS: Final = 10.0
_STARTS: Final = 4  # of a cluster on this machine: Ray gives up after 30 seconds, which a busy one may need
_LOOK: Final = 200  # batches after which the size of the cluster is looked up again


class RayReaders(Closeable):
    """Reads and embeds on a Ray cluster. Use it as a context manager, or call :meth:`close`.

    A batch whose worker is killed, or whose machine is lost, is read again on another one. Every machine of the cluster
    needs the same release of worldthread with the same extras. Keys of chat models are not sent: each machine takes
    its own from its environment. Texts travel through the cluster and lie in its shared memory while they are read.

    Args:
        address: ``"local"`` starts a cluster on this machine; ``"auto"`` finds the one that runs here;
            ``"HOST:PORT"`` and ``"ray://HOST:PORT"`` are those of a running one.
        workers: processors of a cluster on this machine; ``None`` for all.
        batch: passages of a task.
        retries: how many times a task is tried again after its worker was lost.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: an argument cannot be used.
        ClusterError: the cluster cannot be reached.
    """

    def __init__(self, address: str = LOCAL, *, workers: int | None = None, batch: int = 64, retries: int = 3) -> None:
        self._batch = require_count(batch, "batch")
        if workers is not None:
            require_count(workers, "workers")
            if address != LOCAL:
                raise InputError("workers is for a cluster that is started here: a running one has its own")
        # Ray tells its makers of each cluster unless this is set before it is imported
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError("reading on a cluster", extra="ray", package="ray") from error
        self._ray: Any = ray
        self._owns = not ray.is_initialized()
        if self._owns:
            _require_reachable(address)
            options: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False} if address == LOCAL else {}
            for left in reversed(range(_STARTS if address == LOCAL else 1)):
                try:
                    ray.init(address=address, log_to_driver=False, logging_level="error", **options)
                    break
                except Exception as error:  # Ray raises many kinds
                    if not left:
                        raise _unreachable(address, error) from error
                    ray.shutdown()
        self._read = ray.remote(num_cpus=1, max_retries=retries)(_read_on_worker)
        self._models: Any = None
        self._submitted = 0
        self._processors = self._count_processors()

    @property
    def batch(self) -> int:
        """Passages of a task."""
        return self._batch

    @property
    def in_flight(self) -> int:
        """Tasks that may be under way at once."""
        return self._processors * _BATCHES_EACH

    @property
    def description(self) -> str:
        """How many workers there are."""
        return f"{self._processors} worker{'' if self._processors == 1 else 's'}"

    def start(self, extractor: Extractor, embedder: Embedder) -> None:
        """Send the extractor and the embedder; see :meth:`worldthread.memory.bulk.BatchReaders.start`.

        Args:
            extractor: reads the batches.
            embedder: embeds them; one on a server stays here.

        Raises:
            InputError: the extractor cannot be sent.
        """
        self._models = self._ray.put(packed(extractor, embedder))

    def submit(self, groups: Sequence[EpisodeGroup]) -> object:
        """Begin to read a batch; see :meth:`worldthread.memory.bulk.BatchReaders.submit`."""
        self._submitted += 1
        if self._submitted % _LOOK == 0:
            self._processors = self._count_processors()
        return self._read.remote(self._models, list(groups))

    def result(self, ticket: Any) -> BatchReading:
        """Wait for a batch; see :meth:`worldthread.memory.bulk.BatchReaders.result`.

        Args:
            ticket: what :meth:`submit` returned.

        Returns:
            What was read.

        Raises:
            ClusterError: the batch could not be read, also not when it was tried again.
        """
        try:
            found: BatchReading = self._ray.get(ticket)
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"the Ray cluster could not read a batch: {_first_line(error)}. What came before it is recorded; give "
                "the same command again to go on. Every machine needs the same release of worldthread, and room for "
                "its models"
            ) from error
        return found

    def _count_processors(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        """Leave the cluster; one that was started here is stopped. May be called again."""
        if self._owns:
            self._owns = False
            self._ray.shutdown()


def _require_reachable(address: str) -> None:
    """Raise ClusterError when nothing listens at an address: Ray itself tries for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise _unreachable(address, error) from error


def _unreachable(address: str, error: Exception) -> ClusterError:
    if address == LOCAL:
        return ClusterError(f"a Ray cluster cannot be started on this machine: {_first_line(error)}")
    return ClusterError(
        f"the Ray cluster {address!r} cannot be reached: {_first_line(error)}. Start one with: ray start --head; or "
        "leave the address out to use this machine alone"
    )


def _read_on_worker(models: bytes, groups: Sequence[EpisodeGroup]) -> BatchReading:
    """Read a batch on a worker, which keeps its models for the next one."""
    import ray

    from worldthread.models.base import limit_processors

    assigned = ray.get_runtime_context().get_assigned_resources().get("CPU", 1)
    limit_processors(max(1, int(assigned)))
    return read_batch(unpacked(models), groups)


def _first_line(error: Exception) -> str:
    return next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), type(error).__name__)
