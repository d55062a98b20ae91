"""``worldthread about``: what holds about a thing."""

from __future__ import annotations

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    NOTHING_FOUND,
    AsOfOption,
    EntityArgument,
    JsonLinesOption,
    MemoryOption,
    NamespaceOption,
    opened_to_read,
    require_known,
)
from worldthread.cli.output import note, print_json, print_rows, version_fields, version_rows


def about(
    entity: EntityArgument,
    as_of: AsOfOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show what holds about a person, a place or a thing, since when, and where that comes from.

    The exit code is 1 when nothing does; near names are shown for one that is not known.

    [dim]Examples:[/dim]

        worldthread about Anna

        worldthread about Anna --as-of 2023-12-31

        worldthread about "the old lamp" --json
    """
    with opened_to_read(memory, namespace) as store:
        require_known(store, entity)
        versions = store.about(entity, as_of=as_of)
        if as_json:
            for version in versions:
                print_json(version_fields(store, version))
        elif versions:
            titles = ("from", "statement", "source") if as_of is None else ("from", "until", "statement", "source")
            print_rows(titles, version_rows(store, versions))
    if not versions:
        moment = "now" if as_of is None else f"at {as_of}"
        note(f"nothing holds about {entity!r} {moment}; worldthread timeline shows what ever did")
        raise typer.Exit(NOTHING_FOUND)
