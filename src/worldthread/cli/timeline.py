"""``worldthread timeline``: the history of an entity."""

from __future__ import annotations

from worldthread.cli.filtering import WhereOption, filter_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    EntityArgument,
    JsonLinesOption,
    MemoryOption,
    NamespaceOption,
    opened_to_read,
    require_known,
)
from worldthread.cli.output import print_json, print_rows, version_fields, version_rows

_TITLES = ("from", "until", "statement", "source", "why it ended")


def timeline(
    entity: EntityArgument,
    where: WhereOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show the history of a person, a place or a thing.

    Prints every fact and sentence that ever held, with the dates between which it held, its source, and why it ended.
    The exit code is 1 for an unknown name; similar names are suggested.

    [dim]Examples:[/dim]

        worldthread timeline Anna

        worldthread timeline Anna --json | jq -r 'select(.until) | .reason'
    """
    selected = filter_of(where)
    with opened_to_read(memory, namespace) as store:
        require_known(store, entity)
        versions = store.timeline(entity, where=selected)
        if as_json:
            for version in versions:
                print_json(version_fields(store, version))
        else:
            print_rows(_TITLES, version_rows(store, versions))
