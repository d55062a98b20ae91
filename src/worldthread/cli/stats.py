"""``worldthread stats``: the size of a memory, and the texts that could not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from worldthread.cli.opening import DEFAULT_FILE, JsonOption, MemoryOption, MemoryPlace, NamespaceOption, opened_to_read
from worldthread.cli.output import SHORT_ID, console, harmless, one_line, print_json
from worldthread.types import Episode

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
        print_json(where | counts | {"not_read": [_fields(episode, failures) for episode in unread]})
        return
    _print_counts(memory, namespace, names, size, counts)
    if unread:
        _print_unread(unread, failures)


def _bytes_of(path: Path) -> int:
    """Return the size of the file together with its log and its snapshots."""
    beside = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    inside = path.with_name(path.name + "-snapshot").rglob("*")
    return sum(file.stat().st_size for file in (*beside, *inside) if file.is_file())


def _fields(episode: Episode, whole: bool) -> dict[str, Any]:
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
