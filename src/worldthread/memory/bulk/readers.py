"""The contract of what reads and embeds batches of episodes in other processes, and what comes back from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.base import Extractor
from worldthread.extract.groups import EpisodeGroup
from worldthread.types import Extraction

if TYPE_CHECKING:
    from worldthread.models.base import Embedder
    from worldthread.models.meter import UsageTotals


@dataclass(frozen=True)
class ReadEpisode:
    """What a reader found in one episode.

    Args:
        extraction: what the episode states.
        problem: why the model could not be called; ``None`` when there was no problem.
        budget: whether that was because a budget is spent.
    """

    extraction: Extraction
    problem: str | None = None
    budget: bool = False


@dataclass(frozen=True)
class ReadFailure:
    """Why a reader could not read a batch at all.

    Args:
        message: what is wrong, and what to do.
        replayed: whether a replayed run asks what was not recorded.
    """

    message: str
    replayed: bool = False


@dataclass(frozen=True, eq=False)
class BatchReading:
    """What a reader found in a batch, with its vectors.

    Args:
        episodes: one for each episode of the batch, in order.
        texts: distinct texts: those of the episodes, and their statements; empty when nothing was embedded.
        vectors: their vectors in half precision, shape (len(texts), dimensions).
        reader: the release of worldthread and the names of the extractor and of the embedder there.
        usage: what the calls of a chat model used, by purpose.
        failure: why there is nothing else here; ``None`` when the batch was read.
    """

    episodes: tuple[ReadEpisode, ...] = ()
    texts: tuple[str, ...] = ()
    vectors: NDArray[np.float16] = field(default_factory=lambda: np.zeros((0, 0), np.float16))
    reader: tuple[str, str, str] = ("", "", "")
    usage: Mapping[str, UsageTotals] = field(default_factory=dict)
    failure: ReadFailure | None = None


class BatchReaders(Protocol):
    """Reads and embeds batches elsewhere; :class:`~worldthread.memory.bulk.RayReaders` does so on a Ray cluster."""

    @property
    def batch(self) -> int:
        """How many episodes to put into a batch, at least 1."""

    @property
    def in_flight(self) -> int:
        """How many batches may be under way at once, at least 1."""

    @property
    def description(self) -> str:
        """What reads, for a progress bar, such as ``"2 workers"``."""

    def start(self, extractor: Extractor, embedder: Embedder) -> None:
        """Make ready to read for one memory. Called once before its batches, and again for another memory.

        Args:
            extractor: reads the batches.
            embedder: embeds them.

        Raises:
            InputError: they cannot be sent to another process.
            ClusterError: the readers cannot be reached.
        """

    def submit(self, groups: Sequence[EpisodeGroup]) -> object:
        """Begin to read a batch, without waiting.

        Args:
            groups: what is read together.

        Returns:
            A ticket for :meth:`result`.
        """

    def result(self, ticket: Any) -> BatchReading:
        """Wait for a batch.

        Args:
            ticket: what :meth:`submit` returned; each is used once, in order.

        Returns:
            What was read.

        Raises:
            ClusterError: the batch could not be read, also not when it was tried again.
        """
