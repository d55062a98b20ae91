"""From passages to episodes with readings: several passages read at once, the order kept, nothing lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from worldthread.errors import BudgetError, MissingExtraError, ModelError, ReplayError
from worldthread.extract.base import TextReader
from worldthread.types import Reading


@dataclass(frozen=True)
class Passage:
    """A piece of text that becomes one episode.

    Args:
        text: verbatim.
        at: world time.
        source: where it comes from.
    """

    text: str
    at: float
    source: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of reading one passage.

    Args:
        passage: what was read.
        reading: with no reader's name when the passage could not be read.
        problem: why it could not; ``None`` when it could.
    """

    passage: Passage
    reading: Reading
    problem: ModelError | None = None


def read(reader: TextReader, passages: Sequence[Passage]) -> Iterator[Outcome]:
    """Extract from each of ``passages``, in their order, as many at once as the reader likes.

    A passage for which the model cannot be asked has an empty reading and the problem beside it. Once the budget is
    spent no further call is tried.

    Raises:
        ReplayError: a replayed run asks what was not recorded: it is another run.
        MissingExtraError: the client library is not installed.
    """
    spent: list[BudgetError] = []

    def one(passage: Passage) -> Outcome:
        if spent:
            return Outcome(passage, Reading(), spent[0])
        try:
            return Outcome(passage, reader.extract(passage.text))
        except (ReplayError, MissingExtraError):
            raise
        except ModelError as error:
            if isinstance(error, BudgetError):
                spent.append(error)
            return Outcome(passage, unread(error), error)

    if reader.concurrency == 1 or len(passages) == 1:
        yield from map(one, passages)
        return
    with ThreadPoolExecutor(reader.concurrency, thread_name_prefix="worldthread-read") as pool:
        yield from pool.map(one, passages)


def unread(problem: ModelError) -> Reading:
    """The reading of a passage that could not be read; a spent budget is no fault of the passage."""
    return Reading() if isinstance(problem, BudgetError) else Reading(failures=(str(problem),))
