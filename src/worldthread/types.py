"""The values of worldthread: episodes, statements, and what a retrieval returns. All are immutable.

**Times.** *World time* says when something was so: a turn number, or seconds since 1970-01-01 UTC; a finite float, in
one unit per memory. *Recorded time* says when it was stored, in seconds since 1970-01-01 UTC. Intervals are half-open.

**Identity.** Ids are computed from content, so the order of arrival does not matter. An episode is identified by its
text, world time, source and labels; a fact by its three normalised names; a thesis by its normalised text and objects.
Who said it is no part of it: when two users state the same, each has versions of it (:mod:`worldthread.graph`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from worldthread.errors import InputError
from worldthread.names import normalise_name, normalise_text
from worldthread.provenance import NO_LABELS, NO_METADATA, Labels, MetadataValue, Provenance
from worldthread.support.arguments import (
    require_finite,
    require_name,
    require_string,
    require_text,
    require_tuple,
    whole_characters,
)

FOREVER = math.inf
"""The ``valid_to`` of a statement that has not ended."""

TimeLike: TypeAlias = float | int | datetime | date | str
"""A world time: a number, taken as it is; a date or time, taken as seconds since 1970-01-01 UTC (UTC where it names no
zone); or a string that holds a number or an ISO 8601 date or time."""


def _digest(*parts: str) -> str:
    """Return the 128-bit id of a sequence of strings; their lengths are hashed too, so their borders count."""
    return hashlib.blake2b(b"".join(map(digest_part, parts)), digest_size=16).hexdigest()


def digest_part(part: str) -> bytes:
    """Return what is hashed of one of the strings of which an id is the digest."""
    data = part.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "big") + data


def fact_id(subject: str, relation: str, object_: str) -> str:
    """Return the id of a fact with a key: see :attr:`Fact.key`."""
    return _digest("fact", subject, relation, object_)


def thesis_id(text: str, objects: Iterable[str]) -> str:
    """Return the id of a thesis with a key: see :attr:`Thesis.key`."""
    return _digest("thesis", text, *objects)


def short_repr(text: str, limit: int = 60) -> str:
    """Return the ``repr`` of a text, cut to ``limit`` characters of the text."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


@dataclass(frozen=True)
class Fact:
    """A triple of names, compared and identified by the names in their normalised form.

    Args:
        subject: the name of what the fact is about, as written.
        relation: the relation, such as ``"lives in"``.
        object: the name of what it is related to.
        aspect: the single-valued property that the fact states, such as ``"place of key 1"``. A later episode that
            states other facts under the same aspect ends this fact. With ``None`` the fact ends only when an episode
            says so. The aspect is not part of the identity of the fact.
        valid_from: the world time from which the fact holds, as the text states it; ``None`` when it states none.
            Not part of the identity, like ``valid_to``.
        valid_to: the world time at which the fact ends, or ended, as the text states it; ``None`` when it states none.
        begins_by: the first world time at which the fact has begun for certain, when the text states its beginning
            only to a day, week, month or year: "joined in May" begins at some time from 1 May until before 1 June.
            ``None`` when ``valid_from`` is exact, or not stated. It is for people who read the fact; the graph counts
            from ``valid_from``.

    Raises:
        InputError: a name is empty, or holds control characters; or a time is not finite, or the
            end comes before the beginning; or ``begins_by`` is not after ``valid_from``.

    Examples:
        >>> print(Fact("Anna", "lives in", "Rome"))
        Anna, lives in, Rome
    """

    subject: str
    relation: str
    object: str
    aspect: str | None = field(default=None, compare=False)
    valid_from: float | None = field(default=None, compare=False)
    valid_to: float | None = field(default=None, compare=False)
    begins_by: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for part in ("subject", "relation", "object"):
            _keep(self, part, require_name(getattr(self, part), part))
        if self.aspect is not None:
            _keep(self, "aspect", require_name(self.aspect, "aspect"))
        _require_interval(self)

    @cached_property
    def key(self) -> tuple[str, str, str]:
        """The normalised subject, relation and object."""
        return normalise_name(self.subject), normalise_name(self.relation), normalise_name(self.object)

    @cached_property
    def id(self) -> str:
        """The id: 32 hexadecimal digits, computed from :attr:`key`."""
        return fact_id(*self.key)

    def __eq__(self, other: Any) -> bool:
        return self.key == other.key if isinstance(other, Fact) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return f"{self.subject}, {self.relation}, {self.object}"


