"""Commands that change what is known: ``update``, ``correct``, ``merge`` and ``forget``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.cli.options import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    JsonOption,
    MemoryOption,
    MemoryPlace,
    NamespaceOption,
    WaitOption,
    WhereOption,
    WhoseOption,
    YesOption,
    filter_of,
    opened_to_read,
    opened_to_write,
)
from worldthread.cli.output import SHORT_ID, note, number_of, one_line, print_json, print_rows
from worldthread.errors import InputError, NotFoundError
from worldthread.types import Episode, Fact, Statement

if TYPE_CHECKING:
    from worldthread.memory.filters import Filter
    from worldthread.memory.memory import Memory


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
    """Say that a fact no longer holds, and what holds instead.

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
    from worldthread.memory.corrections import statement_of

    if (relation is None) != (object_ is None):
        raise InputError("give subject, relation and object of a fact, or the id of a statement alone")
    with memory.record.read_lock() as graph:
        given = subject if relation is None or object_ is None else (subject, relation, object_)
        return statement_of(graph, given)


def _of(user: str | None) -> Filter | None:
    """Return what is selected of a user; ``None`` selects everything."""
    from worldthread.memory.filters import Filter

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


def merge(
    name: Annotated[str | None, typer.Argument(help="A name.", show_default=False)] = None,
    into: Annotated[str | None, typer.Argument(help="The name to show for both.", show_default=False)] = None,
    suggest: Annotated[bool, typer.Option("--suggest", help="List names that probably mean the same.")] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why they mean the same.")] = "",
    user: WhoseOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Say that two names mean the same person, place or thing.

    What is known of both is then known of one. The texts stay as they are. A merge is a text of its own; forget it
    to undo the merge.

    [dim]Examples:[/dim]

        worldthread merge Anna "Anna Rossi"

        worldthread merge --suggest
    """
    if suggest == (name is not None) or (name is None) != (into is None):
        raise InputError("give two names, or --suggest")
    if name is None or into is None:
        with opened_to_read(memory, namespace) as store:
            found = [s for s in store.suggest_merges() if user in (None, s.user)]
            rows = [{"name": s.name, "into": s.into, "evidence": s.evidence, "user": s.user} for s in found]
        if as_json:
            print_json({"memory": str(memory), "suggestions": rows})
        else:
            whose = ("user",) if any(suggestion.user for suggestion in found) else ()
            print_rows(("name", "into", "evidence", *whose), rows)
        return
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        episode = store.merge(name, into, reason, user=user)
    if as_json:
        print_json({"memory": str(memory), "episode": episode.id, "text": episode.text})
    else:
        typer.echo(one_line(episode.text))


_SHOWN = 20
_DECLINED = 1


def forget(
    episodes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EPISODE_ID",
            help="Ids of texts, as recall --scores, about and timeline print them; the first 4 digits suffice.",
            show_default=False,
        ),
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="NAME", help="Delete every text that mentions this name.")
    ] = None,
    statement: Annotated[
        str | None, typer.Option(metavar="ID", help="Delete every text that states this, as list prints its id.")
    ] = None,
    where: WhereOption = None,
    yes: YesOption = False,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Delete texts, and everything that is known only from them.

    Shows the texts and asks for confirmation. Afterwards the memory is as if it had never read them; this cannot be
    undone.

    [dim]Examples:[/dim]

        worldthread forget 3f2a91bc

        worldthread forget --entity "Anna Rossi"

        worldthread forget --entity "Anna Rossi" --yes --json
    """
    selected = filter_of(where)
    if (
        bool(episodes)
        + (entity is not None)
        + (statement is not None)
        + (selected is not None and not (entity or statement))
        != 1
    ):
        raise InputError("give ids of texts, or --entity NAME or --statement ID (perhaps with --where), or --where")
    with opened_to_read(memory, namespace) as store:  # do not lock the memory during the question
        ids = _whole_ids(store, episodes) if episodes else _ids_of(store, entity, statement, selected)
        if not yes:
            _show(store, ids)
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nothing was deleted: give --yes when standard input is not a terminal")
        if not typer.confirm(
            f"Delete {number_of(len(ids), 'text')}, and everything that is known only from them?", err=True
        ):
            note("nothing was deleted")
            raise typer.Exit(_DECLINED)
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        for id_ in ids:
            store.forget(id_)
    if as_json:
        print_json({"memory": str(memory), "forgotten": ids})
    else:
        typer.echo(f"deleted {number_of(len(ids), 'text')}")


def _ids_of(memory: Memory, entity: str | None, statement: str | None, where: Filter | None) -> list[str]:
    """Return the ids of the texts about an entity, of a statement, or of a filter."""
    from worldthread.memory.corrections import episodes_stating
    from worldthread.memory.filters import condition_of

    if statement is not None:
        with memory.record.read_lock() as graph:
            ids = episodes_stating(graph, statement, condition_of(where))
    elif entity is not None:
        ids = memory.record.episodes_about(entity, condition_of(where))
    else:
        ids = [episode.id for episode in memory.episodes(where)]
    if not ids:
        raise NotFoundError("no text meets the filter" if entity is None else f"no text mentions {entity!r}")
    return ids


def _whole_ids(memory: Memory, beginnings: list[str]) -> list[str]:
    """Return the full ids for the first digits of ids.

    Args:
        memory: the memory.
        beginnings: the first digits of ids.

    Returns:
        The ids, each once.

    Raises:
        InputError: there are too few digits, or they match several ids.
        NotFoundError: no id matches.
    """
    known = memory.record.graph.episodes()
    found = []
    for beginning in beginnings:
        wanted = beginning.strip().lower()
        if len(wanted) < 4:
            raise InputError(f"{beginning!r} is too short for an id: give at least 4 digits")
        ids = [id_ for id_ in known if id_.startswith(wanted)]
        if not ids:
            raise NotFoundError(
                f"no text has an id that begins with {beginning!r}; --entity NAME deletes those that mention a name"
            )
        if len(ids) > 1:
            raise InputError(f"{len(ids)} texts have ids that begin with {beginning!r}: give more digits")
        found += ids
    return list(dict.fromkeys(found))


def _show(memory: Memory, ids: list[str]) -> None:
    from worldthread.extract.when import shown_time

    for id_ in ids[:_SHOWN]:
        episode = memory.episode(id_)
        head = " ".join(filter(None, (id_[:SHORT_ID], shown_time(episode.at), one_line(episode.source))))
        note(f"{head}  {one_line(episode.text, 100)}", "")
    if len(ids) > _SHOWN:
        note(f"and {len(ids) - _SHOWN:,} more", "")
