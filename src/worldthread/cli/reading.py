"""Commands that read a memory: ``recall``, ``ask``, ``about``, ``timeline``, ``list``, ``namespaces`` and ``stats``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.cli.options import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    NOTHING_FOUND,
    AsOfOption,
    EmbedderOption,
    EntityArgument,
    JsonLinesOption,
    JsonOption,
    MemoryOption,
    MemoryPlace,
    MemoryPromptsOption,
    ModelOption,
    NamespaceOption,
    WaitOption,
    WhereOption,
    YesOption,
    filter_of,
    opened_to_read,
    opened_to_write,
    require_known,
)
from worldthread.cli.output import (
    SHORT_ID,
    console,
    harmless,
    hit_fields,
    note,
    number_of,
    one_line,
    origin,
    print_json,
    print_rows,
    show_usage,
    styled_recall,
    usage_fields,
    version_fields,
    version_rows,
)
from worldthread.errors import InputError
from worldthread.types import Episode, Hit, Kind, Recall

if TYPE_CHECKING:
    from rich.text import Text

    from worldthread.answering.answer import Answer
    from worldthread.memory.memory import Memory


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
            help="Rerank the best hits, for example with a cross-encoder: what makes an object with "
            "score(question, texts). Needs --allow-code MODULE.",
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
        _print_recall(found, scores)


def _kinds_of(words: list[str] | None) -> list[Kind]:
    """Return the kinds that words mean; all without words."""
    from worldthread.errors import InputError
    from worldthread.retrieve.text import WORDS

    known = {word: kind for kind, word in WORDS.items()}
    for word in words or ():
        if word not in known:
            raise InputError(f"{word!r} is not a kind; kinds are: {', '.join(known)}")
    return [known[word] for word in words or known]


def _print_recall(found: Recall, scores: bool) -> None:
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


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question in plain words.")],
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="N", help="Use at most N facts, N sentences and N texts.")
    ] = 20,
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
    ] = 1,
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
            print_json(_answer_fields(store, answer) | {"usage": usage_fields(chat)})
        else:
            _print_answer(store, answer)
            show_usage(chat)
    if answer.text is None:
        raise typer.Exit(NOTHING_FOUND)


def _answer_fields(memory: Memory, answer: Answer) -> dict[str, Any]:
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


def _print_answer(memory: Memory, answer: Answer) -> None:
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


def about(
    entity: EntityArgument,
    as_of: AsOfOption = None,
    where: WhereOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show what the memory currently holds about a person, a place or a thing.

    Prints each fact and sentence with the date since when it holds and its source. [bold]--as-of[/bold] shows an
    earlier time. The exit code is 1 when nothing holds; for an unknown name, similar names are suggested.

    [dim]Examples:[/dim]

        worldthread about Anna

        worldthread about Anna --as-of 2023-12-31

        worldthread about "the old lamp" --json
    """
    selected = filter_of(where)
    with opened_to_read(memory, namespace) as store:
        require_known(store, entity)
        versions = store.about(entity, as_of=as_of, where=selected)
        if as_json:
            for version in versions:
                print_json(version_fields(store, version))
        elif versions:
            titles = ("from", "statement", "source") if as_of is None else ("from", "until", "statement", "source")
            print_rows(titles, version_rows(store, versions))
    if not versions:
        when = "now" if as_of is None else f"at {as_of}"
        note(f"nothing holds about {entity!r} {when}; worldthread timeline shows all statements that ever held")
        raise typer.Exit(NOTHING_FOUND)


_TITLES = ("from", "until", "statement", "source", "why it ended")