@dataclass(frozen=True)
class Thesis:
    """One atomic sentence with the objects that it speaks of.

    Theses are compared and identified by the normalised text and the set of normalised objects.

    Args:
        text: the sentence.
        objects: names of the objects that the sentence speaks of.
        aspect: as for :class:`Fact`.
        valid_from: as for :class:`Fact`.
        valid_to: as for :class:`Fact`.
        begins_by: as for :class:`Fact`.

    Raises:
        InputError: the text or a name is empty, or cannot be recorded; or the times are as a fact cannot have them.
    """

    text: str
    objects: tuple[str, ...] = ()
    aspect: str | None = field(default=None, compare=False)
    valid_from: float | None = field(default=None, compare=False)
    valid_to: float | None = field(default=None, compare=False)
    begins_by: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _keep(self, "text", require_text(self.text, "text of a thesis"))
        names = require_tuple(self.objects, str, "objects of a thesis")
        object.__setattr__(self, "objects", tuple(require_name(name, "object of a thesis") for name in names))
        if self.aspect is not None:
            _keep(self, "aspect", require_name(self.aspect, "aspect"))
        _require_interval(self)

    @cached_property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The normalised text, and the normalised objects, sorted and without repetition."""
        return normalise_text(self.text), tuple(sorted({normalise_name(name) for name in self.objects}))

    @cached_property
    def id(self) -> str:
        """The id: 32 hexadecimal digits, computed from :attr:`key`."""
        return thesis_id(*self.key)

    def __eq__(self, other: Any) -> bool:
        return self.key == other.key if isinstance(other, Thesis) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.text


Statement: TypeAlias = Fact | Thesis
"""A fact or a thesis."""


def _keep(owner: object, name: str, checked: str) -> None:
    """Set a text of an immutable value to what is recorded of it."""
    if checked is not getattr(owner, name):
        object.__setattr__(owner, name, checked)


def _require_time(owner: Fact | Thesis | Ending, name: str) -> float | None:
    """Set an optional time to a float, and return it."""
    given = getattr(owner, name)
    if given is None:
        return None
    time = require_finite(given, name)
    object.__setattr__(owner, name, time)
    return time


def _require_interval(statement: Statement) -> None:
    start, end = _require_time(statement, "valid_from"), _require_time(statement, "valid_to")
    if start is not None and end is not None and end < start:
        raise InputError(f"valid_to is {end:.16g}, which is before valid_from, {start:.16g}")
    latest = _require_time(statement, "begins_by")
    if latest is not None and start is None:
        raise InputError("begins_by needs valid_from, the earliest beginning")
    if latest is not None and start is not None and latest <= start:
        raise InputError(f"begins_by is {latest:.16g}, which is not after valid_from, {start:.16g}")


@dataclass(frozen=True)
class Ending:
    """The end of an older statement, as said by an episode.

    Args:
        statement: the statement that no longer holds.
        reason: why it ended, in words.
        at: the world time at which it ended, or will end, as the text states it; ``None`` for the time of the episode.
        never: the statement was never true: whatever asserted it before does not count, at any time. Such an ending
            is a *correction*.

    Raises:
        InputError: an argument cannot be used.
    """

    statement: Statement
    reason: str
    at: float | None = None
    never: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.statement, Fact | Thesis):
            raise InputError(
                f"the statement of an ending must be a Fact or a Thesis, not {type(self.statement).__name__}"
            )
        _keep(self, "reason", require_text(self.reason, "reason of an ending"))
        if _require_time(self, "at") is not None and self.never:
            raise InputError("a statement that was never true has not ended at a time: leave out at")
        if not isinstance(self.never, bool):
            raise InputError(f"never must be true or false, not {type(self.never).__name__}")


def _two_names(pair: tuple[str, ...]) -> tuple[str, str]:
    """Require a pair of different names."""
    if len(pair) != 2:
        raise InputError(f"same_names are pairs of names, not {pair!r}")
    name, other = (require_name(one, "name") for one in pair)
    if normalise_name(name) == normalise_name(other):
        raise InputError(f"{name!r} and {other!r} are one name already")
    return name, other


@dataclass(frozen=True)
class Extraction:
    """What an extractor took from the text of one episode.

    The extraction is recorded with the episode; the graph is computed from it without reading the text again.

    Args:
        extractor: name and version of the extractor, such as ``"game/1"``; empty when no extractor has read the
            episode.
        statements: facts and theses that hold from the episode's world time on, or in the interval that they state.
        endings: older statements that end at the episode's world time, or at the time that the ending states. A
            statement that is also in ``statements`` does not end.
        failures: parts of the extractor's output that could not be understood, verbatim.
        same_names: pairs of names that mean the same; the second is the better one. Statements of both count as
            statements of one, at any time.

    Raises:
        InputError: an argument cannot be used.
    """

    extractor: str = ""
    statements: tuple[Statement, ...] = ()
    endings: tuple[Ending, ...] = ()
    failures: tuple[str, ...] = ()
    same_names: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _keep(self, "extractor", require_string(self.extractor, "the name of the extractor"))
        assign = object.__setattr__
        assign(self, "statements", require_tuple(self.statements, (Fact, Thesis), "statements of an extraction"))
        assign(self, "endings", require_tuple(self.endings, Ending, "endings of an extraction"))
        failures = require_tuple(self.failures, str, "failures of an extraction")
        assign(self, "failures", tuple(map(whole_characters, failures)))
        assign(self, "same_names", require_tuple(self.same_names, tuple, "same_names of an extraction"))
        assign(self, "same_names", tuple(map(_two_names, self.same_names)))

    @property
    def is_complete(self) -> bool:
        """Whether an extractor has read the text and understood all of it."""
        return bool(self.extractor) and not self.failures

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits, computed from the whole extraction as written; equal for equal extractions only."""
        parts = [self.extractor, *self.failures]
        said = (*self.statements, *(ending.statement for ending in self.endings))
        for statement in said:
            names = statement.objects if isinstance(statement, Thesis) else (statement.relation, statement.object)
            head = statement.text if isinstance(statement, Thesis) else statement.subject
            parts += [type(statement).__name__, statement.aspect or "", str(len(names)), head, *names]
        parts += [ending.reason for ending in self.endings]
        # what follows is told apart by its form, and left out where nothing of it is stated: older digests stay
        times = [time for s in self.statements for time in (s.valid_from, s.valid_to)] + [e.at for e in self.endings]
        if any(time is not None for time in times):
            parts += ["" if time is None else time.hex() for time in times]
        if any(statement.begins_by is not None for statement in said):
            parts += ["begins by", *("" if s.begins_by is None else s.begins_by.hex() for s in said)]
        if any(ending.never for ending in self.endings):
            parts += ["never" if ending.never else "" for ending in self.endings]
        if self.same_names:
            parts += ["same names", *(name for pair in self.same_names for name in pair)]
        counts = (len(self.failures), len(self.statements), len(self.endings))
        return _digest(*map(str, counts), *parts)


