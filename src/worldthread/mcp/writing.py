"""The tools that change the memory; their docstrings are the descriptions that models see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from anyio import from_thread
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from worldthread.errors import InputError, NotFoundError
from worldthread.mcp.tool_results import render_errors, tool_result
from worldthread.memory.corrections import episodes_stating, statement_of
from worldthread.memory.filters import Filter, condition_of
from worldthread.memory.ingestion import Content
from worldthread.memory.memory import Memory
from worldthread.memory.served_memory import ServedMemory
from worldthread.provenance import client_metadata
from worldthread.schemas.arguments import MAX_ITEMS, MAX_NAME, MAX_TEXT, ChatMessage, Time, Triple
from worldthread.schemas.results import CorrectResult, ForgetResult, RememberResult, excerpt, passage_line
from worldthread.support.progress import Progress
from worldthread.support.text import count_of, one_line
from worldthread.types import Fact

_Whose = Annotated[
    str, Field(max_length=MAX_NAME, description="The user whose talk is meant, if several users speak of it")
]

_SHOWN: Final = 20  # episodes listed before they are forgotten


def _reporting(context: Context[Any, Any]) -> Progress:
    """Return what tells the client how many passages of a long text are done, so that it goes on waiting."""

    def report(done: int, total: int | None) -> None:
        if total is None or total > 1:
            from_thread.run(context.report_progress, done, total)

    return report


class WritingTools:
    """The tools that change the memory.

    Args:
        shared: the memory.
    """

    def __init__(self, shared: ServedMemory) -> None:
        self._shared = shared

    @render_errors
    def remember(
        self,
        context: Context[Any, Any],
        text: Annotated[
            str,
            Field(
                max_length=MAX_TEXT,
                description="Plain text or Markdown, from one sentence to dozens of pages",
                examples=["Anna moved to Paris. Her lease ends in June."],
            ),
        ] = "",
        messages: Annotated[
            Sequence[ChatMessage], Field(max_length=MAX_ITEMS, description="The turns of a conversation, in order")
        ] = (),
        triples: Annotated[
            Sequence[Triple],
            Field(
                max_length=MAX_ITEMS,
                description="Facts, stored as given. They do not end older facts: send text if something has changed",
            ),
        ] = (),
        at: Annotated[
            Time,
            Field(
                description="When it was true: a date, a date and time (ISO 8601), or the number of a turn. Leave it "
                "out for the present. Never mix turns and dates in one memory.",
                examples=["2024-05-01", 42],
            ),
        ] = None,
        source: Annotated[
            str,
            Field(max_length=MAX_NAME, description="Where it comes from", examples=["chat with Anna", "notes.md"]),
        ] = "",
        user: Annotated[
            str, Field(max_length=MAX_NAME, description="The user whose text this is, if the memory has several")
        ] = "",
        agent: Annotated[str, Field(max_length=MAX_NAME, description="The agent that remembers it")] = "",
        session: Annotated[str, Field(max_length=MAX_NAME, description="The session in which it came up")] = "",
        metadata: Annotated[
            dict[str, Any] | None,
            Field(description="Strings, numbers and truth values to find it by", examples=[{"topic": "travel"}]),
        ] = None,
    ) -> Annotated[CallToolResult, RememberResult]:
        """Store something for later conversations. Give exactly one of text, messages and triples.

        Use it when the user mentions something that will matter later (who people are, preferences, decisions, plans,
        dates, where things are), when they ask you to remember, and at the end of a piece of work for its results.
        Write whole sentences with names instead of pronouns ("Anna's lease ends on 2024-06-30", not "it ends then").
        New statements end the older ones that they replace; you need not forget those. Do not store passwords, keys,
        or passing remarks. The same text with the same at and source is stored only once.
        """
        given: list[Content] = [
            content
            for content in (
                text,
                [message.model_dump(exclude_none=True) for message in messages],
                [(triple.subject, triple.relation, triple.object) for triple in triples],
            )
            if content
        ]
        if len(given) != 1:
            raise InputError("give exactly one of text, messages and triples")
        labels = client_metadata(metadata)
        with self._shared.writing() as memory:
            ingested = memory.remember_many(
                given, at, source or None,
                user=user, agent=agent, session=session, metadata=labels, progress=_reporting(context),
            )  # fmt: skip
        lines = [f"Remembered: {ingested.added} new, {ingested.known} known before."]
        if ingested.unread:
            lines.append(f"{ingested.unread} could not be understood; the text is kept and can be found.")
        if ingested.skipped:
            lines.append(f"{count_of(ingested.skipped, 'turn')} without text left out.")
        lines += [f"- {one_line(problem)}" for problem in ingested.problems]
        return tool_result("\n".join(lines), RememberResult.model_validate(ingested, from_attributes=True))

    @render_errors
    def update(
        self,
        statement: Annotated[
            str, Field(max_length=MAX_NAME, description="The id of the statement, as recall and timeline return it")
        ],
        new_object: Annotated[
            str, Field(max_length=MAX_NAME, description="What the object of the fact is now, if known")
        ] = "",
        reason: Annotated[str, Field(max_length=MAX_TEXT, description="Why it changed, in a few words")] = "",
        at: Annotated[Time, Field(description="When it changed, as for remember", examples=["2024-05-01", 42])] = None,
        user: _Whose = "",
    ) -> Annotated[CallToolResult, CorrectResult]:
        """Record that a statement no longer holds, and what holds instead. It goes on to hold for the past.

        Use it when one known statement has changed and you have its id. For new statements in the user's own words use
        remember, which ends what they replace; for what was never true, correct.
        """
        with self._shared.writing() as memory:
            with memory.record.read_lock() as graph:
                old = statement_of(graph, statement)
            new = None
            if new_object:
                if not isinstance(old, Fact):
                    raise InputError("this statement is not a fact, so it has no object: remember the new statement")
                new = Fact(old.subject, old.relation, new_object)
            episode = memory.update(old, new, reason, at=at, where=_of(user))
        return tool_result(one_line(episode.text), CorrectResult(episode=episode.id))

    @render_errors
    def correct(
        self,
        subject: Annotated[str, Field(max_length=MAX_NAME, description="The subject of the fact", examples=["Anna"])],
        relation: Annotated[str, Field(max_length=MAX_NAME, description="Its relation", examples=["lives in"])],
        object: Annotated[str, Field(max_length=MAX_NAME, description="Its object", examples=["Rome"])],
        new_object: Annotated[
            str,
            Field(max_length=MAX_NAME, description="What the object should have been, if known", examples=["Milan"]),
        ] = "",
        reason: Annotated[str, Field(max_length=MAX_TEXT, description="Why it was wrong, in a few words")] = "",
        user: _Whose = "",
    ) -> Annotated[CallToolResult, CorrectResult]:
        """Record that a fact of the memory was never true. It then holds at no time, also not in the past.

        Use it when the user says that something was wrong from the beginning ("I was never in Rome, that was Milan").
        If something has changed, remember the new state instead; if it should be deleted, use forget. Give subject,
        relation and object as about and timeline show them.
        """
        replacement = (subject, relation, new_object) if new_object else None
        with self._shared.writing() as memory:
            episode = memory.correct((subject, relation, object), replacement, reason, where=_of(user))
        return tool_result(one_line(episode.text), CorrectResult(episode=episode.id))

    @render_errors
    def merge(
        self,
        name: Annotated[str, Field(max_length=MAX_NAME, description="A name", examples=["Anna"])],
        into: Annotated[
            str, Field(max_length=MAX_NAME, description="The name to show for both", examples=["Anna Rossi"])
        ],
        reason: Annotated[str, Field(max_length=MAX_TEXT, description="Why they mean the same, in a few words")] = "",
        user: _Whose = "",
    ) -> Annotated[CallToolResult, CorrectResult]:
        """Record that two names mean the same person, place or thing: what is known of both is known of one.

        Use it only when the user says so, or agrees: two people can have one first name.
        """
        with self._shared.writing() as memory:
            episode = memory.merge(name, into, reason, user=user or None)
        return tool_result(one_line(episode.text), CorrectResult(episode=episode.id))

    @render_errors
    def forget(
        self,
        episode: Annotated[
            str, Field(max_length=MAX_NAME, description="The id of an episode, as recall and timeline return it")
        ] = "",
        entity: Annotated[str, Field(max_length=MAX_NAME, description="A name; means every episode about it")] = "",
        statement: Annotated[
            str, Field(max_length=MAX_NAME, description="The id of a statement; means every episode that states it")
        ] = "",
        confirm: Annotated[
            bool, Field(description="false: only list what would be removed. true: remove it for good")
        ] = False,
        user: _Whose = "",
    ) -> Annotated[CallToolResult, ForgetResult]:
        """Remove something from the memory for good, as if it had never been remembered.

        Give episode, entity or statement.

        Use it only when the user wants something deleted. If something has changed, remember the new state instead;
        the old one then ends by itself. Call it without confirm first, show the user what would be removed, and repeat
        with confirm=true once they agree.
        """
        if bool(episode) + bool(entity) + bool(statement) != 1:
            raise InputError("give the id of an episode, the name of an entity, or the id of a statement, one of them")
        if not confirm:
            return self._would_forget(self._shared.memory, episode, entity, statement, _of(user))
        with self._shared.writing() as memory:
            where = None if episode else _of(user)
            count = memory.forget(episode or None, entity=entity or None, statement=statement or None, where=where)
        data = ForgetResult(forgotten=count, would_forget=0, episodes=[])
        return tool_result(f"Forgotten: {count_of(count, 'episode')}.", data)

    @staticmethod
    def _would_forget(
        memory: Memory, episode: str, entity: str, statement: str, where: Filter | None
    ) -> CallToolResult:
        condition = condition_of(where)
        if statement:
            with memory.record.read_lock() as graph:
                ids = episodes_stating(graph, statement, condition)
        else:
            ids = [episode] if episode else memory.record.episodes_about(entity, condition)
        if not ids:
            raise NotFoundError(f"no episode mentions {entity!r}")
        shown = [excerpt(memory.episode(id_)) for id_ in ids[:_SHOWN]]
        data = ForgetResult(forgotten=0, would_forget=len(ids), episodes=shown)
        lines = [f"Nothing is forgotten yet. confirm=true would remove {count_of(len(ids), 'episode')}:"]
        lines += map(passage_line, shown)
        lines += [f"... and {len(ids) - len(shown)} more"] if len(ids) > len(shown) else []
        return tool_result("\n".join(lines), data)


def _of(user: str) -> Filter | None:
    """Return what is selected of a user; without one, everything."""
    return Filter(user=user) if user else None
