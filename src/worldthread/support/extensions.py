"""What other packages add to worldthread, found by their entry points.

A package that adds something says so in its metadata, such as::

    [project.entry-points."worldthread.methods"]
    beam = "worldthread_lab.published.beam:beam"

Nothing is read before somebody asks for more than the memory itself has, and nothing of the package is imported before
what it adds is used. A group is read once for each process.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import ExtensionError, WorldthreadError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS: Final = "worldthread.commands"
"""The group of functions that add commands to the Typer app that they are given; see :mod:`worldthread.cli.main`."""

METHODS: Final = "worldthread.methods"
"""The group of retrieval methods, as functions; see :mod:`worldthread.retrieve`."""

PAGES: Final = "worldthread.pages"
"""The group of what makes a :class:`~worldthread.web.added_pages.AddedPages`."""

PROMPTS: Final = "worldthread.prompts"
"""The group of packages whose prompts can be replaced, by area; see :mod:`worldthread.models.prompts`."""

SETTINGS: Final = "worldthread.settings"
"""The group of parts that have settings, each a :class:`worldthread.support.settings.SettingsPart`."""

TOOLS: Final = "worldthread.tools"
"""The group of servers of MCP tools, by what they serve instead of a memory; see :mod:`worldthread.mcp.prepared`."""


@cache
def _group(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, sorted, so that their order depends on no folder."""
    from importlib.metadata import entry_points  # late: most programs never ask

    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ExtensionError(
                f"two packages add {entry.name!r} to the entry points {group}: {_described(other)} and "
                f"{_described(entry)}. Remove one of them"
            )
    return found


def extensions(group: str, own: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of what other packages add.

    Args:
        group: the group of entry points, such as :data:`METHODS`.
        own: the names that the memory itself has; another package may not add one of them.

    Returns:
        The names, sorted.

    Raises:
        ExtensionError: two packages add one name, or one adds a name of the memory's own.
    """
    found = _group(group)
    if taken := sorted(found.keys() & set(own)):
        raise ExtensionError(
            f"{_described(found[taken[0]])} adds {taken[0]!r} to {group}, and worldthread has one itself"
        )
    return tuple(found)


def load_extension(group: str, name: str) -> Any:
    """Import what another package adds.

    Args:
        group: the group of entry points.
        name: one of :func:`extensions`.

    Returns:
        What the entry point names.

    Raises:
        ExtensionError: it cannot be imported.
        WorldthreadError: it says itself what it needs, such as an extra.
    """
    entry = _group(group)[name]
    try:
        return entry.load()
    except WorldthreadError:
        raise
    except Exception as error:  # code of others, which can fail in any way
        raise ExtensionError(
            f"{_described(entry)} adds {name!r} to {group}, which cannot be imported: {error or type(error).__name__}. "
            "Install this package again, or remove it"
        ) from error


def _described(entry: EntryPoint) -> str:
    package = "a package" if entry.dist is None else f"the package {entry.dist.name}"
    return f"{package} ({entry.value})"