WAITING: Final = Extraction(failures=("it waits to be read",))
"""What is recorded of an episode until it is read in the background."""


@dataclass(frozen=True)
class Episode:
    """One observation or passage: its text, its times and its extraction.

    Args:
        text: the observation or passage, verbatim.
        at: world time; see the top of this module.
        source: where it comes from, such as a run or a file. Distinguishes equal texts of one world time.
        extraction: what was extracted from the text. Not part of the identity.
        recorded_at: recorded time; ``None`` until the episode is recorded. Not part of the identity.
        extracted_at: recorded time of the extraction, if it replaced an earlier one; ``None`` while it is the first.
            Not part of the identity.
        speaker: who says the text, as given; empty if nobody is known to say it. The text begins with the speaker, a
            colon and a space.
        user: the person or account whose text it is; empty for none. What users say is folded apart: an episode ends
            and changes nothing of another user's.
        agent: the agent that remembers it, or takes part in it; empty for none.
        session: the session or conversation in which it came up; empty for none.
        metadata: anything else: strings, whole numbers of 64 bits, finite numbers and truth values by key.
        payload: what a program keeps with the text and gets back as it was, of any length. It is neither read nor
            searched. Not part of the identity.

    Raises:
        InputError: an argument cannot be used.
    """

    text: str
    at: float
    source: str = ""
    extraction: Extraction = Extraction()
    recorded_at: float | None = field(default=None, compare=False)
    extracted_at: float | None = field(default=None, compare=False)
    speaker: str = ""
    user: str = ""
    agent: str = ""
    session: str = ""
    metadata: Mapping[str, MetadataValue] = NO_METADATA
    payload: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        _keep(self, "text", require_text(self.text, "text of an episode"))
        for name in ("source", "speaker", "user", "agent", "session"):
            _keep(self, name, require_string(getattr(self, name), name))
        if self.speaker and not self.text.startswith(f"{self.speaker}: "):
            raise InputError(f"the text of {self.speaker!r} must begin with {self.speaker + ': '!r}")
        _keep(self, "payload", require_string(self.payload, "payload"))
        if not isinstance(self.extraction, Extraction):
            raise InputError(
                f"the extraction of an episode must be an Extraction, not {type(self.extraction).__name__}"
            )
        object.__setattr__(self, "at", require_finite(self.at, "at"))
        if self.recorded_at is not None:
            object.__setattr__(self, "recorded_at", require_finite(self.recorded_at, "recorded_at"))
        if self.extracted_at is not None:
            object.__setattr__(self, "extracted_at", require_finite(self.extracted_at, "extracted_at"))
        object.__setattr__(self, "metadata", self.labels.metadata)  # checks the labels; metadata become immutable

    @cached_property
    def labels(self) -> Labels:
        """User, agent, session and metadata."""
        if self.metadata is NO_METADATA and self.user == self.agent == self.session == "":
            return NO_LABELS
        return Labels(self.user, self.agent, self.session, self.metadata)  # type: ignore[arg-type]

    @cached_property
    def provenance(self) -> Provenance:
        """The speaker and the labels."""
        return Provenance(self.speaker, self.labels)

    @property
    def said(self) -> str:
        """The text without the label of its speaker."""
        return self.text.removeprefix(f"{self.speaker}: ") if self.speaker else self.text

    @cached_property
    def id(self) -> str:
        """The id: 32 hexadecimal digits, computed from text, world time, source, speaker, and labels if it has any."""
        # a text shows its speaker, unless the name holds a colon: "A: B: hello" may be said by "A" or by "A: B"
        speaker = (self.speaker,) if ": " in self.speaker else ()
        labels = ("labels", self.user, self.agent, self.session, self.labels.metadata.text) if self.labels else ()
        return _digest("episode", self.text, self.at.hex(), self.source, *speaker, *labels)

    def __repr__(self) -> str:
        source = f", source={short_repr(self.source)}" if self.source else ""
        return f"Episode({short_repr(self.text)}, at={self.at:.16g}{source})"


