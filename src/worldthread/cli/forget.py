"""``worldthread forget``: delete texts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.cli.filtering import WhereOption, filter_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    JsonOption,
    MemoryOption,
    NamespaceOption,
    WaitOption,
    opened_to_read,
    opened_to_write,
)
from worldthread.cli.output import SHORT_ID, note, number_of, one_line, print_json
from worldthread.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from worldthread.filters import Filter
    from worldthread.memory import Memory

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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
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
    from worldthread.corrections import episodes_stating
    from worldthread.filters import condition_of

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
