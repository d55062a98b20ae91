"""Extracts facts and endings from messages with the trained model; sentences and entities as without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from worldthread.extract.base import USER
from worldthread.extract.groups import EpisodeGroup
from worldthread.extract.language_detection import is_foreign
from worldthread.extract.possible_ends import with_possible_ends
from worldthread.extract.prose.extractor import (
    LONGEST_NOTE,
    PassageExtractor,
    ProseExtractor,
    signature_of,
    without_controls,
)
from worldthread.extract.prose.words import is_program
from worldthread.extract.reader.endings import facts_in_question, outcome_of
from worldthread.extract.reader.events import MessageEvent, distinct, events_of
from worldthread.extract.reader.model import reader_model
from worldthread.extract.reader.pieces import pieces_of
from worldthread.extract.reader.statements import ended_by, fact_of, with_its_time
from worldthread.extract.times import end_stated
from worldthread.extract.whole_values import whole_statements
from worldthread.extract.zones import time_of_reading
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

FOLDER: Final = Path(__file__).parent / "data"
"""Where the model lies that comes with the package."""
LEAST: Final = 0.7
"""How sure the model must be of an event that is stated."""
LEAST_ENDED: Final = 0.75
"""How sure the model must be that a fact is over."""
SUREST: Final = 0.8
SUREST_ENDED: Final = 0.97
"""How sure it must be of an event, and of an ending, for :func:`precise_reader`."""
_LEAST_CONFIRMED: Final = 0.2  # of a fact that the message names as over
_FIRST_PERSON: Final = re.compile(r"\b(?:i|im|ive|my|me|mine|we|our|ours)\b", re.IGNORECASE)
_SEEN: Final = 0.1  # how probable a beginning must be to be looked at
_TURNS_BEFORE: Final = 2
_MOST_PIECES: Final = 12  # of a message, some thousand words; the rest is text


class ReaderExtractor:
    """Extracts statements with a small trained model that points at the words of a message.

    An :class:`~worldthread.extract.base.Extractor` and a :class:`~worldthread.extract.groups.GroupExtractor`.
    Thread-safe. Theses and their objects are those of
    :class:`~worldthread.extract.prose.extractor.ProseExtractor`, which also states what a sentence says and no more,
    where the network states nothing of it, and reads documents, other languages than English, and what a program says.

    Args:
        folder: where the model lies.
        least: how sure the model must be of what is stated, in [0, 1].
        least_ended: how sure it must be that a fact is over, in [0, 1].
    """

    name: Final = "reader/6"
    concurrency: Final = 1
    settles_locally: Final = True
    """Whether :meth:`outdate` asks neither a model nor a server, so that others may wait for it."""
    takes_time: Final = True
    """Whether texts are better read in the background."""

    def __init__(self, folder: Path = FOLDER, least: float = LEAST, least_ended: float = LEAST_ENDED) -> None:
        self._folder, self._least, self._least_ended = folder, least, least_ended
        self._prose = ProseExtractor()
        self._model = reader_model(folder)
        self._read_before = lru_cache(256)(self._read)

    def __reduce__(self) -> tuple[type[ReaderExtractor], tuple[Path, float, float]]:
        return type(self), (self._folder, self._least, self._least_ended)

    def events(self, text: str, speaker: str, before: Sequence[str] = ()) -> tuple[MessageEvent, ...]:
        """Return what a message tells, however sure that is: at most so sure, where it is less so than ``least``.

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
            An extraction: facts in the order of their objects, then the theses; no failures.
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
        """Return ``extraction`` with the endings of what the memory holds.

        A fact ends where the message names it as over, or where the model, which reads the fact beside the message, is
        sure of that. It ends at the time that the message tells, else with the message.

        Args:
            text: the text.
            extraction: what :meth:`extract` returned.
            view: what the memory holds.
            speaker: who says the text.
            at: world time of the text.
        """
        said = _said(text, speaker)
        if said is None:
            return with_possible_ends(extraction, view)
        stated = {one for one in extraction.statements if isinstance(one, Fact)}
        meant: dict[Fact, Ending] = {}
        for ending in extraction.endings:
            if isinstance(ending.statement, Fact):
                meant |= {fact: replace(ending, statement=fact) for fact in _meant(ending.statement, view)}
        names = [name for one in extraction.statements if isinstance(one, Thesis) for name in one.objects]
        asked = dict.fromkeys((*meant, *facts_in_question(said.text, said.speaker, names, stated, view)))
        endings: dict[Statement, Ending] = {ending.statement: ending for ending in extraction.endings}
        for fact in asked:
            outcome = None if fact in stated else outcome_of(fact, said.text, said.speaker, self._model)
            if outcome is None or outcome.over < (_LEAST_CONFIRMED if fact in meant else self._least_ended):
                endings.pop(fact, None)
            elif fact in meant:
                endings[fact] = meant[fact]
            else:
                others = {fact.subject, fact.object} - {said.speaker}
                at_end = None if outcome.never else end_stated(said.text, at, others)
                endings[fact] = Ending(fact, text, at_end, never=outcome.never)
        return with_possible_ends(replace(extraction, endings=tuple(endings.values())), view)

    def _extracted(self, text: str, speaker: str, at: float | None, before: Sequence[str]) -> Extraction:
        base = self._prose.extract(text, speaker, at)
        said = _said(text, speaker)
        if said is None:
            return replace(base, extractor=self.name)
        statements: dict[Statement, Statement] = {}
        endings: dict[Statement, Ending] = {}
        told = [event for event in self.events(said.text, said.speaker, before) if event.confidence >= self._least]
        for event in told:
            if not said.is_own:
                if event.subject == said.speaker:
                    continue
                event = event._replace(subject=event.subject.removeprefix(f"{said.speaker}'s "))
            event = with_its_time(event, said.text, at, is_alone=len(told) == 1)
            if (fact := fact_of(event, at)) is not None:
                statements.setdefault(fact, fact)
            elif (ended := ended_by(event, at)) is not None:
                endings.setdefault(ended.fact, Ending(ended.fact, text, ended.at, never=ended.never))
        stated, over = whole_statements(
            [*statements], [*endings.values()], said.text, PassageExtractor.persons, said.speaker
        )
        return Extraction(self.name, (*stated, *_beside(stated, base.statements)), tuple(over))

    def _read(self, text: str, speaker: str, before: tuple[str, ...]) -> tuple[MessageEvent, ...]:
        found: list[MessageEvent] = []
        for piece in islice(pieces_of(speaker, before, text), _MOST_PIECES):
            scores = self._model.scores(piece, _SEEN)
            if scores is not None:
                judge = partial(self._model.judged, piece=piece)
                found += events_of(piece, scores, self._model.relations, self._model.confidence, judge, self._least)
        return tuple(distinct(found))


