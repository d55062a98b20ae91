"""What servers answer: data with a schema, and lines for a model to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field

from worldthread.extract.when import shown_time
from worldthread.memory.memory import Memory
from worldthread.names import normalise_text
from worldthread.retrieve.text import shown_hit, shown_interval, shown_reason, shown_statement
from worldthread.support.text import OMISSION, cut, one_line
from worldthread.types import Episode, Fact, Hit, Version

_EXCERPT: Final = 300
_PASSAGE: Final = 2000
_ASKED_TIME: Final = 'The time that the question names, as understood, such as "in 2023"; empty if it names none'
_SOURCES: Final = 5  # episodes named for one statement: a common statement has thousands

When: TypeAlias = Annotated[
    str, Field(description="A date, or a date and time in UTC to the second (ISO 8601), or the number of a turn")
]


class PassageResult(BaseModel):
    """An episode: a text as it was remembered."""

    id: str = Field(description="The id of the episode, for forget")
    at: When
    source: str = Field(description="Where it comes from; empty if not given")
    text: str = Field(description="The text; a long one is cut")


class FactResult(BaseModel):
    """A statement with one interval in which it held."""

    id: str = Field(description="The id of the statement, for update, correct and forget")
    kind: Literal["fact", "thesis"] = Field(description="fact: subject, relation, object. thesis: one sentence")
    text: str
    since: When
    until: When | None = Field(description="When it ended; null while it holds")
    reason: str | None = Field(description="Why it ended; null while it holds")
    episodes: list[str] = Field(description=f"The ids of the first {_SOURCES} episodes that state it")
    sources: list[str] = Field(description="Where those episodes come from")
    path: list[str] = Field(default=[], description="The path from the question to it: objects and relations in turn")


class RememberResult(BaseModel):
    """The episodes that were stored."""

    episodes: list[str] = Field(description="The ids of the episodes in order, for forget")
    added: int = Field(description="The number of new episodes")
    known: int = Field(description="The number of episodes that were already in the memory")
    unread: int = Field(description="The number of episodes that are stored but could not be understood yet")
    problems: list[str] = Field(description="Why they could not be understood")
    skipped: int = Field(default=0, description="The number of turns without text, which were left out")


class RecallResult(BaseModel):
    """The hits for a question, best first."""

    statements: list[FactResult]
    passages: list[PassageResult]
    asked_time: str = Field(default="", description=_ASKED_TIME)


class AskResult(BaseModel):
    """An answer with its sources."""

    answer: str | None = Field(description="null if there is not enough information")
    support: Literal["stated", "inferred"] | None = Field(
        default=None,
        description="Whether the sources state the answer, or a step to it is only implied; null without an answer",
    )
    statements: list[FactResult] = Field(description="The statements that support the answer")
    passages: list[PassageResult] = Field(description="The passages that support the answer")
    nearest_statements: list[FactResult] = Field(
        default_factory=list,
        description="Without an answer, the statements that come nearest: evidence, which may be about something else",
    )
    nearest_passages: list[PassageResult] = Field(
        default_factory=list, description="Without an answer, the passages that come nearest"
    )
    model: str = Field(description="The chat model that answered; empty if the answer is taken from what is remembered")
    asked_time: str = Field(default="", description=_ASKED_TIME)


class EntityResult(BaseModel):
    """Statements about one entity."""

    entity: str
    statements: list[FactResult]
    left_out: int = Field(description="The number of further statements; a higher limit shows them")
    similar: list[str] = Field(description="Known names that contain this one, if nothing is known about it")


class ListResult(BaseModel):
    """A page of statements."""

    statements: list[FactResult]
    cursor: str | None = Field(description="Where the next page begins; null on the last page")


class CorrectResult(BaseModel):
    """The correction, the update or the merge of names that was recorded."""

    episode: str = Field(description="The id of its episode; forget it to undo it")


class ForgetResult(BaseModel):
    """The episodes that were forgotten, or would be."""

    forgotten: int = Field(description="The number of removed episodes; 0 without confirm=true")
    would_forget: int = Field(
        description="The number of episodes that confirm=true would remove; 0 after their removal"
    )
    episodes: list[PassageResult] = Field(description="The first of the episodes that would be removed")


class StatsResult(BaseModel):
    """The size of the memory."""

    file: str
    namespace: str
    readonly: bool
    model: str = Field(description="The chat model that reads and answers; empty if rules do")
    counts: dict[str, int]


def passage(episode: Episode, limit: int = _PASSAGE) -> PassageResult:
    """Return an episode as data, its text cut at ``limit`` characters."""
    return PassageResult(
        id=episode.id, at=shown_time(episode.at), source=episode.source, text=cut(episode.text.strip(), limit, OMISSION)
    )


def excerpt(episode: Episode) -> PassageResult:
    """Return an episode as data, with only the beginning of its text on one line."""
    return passage(episode).model_copy(update={"text": cut(one_line(episode.text), _EXCERPT, OMISSION)})


def stated_fact(memory: Memory, version: Version, path: Iterable[str] = ()) -> FactResult:
    """Return one version of a statement as data."""
    statement, interval = version.statement, version.interval
    episodes = list(version.sources[:_SOURCES])
    return FactResult(
        id=statement.id,
        kind="fact" if isinstance(statement, Fact) else "thesis",
        text=shown_statement(statement),
        since=shown_time(interval.valid_from),
        until=None if interval.is_open else shown_time(interval.valid_to),
        reason=None if version.reason is None else shown_reason(version.reason),
        episodes=episodes,
        sources=list(dict.fromkeys(filter(None, (memory.episode(id_).source for id_ in episodes)))),
        path=list(path),
    )


def split_hits(memory: Memory, hits: Iterable[Hit]) -> tuple[list[FactResult], list[PassageResult]]:
    """Return hits as data: the statements, and the passages."""
    found = list(hits)
    statements = [stated_fact(memory, hit.version, hit.path) for hit in found if hit.version is not None]
    return statements, [passage(hit.item) for hit in found if isinstance(hit.item, Episode)]


def without_duplicate_theses(versions: Iterable[Version]) -> list[Version]:
    """Return the versions without theses that a fact with the same interval states word for word."""
    found = list(versions)
    facts = {
        (normalise_text(shown_statement(version.statement)), version.interval)
        for version in found
        if isinstance(version.statement, Fact)
    }
    return [
        version
        for version in found
        if isinstance(version.statement, Fact)
        or (normalise_text(version.statement.text), version.interval) not in facts
    ]


def version_line(version: Version) -> str:
    """Return one version of a statement with its times, on one line."""
    text = cut(one_line(shown_statement(version.statement)), _PASSAGE, OMISSION)
    has_ended = not version.interval.is_open
    reason = (
        f"; {cut(one_line(shown_reason(version.reason)), _EXCERPT, OMISSION)}" if has_ended and version.reason else ""
    )
    return f"- {text} ({shown_interval(version)}{reason})"


def hit_line(hit: Hit) -> str:
    """Return a hit on one line."""
    return f"- {cut(one_line(shown_hit(hit)), _PASSAGE, OMISSION)}"


def passage_line(passage: PassageResult) -> str:
    """Return an episode on one line, with its id."""
    origin = ", ".join(filter(None, (passage.at, one_line(passage.source))))
    return f"- {passage.id} ({origin}) {one_line(passage.text)}"
