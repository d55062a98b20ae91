"""``worldthread database``: who may use the memories on a PostgreSQL server, and its upkeep."""

from __future__ import annotations

from typing import Annotated

import typer

from worldthread.cli.console import help_text
from worldthread.cli.opening import DEFAULT_WAIT, MemoryPlace, WaitOption, opened_to_write
from worldthread.cli.output import note, one_line
from worldthread.errors import InputError

_NOTHING_TO_REVOKE = 1

database = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Say who may use the memories on a PostgreSQL server, and keep it tidy.",
)
AddressArgument = Annotated[
    MemoryPlace,
    typer.Argument(
        metavar="ADDRESS", parser=MemoryPlace, help="postgresql://OWNER@HOST/DATABASE, as the owner of the tables."
    ),
]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help="A role of the server; make it with CREATE ROLE.")]


def grant_(
    address: AddressArgument,
    role: RoleArgument,
    namespace: Annotated[str | None, typer.Option(metavar="NAME", help="Only this memory.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All memories, also those to come.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Let the role write too; else it only reads.")] = False,
) -> None:
    """Let a role read a memory, or read and write it. The server itself keeps it away from all others.

    [dim]Examples:[/dim]

        worldthread database grant postgresql://owner@db.example.org/memories anna --namespace anna --write

        worldthread database grant postgresql://owner@db.example.org/memories auditor --all
    """
    from worldthread.stores.postgresql_access import grant

    if (namespace is None) == (not everything):
        raise InputError("give --namespace NAME or --all")
    grant(str(address.location), role, namespace=namespace, writes=write)
    may = "read and write" if write else "read"
    typer.echo(f"{one_line(role)} may {may} {'all memories' if namespace is None else one_line(namespace)}")


def revoke_(
    address: AddressArgument,
    role: RoleArgument,
    namespace: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only for this memory. Default: everything.")
    ] = None,
) -> None:
    """Take away what [bold]worldthread database grant[/bold] gave a role.

    [dim]Example:[/dim]

        worldthread database revoke postgresql://owner@db.example.org/memories anna
    """
    from worldthread.stores.postgresql_access import revoke

    if not revoke(str(address.location), role, namespace=namespace):
        note(f"{one_line(role)} had not been granted that")
        raise typer.Exit(_NOTHING_TO_REVOKE)
    typer.echo(f"{one_line(role)} may no longer do that")


def purge_(address: AddressArgument, wait: WaitOption = DEFAULT_WAIT) -> None:
    """Write the tables anew, so that nothing of what was forgotten is left in their files.

    Keeps everybody else waiting meanwhile. The write-ahead log of the server and its backups are not changed.

    [dim]Example:[/dim]

        worldthread database purge postgresql://owner@db.example.org/memories
    """
    if not isinstance(address.location, str):
        raise InputError("give an address like postgresql://OWNER@HOST/DATABASE: a file needs no purge")
    with opened_to_write(address, "default", wait) as store:
        store.checkpoint()
    typer.echo("the tables were written anew")


for _name, _command in (("grant", grant_), ("revoke", revoke_), ("purge", purge_)):
    database.command(_name, help=help_text(_command))(_command)