def _beside(stated: Sequence[Statement], ruled: Sequence[Statement]) -> list[Statement]:
    """Return what rules state beside the reader: theses, and facts that are all that a sentence says.

    Of a sentence that says no more, the theses have the aspects of its facts. None where the reader states something of
    the same subject with the same relation, or with words of the object.
    """
    aspects = {one.aspect for one in ruled if isinstance(one, Thesis)} - {None}
    read = [one.key for one in stated if isinstance(one, Fact)]
    return [
        one
        for one in ruled
        if isinstance(one, Thesis)
        or (
            one.aspect in aspects
            and not any(
                (one.key[0] == subject and (one.key[1] == relation or one.key[2] in thing)) or thing in one.key[2]
                for subject, relation, thing in read
            )
        )
    ]


def precise_reader() -> ReaderExtractor:
    """Return a reader that states and ends only what it is surest of: about half as much, and more of it is right."""
    return ReaderExtractor(least=SUREST, least_ended=SUREST_ENDED)


class _Spoken(NamedTuple):
    """What somebody says, without a label, and who; and whether it may be about them: a note without "I" is not."""

    text: str
    speaker: str
    is_own: bool


def _said(text: str, speaker: str) -> _Spoken | None:
    """Return the message of a person, or a short text that nobody signs as one of the user.

    ``None`` for documents, for what a program says, which has no life to tell of, and for other languages than English.
    """
    text = without_controls(text)
    has_label = bool(speaker) and text.startswith(f"{speaker}: ")
    if is_program(speaker) or is_foreign(text) or not (has_label or len(text) <= LONGEST_NOTE):
        return None
    is_own = has_label or _FIRST_PERSON.search(text) is not None
    shown = text.removeprefix(f"{speaker}: ") if has_label else text
    return _Spoken(shown, speaker or signature_of(text) or USER, is_own)


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
