"""Remembering: contents become episodes, episodes are read, recorded and embedded, batch by batch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from worldthread.errors import BudgetError, ModelError, NotFoundError, ReplayError, StoreError
from worldthread.extract.base import reads_in_background, settles_locally
from worldthread.memory.background_reading import BackgroundReading
from worldthread.memory.filters import Filter
from worldthread.provenance import NO_LABELS, Labels
from worldthread.stores import Store
from worldthread.support.arguments import require_iterable, require_string
from worldthread.support.progress import Progress, show_progress
from worldthread.types import WAITING, Episode, Extraction, Statement, TimeLike, short_repr

if TYPE_CHECKING:
    from worldthread.extract.base import Extractor
    from worldthread.extract.documents import Document
    from worldthread.extract.pipeline import ExtractionOutcome
    from worldthread.memory.index import MemoryIndex
    from worldthread.memory.models import MemoryModels

Content: TypeAlias = (
    "str | Document | Episode | Statement | Mapping[str, Any] "
    "| Iterable[Statement | tuple[str, str, str] | Mapping[str, Any]]"
)
"""What can be remembered: a text, a document, an episode, statements, or messages of a conversation."""

_Item = TypeVar("_Item")

BATCH: Final = 64
"""Passages that are read and embedded together."""

SEARCHED: Final = 100
"""How many of the last recorded episodes of a user are searched for what was said before a message."""


@dataclass(frozen=True)
class Remembered:
    """What :meth:`Memory.remember` did with its content.

    Args:
        episodes: ids of the episodes of the content, in its order, including those that were recorded before.
        added: how many of them are new.
        known: how many were recorded before and were left as they were.
        unread: how many of the new ones could not be read. They are kept, are found by their text, and are read by
            :meth:`Memory.retry`.
        skipped: how many turns of a conversation were left out, because they have no text, no person says
            them, or the memory itself recalled them.
        problems: why they could not be read, each reason once; or why vectors are still missing, which the next
            question completes.
    """

    episodes: tuple[str, ...] = ()
    added: int = 0
    known: int = 0
    unread: int = 0
    problems: tuple[str, ...] = ()
    skipped: int = 0

    def __add__(self, other: Remembered) -> Remembered:
        return Remembered(
            self.episodes + other.episodes,
            self.added + other.added,
            self.known + other.known,
            self.unread + other.unread,
            tuple(dict.fromkeys(self.problems + other.problems)),
            self.skipped + other.skipped,
        )

    def __repr__(self) -> str:
        problems = f", problems={short_repr('; '.join(self.problems))}" if self.problems else ""
        skipped = f", skipped={self.skipped}" if self.skipped else ""
        return f"Remembered(added={self.added}, known={self.known}, unread={self.unread}{skipped}{problems})"


class Ingestion:
    """Writes contents into a store.

    Args:
        store: holds the record.
        index: embeds what is recorded.
        models: provides the extractor.
        user: the speaker of messages of the role "user", and of texts that name none, where their labels name no user.
        timezone: the time zone of times that name none; empty for UTC.
    """

    def __init__(self, store: Store, index: MemoryIndex, models: MemoryModels, user: str, timezone: str = "") -> None:
        self._timezone = timezone
        self._store = store
        self._index = index
        self._models = models
        self._user = user
        self.background = BackgroundReading(store, self._read_waiting)
        self._given_together = 1  # episodes that bring their statements
        self._embeds = True

    def remember_many(
        self,
        contents: Iterable[Content],
        at: TimeLike | None,
        source: str | None,
        now: float,
        progress: bool | Progress | None,
        labels: Labels = NO_LABELS,
        *,
        wait: bool = True,
    ) -> Remembered:
        """Record contents in batches; see :meth:`Memory.remember_many`.

        Args:
            contents: the contents.
            at: world time of contents that bring none; ``None`` for ``now``.
            source: source of contents that bring none.
            now: the time by the clock of the memory.
            progress: see :func:`~worldthread.support.progress.show_progress`.
            labels: labels of contents that bring none.
            wait: whether to read before this returns, whatever the extractor is.

        Returns:
            What was done.

        Raises:
            Exception: the first error that ``contents`` raised, after what came before it is recorded.
        """
        from worldthread.extract.episode_builder import EpisodeBuilder
        from worldthread.extract.when import counts_turns, world_time
        from worldthread.extract.zones import zone_named
        from worldthread.memory.record import next_time, require_times_of_saying

        source = "" if source is None else require_string(source, "source")
        latest = self._store.graph.latest_time
        # when the clock was set back, what is remembered now still comes after what was remembered before
        later = now if at is not None else next_time(self._store.graph, now)
        turns, zone = counts_turns(latest) is True, zone_named(self._timezone)
        builder = EpisodeBuilder(
            world_time(at, later, counts_turns=turns, zone=zone), source, self._user, labels=labels,
            one_by_one=later != now, is_present=at is None, held=self._said_in_session, given=at,
            timezone=self._timezone,
        )  # fmt: skip

        def checked(content: Content) -> Episode | list[Episode]:
            nonlocal latest
            built = builder.build(content)
            episodes = [built] if isinstance(built, Episode) else built
            require_times_of_saying(episodes, now, latest)
            latest = episodes[-1].at if episodes else latest
            return built

        taken: Iterator[Episode | list[Episode]] = map(checked, require_iterable(contents, "contents"))
        total = None
        errors: list[Exception] = []
        self._embeds = True
        if isinstance(contents, Sequence):
            everything = list(taken)
            self._given_together = BATCH  # nobody waits to see one before the next comes
            taken, total = iter(everything), sum(1 if isinstance(t, Episode) else len(t) for t in everything)
        with show_progress(progress, self._activity, total) as advance:
            result = self._ingest(_until_error(taken, errors), advance, wait)
        if errors:
            raise errors[0]
        return result + Remembered(skipped=builder.skipped.total())

    def _said_in_session(self, like: Episode) -> Iterator[Episode]:
        """Yield what was said in the session of an episode, with its user, agent and source, in order of time."""
        import numpy as np

        same = Filter(source=like.source, user=like.user, agent=like.agent, session=like.session)
        with self._store.read_lock() as graph:
            numbers = np.flatnonzero(graph.select(same.condition).episodes).tolist()
            records = [record for number in numbers if (record := graph.numbered_episode(number)) is not None]
        for record in sorted(records, key=lambda one: one.at):
            if record.provenance.speaker:
                with suppress(NotFoundError):  # forgotten in the meantime
                    yield self._store.episode(record.id)

    @property
    def _activity(self) -> str:
        """What the progress bar says."""
        return "remembering"

    def _ingest(
        self, taken: Iterator[Episode | list[Episode]], advance: Callable[[int], None], wait: bool
    ) -> Remembered:
        """Record episodes that bring their statements, and read passages, batch by batch."""
        result = Remembered()
        given: list[Episode] = []
        batch: list[Episode] = []
        for item in taken:
            if isinstance(item, Episode):
                given.append(item)
                if len(given) >= self._given_together:
                    result += self._record(given)
                    advance(len(given))
                    given = []
                continue
            if given:
                result += self._record(given)
                advance(len(given))
                given = []
            batch += item
            while len(batch) >= BATCH:
                result += self._record_texts(batch[:BATCH], wait)
                del batch[:BATCH]
                advance(BATCH)
        if given:
            result += self._record(given)
            advance(len(given))
        result += self._record_texts(batch, wait)
        advance(len(batch))
        return result

    def _record_texts(self, episodes: Sequence[Episode], wait: bool) -> Remembered:
        """Read episodes and record them; or record them, and leave them to be read."""
        extractor = self._models.extractor
        if wait or not reads_in_background(extractor):
            self.background.finish()
            return self._read_and_record(episodes, extractor)
        self._store.require_writable()
        if episodes:
            self._index.embedder  # noqa: B018 (see `_record`)
        ids = {episode.id: episode for episode in episodes}
        recorded: list[Episode] = []
        try:
            with self._store.batch() if len(ids) > 1 else nullcontext():
                for episode in sorted(ids.values(), key=in_order):
                    with self._store.write_lock() as graph:
                        if episode.id not in graph:
                            recorded.append(self._store.append(replace(episode, extraction=WAITING)))
            problems = self._embed(self._index.embed, recorded)
            self.background.add(recorded)
        except BaseException:  # what was recorded before an interrupt is read all the same
            self.read_on()
            raise
        return Remembered(tuple(ids), len(recorded), len(ids) - len(recorded), 0, problems)

    def read_on(self) -> None:
        """Read in the background what was recorded and not read, here or in a process before this one."""
        with self._store.read_lock() as graph:
            if not graph.has_failures:
                return
            waiting = self._waiting_among(graph.unread())
        if waiting and reads_in_background(self._models.extractor):
            self.background.add(waiting)

    def _waiting_among(self, episode_ids: Iterable[str]) -> list[Episode]:
        """Return those of some recorded episodes that wait to be read."""
        return [one for id_ in episode_ids if (one := self._store.episode(id_)).extraction == WAITING]

    def _read_waiting(self, episodes: Sequence[Episode]) -> None:
        """Read episodes that were recorded unread. What an extractor fails at stays unread, and others are read."""
        with self._store.read_lock() as graph:  # an interrupt may have come between the reading and its end
            episodes = self._waiting_among(one.id for one in episodes if one.id in graph)
        try:
            self._read_and_record(episodes, self._models.extractor, again=True)
        except (StoreError, ReplayError):
            raise
        except Exception as error:
            if len(episodes) > 1:
                for episode in episodes:
                    self._read_waiting([episode])
                return
            problem = f"{type(error).__name__}: {error}"
            warnings.warn(f"a text could not be read, and is kept unread: {problem}", stacklevel=2)
            for episode in episodes:
                self._store.replace(replace(episode, extraction=Extraction(failures=(problem,))))

    def retry(self, waiting: Sequence[Episode], progress: bool | Progress | None, *, anew: bool = False) -> Remembered:
        """Read recorded episodes again; see :meth:`Memory.retry`.

        Args:
            waiting: the episodes.
            progress: see :func:`~worldthread.support.progress.show_progress`.
            anew: whether a reader without a model finds nothing of what was read from them before, so that it reads
                each as it would have read it when it was told. A model that fails must not lose what was read.

        Returns:
            What was done.
        """
        extractor = self._models.fresh_extractor()
        if anew and reads_in_background(extractor):
            for episode in waiting:
                self._store.replace(replace(episode, extraction=WAITING))
        self._embeds = True
        result = Remembered()
        with show_progress(progress, "reading", len(waiting)) as advance:
            for start in range(0, len(waiting), BATCH):
                batch = waiting[start : start + BATCH]
                result += self._read_and_record(batch, extractor, again=True, as_told=anew)
                advance(len(batch))
        return result

    def _record(self, episodes: Sequence[Episode]) -> Remembered:
        """Record episodes with the extractions that they bring."""
        self._index.embedder  # noqa: B018 (one that cannot be used is refused before anything is recorded)
        self.background.finish()  # what was told before is known before
        known = 0
        with self._store.batch() if len(episodes) > 1 else nullcontext():
            for episode in episodes:
                with self._store.write_lock() as graph:
                    known += episode.id in graph
                    self._store.append(episode)
        problems = self._embed(self._index.embed, episodes)
        return Remembered(tuple(episode.id for episode in episodes), len(episodes) - known, known, 0, problems)

    def _embed(self, embed: Callable[[Sequence[Episode]], None], episodes: Sequence[Episode]) -> tuple[str, ...]:
        """Store the vectors of what is recorded, and return why that failed.

        The record is durable by now, so whoever repeats the call after an error would store it twice. The index
        computes missing vectors before the next question.

        Args:
            embed: stores the vectors of episodes.
            episodes: what is recorded.

        Returns:
            Why it failed, or nothing.

        Raises:
            ReplayError: a replayed run asks what was not recorded.
        """
        if self._embeds:
            try:
                embed(episodes)
            except ReplayError:
                raise
            except Exception as error:
                self._embeds = False  # not again for each batch of this call
                return (f"the texts are kept, and the next question computes their vectors, which failed now: {error}",)
        return ()

    def _read_and_record(
        self, unread: Sequence[Episode], extractor: Extractor, *, again: bool = False, as_told: bool = False
    ) -> Remembered:
        from worldthread.extract.pipeline import extract_episodes

        self._store.require_writable()
        if unread:
            self._index.embedder  # noqa: B018 (see above)
        graph = self._store.graph
        ids = {episode.id: episode for episode in unread}
        fresh = [episode for id_, episode in ids.items() if again or id_ not in graph]
        outcomes = list(extract_episodes(extractor, fresh, self._user, self._said_before))
        return self._record_outcomes(
            list(ids), outcomes, self._index.embed, again=again, as_told=as_told, extractor=extractor
        )

    def _record_outcomes(
        self,
        ids: Sequence[str],
        outcomes: list[ExtractionOutcome],
        embed: Callable[[Sequence[Episode]], None],
        *,
        extractor: Extractor,
        again: bool = False,
        as_told: bool = False,
    ) -> Remembered:
        """Record what was read, in order.

        Args:
            ids: the ids of all episodes, those included that were recorded before.
            outcomes: what was read in the others.
            embed: stores the vectors of what is recorded.
            extractor: says what they end.
            again: whether they are recorded already.
            as_told: whether they end of what held when they were told; else of what holds now.

        Returns:
            What was done.
        """
        # messages of one time keep their order: the passages of each end at that time, microseconds apart
        outcomes.sort(key=lambda outcome: in_order(outcome.episode))
        # other writers wait until a batch ends, so it never waits for a model
        is_batch = bool(outcomes) and not again and settles_locally(extractor)
        with self._store.batch() if is_batch else nullcontext():
            settled = [self._settle(outcome, extractor, again, as_told) for outcome in outcomes]
        episodes = [episode for episode in settled if episode is not None]
        problems = [str(o.problem) for o in outcomes if o.problem]
        problems += [failure for episode in episodes for failure in episode.extraction.failures]
        problems += self._embed(embed, episodes)
        failed = sum(1 for episode in episodes if not episode.extraction.is_complete)
        added = len(episodes) - failed if again else len(episodes)
        known = 0 if again else len(ids) - len(episodes)
        return Remembered(tuple(ids), added, known, failed, tuple(dict.fromkeys(problems)))

    def _said_before(self, first: Episode) -> list[Episode]:
        """Return the latest messages of the conversation of an episode that come before it, of the last recorded."""
        return self._latest_before(first)

    def _latest_before(self, first: Episode, coming: Sequence[Episode] = ()) -> list[Episode]:
        """Return the latest messages of the conversation of an episode that come before it.

        Args:
            first: the episode.
            coming: episodes that are still to be recorded, in order; they count as recorded.

        Returns:
            Some of the last recorded, in order of time.
        """
        from worldthread.extract.groups import MESSAGES_BEFORE, conversation_of

        graph = self._store.graph
        last = len(graph.episode_numbers)
        coming = [episode for episode in coming if episode.user == first.user][-SEARCHED:]
        found: list[tuple[float, int, Episode]] = []
        for number in graph.latest_episodes(first.user, SEARCHED - len(coming)):
            record = graph.numbered_episode(number)
            if record is None or record.at >= first.at or record.source != first.source:
                continue
            episode = self._store.episode(record.id) if record.provenance.speaker else None
            if episode is not None and conversation_of(episode) == conversation_of(first):
                found.append((record.at, number, episode))
        for number, episode in enumerate(coming, last):
            if episode.at < first.at and episode.speaker and conversation_of(episode) == conversation_of(first):
                found.append((episode.at, number, episode))
        return [episode for _, _, episode in sorted(found, key=lambda one: one[:2])[-MESSAGES_BEFORE:]]

    def _settle(self, outcome: ExtractionOutcome, extractor: Extractor, again: bool, as_told: bool) -> Episode | None:
        """Ask the extractor which older statements an episode ends, and record the episode.

        Args:
            outcome: the episode and what was read in it.
            extractor: is asked.
            again: whether the episode is recorded already and gets a new extraction.
            as_told: whether it ends of what held when it was told; else of what holds now.

        Returns:
            The episode as recorded; ``None`` if another process has recorded it (or forgotten it, if ``again``) in the
            meantime.

        Raises:
            ReplayError: a replayed run asks what was not recorded.
        """
        extraction = outcome.extraction
        if outcome.problem is None and not extraction.failures:
            from worldthread.extract.zones import time_of_reading

            try:
                extraction = extractor.outdate(
                    outcome.episode.text,
                    extraction,
                    self._store.graph.view(outcome.episode.at if as_told else None, outcome.episode.user),
                    outcome.episode.speaker or outcome.episode.user or self._user,
                    time_of_reading(outcome.episode),
                )
            except ReplayError:
                raise
            except BudgetError:
                extraction = Extraction()
            except ModelError as error:
                extraction = Extraction(failures=(str(error),))
        episode = replace(outcome.episode, extraction=_in_world_time(extraction, outcome))
        # no other process can write from the check to the change, but it can while the model is asked
        with self._store.write_lock() as graph:
            if (episode.id in graph) != again:
                return None
            if not again:
                return self._store.append(episode)
            if isinstance(outcome.problem, BudgetError):  # the model was not asked: the old extraction stays
                return self._store.episode(episode.id)
            return self._store.replace(episode)


def _in_world_time(extraction: Extraction, outcome: ExtractionOutcome) -> Extraction:
    """Return what a text states in world time, where it was read on the clock of a person."""
    if not outcome.episode.metadata:
        return extraction
    from worldthread.extract.zones import in_world_time

    return in_world_time(extraction, outcome.extraction, outcome.episode.metadata)


def _until_error(items: Iterable[_Item], errors: list[Exception]) -> Iterator[_Item]:
    """Yield the items before the first error, which goes into ``errors``."""
    try:
        yield from items
    except Exception as error:
        errors.append(error)


def in_order(episode: Episode) -> float:
    """Return the millisecond in which an episode falls, rounded up: the same for all passages of a message."""
    from worldthread.extract.episode_builder import MESSAGE_GAP, PART_GAP

    milliseconds = (episode.at - PART_GAP / 2) / MESSAGE_GAP
    return math.ceil(milliseconds) if math.isfinite(milliseconds) else milliseconds
