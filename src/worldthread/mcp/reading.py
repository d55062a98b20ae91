"""The tools that only read the memory; their docstrings are the descriptions that models see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from mcp_types import CallToolResult
from pydantic import Field

from worldthread.mcp.tool_results import render_errors, tool_result
from worldthread.memory.memory import Memory
from worldthread.memory.served_memory import ServedMemory, may_write
from worldthread.names import normalise_name
from worldthread.retrieve.text import shown_asked_time
from worldthread.schemas.arguments import MAX_NAME, AsOf, Entity, Limit, MinScore, Question, Where, filter_of
from worldthread.schemas.results import (
    AskResult,
    EntityResult,
    ListResult,
    RecallResult,
    StatsResult,
    hit_line,
    split_hits,
    stated_fact,
    version_line,
    without_duplicate_theses,
)
from worldthread.support.text import one_line
from worldthread.types import KINDS, Kind, Version

_SIMILAR: Final = 5


class ReadingTools:
    """The tools that only read the memory. The SDK runs each call on a thread of its own.

    Args:
        shared: the memory.
    """

    def __init__(self, shared: ServedMemory) -> None:
        self._shared = shared

    @property
    def _memory(self) -> Memory:
        return self._shared.memory

    @render_errors
    def recall(
        self,
        question: Question,
        k: Annotated[
            Annotated[int, Field(ge=1, le=50)] | None,
            Field(description="The most hits of each kind; null: as many as stand out, 3 to 20"),
        ] = 5,
        as_of: AsOf = None,
        kinds: Annotated[
            Sequence[Kind],
            Field(
                min_length=1,
                description="fact: subject, relation, object. thesis: one sentence. episode: the text as remembered",
            ),
        ] = KINDS,
        only_current: Annotated[
            bool, Field(description="true: leave out what no longer holds. false: include the past")
        ] = True,
        max_tokens: Annotated[int, Field(ge=50, le=20_000, description="The approximate length of the text")] = 1000,
        where: Where = None,
        min_score: MinScore = 0.0,
    ) -> Annotated[CallToolResult, RecallResult]:
        """Look up what is remembered about a topic: facts, sentences and texts, best first.

        Use it before you answer anything that may depend on earlier conversations, on the user's life, plans or
        preferences, or on remembered documents, and when a task resumes earlier work. It is cheap: when in doubt,
        recall. Name the topic ("Anna's allergies"), one topic per call. For everything about one named thing use
        about; for how something changed, timeline; for one direct answer, ask.
        """
        found = self._memory.recall(
            question,
            k=k,
            as_of=as_of,
            kinds=tuple(kinds),
            only_current=only_current,
            max_tokens=max_tokens,
            where=filter_of(where),
            min_score=min_score,
        )
        statements, passages = split_hits(self._memory, found.hits)
        asked_time = shown_asked_time(found.asked_time)
        data = RecallResult(statements=statements, passages=passages, asked_time=asked_time)
        when = f" {asked_time}" if asked_time else ""
        return tool_result(found.text or f"Nothing about this is remembered{when}.", data)

    @render_errors
    def ask(
        self,
        question: Question,
        k: Annotated[int, Field(ge=1, le=50, description="The most hits of each kind to base the answer on")] = 20,
        as_of: AsOf = None,
        where: Where = None,
        min_score: MinScore = 0.0,
        allow_inferred: Annotated[
            bool, Field(description="Whether a step that no source states may be inferred; the answer says so")
        ] = True,
    ) -> Annotated[CallToolResult, AskResult]:
        """Answer one question from what is remembered, with the sources of the answer.

        Use it for a question with a short answer ("When does the lease end?"). It says so if there is not enough
        information, and shows what comes nearest: read that as evidence, which may be about something else, and do not
        fill the gap with a guess. If the memory has no chat model, there is an answer only if a statement says it.
        """
        answer = self._memory.ask(
            question,
            k=k,
            as_of=as_of,
            where=filter_of(where),
            min_score=min_score,
            allow_inferred=allow_inferred,
        )
        statements, passages = split_hits(self._memory, answer.sources)
        nearest_statements, nearest_passages = split_hits(self._memory, answer.nearest)
        asked_time = shown_asked_time(answer.asked_time)
        lines = [f"{answer} ({asked_time})" if asked_time else str(answer)]
        lines += [*(["Sources:"] if answer.sources else []), *map(hit_line, answer.sources)]
        lines += [*(["Nearest:"] if answer.nearest else []), *map(hit_line, answer.nearest)]
        data = AskResult(
            answer=answer.text, support=answer.support, statements=statements, passages=passages,
            nearest_statements=nearest_statements, nearest_passages=nearest_passages, model=answer.model,
            asked_time=asked_time,
        )  # fmt: skip
        return tool_result("\n".join(lines), data)

    @render_errors
    def about(
        self, entity: Entity, as_of: AsOf = None, limit: Limit = 50, where: Where = None
    ) -> Annotated[CallToolResult, EntityResult]:
        """List everything that holds about one named person, place or thing, now or at a given time.

        Use it when you know the name and want everything about it ("Anna", "kitchen door"). For a topic or a question
        use recall.
        """
        versions = without_duplicate_theses(self._memory.about(entity, as_of=as_of, where=filter_of(where)))
        when = "" if as_of is None else f" as of {as_of}"
        return self._listed(f"What holds about {one_line(entity)}{when}", entity, versions, versions[:limit], where)

    @render_errors
    def timeline(
        self, entity: Entity, limit: Limit = 50, where: Where = None
    ) -> Annotated[CallToolResult, EntityResult]:
        """List everything that ever held about one named person, place or thing, in order of time.

        Use it for what changed, when and why ("since when", "before that", "used to"): statements that ended are
        listed with their end and the reason. If there are more than the limit, it lists the latest.
        """
        versions = without_duplicate_theses(self._memory.timeline(entity, where=filter_of(where)))
        return self._listed(f"What ever held about {one_line(entity)}", entity, versions, versions[-limit:], where)

    @render_errors
    def list_statements(
        self,
        where: Where = None,
        as_of: AsOf = None,
        only_current: Annotated[
            bool, Field(description="true: leave out what no longer holds. false: include the past")
        ] = True,
        limit: Limit = 50,
        cursor: Annotated[
            str | None, Field(max_length=MAX_NAME, description="The cursor of the page before; null for the first page")
        ] = None,
    ) -> Annotated[CallToolResult, ListResult]:
        """List statements page by page, oldest first, with the ids that update, correct and forget take.

        Use it to go through a part of the memory, such as one session or one user. For a question use recall.
        """
        page = self._memory.list_statements(
            filter_of(where), as_of=as_of, only_current=only_current, limit=limit, cursor=cursor
        )
        lines = [version_line(version) for version in page.items] or ["Nothing."]
        lines += [] if page.cursor is None else [f"More: cursor={page.cursor}"]
        data = ListResult(statements=[stated_fact(self._memory, v) for v in page.items], cursor=page.cursor)
        return tool_result("\n".join(lines), data)

    @render_errors
    def stats(self) -> Annotated[CallToolResult, StatsResult]:
        """Count what is remembered, and name the file and the namespace of the memory.

        Use it when the user asks about the memory itself, or to see whether it is empty.
        """
        model = self._memory.model
        data = StatsResult(
            file=self._shared.location,
            namespace=self._shared.namespace,
            readonly=not may_write(self._shared),
            model=model.name if model else "",
            counts=self._memory.stats(),
        )
        lines = [f"{name.replace('_', ' ')}: {count}" for name, count in data.counts.items()]
        return tool_result("\n".join([f"memory: {data.file}", *lines]), data)

    def _listed(
        self, title: str, entity: str, versions: Sequence[Version], shown: Sequence[Version], where: Where
    ) -> CallToolResult:
        left_out = len(versions) - len(shown)
        # names of the whole memory would show more than a filter selects
        similar = [] if shown or where is not None else _similar(self._memory, entity)
        lines = [f"{title}:" if shown else f"{title}: nothing.", *map(version_line, shown)]
        lines += [f"... and {left_out} more"] if left_out else []
        lines += [f"Known names like it: {', '.join(map(one_line, similar))}"] if similar else []
        statements = [stated_fact(self._memory, version) for version in shown]
        data = EntityResult(entity=entity, statements=statements, left_out=left_out, similar=similar)
        return tool_result("\n".join(lines), data)


def _similar(memory: Memory, entity: str) -> list[str]:
    """Return known names that contain this one, the shortest first."""
    key = normalise_name(entity)
    return sorted((name for name in memory.entities() if key in name), key=len)[:_SIMILAR]
