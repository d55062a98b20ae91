"""``worldthread ask``: an answer from the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread.cli.filtering import WhereOption, filter_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    NOTHING_FOUND,
    AsOfOption,
    EmbedderOption,
    JsonOption,
    MemoryOption,
    MemoryPromptsOption,
    ModelOption,
    NamespaceOption,
    opened_to_read,
)
from worldthread.cli.output import (
    SHORT_ID,
    console,
    harmless,
    hit_fields,
    note,
    one_line,
    origin,
    print_json,
    show_usage,
    usage_fields,
)
from worldthread.types import Episode, Hit

if TYPE_CHECKING:
    from worldthread.answer import Answer
    from worldthread.memory import Memory


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question in plain words.")],
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="N", help="Use at most N facts, N sentences and N texts.")
    ] = 10,
    min_score: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="Answer only from what is at least as likely as P to be evidence, on the scale of recall: .1 leaves "
            "out what is beside the point, more than .6 is rare.",
        ),
    ] = 0.0,
    look_ups: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="How often the chat model may name something to look up before it answers; each is one more call.",
        ),
    ] = 2,
    allow_inferred: Annotated[
        bool,
        typer.Option(
            "--inferred/--stated-only",
            help="Whether the chat model may infer a step that no source states; such an answer is marked.",
        ),
    ] = True,
    as_of: AsOfOption = None,
    where: WhereOption = None,
    model: ModelOption = None,
    prompts: MemoryPromptsOption = None,
    embedder: EmbedderOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the memory, and print the sources of the answer.

    With a chat model, the model writes the answer; without one, the answer is the part of what is remembered that
    answers. The exit code is 0 with an answer, 1 when the memory has not enough information (what comes nearest is
    shown then), and 2 after an error.

    [dim]Examples:[/dim]

        worldthread ask "Where does Anna live?"

        worldthread ask "Where was she?" --as-of 2023-12-31 --model gpt-4o-mini

        worldthread ask "Who is the boss of Anna's brother?" --model gpt-4o-mini --look-ups 3

        worldthread ask "Who has the key?" --json | jq -r .answer
    """
    from worldthread.models import chat_model

    selected = filter_of(where)
    chat = chat_model(model)
    with opened_to_read(memory, namespace, model=chat or "none", embedder=embedder) as store:
        answer = store.ask(
            question,
            k=k,
            as_of=as_of,
            where=selected,
            look_ups=look_ups,
            min_score=min_score,
            allow_inferred=allow_inferred,
        )
        if as_json:
            print_json(_fields(store, answer) | {"usage": usage_fields(chat)})
        else:
            _print(store, answer)
            show_usage(chat)
    if answer.text is None:
        raise typer.Exit(NOTHING_FOUND)


def _fields(memory: Memory, answer: Answer) -> dict[str, Any]:
    from worldthread.retrieve.text import shown_asked_time

    return {
        "question": answer.question,
        "answer": answer.text,
        "support": answer.support,
        "reasoning": answer.reasoning,
        "model": answer.model or None,
        "sources": [hit_fields(memory, hit) for hit in answer.sources],
        "nearest": [hit_fields(memory, hit) for hit in answer.nearest],
        "confidence": answer.confidence,
        "asked_time": shown_asked_time(answer.asked_time) or None,
    }


def _print(memory: Memory, answer: Answer) -> None:
    from rich.text import Text

    from worldthread.retrieve.text import shown_asked_time

    out = console()
    out.print(Text(harmless(str(answer)), style="bold" if answer.text else "yellow"))
    if when := shown_asked_time(answer.asked_time):
        note(f"asked for: {when}")
    if answer.sources:
        out.print(Text("\nSources:", style="dim"))
    for hit in answer.sources:
        out.print(Text(f"- {one_line(_source(memory, hit, str(answer)), 300)}", style="dim"))
    if answer.nearest:
        out.print(Text("\nNearest:", style="dim"))
    for hit in answer.nearest:
        out.print(Text(f"- {one_line(_source(memory, hit, ''), 300)}", style="dim"))
    if answer.text and not answer.model:
        note("(no chat model: taken from what is known; for a written answer give --model or set $WORLDTHREAD_MODEL)")


def _source(memory: Memory, hit: Hit, answer: str) -> str:
    """Return a hit with its source; for a statement that is the answer itself, the text that it comes from."""
    from worldthread.retrieve.text import shown_hit

    text = shown_hit(hit)
    if isinstance(hit.item, Episode) or hit.version is None:
        return text
    first = hit.version.sources[0]
    if text != answer:
        return f"{text} {origin(memory, first)}"
    return f"{shown_hit(Hit(memory.episode(first), hit.score, 'episode'))} [{first[:SHORT_ID]}]"
