"""Extracts the statements of many episodes: several at once, in order, and with no episode lost to an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from worldthread.errors import BudgetError, InputError, MissingExtraError, ModelError, ReplayError
from worldthread.extract.base import Extractor
from worldthread.extract.groups import EpisodeGroup, GroupExtractor, SaidBefore, groups_of
from worldthread.extract.zones import time_of_reading
from worldthread.support.arguments import require_count
from worldthread.telemetry import in_this_context
from worldthread.types import Episode, Extraction


@dataclass(frozen=True)
class ExtractionOutcome:
    """The result of extracting from one episode.

    Args:
        episode: the episode, unchanged.
        extraction: what it states; without the name of an extractor when the model could not be called.
        problem: why the model could not be called; ``None`` when there was no problem.
    """

    episode: Episode
    extraction: Extraction
    problem: ModelError | None = None


def extract_episodes(
    extractor: Extractor, episodes: Sequence[Episode], user: str = "", said_before: SaidBefore | None = None
) -> Iterator[ExtractionOutcome]:
    """Extract the statements of each episode, with as many calls at once as the extractor allows.

    Messages of one conversation are read together by an extractor that can
    (:class:`~worldthread.extract.groups.GroupExtractor`). An episode for which the model cannot be called gets an empty
    extraction and the problem. Once the budget is spent, the extractor is not called again.

    Args:
        extractor: the extractor.
        episodes: the episodes; their own extractions are ignored.
        user: the speaker of episodes that name neither a speaker nor a user; empty when nobody is known.
        said_before: finds what was said before the first message of a conversation; ``None`` for nothing.

    Yields:
        One outcome for each episode, in the order of ``episodes``.

    Raises:
        InputError: the extractor returns something else than an ``Extraction``, or its concurrency is not a whole
            number of at least 1.
        ReplayError: a replayed run asks what was not recorded, so it is another run.
        MissingExtraError: the client library is not installed.
    """
    groups = (
        groups_of(episodes, user, said_before)
        if isinstance(extractor, GroupExtractor)
        else [EpisodeGroup((episode,), (), user) for episode in episodes]
    )
    yield from extract_groups(extractor, groups)


def extract_groups(extractor: Extractor, groups: Sequence[EpisodeGroup]) -> Iterator[ExtractionOutcome]:
    """Extract as :func:`extract_episodes` does, from groups that were made before.

    Args:
        extractor: the extractor.
        groups: the groups; each has one episode, unless the extractor is a
            :class:`~worldthread.extract.groups.GroupExtractor`.

    Yields:
        One outcome for each episode, in order.

    Raises:
        InputError: see :func:`extract_episodes`.
        ReplayError: see :func:`extract_episodes`.
        MissingExtraError: see :func:`extract_episodes`.
    """
    budget_errors: list[BudgetError] = []

    def extractions_of(group: EpisodeGroup) -> list[object]:
        if isinstance(extractor, GroupExtractor):
            found = extractor.extract_group(group)
            if len(found) != len(group.episodes):
                raise InputError(
                    f"the extractor {extractor.name!r} gave {len(found)} extractions for {len(group.episodes)} episodes"
                )
            return [*found]
        [episode] = group.episodes
        speaker = episode.speaker or episode.user or group.user
        return [extractor.extract(episode.text, speaker, time_of_reading(episode))]

    def outcomes_of(group: EpisodeGroup) -> list[ExtractionOutcome]:
        if budget_errors:
            return [ExtractionOutcome(episode, Extraction(), budget_errors[0]) for episode in group.episodes]
        try:
            found = extractions_of(group)
        except (ReplayError, MissingExtraError):
            raise
        except ModelError as error:
            if isinstance(error, BudgetError):
                budget_errors.append(error)
            return [ExtractionOutcome(episode, failed_extraction(error), error) for episode in group.episodes]
        outcomes = []
        for episode, extraction in zip(group.episodes, found, strict=True):
            if not isinstance(extraction, Extraction):
                raise InputError(
                    f"the extractor {extractor.name!r} gave {type(extraction).__name__} where an Extraction is expected"
                )
            outcomes.append(ExtractionOutcome(episode, extraction))
        return outcomes

    concurrency = require_count(extractor.concurrency, f"the concurrency of the extractor {extractor.name!r}")
    if concurrency == 1 or len(groups) == 1:
        for group in groups:  # not map: a StopIteration of an extractor would end it without an error
            yield from outcomes_of(group)
        return
    with ThreadPoolExecutor(concurrency, thread_name_prefix="worldthread-extract") as pool:
        for outcomes in pool.map(in_this_context(outcomes_of), groups):
            yield from outcomes


def failed_extraction(problem: ModelError) -> Extraction:
    """Return the extraction to record when the model could not be called.

    Args:
        problem: why it could not.

    Returns:
        An extraction with the message of ``problem`` as its failure; without a failure when the budget was spent,
        because that is no fault of the episode.
    """
    return Extraction() if isinstance(problem, BudgetError) else Extraction(failures=(str(problem),))
