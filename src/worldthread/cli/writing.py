"""Commands that store texts and read them: ``remember`` and ``retry``."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread.cli.options import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOT_ALL_READ,
    AgentOption,
    EmbedderOption,
    JsonOption,
    MemoryOption,
    MemoryPromptsOption,
    MetadataOption,
    ModelOption,
    NamespaceOption,
    SessionOption,
    UserOption,
    WaitOption,
    metadata_of,
    opened_to_write,
)
from worldthread.cli.output import (
    embedding_fields,
    note,
    number_of,
    one_line,
    print_json,
    show_embedding,
    show_usage,
    usage_fields,
)
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.extract.base import Extractor
    from worldthread.extract.documents import Document
    from worldthread.memory.ingestion import Remembered
    from worldthread.models.chat import ChatModel


_STDIN = "-"
_PROBLEMS_SHOWN = 3
_ADDRESS = re.compile(r"(?:ray://)?[\w.-]+:\d+|local|ray://.+")


def remember(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|FOLDER|-",
            help="Plain text, Markdown, JSON Lines, chat transcripts, or folders of them; - is standard input.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", "-t", metavar="TEXT", help="A text to store. Repeatable.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="The time of texts that state none: a date, or a turn number. Default: for a file, the time of its "
            "last change; else now.",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="The source of the texts. Default: the file name.")
    ] = None,
    user: UserOption = "",
    agent: AgentOption = "",
    session: SessionOption = "",
    metadata: MetadataOption = None,
    model: ModelOption = None,
    prompts: MemoryPromptsOption = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Extract only the kinds of things and relations of this TOML file ([bold]kinds[/bold], "
            "[bold]relations[/bold]). Needs a chat model. Default: any.",
        ),
    ] = None,
    instruction: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="An instruction added to the prompt for extracting, of at most 4,000 characters. Needs a chat model.",
        ),
    ] = "",
    language: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The language of the relations and sentences that a chat model writes, whatever the language of a "
            "text.",
        ),
    ] = "English",
    ray: Annotated[
        bool,
        typer.Option(
            "--ray",
            help="Read and embed on a Ray cluster: on this machine, or at the ADDRESS before the first file: auto, "
            "HOST:PORT or ray://HOST:PORT.",
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="With --ray on this machine: how many processors to use. Default: all."
        ),
    ] = None,
    memory: MemoryOption = DEFAULT_FILE,
    embedder: EmbedderOption = None,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Store texts in the memory, together with the facts that they state.

    A chat model extracts the facts; without a model, the reader of English messages and rules do. Texts that the
    memory already has are skipped. Every text is stored, even if it cannot be read, for example because the model
    fails: then the exit code is 1, and [bold]worldthread retry[/bold] reads it again.

    [dim]Examples:[/dim]

        worldthread remember -t "Anna lives in Rome." --at 2023-05-01

        worldthread remember notes/ diary.md --model ollama/qwen2.5:7b

        worldthread remember mails/ --model gpt-4o-mini --schema people.toml --language German

        git log --format=%B | worldthread remember - --source commits

        worldthread remember --ray archive/

        worldthread remember --ray ray://head.example.org:10001 archive/
    """
    from worldthread.extract.when import world_time
    from worldthread.memory.ingestion import Remembered
    from worldthread.models import chat_model

    address = _cluster_address(files) if ray else None
    if workers is not None and not ray:
        raise InputError("--workers is for --ray")
    paths, texts = _require_contents(files, text)
    values = metadata_of(metadata)
    # errors in the arguments, the model or the first text come before the file is created
    world_time(at, 0.0)
    chat = chat_model(model)
    extractor = _extractor(chat, schema, instruction, language)
    without_text: Counter[str] = Counter()
    contents = _contents(texts, paths, source, at is not None, without_text)
    first = next(contents, None)
    if first is None:
        skipped = number_of(without_text.total(), "turn")
        raise InputError(
            f"there is nothing to remember: {f'{skipped} without text' if without_text else 'the input is empty'}"
        )
    with ExitStack() as cluster:
        readers = None
        if address is not None:
            from worldthread.memory.bulk import RayReaders

            readers = cluster.enter_context(RayReaders(address, workers=workers))
        store = cluster.enter_context(
            opened_to_write(
                memory,
                namespace,
                wait,
                model=chat or "none",
                embedder=embedder,
                extractor=extractor,
                is_repeatable=at is not None or not (texts or _STDIN in paths),
            )
        )
        result = store.remember_many(
            chain([first], contents),
            at=at,
            source=source,
            user=user,
            agent=agent,
            session=session,
            metadata=values,
            readers=readers,
        )
        result += Remembered(skipped=without_text.total())
        counts = store.stats()
        used = store.embedder
    if as_json:
        print_json(
            {
                "memory": str(memory),
                **remembered_fields(result),
                "facts": counts["current_facts"],
                "theses": counts["current_theses"],
                "usage": usage_fields(chat),
                "embedding": embedding_fields(used),
            }
        )
    else:
        known = f"; {result.known} already known" if result.known else ""
        skipped = f"; {number_of(result.skipped, 'turn')} without text left out" if result.skipped else ""
        typer.echo(f"stored {number_of(result.added, 'new text')}{known}{skipped}")
        facts = number_of(counts["current_facts"], "current fact")
        sentences = number_of(counts["current_theses"], "current sentence")
        held = number_of(counts["episodes"], "text")
        typer.echo(f"{one_line(str(memory))} has {held}, {facts} and {sentences}")
        show_usage(chat)
        show_embedding(used)
    show_problems(result)
    if result.unread:
        raise typer.Exit(NOT_ALL_READ)


