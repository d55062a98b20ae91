"""``worldthread about``: the current statements about an entity."""

from __future__ import annotations

import typer

from worldthread.cli.filtering import WhereOption, filter_of
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
    where: WhereOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show what the memory currently holds about a person, a place or a thing.

    Prints each fact and sentence with the date since when it holds and its source. [bold]--as-of[/bold] shows an
    earlier time. The exit code is 1 when nothing holds; for an unknown name, similar names are suggested.

    [dim]Examples:[/dim]

        worldthread about Anna

        worldthread about Anna --as-of 2023-12-31

        worldthread about "the old lamp" --json
    """
    selected = filter_of(where)
    with opened_to_read(memory, namespace) as store:
        require_known(store, entity)
        versions = store.about(entity, as_of=as_of, where=selected)
        if as_json:
            for version in versions:
                print_json(version_fields(store, version))
        elif versions:
            titles = ("from", "statement", "source") if as_of is None else ("from", "until", "statement", "source")
            print_rows(titles, version_rows(store, versions))
    if not versions:
        when = "now" if as_of is None else f"at {as_of}"
        note(f"nothing holds about {entity!r} {when}; worldthread timeline shows all statements that ever held")
        raise typer.Exit(NOTHING_FOUND)
