"""The output of the memory commands. Stored text is never trusted: no markup, no control codes."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from worldthread.support import text as texts
from worldthread.types import Episode, Fact, Hit, Thesis, Version

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from worldthread.memory.memory import Memory
    from worldthread.models.base import Embedder
    from worldthread.models.configured import ConfiguredChat

SHORT_ID: Final = 8
"""The number of digits of an episode id in printed output."""
_NARROW: Final = frozenset({"from", "until"})
_DIM: Final = frozenset({"source", "why it ended"})

# control characters, invisible characters and changes of direction; joiners stay, as scripts and emoji need them
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """Return ``text`` with an escape for every character, except line breaks, that could control a terminal."""
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text.replace("\r\n", "\n"))


class Terminal(io.RawIOBase):
    """Takes UTF-8 for a terminal, and shows it harmless."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Show some bytes; return their number."""
        sys.stdout.write(harmless(self._decoder.decode(bytes(data))))
        return len(data)


def one_line(text: str, limit: int | None = None) -> str:
    """Return harmless ``text`` as one line of at most ``limit`` characters."""
    line = texts.one_line(harmless(text))
    return line if limit is None else texts.cut(line, limit, " ...")


def console(*, stderr: bool = False) -> Console:
    """Return a console that does not interpret markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):  # an encoding without a character must not end the command
        stream.reconfigure(errors="backslashreplace")
    return Console(file=stream, markup=False, highlight=False, emoji=False, soft_wrap=True)


def note(message: str, style: str = "dim") -> None:
    """Print a message on standard error."""
    from rich.text import Text

    console(stderr=True).print(Text(harmless(message), style=style))


def print_json(fields: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, in ASCII."""
    sys.stdout.write(json.dumps(fields) + "\n")