def _cluster_address(files: list[str] | None) -> str:
    """Take the address of a cluster from the beginning of the files; without one, it is on this machine."""
    if files and (files[0] == "auto" or _ADDRESS.fullmatch(files[0])) and not Path(files[0]).exists():
        return files.pop(0)
    return "local"


def _extractor(chat: ChatModel | None, schema: Path | None, instruction: str, language: str) -> Extractor | None:
    """Return the extractor with the settings of the user; ``None`` for the default one."""
    if schema is None and not instruction.strip() and language.strip().lower() == "english":
        return None
    if chat is None:
        raise InputError("--schema, --instruction and --language need a chat model: give one with --model")
    from worldthread.extract.model import ModelExtractor, ReadingSchema

    rules = None if schema is None else ReadingSchema.from_file(schema)
    return ModelExtractor(chat, schema=rules, instruction=instruction, language=language)


def _require_contents(files: list[str] | None, texts: list[str] | None) -> tuple[list[str], list[str]]:
    """Check the paths and texts before anything is opened or created, and return them."""
    if not files and not texts:
        if sys.stdin.isatty():
            raise InputError('give files or folders, or --text "...", or pipe a text into the command; see --help')
        files = [_STDIN]
    for file in files or ():
        if file != _STDIN and not Path(file).exists():
            raise InputError(f"{file}: no such file or folder; a text to store is given with --text")
    for given in texts or ():
        if not given.strip():
            raise InputError("--text must not be empty")
    return files or [], texts or []


def _contents(
    texts: list[str], paths: list[str], source: str | None, dated: bool, skipped: Counter[str]
) -> Iterator[str | Document]:
    """Yield the texts, then the documents of the paths with their times and sources."""
    from dataclasses import replace

    from worldthread.extract.documents import load_all

    yield from texts
    for document in load_all(paths, skipped=skipped):
        if document.at is None and not dated:
            document = replace(document, at=_last_change(document.source))
        yield document if source is None else replace(document, source=source)


def _last_change(source: str) -> float | None:
    """Return the time of the last change of a file, which stays the same, so that a text is not stored twice."""
    path = Path(source)
    return path.stat().st_mtime if source and path.is_file() else None


def remembered_fields(result: Remembered) -> dict[str, Any]:
    """Return the result of storing texts as JSON."""
    return {
        "episodes": list(result.episodes),
        "added": result.added,
        "known": result.known,
        "unread": result.unread,
        "skipped": result.skipped,
        "problems": list(result.problems),
    }


def show_problems(result: Remembered) -> None:
    """Print on standard error which texts could not be read, and what to do."""
    if not result.unread:
        return
    note(f"{number_of(result.unread, 'text')} could not be read; recall still finds them by their text", "yellow")
    for problem in result.problems[:_PROBLEMS_SHOWN]:
        note(f"  {one_line(problem, 300)}")
    if len(result.problems) > _PROBLEMS_SHOWN:
        note(f"  and {number_of(len(result.problems) - _PROBLEMS_SHOWN, 'other problem')}")
    note("worldthread stats --failures shows them; worldthread retry reads them again")


def retry(
    model: ModelOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Read every text again, not only what could not be read.")
    ] = False,
    reader: Annotated[
        bool, typer.Option("--reader", help="Read with the trained reader, whatever model is configured.")
    ] = False,
    prompts: MemoryPromptsOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Read again the texts that could not be read, or only in part.

    Use it after a failure of the chat model, or with another model. The exit code is 1 when some texts still cannot
    be read.

    [dim]Examples:[/dim]

        worldthread retry

        worldthread retry --model gpt-4o-mini

        worldthread retry --all --reader        read a whole memory anew, without a model
    """
    from worldthread.extract.registry import extractor
    from worldthread.models import chat_model

    if reader and model is not None:
        raise InputError("give --model or --reader, not both: the reader needs no model")
    chat = None if reader else chat_model(model)
    named = extractor("reader") if reader else None
    with opened_to_write(memory, namespace, wait, model=chat or "none", extractor=named, must_exist=True) as store:
        result = store.retry(everything=everything)
    if as_json:
        print_json({"memory": str(memory), **remembered_fields(result), "usage": usage_fields(chat)})
    elif not result.episodes:
        typer.echo("there are no texts to read" if everything else "there are no unread texts")
    else:
        typer.echo(f"read {result.added:,} of {number_of(len(result.episodes), 'text')}")
        show_usage(chat)
    show_problems(result)
    if result.unread:
        raise typer.Exit(NOT_ALL_READ)
