"""What the tools answer: as data with a schema, and as lines for a model to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeAlias

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from worldthread.extract.when import shown_time
from worldthread.memory import Memory
from worldthread.names import normalise_text
from worldthread.retrieve.text import shown_hit
from worldthread.text import OMISSION, cut, one_line
from worldthread.types import Episode, Fact, Hit, Statement, Version

_EXCERPT: Final = 300
_PASSAGE: Final = 2000
_ORIGINS: Final = 5  # episodes named for one statement: a common one has thousands

When: TypeAlias = Annotated[
    str, Field(description="A date, or a date and time in UTC to the second (ISO 8601), or the number of a turn")
]


class PassageResult(BaseModel):
    """An episode: something that was remembered, verbatim."""

    id: str = Field(description="Id of the episode; forget takes it")
    at: When
    source: str = Field(description="Where it comes from; empty when that was not said")
    text: str = Field(description="The text, cut when it is long")


class StatedFact(BaseModel):
    """A statement over one interval in which it held."""

    kind: Literal["fact", "thesis"] = Field(description="fact: subject, relation, object. thesis: one sentence")
    text: str
    since: When
    until: When | None = Field(description="When it stopped holding; null while it holds")
    reason: str | None = Field(description="Why it stopped holding; null while it holds")
    episodes: list[str] = Field(description=f"Ids of the episodes that say so, the first {_ORIGINS}")
    sources: list[str] = Field(description="Where those come from")
    path: list[str] = Field(default=[], description="How the question leads to it: objects and relations in turn")


class RememberResult(BaseModel):
    """What became of what was given."""

    episodes: list[str] = Field(description="Ids of the episodes, in order; forget takes one")
    added: int = Field(description="How many are new")
    known: int = Field(description="How many were remembered before, and were left alone")
    unread: int = Field(description="How many are kept but could not be understood yet")
    problems: list[str] = Field(description="Why")


class RecallResult(BaseModel):
    """What matters for the question, best first."""

    statements: list[StatedFact]
    passages: list[PassageResult]


class AskResult(BaseModel):
    """An answer with what it rests on."""

    answer: str | None = Field(description="null: there is not enough information")
    statements: list[StatedFact] = Field(description="Statements that the answer rests on")
    passages: list[PassageResult] = Field(description="Passages that the answer rests on")
    model: str = Field(description="Who answered; empty when it is just the statement that fits best")


class EntityResult(BaseModel):
    """Statements about one entity."""

    entity: str
    statements: list[StatedFact]
    left_out: int = Field(description="How many more there are; ask with a higher limit to see them")
    similar: list[str] = Field(description="Known names that hold this one, when nothing is known under it")


class ForgetResult(BaseModel):
    """What was forgotten, or would be."""

    forgotten: int = Field(description="How many episodes are gone; 0 without confirm=true")
    would_forget: int = Field(description="How many episodes confirm=true would remove; 0 when they are gone")
    episodes: list[PassageResult] = Field(description="The first of them")


class StatsResult(BaseModel):
    """How much is remembered."""

    file: str
    namespace: str
    readonly: bool
    model: str = Field(description="Chat model that reads and answers; empty for rules")
    counts: dict[str, int]


def told(text: str, data: BaseModel) -> CallToolResult:
    """A result in both forms."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=data.model_dump(mode="json")
    )


def passage(episode: Episode, limit: int = _PASSAGE) -> PassageResult:
    """An episode as data."""
    return PassageResult(
        id=episode.id, at=shown_time(episode.at), source=episode.source, text=cut(episode.text.strip(), limit, OMISSION)
    )


def excerpt(episode: Episode) -> PassageResult:
    """An episode as data with only the beginning of its text, in one line."""
    return passage(episode).model_copy(update={"text": cut(one_line(episode.text), _EXCERPT, OMISSION)})


def stated(memory: Memory, version: Version, path: Iterable[str] = ()) -> StatedFact:
    """A statement with its times as data."""
    statement, interval = version.statement, version.interval
    episodes = list(version.sources[:_ORIGINS])
    return StatedFact(
        kind="fact" if isinstance(statement, Fact) else "thesis",
        text=_said(statement),
        since=shown_time(interval.valid_from),
        until=None if interval.is_open else shown_time(interval.valid_to),
        reason=version.reason,
        episodes=episodes,
        sources=list(dict.fromkeys(filter(None, (memory.episode(id_).source for id_ in episodes)))),
        path=list(path),
    )


def split(memory: Memory, hits: Iterable[Hit]) -> tuple[list[StatedFact], list[PassageResult]]:
    """Hits as data: statements, and passages."""
    found = list(hits)
    statements = [stated(memory, hit.version, hit.path) for hit in found if hit.version is not None]
    return statements, [passage(hit.item) for hit in found if isinstance(hit.item, Episode)]


def without_echoes(versions: Iterable[Version]) -> list[Version]:
    """The same without sentences that a fact of the same interval says word for word."""
    found = list(versions)
    said = {
        (normalise_text(_said(version.statement)), version.interval)
        for version in found
        if isinstance(version.statement, Fact)
    }
    return [
        version
        for version in found
        if isinstance(version.statement, Fact) or (normalise_text(version.statement.text), version.interval) not in said
    ]


def version_line(version: Version) -> str:
    """A statement with its times in one line."""
    interval, said = version.interval, cut(one_line(_said(version.statement)), _PASSAGE, OMISSION)
    if interval.is_open:
        return f"- {said} (since {shown_time(interval.valid_from)})"
    reason = f"; {cut(one_line(version.reason), _EXCERPT, OMISSION)}" if version.reason else ""
    return f"- {said} (from {shown_time(interval.valid_from)} until {shown_time(interval.valid_to)}{reason})"


def hit_line(hit: Hit) -> str:
    """A hit in one line."""
    return f"- {cut(one_line(shown_hit(hit)), _PASSAGE, OMISSION)}"


def passage_line(shown: PassageResult) -> str:
    """An episode in one line, with its id."""
    return f"- {shown.id} ({', '.join(filter(None, (shown.at, one_line(shown.source))))}) {one_line(shown.text)}"


def _said(statement: Statement) -> str:
    if isinstance(statement, Fact):
        return f"{statement.subject} {statement.relation} {statement.object}"
    return statement.text