def timeline(
    entity: EntityArgument,
    where: WhereOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Show the history of a person, a place or a thing.

    Prints every fact and sentence that ever held, with the dates between which it held, its source, and why it ended.
    The exit code is 1 for an unknown name; similar names are suggested.

    [dim]Examples:[/dim]

        worldthread timeline Anna

        worldthread timeline Anna --json | jq -r 'select(.until) | .reason'
    """
    selected = filter_of(where)
    with opened_to_read(memory, namespace) as store:
        require_known(store, entity)
        versions = store.timeline(entity, where=selected)
        if as_json:
            for version in versions:
                print_json(version_fields(store, version))
        else:
            print_rows(_TITLES, version_rows(store, versions))


_DECLINED = 1
_WIDTH = 200


def list_(
    episodes: Annotated[bool, typer.Option("--episodes", help="List texts instead of facts and sentences.")] = False,
    where: WhereOption = None,
    as_of: AsOfOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also list what no longer holds.")] = False,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="List at most N.")] = 100,
    cursor: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Continue after a page, with its cursor.", show_default=False),
    ] = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """List statements (facts and sentences) or texts with their ids, page by page.

    Statements come in order of the time from which they hold, then of their id; texts in order of their time, then
    of their id. The ids are those that update, correct and forget take. The exit code is 1 when there are none.

    [dim]Examples:[/dim]

        worldthread list --where user=anna

        worldthread list --episodes --where session=s-17 --limit 20
    """
    from worldthread.extract.when import shown_time

    selected = filter_of(where)
    if episodes and (as_of is not None or everything):
        raise InputError("--as-of and --all are for statements, not for --episodes")
    with opened_to_read(memory, namespace) as store:
        if episodes:
            texts = store.list_episodes(selected, limit=limit, cursor=cursor)
            following, count = texts.cursor, len(texts.items)
            for episode in texts.items:
                if as_json:
                    print_json({"episode": episode.id, "at": episode.at, "source": episode.source,
                                "text": episode.text})  # fmt: skip
                else:
                    typer.echo(f"{episode.id}  {shown_time(episode.at)}  {one_line(episode.text, _WIDTH)}")
        else:
            page = store.list_statements(selected, as_of=as_of, only_current=not everything, limit=limit, cursor=cursor)
            following, count = page.cursor, len(page.items)
            for version in page.items:
                if as_json:
                    print_json({"id": version.statement.id, **version_fields(store, version)})
                else:
                    since = shown_time(version.interval.valid_from)
                    typer.echo(f"{version.statement.id}  {since}  {one_line(str(version.statement), _WIDTH)}")
    if following is not None:
        note(f"more: --cursor {following}")
    if not count:
        note("the memory has nothing like that")
        raise typer.Exit(NOTHING_FOUND)


def namespaces(
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="NAME", help="Delete this memory with all that it holds.")
    ] = None,
    yes: YesOption = False,
    memory: MemoryOption = DEFAULT_FILE,
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonLinesOption = False,
) -> None:
    """List the memories of a file with their sizes, or delete one.

    [dim]Examples:[/dim]

        worldthread namespaces

        worldthread namespaces --delete anna
    """
    if delete is None:
        with opened_to_read(memory, "default", may_be_empty=True) as store:
            for one in store.namespaces():
                if as_json:
                    print_json({"namespace": one.name, "episodes": one.episodes, "bytes": one.bytes})
                else:
                    typer.echo(f"{one_line(one.name)}  {number_of(one.episodes, 'text')}, {one.bytes:,} bytes")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nothing was deleted: give --yes when standard input is not a terminal")
        if not typer.confirm(f"Delete the memory {delete!r} with all that it holds?", err=True):
            note("nothing was deleted")
            raise typer.Exit(_DECLINED)
    with opened_to_write(memory, "default", wait, must_exist=True) as store:
        count = store.delete_namespace(delete)
    if as_json:
        print_json({"memory": str(memory), "deleted": delete, "episodes": count})
    else:
        typer.echo(f"deleted {one_line(delete)} with {number_of(count, 'text')}")


_SHOWN = 5
_BEGINNING = 80
_LABELS = {
    "episodes": "texts",
    "current_facts": "current facts",
    "current_theses": "current sentences",
    "facts": "facts in total",
    "theses": "sentences in total",
    "ended": "endings",
    "vectors": "vectors",
}


def stats(
    failures: Annotated[
        bool,
        typer.Option("--failures", help="Show the full text of every unread text, and why it could not be read."),
    ] = False,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Show the size of a memory, and the texts that could not be read.

    Prints the numbers of texts, facts and sentences, the size of the file, and its namespaces.

    [dim]Examples:[/dim]

        worldthread stats

        worldthread stats --failures

        worldthread stats --json | jq .unread
    """
    from worldthread.stores import SQLiteStore

    with opened_to_read(memory, namespace, may_be_empty=True) as store:
        counts = store.stats()
        unread = store.unread()
        if isinstance(memory.location, str):
            sizes = store.namespaces()
            names, size = [one.name for one in sizes], sum(one.bytes for one in sizes)
        else:
            names, size = SQLiteStore.namespaces(memory.file), _bytes_of(memory.file)
    if as_json:
        where = {"memory": str(memory), "namespace": namespace, "namespaces": names, "bytes": size}
        print_json(where | counts | {"not_read": [_unread_fields(episode, failures) for episode in unread]})
        return
    _print_counts(memory, namespace, names, size, counts)
    if unread:
        _print_unread(unread, failures)


def _bytes_of(path: Path) -> int:
    """Return the size of the file together with its log and its snapshots."""
    beside = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    inside = path.with_name(path.name + "-snapshot").rglob("*")
    return sum(file.stat().st_size for file in (*beside, *inside) if file.is_file())


def _unread_fields(episode: Episode, whole: bool) -> dict[str, Any]:
    failures = episode.extraction.failures
    return {
        "episode": episode.id,
        "at": episode.at,
        "source": episode.source,
        "text": episode.text if whole else one_line(episode.text, _BEGINNING),
        "failures": list(failures) if whole else [one_line(failure, _BEGINNING) for failure in failures],
    }


def _print_counts(place: MemoryPlace, namespace: str, names: list[str], size: int, counts: dict[str, int]) -> None:
    others = [name for name in names if name != namespace]
    lines = {
        "file": f"{place}, {_shown_bytes(size)}",
        "namespace": namespace + (f" (others: {', '.join(others)})" if others else ""),
        **{label: f"{counts[name]:,}" for name, label in _LABELS.items()},
        "unread texts": f"{counts['unread']:,}"
        + (f", of which {counts['failed']:,} failed" if counts["failed"] else ""),
    }
    for label, value in lines.items():
        typer.echo(f"{label:<22}{one_line(value)}")


def _shown_bytes(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    amount, unit = size / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.3g} {unit}"


def _print_unread(unread: list[Episode], whole: bool) -> None:
    from rich.text import Text

    out = console()
    out.print()
    for episode in unread if whole else unread[:_SHOWN]:
        origin = f" ({one_line(episode.source)})" if episode.source else ""
        text = harmless(episode.text) if whole else one_line(episode.text, _BEGINNING)
        out.print(Text(f"unread: {episode.id[:SHORT_ID]}{origin}", style="yellow"))
        out.print(Text(text))
        for failure in episode.extraction.failures or ("no extractor has read it yet",):
            out.print(Text(f"  {harmless(failure) if whole else one_line(failure, 200)}", style="dim"))
    hints = [] if whole or len(unread) <= _SHOWN else [f"and {len(unread) - _SHOWN:,} more (--failures)"]
    out.print(Text("\n".join([*hints, "worldthread retry reads them again"]), style="dim"))
