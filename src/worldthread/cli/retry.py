"""``worldthread retry``: read unread texts again."""

from __future__ import annotations

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOT_ALL_READ,
    JsonOption,
    MemoryOption,
    MemoryPromptsOption,
    ModelOption,
    NamespaceOption,
    WaitOption,
    opened_to_write,
)
from worldthread.cli.output import number_of, print_json, show_usage, usage_fields
from worldthread.cli.remember import remembered_fields, show_problems


def retry(
    model: ModelOption = None,
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

        worldthread retry --model none          use the rules for plain English
    """
    from worldthread.models import chat_model

    chat = chat_model(model)
    with opened_to_write(memory, namespace, wait, model=chat or "none", must_exist=True) as store:
        result = store.retry()
    if as_json:
        print_json({"memory": str(memory), **remembered_fields(result), "usage": usage_fields(chat)})
    elif not result.episodes:
        typer.echo("there are no unread texts")
    else:
        typer.echo(f"read {result.added:,} of {number_of(len(result.episodes), 'text')}")
        show_usage(chat)
    show_problems(result)
    if result.unread:
        raise typer.Exit(NOT_ALL_READ)
