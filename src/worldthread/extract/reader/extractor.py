"""Extracts facts and endings from messages with the trained model; sentences and entities as without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from worldthread.extract.base import USER
from worldthread.extract.groups import EpisodeGroup
from worldthread.extract.possible_ends import with_possible_ends
from worldthread.extract.prose.extractor import ProseExtractor, signature_of
from worldthread.extract.reader.events import MessageEvent, distinct, events_of
from worldthread.extract.reader.model import reader_model
from worldthread.extract.reader.pieces import pieces_of
from worldthread.extract.reader.statements import Ended, ended_by, fact_of
from worldthread.extract.zones import time_of_reading
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

FOLDER: Final = Path(__file__).parent / "data"
"""Where the model lies that comes with the package."""
LEAST: Final = 0.55
"""How sure the model must be of an event that is stated."""
_SEEN: Final = 0.1  # how probable a beginning must be to be looked at
_TURNS_BEFORE: Final = 2


class ReaderExtractor:
    """Extracts statements with a small trained model that points at the words of a message.

    An :class:`~worldthread.extract.base.Extractor` and a :class:`~worldthread.extract.groups.GroupExtractor`.
    Thread-safe. Theses, their objects and plain facts are those of
    :class:`~worldthread.extract.prose.extractor.ProseExtractor`.

    Args:
        folder: where the model lies.
        least: how sure the model must be of what is stated, in [0, 1].
    """

    name: Final = "reader/1"
    concurrency: Final = 1
    settles_locally: Final = True
    """Whether :meth:`outdate` asks neither a model nor a server, so that others may wait for it."""

    def __init__(self, folder: Path = FOLDER, least: float = LEAST) -> None:
        self._folder, self._least = folder, least
        self._prose = ProseExtractor()
        self._model = reader_model(folder)
        self._read_before = lru_cache(256)(self._read)

    def __reduce__(self) -> tuple[type[ReaderExtractor], tuple[Path, float]]:
        return type(self), (self._folder, self._least)

    def events(self, text: str, speaker: str, before: Sequence[str] = ()) -> tuple[MessageEvent, ...]:
        """Return what a message tells, however sure that is.

        Args:
            text: the message, without a label.
            speaker: who says it.
            before: the turns before it, each as "name: text"; the last two are read.

        Returns:
            The events in the order of their objects.
        """
        return self._read_before(text, speaker, tuple(before[-_TURNS_BEFORE:]))

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return what a text states and what it says is over, from the text alone.

        Args:
            text: the text; a message begins with the speaker's label.
            speaker: the meaning of "I"; empty for who signs the text, else for
                :data:`USER <worldthread.extract.base.USER>`.
            at: world time of the text, against which "yesterday" is understood.

        Returns:
            An extraction: facts in the order of their objects, then the statements of the rules; no failures.
        """
        return self._extracted(text, speaker, at, ())

    def extract_group(self, group: EpisodeGroup) -> list[Extraction]:
        """Return what each message of a group states; each is read with the two before it.

        Args:
            group: the messages, with what was said before them.
        """
        before = group.before
        found = []
        for episode in group.episodes:
            speaker = episode.speaker or episode.user or group.user
            found.append(self._extracted(episode.text, speaker, time_of_reading(episode), before))
            before = (*before, episode.text)
        return found

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction`` with the endings of what the memory holds, and of the theses that say nothing else.

        Args:
            text: not used.
            extraction: what :meth:`extract` returned.
            view: what the memory holds.
            speaker: not used.
            at: not used.
        """
        endings: dict[Statement, Ending] = {ending.statement: ending for ending in extraction.endings}
        stated = set(extraction.statements)
        for ending in extraction.endings:
            if not isinstance(ending.statement, Fact):
                continue
            for fact in _meant(ending.statement, view):
                if fact not in stated:
                    endings.setdefault(fact, replace(ending, statement=fact))
        ended = {statement for statement in endings if isinstance(statement, Fact)}
        for fact in tuple(ended):
            for thesis in view.theses(about=fact.subject):
                if thesis not in stated and (said := self._facts_of(thesis)) and said <= ended:
                    endings.setdefault(thesis, replace(endings[fact], statement=thesis))
        return with_possible_ends(replace(extraction, endings=tuple(endings.values())), view)

    def _extracted(self, text: str, speaker: str, at: float | None, before: Sequence[str]) -> Extraction:
        base = self._prose.extract(text, speaker, at)
        said_by = speaker or signature_of(text) or USER
        statements: dict[Statement, Statement] = {}
        endings: dict[Statement, Ending] = {ending.statement: ending for ending in base.endings}
        for event in self.events(text.removeprefix(f"{speaker}: ") if speaker else text, said_by, before):
            if event.confidence < self._least:
                continue
            if (fact := fact_of(event, at)) is not None:
                statements.setdefault(fact, fact)
            elif (ended := ended_by(event, at)) is not None:
                endings.setdefault(ended.fact, _ending(ended, text))
        kept = [one for one in base.statements if one not in statements]
        return Extraction(self.name, (*statements, *kept), tuple(endings.values()))

    def _read(self, text: str, speaker: str, before: tuple[str, ...]) -> tuple[MessageEvent, ...]:
        found: list[MessageEvent] = []
        for piece in pieces_of(speaker, before, text):
            scores = self._model.scores(piece, _SEEN)
            if scores is not None:
                found += events_of(piece, scores, self._model.relations, self._model.confidence)
        return tuple(distinct(found))

    def _facts_of(self, thesis: Thesis) -> set[Fact]:
        """Return the facts of a thesis."""
        speaker = next((name for name in thesis.objects if thesis.text.startswith(f"{name}: ")), "")
        events = self.events(thesis.text.removeprefix(f"{speaker}: ") if speaker else thesis.text, speaker or USER)
        facts = (fact_of(event, None) for event in events if event.confidence >= self._least)
        return {fact for fact in facts if fact is not None}


def _ending(ended: Ended, text: str) -> Ending:
    return Ending(ended.fact, text, ended.at, never=ended.never)


def _meant(ended: Fact, view: GraphView) -> list[Fact]:
    """Return the facts of a memory that a text means when it says that one is over."""
    words = set(normalise_name(ended.object).split())
    verb = ended.relation.partition(" ")[0]
    return [
        fact
        for fact in view.facts(ended.subject)
        if fact.relation.partition(" ")[0] == verb
        and (words <= (held := set(normalise_name(fact.object).split())) or held <= words)
    ]
