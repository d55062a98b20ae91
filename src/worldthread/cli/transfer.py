"""``worldthread export`` and ``worldthread import``: copy a memory as JSON Lines, and exchange with other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from worldthread.cli.filtering import MetadataOption, SessionOption, UserOption, WhereOption, filter_of, metadata_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOT_ALL_READ,
    AsOfOption,
    EmbedderOption,
    JsonOption,
    MemoryOption,
    MemoryPlace,
    ModelOption,
    NamespaceOption,
    WaitOption,
    opened_to_read,
    opened_to_write,
)
from worldthread.cli.output import Terminal, note, number_of, one_line, print_json, show_usage
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.moving import DumpImport

_STREAM = Path("-")
_OWN_FORMAT: Final = "jsonl"


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE|-", help="The file to write; - is standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="jsonl holds the whole memory, for [bold]worldthread import[/bold]. csv, graphml, jsonld and cogx "
            "hold its statements with their times and sources, for other programs.",
        ),
    ] = _OWN_FORMAT,
    everything: Annotated[
        bool, typer.Option("--all", help="csv, graphml, jsonld, cogx: what has ended too, not only what holds.")
    ] = False,
    as_of: AsOfOption = None,
    where: WhereOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Write a memory to a JSON Lines file, or its statements for another program.

    The file holds every text with its times and its extracted statements; [bold]worldthread import[/bold] recreates
    the same memory from it. An interrupted export leaves no partial file.

    [dim]Examples:[/dim]

        worldthread export backup.jsonl

        worldthread export - | gzip > backup.jsonl.gz

        worldthread export statements.csv --format csv --all
    """
    selected = filter_of(where)
    if format_ == _OWN_FORMAT and (everything or as_of is not None):
        raise InputError(
            "an export to jsonl holds everything: --all and --as-of need --format csv, graphml, jsonld or cogx"
        )
    with opened_to_read(memory, namespace, may_be_empty=True) as store:
        if file != _STREAM and file.exists() and not force:
            raise InputError(f"{file} already exists: give --force to overwrite it")
        stream: IO[bytes] | Terminal = Terminal() if sys.stdout.isatty() else sys.stdout.buffer
        target = cast("IO[bytes]", stream) if file == _STREAM else file
        if format_ == _OWN_FORMAT:
            counted, count = "episodes", store.export(target, where=selected)
        else:
            from worldthread.moving import export_statements

            counted = "statements"
            count = export_statements(store, target, format_, where=selected, as_of=as_of, only_current=not everything)
    if file == _STREAM:
        return
    if as_json:
        print_json({"memory": str(memory), "file": str(file), counted: count})
    else:
        noun = "text" if counted == "episodes" else "statement"
        typer.echo(f"wrote {number_of(count, noun)} to {one_line(str(file))}")


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE|-", help="A file that worldthread export wrote; - is standard input.")
    ],
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The file is of another program: chatgpt, claude, whatsapp, mem0, langgraph, zep, graphiti, letta, "
            "cogx, or auto to look into it. The following options are for such files.",
            show_default=False,
        ),
    ] = None,
    user: UserOption = "",
    session: SessionOption = "",
    metadata: MetadataOption = None,
    date_order: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER",
            help="How a WhatsApp export writes dates: day-first or month-first. Default: decided from all its dates.",
            show_default=False,
        ),
    ] = None,
    model: ModelOption = None,
    embedder: EmbedderOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Add the texts of an export to a memory, or the messages and facts of another program's file.

    Either all texts of an export are added or none. Texts that the memory already has are skipped. A file of
    another program is checked as a whole first, then read message by message; after an interruption, import it again.

    [dim]Examples:[/dim]

        worldthread import backup.jsonl

        zcat backup.jsonl.gz | worldthread import - --memory copy.worldthread

        worldthread import conversations.json --from chatgpt --user Anna
    """
    if file != _STREAM and not (file.is_file() or (origin is not None and file.is_dir())):
        raise InputError(f"{file}: no such file")
    if origin is not None:
        if file == _STREAM:
            raise InputError("--from needs the name of a file: - is for what worldthread export wrote")
        options = {"user": user, "session": session, "metadata": metadata_of(metadata), "date_order": date_order}
        _import_dump(file, origin, options, memory, namespace, wait, model, embedder, as_json)
        return
    if user or session or metadata or date_order is not None or model is not None or embedder is not None:
        raise InputError(
            "--user, --session, --metadata, --date-order, --model and --embedder are for files of other programs: say "
            "with --from which program (or --from auto)"
        )
    with opened_to_write(memory, namespace, wait) as store:
        counts = store.import_(sys.stdin.buffer if file == _STREAM else file)
    if as_json:
        print_json({"memory": str(memory), "added": counts.added, "known": counts.known})
    else:
        known = f"; {counts.known:,} already known" if counts.known else ""
        typer.echo(f"stored {number_of(counts.added, 'new text')}{known}")


def _import_dump(
    file: Path,
    origin: str,
    options: dict[str, Any],
    place: MemoryPlace,
    namespace: str,
    wait: float,
    model: str | None,
    embedder: str | None,
    as_json: bool,
) -> None:
    """Remember a file of another program, and print what was remembered and what was left out."""
    from worldthread.models import chat_model
    from worldthread.moving import import_dump, read_dump

    read = read_dump(file, origin, **options)  # a damaged file creates no memory
    chat = chat_model(model)
    with opened_to_write(place, namespace, wait, model=chat or "none", embedder=embedder) as store:
        done = import_dump(store, read)
    if as_json:
        print_json({"memory": str(place), **_import_fields(done)})
    else:
        _show_import(done)
        show_usage(chat)
    if done.unread:
        note(f"{number_of(done.unread, 'text')} could not be read; worldthread retry reads them again", "yellow")
        raise typer.Exit(NOT_ALL_READ)


def _import_fields(done: DumpImport) -> dict[str, Any]:
    fields = ("format", "messages", "remembered", "left_out", "added", "known", "unread", "problems")
    return {name: getattr(done, name) for name in fields}


def _show_import(done: DumpImport) -> None:
    typer.echo(f"{done.format}: {number_of(done.messages, 'message')} in the file, {done.remembered:,} remembered")
    for reason, count in done.left_out.items():
        typer.echo(f"  {count:,} left out: {reason}")
    known = f"; {done.known:,} already known" if done.known else ""
    typer.echo(f"stored {number_of(done.added, 'new text')}{known}")