@dataclass(frozen=True, order=True)
class Interval:
    """A half-open interval of world time: ``valid_from <= t < valid_to``.

    Args:
        valid_from: the first time in the interval.
        valid_to: the first time after it; :data:`FOREVER` while the end is not known.
    """

    valid_from: float
    valid_to: float = FOREVER

    def __contains__(self, time: object) -> bool:
        return isinstance(time, int | float) and self.valid_from <= time < self.valid_to

    @property
    def is_open(self) -> bool:
        """Whether the interval has not ended."""
        return self.valid_to == FOREVER


@dataclass(frozen=True)
class Version:
    """One uninterrupted interval in which a statement held.

    Args:
        statement: the statement.
        interval: when it held, in world time. It can lie in the future. It is empty when the statement turned out not
            to have held at all.
        sources: ids of the episodes that asserted it in this interval, in the order in which they count (see
            :mod:`worldthread.graph.fold`); without stated times, in order of world time, then id.
        ended_by: id of the episode that ended it or states its end; ``None`` while no end is known.
        reason: why it ended; ``None`` while no end is known.
        timezone: the time zone of who wrote the first source, for people who read the times; empty for UTC.
    """

    statement: Statement
    interval: Interval
    sources: tuple[str, ...]
    ended_by: str | None = None
    reason: str | None = None
    timezone: str = field(default="", compare=False)

    def ended_after(self, told_at: float) -> bool:
        """Return whether the end came after it was told: by another episode, or as its own says ("until August").

        What a text tells as past, or plans, did not end so: it is an event, or was over before.

        Args:
            told_at: the world time at which it was told.

        Returns:
            Whether it is so.
        """
        is_own = self.ended_by in self.sources
        return not is_own or self.interval.valid_from <= told_at < self.interval.valid_to


Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """A part of a long list, in the order that the method states.

    Args:
        items: what is on this page.
        cursor: where the next page begins: pass it to the same method with the same arguments. ``None`` on the last
            page. What is added or forgotten in the meantime moves nothing from one page to another.
    """

    items: tuple[Item, ...] = ()
    cursor: str | None = None


