"""The tools that change the memory, and when a model should use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from mcp_types import CallToolResult
from pydantic import Field

from worldthread.errors import InputError, NotFoundError
from worldthread.ingestion import Content
from worldthread.mcp.arguments import MAX_ITEMS, MAX_NAME, MAX_TEXT, ChatMessage, Triple, render_errors
from worldthread.mcp.results import ForgetResult, RememberResult, excerpt, passage_line, told
from worldthread.mcp.shared import SharedMemory
from worldthread.memory import Memory
from worldthread.text import count_of, one_line

_SHOWN: Final = 20  # episodes listed before they are forgotten


class WritingTools:
    """The tools that change the memory."""

    def __init__(self, shared: SharedMemory) -> None:
        self._shared = shared

    @render_errors
    def remember(
        self,
        text: Annotated[
            str,
            Field(
                max_length=MAX_TEXT,
                description="Plain text or Markdown, from a sentence to some dozens of pages",
                examples=["Anna moved to Paris. Her lease ends in June."],
            ),
        ] = "",
        messages: Annotated[
            Sequence[ChatMessage], Field(max_length=MAX_ITEMS, description="Turns of a conversation, in order")
        ] = (),
        triples: Annotated[
            Sequence[Triple],
            Field(
                max_length=MAX_ITEMS,
                description="Facts, kept as they are. They end nothing older: what replaces something, give as text",
            ),
        ] = (),
        at: Annotated[
            float | str | None,
            Field(
                description="When it was so: a date, a date and time (ISO 8601), or the number of a turn. Leave out "
                "for now. Never mix turns and dates in one memory.",
                examples=["2024-05-01", 42],
            ),
        ] = None,
        source: Annotated[
            str,
            Field(max_length=MAX_NAME, description="Where it comes from", examples=["chat with Anna", "notes.md"]),
        ] = "",
    ) -> Annotated[CallToolResult, RememberResult]:
        """Keep something for later conversations. Give exactly one of text, messages and triples.

        Use it when the user tells something that will matter later (who people are, preferences, decisions, plans,
        dates, where things are), when they ask to remember, and at the end of a piece of work for what came of it.
        Write whole sentences with names in place of pronouns ("Anna's lease ends on 2024-06-30", not "it ends then").
        New statements end the older ones that they replace; nothing needs to be forgotten for that. Do not store
        passwords or keys, nor what is only of the moment. The same text with the same at and source is kept once.
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
        with self._shared.writing() as memory:
            done = memory.remember(given[0], at, source or None)
        lines = [f"Remembered: {done.added} new, {done.known} known before."]
        if done.unread:
            lines.append(f"{done.unread} could not be understood; the text is kept and can be found.")
        lines += [f"- {one_line(problem)}" for problem in done.problems]
        return told("\n".join(lines), RememberResult.model_validate(done, from_attributes=True))

    @render_errors
    def forget(
        self,
        episode: Annotated[
            str, Field(max_length=MAX_NAME, description="Id of an episode, as recall and timeline give it")
        ] = "",
        entity: Annotated[str, Field(max_length=MAX_NAME, description="A name: every episode that speaks of it")] = "",
        confirm: Annotated[bool, Field(description="false: only list what would go. true: remove it for good")] = False,
    ) -> Annotated[CallToolResult, ForgetResult]:
        """Remove something from the memory for good, as if it had never been told. Give episode or entity.

        Use it only when the user wants something deleted. Not for what has changed: remember the new state, and the
        old one ends by itself. Call it without confirm first, show the user what would go, and repeat with
        confirm=true once they agree.
        """
        if bool(episode) == bool(entity):
            raise InputError("give the id of an episode, or the name of an entity, and not both")
        if not confirm:
            return self._would_forget(self._shared.memory, episode, entity)
        with self._shared.writing() as memory:
            count = memory.forget(episode) if episode else memory.forget(entity=entity)
        data = ForgetResult(forgotten=count, would_forget=0, episodes=[])
        return told(f"Forgotten: {count_of(count, 'episode')}.", data)

    @staticmethod
    def _would_forget(memory: Memory, episode: str, entity: str) -> CallToolResult:
        ids = [episode] if episode else memory.record.episodes_about(entity)
        if not ids:
            raise NotFoundError(f"no episode speaks of {entity!r}")
        shown = [excerpt(memory.episode(id_)) for id_ in ids[:_SHOWN]]
        data = ForgetResult(forgotten=0, would_forget=len(ids), episodes=shown)
        lines = [f"Nothing is forgotten yet. confirm=true would remove {count_of(len(ids), 'episode')}:"]
        lines += map(passage_line, shown)
        lines += [f"... and {len(ids) - len(shown)} more"] if len(ids) > len(shown) else []
        return told("\n".join(lines), data)
