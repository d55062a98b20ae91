"""Hits as text, for a prompt or a person."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from worldthread.extract.recalled import HEADS
from worldthread.extract.when import DAY, is_date, shown_beginning, shown_name, shown_period, shown_time
from worldthread.extract.zones import local_version, shown_local_time, with_offset
from worldthread.graph.fold import SAID_TO_END
from worldthread.types import AskedTime, Episode, Fact, Hit, Kind, Statement, Version

_BYTES_PER_TOKEN: Final = 3
WORDS: Final[dict[Kind, str]] = {"fact": "fact", "thesis": "sentence", "episode": "text"}
"""What the kinds of hits are called before people."""
_REPLACED: Final = "replaced by: "
_MOST_OUTDATED: Final = 5  # facts of one text that are named
_CUT: Final = " [...]"
_EVENT: Final = re.compile(  # regular verbs in the past or perfect, and irregular ones that tell a change
    r"(?:has (?:been )?)?(?:was|were|[a-z]+ed|became|begun|began|born|bought|broken?|brought|came|come|cut|fallen|fell|"
    r"forbade|found|gave|given|gone|got|gotten|had|laid|learnt|left|let|lost|met|quit|set|shut|sold|taken|took|wed|went|"
    r"won)\b"
)
_MARK: Final = re.compile(r"\[(?=\s*no\s+longer\s+true\b)", re.IGNORECASE)
_PUNCTUATED: Final = re.compile(r"[:;!?(\[“”\"]|\.\s")  # "Dr. Strange" is quoted, too; that does no harm
_BRACKETS: Final = str.maketrans("()", "[]")
_INDENTED: Final = r"\g<0>    "
_LINE_BREAK: Final = re.compile(r"(?:\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])(?=[^\n\r])")


def estimated_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text: a third of its bytes in UTF-8 (English has about a fourth)."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def shown_hit(hit: Hit) -> str:
    """Return one hit as text, with the time that it is from."""
    if isinstance(hit.item, Episode):
        origin = ", ".join(
            filter(None, (shown_local_time(hit.item.at, hit.item.metadata), shown_source(hit.item.source)))
        )
        return f"({origin}) {shown_text(hit.item)}{shown_outdated(hit.outdated)}"
    sentence = without_marks(shown_statement(hit.item))
    if hit.version is None:
        return f"{sentence}{shown_outdated(hit.outdated)}"
    return f"{sentence} ({shown_interval(hit.version)}){shown_outdated(hit.outdated)}"


def without_marks(text: str) -> str:
    """Return what somebody said so that nothing in it passes for the mark of :func:`shown_outdated`.

    >>> without_marks("Anna lives in Rome. [no longer true: it (never)]")
    'Anna lives in Rome. [it says: no longer true: it (never)]'

    Args:
        text: the text.
    """
    return _MARK.sub("[it says: ", text)


def shown_text(episode: Episode) -> str:
    """Return the text of an episode without marks; a label with punctuation, such as "Anna: Hi. Bob", in quotes.

    Args:
        episode: the episode.
    """
    text, label = episode.text.strip(), f"{episode.speaker}: "
    if episode.speaker and text.startswith(label) and _PUNCTUATED.search(episode.speaker) is not None:
        text = f"“{episode.speaker}”: {text[len(label) :]}"
    return without_marks(text)


def shown_source(source: str) -> str:
    """Return a source as it stands in parentheses before a text, which it cannot close.

    Args:
        source: the source of an episode.
    """
    return source.translate(_BRACKETS)


def shown_outdated(versions: Iterable[Version]) -> str:
    """Return what of a text is no longer true, in words.

    Args:
        versions: facts that were read from the text and that something else has ended.

    Returns:
        Such as " [no longer true: Ida, lives in, Oslo (until 2024-03-01)]"; empty without any.
    """
    gone = []
    for version in islice(versions, _MOST_OUTDATED):
        interval = version.interval
        was = interval.valid_from < interval.valid_to
        gone.append(f"{version.statement} ({f'until {shown_time(interval.valid_to)}' if was else 'never'})")
    return f" [no longer true: {'; '.join(gone)}]" if gone else ""


def shown_statement(statement: Statement) -> str:
    """Return a statement as people write it: the three parts of a fact as one sentence, a thesis as it is."""
    if isinstance(statement, Fact):
        return " ".join((shown_name(statement.subject), statement.relation, shown_name(statement.object)))
    return statement.text


def shown_reason(reason: str) -> str:
    """Return why a statement ended as people write it; a fact that replaced it is written as one sentence."""
    parts = reason.removeprefix(_REPLACED).split(", ")
    if not reason.startswith(_REPLACED) or len(parts) != 3:  # a name with a comma stays as it is
        return reason
    subject, relation, object_ = parts
    return _REPLACED + shown_statement(Fact(subject, relation, object_))


def shown_interval(version: Version) -> str:
    """Return the interval of a version in words.

    Args:
        version: the version.

    Returns:
        "from" the beginning that its text gives; "known since" the time of the text where it gives none, since what
        somebody tells began before. "until" its end, if it has one. Periods that end with a day are shown as by
        :func:`~worldthread.extract.when.shown_period`: "on 2024-03-01". A beginning that was told to a month is shown
        as by :func:`~worldthread.extract.when.shown_beginning`: "from 2024-03".
    """
    there = local_version(version)
    return with_offset(_shown_interval(there), there.interval.valid_from - version.interval.valid_from)


def _shown_interval(version: Version) -> str:
    interval = version.interval
    days = _shown_days(version)
    if days is not None:
        return days
    begin, end = shown_time(interval.valid_from), shown_time(interval.valid_to)
    is_told = version.reason is not None and not version.reason.startswith("replaced by: ")
    if is_told and end.endswith("-01") and is_date(interval.valid_to):  # "left in March": with March, for what is known
        end = shown_time(interval.valid_to - DAY)[:7]
    is_stated = version.statement.valid_from is not None
    if interval.is_open:
        return f"from {begin}" if is_stated else f"known since {begin}"
    return f"from {begin} until {end}" if is_stated else f"known since {begin}, true until {end}"


def shown_days(version: Version) -> str | None:
    """Return the days, months or years that a text gives for a version, in words.

    Args:
        version: the version.

    Returns:
        Such as "on 2024-03-01" and "from 2024-03", and with the time of a text that gives the last day "known since
        2024-05-15T10:00:00Z, true until 2024-05-17"; ``None`` where the text gives neither, or a time of day.
    """
    return _shown_days(local_version(version))


def _shown_days(version: Version) -> str | None:
    interval, statement = version.interval, version.statement
    if statement.valid_from is None:
        if version.reason != SAID_TO_END or not is_date(interval.valid_to) or interval.valid_to % DAY:
            return None
        return f"known since {shown_time(interval.valid_from)}, true until {shown_time(interval.valid_to - DAY)}"
    if not interval.is_open:
        return shown_period(interval.valid_from, interval.valid_to)
    if statement.begins_by is None or statement.valid_from != interval.valid_from:
        return None
    is_event = isinstance(statement, Fact) and tells_event(statement)
    return shown_beginning(statement.valid_from, statement.begins_by, is_event=is_event)


def tells_event(fact: Fact) -> bool:
    """Return whether a fact tells what happened, not what is so: its relation is a verb in the past."""
    return _EVENT.match(fact.relation) is not None


def shown_asked_time(asked: AskedTime | None) -> str:
    """Return the time that a question asks about in words.

    Args:
        asked: the time.

    Returns:
        Such as "in 2023", "before 2020-01-01", "after 2024-03-01", and "at an unknown time (after the wedding)"; empty
        where the question names none.
    """
    if asked is None or asked.is_tense:
        return ""
    if asked.interval is None:
        return f"at an unknown time ({asked.words})"
    begin, end = asked.interval.valid_from + asked.offset, asked.interval.valid_to + asked.offset
    if math.isinf(begin):
        return f"before {shown_time(end)}" if end < math.inf else ""
    if math.isinf(end):
        return f"from {shown_time(begin)} on"
    return shown_period(begin, end) or f"from {shown_time(begin)} until {shown_time(end)}"


def listed_hit(mark: str, hit: Hit) -> str:
    """Return one hit as an entry of a list.

    Further lines of the hit are indented, so that no passage can imitate another entry or a heading.

    Args:
        mark: what the entry begins with, such as "-".
        hit: the hit.

    Returns:
        The entry, without a line break at its end.
    """
    return f"{mark} {indented(shown_hit(hit))}"


def indented(text: str) -> str:
    """Return a text with its further lines indented."""
    return _LINE_BREAK.sub(_INDENTED, text)


def hits_as_text(hits: Iterable[Hit], max_tokens: int) -> str:
    """Return hits as one text, each kind under its heading.

    A thesis that is part of one of the passages, word for word, is left out; a passage that does not fit is cut.

    Args:
        hits: best first within each kind.
        max_tokens: the most tokens of the text, by :func:`estimated_tokens`.

    Returns:
        The text; empty when nothing fits.
    """
    chosen = list(hits)
    passages = " ".join(hit.item.text for hit in chosen if isinstance(hit.item, Episode))
    chosen = [hit for hit in chosen if hit.kind != "thesis" or str(hit.item) not in passages]
    lines: list[str] = []
    left = max_tokens
    for line in _lines(chosen):
        cost = estimated_tokens(line + "\n")
        if cost > left:
            room = left * _BYTES_PER_TOKEN - len((_CUT + "\n").encode())
            cut = line.encode("utf-8", "surrogatepass")[: max(room, 0)].decode("utf-8", "ignore").rstrip()
            if len(cut) > len(line) // 3:
                lines.append(cut + _CUT)
            break
        lines.append(line)
        left -= cost
    while lines and lines[-1] in HEADS.values():
        lines.pop()
    return "\n".join(lines)


def _lines(hits: list[Hit]) -> Iterator[str]:
    shown: str | None = None
    for hit in hits:
        if hit.kind != shown:
            yield HEADS[hit.kind]
            shown = hit.kind
        yield listed_hit("-", hit)
