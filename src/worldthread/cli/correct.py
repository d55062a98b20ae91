"""``worldthread correct`` and ``worldthread update``: say that a fact was never true, or is no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.cli.filtering import WhoseOption
from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    JsonOption,
    MemoryOption,
    MemoryPlace,
    NamespaceOption,
    WaitOption,
    opened_to_write,
)
from worldthread.cli.output import one_line, print_json
from worldthread.errors import InputError
from worldthread.types import Episode, Fact, Statement

if TYPE_CHECKING:
    from worldthread.filters import Filter
    from worldthread.memory import Memory

SubjectArgument = Annotated[
    str,
    typer.Argument(help="The subject of the fact, as about prints it; or the id of a statement, as list prints it."),
]
RelationArgument = Annotated[str | None, typer.Argument(help="Its relation.", show_default=False)]
ObjectArgument = Annotated[str | None, typer.Argument(metavar="OBJECT", help="Its object.", show_default=False)]


def correct(
    subject: SubjectArgument,
    relation: RelationArgument = None,
    object_: ObjectArgument = None,
    replacement: Annotated[
        str | None, typer.Option("--object", metavar="NAME", help="What the object should have been.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it was wrong.")] = "",
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When the correction was made; now by default.")
    ] = None,
    source: Annotated[str, typer.Option(metavar="TEXT", help="Where the correction comes from.")] = "",
    user: WhoseOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Say that a fact was never true, and what is true instead.

    Use remember for what has changed: the older fact then stays true of its time. A correction is a text of its own;
    forget it to undo the correction.

    [dim]Examples:[/dim]

        worldthread correct Anna "lives in" Rome

        worldthread correct Anna "lives in" Rome --object Milan --reason "I mixed up the two"
    """
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        wrong = _statement(store, subject, relation, object_)
        episode = store.correct(wrong, _with_object(wrong, replacement), reason, at=at, source=source, where=_of(user))
    _print(memory, episode, as_json)


def update(
    subject: SubjectArgument,
    relation: RelationArgument = None,
    object_: ObjectArgument = None,
    replacement: Annotated[str | None, typer.Option("--object", metavar="NAME", help="What the object is now.")] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it changed.")] = "",
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it changed; now by default.")] = None,
    source: Annotated[str, typer.Option(metavar="TEXT", help="Where this comes from.")] = "",
    user: WhoseOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Say that a fact holds no longer, and what holds instead.

    The fact stays true of its time; use correct for what was never true. An update is a text of its own; forget it
    to undo the update.

    [dim]Examples:[/dim]

        worldthread update Anna "lives in" Rome --object Milan --at 2024-03-01

        worldthread update 3f2a91bc3f2a91bc3f2a91bc3f2a91bc
    """
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        old = _statement(store, subject, relation, object_)
        episode = store.update(old, _with_object(old, replacement), reason, at=at, source=source, where=_of(user))
    _print(memory, episode, as_json)


def _statement(memory: Memory, subject: str, relation: str | None, object_: str | None) -> Statement:
    """Return the statement that is meant: by its id alone, or as a fact."""
    from worldthread.corrections import statement_of

    if (relation is None) != (object_ is None):
        raise InputError("give subject, relation and object of a fact, or the id of a statement alone")
    with memory.record.read_lock() as graph:
        given = subject if relation is None or object_ is None else (subject, relation, object_)
        return statement_of(graph, given)


def _of(user: str | None) -> Filter | None:
    """Return what is selected of a user; ``None`` selects everything."""
    from worldthread.filters import Filter

    return None if user is None else Filter(user=user)


def _with_object(statement: Statement, name: str | None) -> Statement | None:
    """Return a fact with another object; ``None`` without one."""
    if name is None:
        return None
    if not isinstance(statement, Fact):
        raise InputError(f"{one_line(str(statement))!r} is not a fact, so it has no object")
    return Fact(statement.subject, statement.relation, name)


def _print(place: MemoryPlace, episode: Episode, as_json: bool) -> None:
    if as_json:
        print_json({"memory": str(place), "episode": episode.id, "text": episode.text})
    else:
        typer.echo(one_line(episode.text))
