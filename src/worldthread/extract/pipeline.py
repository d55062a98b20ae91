"""From episodes to what they state: several read at once, the order kept, nothing lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from worldthread.arguments import require_count
from worldthread.errors import BudgetError, InputError, MissingExtraError, ModelError, ReplayError
from worldthread.extract.base import Extractor
from worldthread.types import Episode, Extraction


@dataclass(frozen=True)
class ExtractionOutcome:
    """What came of reading one episode.

    Args:
        episode: as it was before.
        reading: with no reader's name when the episode could not be read.
        problem: why it could not; ``None`` when it could.
    """

    episode: Episode
    extraction: Extraction
    problem: ModelError | None = None


def read(extractor: Extractor, episodes: Sequence[Episode]) -> Iterator[ExtractionOutcome]:
    """Extract from each of ``episodes``, in their order, as many at once as the reader likes.

    An episode for which the model cannot be asked has an empty reading and the problem beside it. Once the budget is
    spent no further call is tried.

    Raises:
        InputError: the reader does not give readings, or cannot say how many it takes at once.
        ReplayError: a replayed run asks what was not recorded: it is another run.
        MissingExtraError: the client library is not installed.
    """
    spent: list[BudgetError] = []

    def one(episode: Episode) -> ExtractionOutcome:
        if spent:
            return ExtractionOutcome(episode, Extraction(), spent[0])
        try:
            extraction: object = extractor.extract(episode.text)
        except (ReplayError, MissingExtraError):
            raise
        except ModelError as error:
            if isinstance(error, BudgetError):
                spent.append(error)
            return ExtractionOutcome(episode, unread(error), error)
        if not isinstance(extraction, Extraction):
            raise InputError(
                f"the extractor {extractor.name!r} gave {type(extraction).__name__} where an Extraction is expected"
            )
        return ExtractionOutcome(episode, extraction)

    at_once = require_count(extractor.concurrency, f"the concurrency of the extractor {extractor.name!r}")
    if at_once == 1 or len(episodes) == 1:
        for episode in episodes:  # not map: a StopIteration of a reader would end it as if all had been read
            yield one(episode)
        return
    with ThreadPoolExecutor(at_once, thread_name_prefix="worldthread-read") as pool:
        yield from pool.map(one, episodes)


def unread(problem: ModelError) -> Extraction:
    """The reading of an episode that could not be read; a spent budget is no fault of the episode."""
    return Extraction() if isinstance(problem, BudgetError) else Extraction(failures=(str(problem),))
