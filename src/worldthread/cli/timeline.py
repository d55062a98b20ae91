"""``worldthread timeline``: what ever held about a thing."""

from __future__ import annotations

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
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show everything that ever held about a person, a place or a thing: from when, until when, and why no longer.

    The exit code is 1 when nothing did; near names are shown then.

    [dim]Examples:[/dim]

        worldthread timeline Anna

        worldthread timeline Anna --json | jq -r 'select(.until) | .reason'
    """
    with opened_to_read(memory, namespace) as store:
        require_known(store, entity)
        versions = store.timeline(entity)
        if as_json:
            for version in versions:
                print_json(version_fields(store, version))
        else:
            print_rows(_TITLES, version_rows(store, versions))
