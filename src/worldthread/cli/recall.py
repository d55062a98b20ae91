"""``worldthread recall``: what is relevant to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from worldthread.cli.filtering import WhereOption, filter_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    NOTHING_FOUND,
    AsOfOption,
    EmbedderOption,
    JsonLinesOption,
    MemoryOption,
    NamespaceOption,
    opened_to_read,
)
from worldthread.cli.output import SHORT_ID, console, hit_fields, note, one_line, print_json, styled_recall
from worldthread.types import Episode, Hit, Kind, Recall

if TYPE_CHECKING:
    from rich.text import Text

_HITS: Final = 5


def recall(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, or any other text.")],
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            min=1,
            metavar="N",
            show_default=False,
            help="Find at most N facts, N sentences and N texts. Default: 5.",
        ),
    ] = None,
    adaptive: Annotated[
        bool,
        typer.Option("--adaptive", help="Instead of -k: end each list where the score falls most, after 3 to 20 hits."),
    ] = False,
    min_score: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="Leave out what is less likely than P to be evidence, on a scale that is the same for every memory "
            "and method: .1 leaves out what is beside the point, more than .6 is rare.",
        ),
    ] = 0.0,
    reranker: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Order the best hits anew, for example by a cross-encoder: what makes an object with "
            "score(question, texts). With --allow-code MODULE.",
        ),
    ] = None,
    allow_code: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE", help="Let this module, which is not part of worldthread, run. Repeatable."),
    ] = None,
    as_of: AsOfOption = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Find only this kind: fact, sentence, text. Repeatable.", show_default=False),
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="The retrieval method: thread (the default) or dense.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also find what no longer holds.")] = False,
    where: WhereOption = None,
    max_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="The largest length of the text, as an estimated number of tokens.")
    ] = 1000,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print the score, the path and the text ids of each hit.")
    ] = False,
    embedder: EmbedderOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Print the facts, sentences and texts that are relevant to a question.

    The text is ready for a prompt: facts with the dates between which they hold, then sentences, then texts. The
    exit code is 1 when nothing is found.

    [dim]Examples:[/dim]

        worldthread recall "Where does Anna live?"

        worldthread recall "Where did Anna live?" --as-of 2023-12-31 --kind fact

        worldthread recall Anna --all --json | jq -r .text

        worldthread recall "What is Anna allergic to?" --adaptive --min-score 0.1
    """
    from worldthread.errors import InputError
    from worldthread.retrieve.rerank import load_reranker
    from worldthread.retrieve.text import shown_asked_time

    if adaptive and k is not None:
        raise InputError("give either -k or --adaptive: both say where the lists end")
    selected = filter_of(where)
    kinds = _kinds_of(kind)
    ranked_by = None if reranker is None else load_reranker(reranker, allow_code or ())
    with opened_to_read(memory, namespace, embedder=embedder) as store:
        found = store.recall(
            question,
            k=None if adaptive else k or _HITS,
            as_of=as_of,
            kinds=kinds,
            method=method,
            only_current=not everything,
            max_tokens=max_tokens,
            where=selected,
            min_score=min_score,
            reranker=ranked_by,
        )
        if as_json:
            for hit in found.hits:
                print_json(hit_fields(store, hit))
    if when := shown_asked_time(found.asked_time):
        note(f"asked for: {when}")
    if not found.hits:
        note("the memory has nothing relevant")
        raise typer.Exit(NOTHING_FOUND)
    if not as_json:
        _print(found, scores)


def _kinds_of(words: list[str] | None) -> list[Kind]:
    """Return the kinds that words mean; all without words."""
    from worldthread.errors import InputError
    from worldthread.retrieve.text import WORDS

    known = {word: kind for kind, word in WORDS.items()}
    for word in words or ():
        if word not in known:
            raise InputError(f"{word!r} is not a kind; kinds are: {', '.join(known)}")
    return [known[word] for word in words or known]


def _print(found: Recall, scores: bool) -> None:
    out = console()
    if scores:
        for hit in found.hits:
            out.print(_with_score(hit))
    elif found.text:
        out.print(styled_recall(found.text))
    else:
        note("no hit fits into so few tokens: give a larger --max-tokens")


def _with_score(hit: Hit) -> Text:
    from rich.text import Text

    from worldthread.retrieve.text import WORDS, shown_hit

    if isinstance(hit.item, Episode):
        episodes: tuple[str, ...] = (hit.item.id,)
    else:
        episodes = hit.version.sources if hit.version else ()
    ids = ", ".join(id_[:SHORT_ID] for id_ in episodes[:3]) + (", ..." if len(episodes) > 3 else "")
    path = " > ".join(map(one_line, hit.path))
    return Text.assemble(
        (f"{hit.score:6.3f}  {WORDS[hit.kind]:<8}  ", "cyan"),
        one_line(shown_hit(hit), 300),
        (f"  [{ids}]" if ids else "", "dim"),
        (f"  {path}" if path else "", "dim"),
    )
