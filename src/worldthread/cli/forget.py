"""``worldthread forget``: as if it had never been remembered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

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
    from worldthread.memory import Memory

_SHOWN = 20
_DECLINED = 1


def forget(
    episodes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EPISODE_ID",
            help="Ids as recall --scores, about and timeline show them; their first 4 or more digits do.",
            show_default=False,
        ),
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="NAME", help="Every passage that states something about it, or names it.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Remove passages, and all that comes from them alone, as if they had never been remembered.

    Shows what would go and asks before it does. There is no way back.

    [dim]Examples:[/dim]

        worldthread forget 3f2a91bc

        worldthread forget --entity "Anna Rossi"

        worldthread forget --entity "Anna Rossi" --yes --json
    """
    if bool(episodes) == (entity is not None):
        raise InputError("give the ids of episodes, or --entity NAME, and not both")
    with opened_to_read(memory, namespace) as store:  # nobody need wait while a person makes up their mind
        ids = _found(store, entity) if entity is not None else _whole_ids(store, episodes or [])
        if not yes:
            _show(store, ids)
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nothing was forgotten: give --yes where nobody can be asked")
        if not typer.confirm(f"Forget {number_of(len(ids), 'passage')}, and what is known from them alone?", err=True):
            note("nothing was forgotten")
            raise typer.Exit(_DECLINED)
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        for id_ in ids:
            store.forget(id_)
    if as_json:
        print_json({"memory": str(memory), "forgotten": ids})
    else:
        typer.echo(f"forgot {number_of(len(ids), 'passage')}")


def _found(memory: Memory, entity: str) -> list[str]:
    ids = memory.record.episodes_about(entity)
    if not ids:
        raise NotFoundError(f"no passage speaks of {entity!r}")
    return ids


def _whole_ids(memory: Memory, beginnings: list[str]) -> list[str]:
    """The ids that begin so, each once.

    Raises:
        InputError: a beginning is too short, or several ids begin so.
        NotFoundError: no id does.
    """
    known = memory.record.graph.episodes()
    found = []
    for beginning in beginnings:
        wanted = beginning.strip().lower()
        if len(wanted) < 4:
            raise InputError(f"{beginning!r} is too short for the id of an episode: give 4 digits or more")
        ids = [id_ for id_ in known if id_.startswith(wanted)]
        if not ids:
            raise NotFoundError(f"no episode has an id that begins with {beginning!r}")
        if len(ids) > 1:
            raise InputError(f"{len(ids)} episodes have ids that begin with {beginning!r}: give more digits")
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
