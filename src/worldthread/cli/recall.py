"""``worldthread recall``: what matters for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    NOTHING_FOUND,
    AsOfOption,
    JsonLinesOption,
    MemoryOption,
    NamespaceOption,
    opened_to_read,
)
from worldthread.cli.output import SHORT_ID, console, hit_fields, note, one_line, print_json, styled_recall
from worldthread.types import KINDS, Episode, Hit, Kind, Recall

if TYPE_CHECKING:
    from rich.text import Text


def recall(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, or anything in words.")],
    k: Annotated[int, typer.Option("-k", min=1, metavar="N", help="How many of each kind at most.")] = 5,
    as_of: AsOfOption = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Only these: {', '.join(KINDS)}; may be repeated.", show_default=False),
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="How to search: thread (the default) or dense.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what has ended.")] = False,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="How long the text may be, estimated.")] = 1000,
    scores: Annotated[bool, typer.Option("--scores", help="Show scores, paths and the ids of episodes.")] = False,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show what matters for a question: facts, statements and passages, ready for a prompt.

    The exit code is 1 when nothing is found.

    [dim]Examples:[/dim]

        worldthread recall "Where does Anna live?"

        worldthread recall "Where did Anna live?" --as-of 2023-12-31 --kind fact

        worldthread recall Anna --all --json | jq -r .text
    """
    with opened_to_read(memory, namespace) as store:
        found = store.recall(
            question,
            k=k,
            as_of=as_of,
            kinds=cast("list[Kind]", kind or KINDS),
            method=method,
            only_current=not everything,
            max_tokens=max_tokens,
        )
        if as_json:
            for hit in found.hits:
                print_json(hit_fields(store, hit))
    if not found.hits:
        note("nothing is remembered that fits")
        raise typer.Exit(NOTHING_FOUND)
    if not as_json:
        _print(found, scores)


def _print(found: Recall, scores: bool) -> None:
    out = console()
    if scores:
        for hit in found.hits:
            out.print(_with_score(hit))
    elif found.text:
        out.print(styled_recall(found.text))
    else:
        note("nothing of it fits into so few tokens: give a larger --max-tokens")


def _with_score(hit: Hit) -> Text:
    from rich.text import Text

    from worldthread.retrieve.text import shown_hit

    if isinstance(hit.item, Episode):
        episodes: tuple[str, ...] = (hit.item.id,)
    else:
        episodes = hit.version.sources if hit.version else ()
    ids = ", ".join(id_[:SHORT_ID] for id_ in episodes[:3]) + (", ..." if len(episodes) > 3 else "")
    path = " > ".join(map(one_line, hit.path))
    return Text.assemble(
        (f"{hit.score:6.3f}  {hit.kind:<7}  ", "cyan"),
        one_line(shown_hit(hit), 300),
        (f"  [{ids}]" if ids else "", "dim"),
        (f"  {path}" if path else "", "dim"),
    )