def print_rows(titles: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Print a table on a terminal, and tab-separated lines with the titles first elsewhere.

    Args:
        titles: the titles of the columns, in order.
        rows: the cells of each row, by title.
    """
    from rich.table import Table
    from rich.text import Text

    out = console()
    lines = [[one_line(row[title]) for title in titles] for row in rows]
    if not out.is_terminal:
        out.file.writelines("\t".join(line) + "\n" for line in (titles, *lines))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(title, no_wrap=title in _NARROW, overflow="fold", style="dim" if title in _DIM else "")
    for line in lines:
        table.add_row(*map(Text, line))
    out.print(table, soft_wrap=False)


def item_fields(item: Fact | Thesis | Episode) -> dict[str, Any]:
    """Return a statement or an episode as JSON."""
    if isinstance(item, Episode):
        return {"text": item.text, "at": item.at}
    if isinstance(item, Fact):
        from worldthread.retrieve.text import shown_statement

        names = {"subject": item.subject, "relation": item.relation, "object": item.object}
        return {"text": shown_statement(item), **names}
    return {"text": item.text, "objects": list(item.objects)}


def version_fields(memory: Memory, version: Version) -> dict[str, Any]:
    """Return a statement as JSON with its world times, its episodes and the reason of its end."""
    fields = {"kind": "fact" if isinstance(version.statement, Fact) else "thesis", **item_fields(version.statement)}
    return fields | _when(memory, version)


def hit_fields(memory: Memory, hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON: the fields of :func:`version_fields` or of an episode, with score and path."""
    fields = {"kind": hit.kind, **item_fields(hit.item), "score": hit.score, "path": list(hit.path)}
    if isinstance(hit.item, Episode):
        return fields | {"episodes": [hit.item.id], "sources": [hit.item.source] if hit.item.source else []}
    return fields if hit.version is None else fields | _when(memory, hit.version)


def _when(memory: Memory, version: Version) -> dict[str, Any]:
    interval = version.interval
    return {
        "since": interval.valid_from,
        "until": None if interval.is_open else interval.valid_to,
        "episodes": list(version.sources),
        "sources": sources_of(memory, version.sources),
        "ended_by": version.ended_by,
        "reason": version.reason,
    }


def sources_of(memory: Memory, episodes: Sequence[str]) -> list[str]:
    """Return the distinct sources of episodes."""
    return list(dict.fromkeys(filter(None, (memory.episode(id_).source for id_ in episodes))))


def version_rows(memory: Memory, versions: Iterable[Version]) -> list[dict[str, str]]:
    """Return rows of a table of statements; a fact and the thesis with the same text share a row."""
    from worldthread.names import normalise_text

    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for version in versions:
        row = _version_row(memory, version)
        rows.setdefault((normalise_text(row["statement"]), row["from"], row["until"]), row)
    return list(rows.values())


def _version_row(memory: Memory, version: Version) -> dict[str, str]:
    from worldthread.extract.when import shown_time

    statement, interval = version.statement, version.interval
    more = f" and {len(version.sources) - 1} more" if len(version.sources) > 1 else ""
    return {
        "from": shown_time(interval.valid_from),
        "until": "" if interval.is_open else shown_time(interval.valid_to),
        "statement": item_fields(statement)["text"],
        "source": origin(memory, version.sources[0]) + more,
        "why it ended": _why_ended(memory, version),
    }


def origin(memory: Memory, episode: str) -> str:
    """Return the source of an episode and the first digits of its id."""
    return f"{memory.episode(episode).source} [{episode[:SHORT_ID]}]".lstrip()


def _why_ended(memory: Memory, version: Version) -> str:
    from worldthread.retrieve.text import shown_reason

    if version.ended_by is None:
        return ""
    return f"{shown_reason(version.reason or '')} {origin(memory, version.ended_by)}".lstrip()


def styled_recall(text: str) -> Text:
    """Return the text of a recall with styles for headings and dates."""
    from rich.text import Text

    from worldthread.extract.recalled import HEADS

    shown = Text(harmless(text))
    shown.highlight_regex(rf"(?m)^(?:{'|'.join(HEADS.values())})$", "bold")
    shown.highlight_regex(r"(?m)\((?:known since|from) [\d-][^()]*\)$", "dim")
    return shown


def usage_fields(chat: ConfiguredChat | None) -> dict[str, Any] | None:
    """Return calls, tokens and dollars of a chat model as JSON; ``None`` without a model."""
    if chat is None:
        return None
    total = chat.meter.overall()
    return {"model": chat.name, "calls": total.calls, "tokens": total.usage.total_tokens, "dollars": total.dollars}


def show_usage(chat: ConfiguredChat | None) -> None:
    """Print calls, tokens and dollars of a chat model on standard error."""
    if chat is None:
        return
    total = chat.meter.overall()
    cost = "price unknown" if total.dollars is None else f"${total.dollars:.4f}"
    note(f"{chat.name}: {number_of(total.calls, 'call')}, {number_of(total.usage.total_tokens, 'token')}, {cost}")


def embedding_fields(embedder: Embedder) -> dict[str, Any] | None:
    """Return calls, tokens and dollars of an embedder on a server as JSON; ``None`` for one on this machine."""
    from worldthread.models.meter import UsageMeter

    meter = getattr(embedder, "meter", None)
    if not isinstance(meter, UsageMeter):
        return None
    total = meter.overall()
    return {"calls": total.calls, "tokens": total.usage.total_tokens, "dollars": total.dollars}


def show_embedding(embedder: Embedder) -> None:
    """Print calls, tokens and dollars of an embedder on a server on standard error."""
    used = embedding_fields(embedder)
    if used is not None and used["calls"]:
        cost = "price unknown" if used["dollars"] is None else f"${used['dollars']:.4f}"
        note(f"{embedder.name}: {number_of(used['calls'], 'call')}, {number_of(used['tokens'], 'token')}, {cost}")


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 fact`` or ``2 facts``."""
    return texts.count_of(count, noun, ",")
