"""``worldthread remember``: texts in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOT_ALL_READ,
    JsonOption,
    MemoryOption,
    ModelOption,
    NamespaceOption,
    WaitOption,
    opened_to_write,
)
from worldthread.cli.output import note, number_of, one_line, print_json, show_usage, usage_fields
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.extract.documents import Document
    from worldthread.ingestion import Remembered

_STDIN = "-"
_PROBLEMS_SHOWN = 3


def remember(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|FOLDER|-",
            help="Plain text, Markdown, JSON Lines or chat transcripts; - is standard input.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", "-t", metavar="TEXT", help="Remember this; may be repeated.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="When it was so, for what does not say: a date, or the number of a turn. Default: of a file, when it "
            "was last changed; else now.",
        ),
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="NAME", help="Where it comes from. Default: the file.")] = None,
    model: ModelOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Read texts and keep them, with what they state.

    With a chat model it reads; without one, rules for plain English do. What was remembered before is left alone.
    Everything is kept, even what could not be read: then the exit code is 1, and [bold]worldthread retry[/bold] reads
    it again.

    [dim]Examples:[/dim]

        worldthread remember -t "Anna lives in Rome." --at 2023-05-01

        worldthread remember notes/ diary.md --model ollama/qwen2.5:7b

        git log --format=%B | worldthread remember - --source commits
    """
    from worldthread.extract.when import world_time
    from worldthread.models import chat_model

    paths, texts = _require_contents(files, text)
    # what is wrong with the arguments, the model or the first text is told before a file is made
    world_time(at, 0.0)
    chat = chat_model(model)
    contents = _contents(texts, paths, source, at is not None)
    first = next(contents, None)
    if first is None:
        raise InputError("there is nothing to remember: what was given is empty")
    with opened_to_write(memory, namespace, wait, model=chat or "none") as store:
        result = store.remember_many(chain([first], contents), at=at, source=source)
        counts = store.stats()
    if as_json:
        print_json(
            {
                "memory": str(memory),
                **remembered_fields(result),
                "facts": counts["current_facts"],
                "theses": counts["current_theses"],
                "usage": usage_fields(chat),
            }
        )
    else:
        known = f"; {result.known} known before" if result.known else ""
        typer.echo(f"remembered {number_of(result.added, 'new passage')}{known}")
        holding = f"{number_of(counts['current_facts'], 'fact')} and {number_of(counts['current_theses'], 'statement')}"
        typer.echo(f"{one_line(str(memory))}: {holding} hold now, from {number_of(counts['episodes'], 'passage')}")
        show_usage(chat)
    show_problems(result)
    if result.unread:
        raise typer.Exit(NOT_ALL_READ)


def _require_contents(files: list[str] | None, texts: list[str] | None) -> tuple[list[str], list[str]]:
    """The paths and the texts, checked before anything is opened or made."""
    if not files and not texts:
        if sys.stdin.isatty():
            raise InputError('name files or folders, give --text "...", or pipe a text in; -h tells more')
        files = [_STDIN]
    for file in files or ():
        if file != _STDIN and not Path(file).exists():
            raise InputError(f"{file}: no such file or folder")
    for given in texts or ():
        if not given.strip():
            raise InputError("--text must not be empty")
    return files or [], texts or []


def _contents(texts: list[str], paths: list[str], source: str | None, dated: bool) -> Iterator[str | Document]:
    from dataclasses import replace

    from worldthread.extract.documents import load_all

    yield from texts
    for document in load_all(paths):
        if document.at is None and not dated:
            document = replace(document, at=_last_change(document.source))
        yield document if source is None else replace(document, source=source)


def _last_change(source: str) -> float | None:
    """When a file was last changed: the same each time that it is read, so that what is known is not kept twice."""
    path = Path(source)
    return path.stat().st_mtime if source and path.is_file() else None


def remembered_fields(result: Remembered) -> dict[str, Any]:
    """What became of texts, as JSON."""
    return {
        "episodes": list(result.episodes),
        "added": result.added,
        "known": result.known,
        "unread": result.unread,
        "problems": list(result.problems),
    }


def show_problems(result: Remembered) -> None:
    """Say on standard error what could not be read, and what to do."""
    if not result.unread:
        return
    note(f"{number_of(result.unread, 'passage')} could not be read: kept, and found by the text alone", "yellow")
    for problem in result.problems[:_PROBLEMS_SHOWN]:
        note(f"  {one_line(problem, 300)}")
    if len(result.problems) > _PROBLEMS_SHOWN:
        note(f"  and {number_of(len(result.problems) - _PROBLEMS_SHOWN, 'other problem')}")
    note("worldthread retry reads again what was not read; worldthread stats --failures shows it")
