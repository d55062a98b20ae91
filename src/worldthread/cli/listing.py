"""``worldthread list`` and ``worldthread namespaces``: what a memory holds, page by page, and what a file holds."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from worldthread.cli.filtering import WhereOption, filter_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOTHING_FOUND,
    AsOfOption,
    JsonLinesOption,
    MemoryOption,
    NamespaceOption,
    WaitOption,
    opened_to_read,
    opened_to_write,
)
from worldthread.cli.output import note, number_of, one_line, print_json, version_fields
from worldthread.errors import InputError

_DECLINED = 1
_WIDTH = 200


def list_(
    episodes: Annotated[bool, typer.Option("--episodes", help="List texts instead of facts and sentences.")] = False,
    where: WhereOption = None,
    as_of: AsOfOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also list what no longer holds.")] = False,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="List at most N.")] = 100,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on where a page ended, which said how.", show_default=False)
    ] = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """List statements (facts and sentences) or texts with their ids, page by page.

    Statements come in order of the time from which they hold, then of their id; texts in order of their time, then
    of their id. The ids are those that update, correct and forget take. The exit code is 1 when there are none.

    [dim]Examples:[/dim]

        worldthread list --where user=anna

        worldthread list --episodes --where session=s-17 --limit 20
    """
    from worldthread.extract.when import shown_time

    selected = filter_of(where)
    if episodes and (as_of is not None or everything):
        raise InputError("--as-of and --all are for statements, not for --episodes")
    with opened_to_read(memory, namespace) as store:
        if episodes:
            texts = store.list_episodes(selected, limit=limit, cursor=cursor)
            following, count = texts.cursor, len(texts.items)
            for episode in texts.items:
                if as_json:
                    print_json({"episode": episode.id, "at": episode.at, "source": episode.source,
                                "text": episode.text})  # fmt: skip
                else:
                    typer.echo(f"{episode.id}  {shown_time(episode.at)}  {one_line(episode.text, _WIDTH)}")
        else:
            page = store.list_statements(selected, as_of=as_of, only_current=not everything, limit=limit, cursor=cursor)
            following, count = page.cursor, len(page.items)
            for version in page.items:
                if as_json:
                    print_json({"id": version.statement.id, **version_fields(store, version)})
                else:
                    since = shown_time(version.interval.valid_from)
                    typer.echo(f"{version.statement.id}  {since}  {one_line(str(version.statement), _WIDTH)}")
    if following is not None:
        note(f"more: --cursor {following}")
    if not count:
        note("the memory has nothing like that")
        raise typer.Exit(NOTHING_FOUND)


def namespaces(
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="NAME", help="Delete this memory with all that it holds.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    memory: MemoryOption = DEFAULT_FILE,
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonLinesOption = False,
) -> None:
    """List the memories of a file with their sizes, or delete one.

    [dim]Examples:[/dim]

        worldthread namespaces

        worldthread namespaces --delete anna
    """
    if delete is None:
        with opened_to_read(memory, "default", may_be_empty=True) as store:
            for one in store.namespaces():
                if as_json:
                    print_json({"namespace": one.name, "episodes": one.episodes, "bytes": one.bytes})
                else:
                    typer.echo(f"{one_line(one.name)}  {number_of(one.episodes, 'text')}, {one.bytes:,} bytes")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nothing was deleted: give --yes when standard input is not a terminal")
        if not typer.confirm(f"Delete the memory {delete!r} with all that it holds?", err=True):
            note("nothing was deleted")
            raise typer.Exit(_DECLINED)
    with opened_to_write(memory, "default", wait, must_exist=True) as store:
        count = store.delete_namespace(delete)
    if as_json:
        print_json({"memory": str(memory), "deleted": delete, "episodes": count})
    else:
        typer.echo(f"deleted {one_line(delete)} with {number_of(count, 'text')}")