Kind: TypeAlias = Literal["fact", "thesis", "episode"]
"""The kinds of items that can be retrieved."""

KINDS: Final[tuple[Kind, ...]] = ("fact", "thesis", "episode")


@dataclass(frozen=True)
class Hit:
    """One retrieved statement or episode.

    Args:
        item: the fact, thesis or episode.
        score: how well it fits the question; higher is better. Scores of one method only can be compared.
        kind: whether the item is a fact, a thesis or an episode.
        path: alternating names of objects and relations that lead to the item from an object in the question; empty
            when there is no such path.
        version: for a statement, when it holds, which episodes it comes from, and why it ended; ``None`` for an
            episode.
        outdated: facts that were read from the thesis or the episode and that had ended by the time asked about, as
            their last versions. It is still evidence for everything else that it says.
    """

    item: Statement | Episode
    score: float
    kind: Kind
    path: tuple[str, ...] = ()
    version: Version | None = None
    outdated: tuple[Version, ...] = ()

    def __repr__(self) -> str:
        text = self.item.text if isinstance(self.item, Episode) else str(self.item)
        return f"Hit({self.kind} {short_repr(text)}, score={self.score:.3f})"


_LEAST_SPACES: Final = 2  # of a question of three words


@dataclass(frozen=True)
class AskedTime:
    """The time that a question asks about, by its own words.

    Args:
        words: the words that say so, such as "in 2023" or "before she moved"; empty where only its verb is past.
        interval: the time, from ``-math.inf`` or until ``math.inf`` where it is open; ``None`` where the memory does
            not know it, such as that of "after the wedding".
        years: the years that a noun of the question has, such as "2023" of "my 2023 marathon", which evidence must
            agree with.
        clause: those of the words that name what happened, such as "before she moved", which are not searched for.
        is_tense: whether only the tense of the question says that it is about what was.
        is_guess: whether "last year" is read against the end of a memory of another time, of which nobody said when the
            question is asked. Passages are not left out by such a time.
        offset: the seconds by which the clock of who asks is ahead of UTC: their days begin at other times.
    """

    words: str
    interval: Interval | None
    years: tuple[str, ...] = ()
    clause: str = ""
    is_tense: bool = False
    is_guess: bool = False
    offset: float = 0.0

    def without_words(self, question: str) -> str:
        """Return a question without :attr:`words`; the question itself where too little else is asked."""
        left = question
        for part in filter(None, self.words.split(", ")):
            left = left.replace(part, " ", 1)
        left = " ".join(left.replace(" ,", " ").split()).replace(" ?", "?").strip(" ,")
        return left if self.interval is not None and left.count(" ") >= _LEAST_SPACES else question

    def without_clause(self, question: str) -> str:
        """Return a question without :attr:`clause`; the question itself where nothing else is asked."""
        left = question.replace(self.clause, " ").strip(" ,") if self.clause else question
        return left if any(map(str.isalpha, left)) else question


@dataclass(frozen=True)
class Recall:
    """The result of a retrieval.

    Args:
        query: the question.
        hits: facts, then theses, then episodes, best first within each kind.
        text: the hits in words, ready for a prompt, within the requested number of tokens.
        method: the name of the retrieval method.
        as_of: the world time that the caller asked about; ``None`` for now.
        asked_time: the time that the question names; ``None`` where it names none.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    text: str = ""
    method: str = ""
    as_of: float | None = None
    asked_time: AskedTime | None = None

    @property
    def facts(self) -> tuple[Hit, ...]:
        """Hits that are facts, best first."""
        return tuple(hit for hit in self.hits if hit.kind == "fact")

    @property
    def theses(self) -> tuple[Hit, ...]:
        """Hits that are theses, best first."""
        return tuple(hit for hit in self.hits if hit.kind == "thesis")

    @property
    def episodes(self) -> tuple[Hit, ...]:
        """Hits that are episodes, best first."""
        return tuple(hit for hit in self.hits if hit.kind == "episode")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        counts = f"facts={len(self.facts)}, theses={len(self.theses)}, episodes={len(self.episodes)}"
        return f"Recall({short_repr(self.query)}, {counts})"
