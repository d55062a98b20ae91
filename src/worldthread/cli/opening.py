"""What the commands on a memory share: their common options, and how its file is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from worldthread.cli.output import note
from worldthread.errors import NotFoundError, StoreLockedError

if TYPE_CHECKING:
    from worldthread.memory import Memory
    from worldthread.models.chat import ChatModel

DEFAULT_FILE: Final = Path("memory.worldthread")
DEFAULT_WAIT: Final = 10.0
"""Seconds that a command waits for another one that is writing."""
NOTHING_FOUND: Final = 1
"""Exit code of a command that looked and found nothing, or not enough (as ``grep`` has it)."""
NOT_ALL_READ: Final = 1
"""Exit code of a command that kept everything, and could not read all of it."""

MemoryOption = Annotated[
    Path, typer.Option("--memory", "-m", envvar="WORLDTHREAD_MEMORY", metavar="PATH", help="The file of the memory.")
]
NamespaceOption = Annotated[str, typer.Option(metavar="NAME", help="Which memory of the file.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line, and nothing else.")]
WaitOption = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="How long to wait for another process that is writing.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A chat model; [bold]none[/bold] does without. Default: $WORLDTHREAD_MODEL."),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="What held at a moment: a date, a date and time, or the number of a turn."),
]
EntityArgument = Annotated[str, typer.Argument(metavar="ENTITY", help="A name; upper and lower case are the same.")]


@contextmanager
def opened_to_read(
    path: Path, namespace: str, *, model: ChatModel | str | None = None, may_be_empty: bool = False
) -> Iterator[Memory]:
    """A memory that exists, for reading only.

    Raises:
        NotFoundError: there is no such file or, unless it may be empty, nothing in it; nothing was made.
        StoreError: the file cannot be opened.
    """
    from worldthread.memory import Memory

    require_file(path)
    with Memory(path, namespace=namespace, readonly=True, model=model) as memory:
        if not may_be_empty and not len(memory.record.graph):
            raise NotFoundError(_why_empty(path, namespace))
        yield memory


@contextmanager
def opened_to_write(
    path: Path, namespace: str, wait: float, *, model: ChatModel | str | None = None, must_exist: bool = False
) -> Iterator[Memory]:
    """A memory that may be changed; made when there is no file, unless it must exist.

    Raises:
        NotFoundError: there is no such file, and it must exist.
        StoreLockedError: another process is writing, and did not finish in time.
        StoreError: the file cannot be opened.
    """
    from worldthread.memory import Memory

    if must_exist:
        require_file(path)
    try:
        memory = Memory(path, namespace=namespace, wait=wait, model=model)
    except StoreLockedError as error:
        raise StoreLockedError(
            f"another process is writing: wait for it longer than --wait {wait:g}", path=path
        ) from error
    with memory:
        yield memory


def require_file(path: Path) -> None:
    """Do nothing, where there is such a file.

    Raises:
        NotFoundError: there is none.
    """
    if not path.exists():
        raise NotFoundError(f"nothing is remembered yet in {path}: worldthread remember FILE...")


def require_known(memory: Memory, entity: str) -> None:
    """Do nothing, where something was ever stated about an entity; else show near names, and leave."""
    if memory.timeline(entity):
        return
    near = _near_names(entity, memory.entities())
    note(f"nothing is known about {entity!r}" + (f"; did you mean {', '.join(map(repr, near))}?" if near else ""))
    raise typer.Exit(NOTHING_FOUND)


def _near_names(entity: str, names: list[str], limit: int = 5) -> list[str]:
    """Names that hold the one asked for as whole words, then those that are spelt like it."""
    import difflib
    import re

    from worldthread.names import normalise_name

    key = normalise_name(entity)
    whole = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
    longer = sorted((name for name in names if whole.search(name)), key=len)
    return list(dict.fromkeys(longer + difflib.get_close_matches(key, names, limit)))[:limit]


def _why_empty(path: Path, namespace: str) -> str:
    from worldthread.stores import DEFAULT_NAMESPACE, SQLiteStore

    names = [name for name in SQLiteStore.namespaces(path) if name != namespace]
    if not names:
        return f"nothing is remembered yet in {path}: worldthread remember FILE..."
    where = "outside any namespace" if namespace == DEFAULT_NAMESPACE else f"in namespace {namespace!r}"
    return f"nothing is remembered {where} of {path}; its namespaces are: {', '.join(map(repr, names))} (--namespace)"
