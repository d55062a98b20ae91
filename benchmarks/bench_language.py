"""Measure what a memory states about people, without a model or with one, on the sentences in benchmarks/language.

    python benchmarks/bench_language.py --half development|unseen [--part PART ...] [--show-failures] [--json]
        [--record CALLS | --replay CALLS] [--prompt 3|4]

With --record the chat model that is configured reads the sentences (WORLDTHREAD_MODEL names it), and its answers are
kept in a new file of recorded calls; with --replay they are taken from there. Without both, rules read. --prompt is
the version of the prompt, for recordings of earlier releases.

Every sentence is told to a new memory by the role "user", unless the set names its speaker. The unseen half was
written so that the rules are not fitted to it: its failures are shown only with --reveal, after which it is no longer
unseen. The parts, and when an entry is right:

* everyday: at least one of the listed facts is stated, and nothing else of the same subjects; a fact with a part of the
  listed object is something else. "beside" counts the facts about other subjects, which are not judged.
* changes: a fact with the given words held after the first message, and no such fact holds after the second one, a day
  later. New facts with these words are allowed ("sold the Volvo"). look-alikes: nothing ends. corrections: a fact with
  the given words was stated by the first message, and holds at no time after the second one; a date has the words of
  its day ("Tuesday", "9th") too.
* changes_third: a third set of changes, look-alikes, corrections and dates, with speakers of other names than "user".
* changes_plain: a fourth set of the same kind, in short plain statements.
* changes_varied: a fifth set, in which the earlier fact is often told obliquely.
* dates: a fact with the given words has the expected interval, to the day.
* nonsense: no fact is stated, not even one that has ended.
* dates_varied: a second set, in more varied words. undated: the fact is not stated, or has no bound but the time of the
  message.
* dates_plain_second: dates in short plain sentences, and undated as above.
* corrections: more corrections and pairs that look alike and correct nothing, in varied words.
* fifth, sixth, seventh: everyday sentences, changes, dates and nonsense, each by writers who saw no rule and none of
  their results. Those of the sixth and seventh did not list all facts of a sentence: others count as beside.
* dates_constructions: dates by the construction that says them, and undated as above.
* dates_seventh: the dates of the seventh alone; read only when it is named.
* dates_eighth: dates by four writers who saw no rule, a heading for each.

An entry is missed when there was nothing to judge: no fact was stated, or none by the first message of a pair.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias

from worldthread import Fact, Memory
from worldthread.extract.model import ModelExtractor
from worldthread.models import chat_model
from worldthread.models.chat import ChatModel
from worldthread.models.fake import FakeEmbedder
from worldthread.names import normalise_name, normalise_text
from worldthread.types import Statement, Version
from worldthread_lab.play.statistics import wilson_interval

FOLDER = Path(__file__).parent / "language"
SPEAKER = "user"
FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)  # a Wednesday
LATER = FIRST + timedelta(days=1)
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|cannot|without)\b|\b(?:ai|are|ca|could|did|do|does|had|has|have|is|should|was|were|wo|would)nt\b|n't\b"
)

READER: Literal["none"] | ChatModel = "none"  # set once, by main
PROMPT: Literal[3, 4] = 4  # the same


Outcome: TypeAlias = Literal["right", "wrong", "missed"]
Before: TypeAlias = str | list[str]


@dataclass(frozen=True)
class Verdict:
    """The outcome of one entry, with the sentences and what was stated."""

    part: str
    outcome: Outcome
    sentences: tuple[str, ...]
    stated: tuple[str, ...] = ()
    beside: int = 0


def new_memory() -> Memory:
    """Return an empty memory in RAM that reads by rule, or with the model that was asked for."""
    extractor = None if READER == "none" else ModelExtractor(READER, version=PROMPT)
    return Memory(model=READER, extractor=extractor, embedder=FakeEmbedder())


def tell(memory: Memory, sentence: str, at: datetime, speaker: str = SPEAKER) -> None:
    """Remember a sentence as a message of the user or of another speaker."""
    memory.remember([{"role": speaker, "content": sentence}], at=at)


def tell_all(memory: Memory, before: Before, at: datetime, speaker: str = SPEAKER) -> tuple[str, ...]:
    """Remember one message or several at one time, and return them."""
    messages = (before,) if isinstance(before, str) else tuple(before)
    for message in messages:
        tell(memory, message, at, speaker)
    return messages


def stated_versions(memory: Memory) -> list[Version]:
    """Return the intervals of every statement that the memory ever made. Only this function knows how it shows them."""
    found = {(v.statement.id, v.interval): v for name in memory.entities() for v in memory.timeline(name)}
    return list(found.values())


def stated_facts(memory: Memory) -> list[Fact]:
    """Return the facts that the memory ever stated, in a fixed order."""
    facts = {v.statement.id: v.statement for v in stated_versions(memory) if isinstance(v.statement, Fact)}
    return sorted(facts.values(), key=str)


def unended(memory: Memory, at: datetime) -> set[Statement]:
    """Return the statements that hold at a time or are expected to hold later; not what was called off before."""
    intervals = ((v.statement, v.interval) for v in stated_versions(memory))
    return {statement for statement, i in intervals if i.valid_from < i.valid_to > at.timestamp()}


def has_words(fact: Fact, words: str) -> bool:
    """Return whether the words occur in a fact: "smoke" in "smokes", "doing a PhD" in "does PhD", "4" not in "44"."""
    text = f"{fact.subject} {fact.relation} {fact.object}"
    pairs = ((normalise_text(words), normalise_text(text)), (_uninflected(words), _uninflected(text)))
    return any(re.search(_in_words(wanted), said) is not None for wanted, said in pairs)


def _in_words(words: str) -> str:
    """Return an expression for words in a row, of which the last may go on and those before it may be verbs."""
    end = r"(?!\d)" if words[-1:].isdigit() else ""
    *before, last = words.split(" ")
    forms = [
        f"{re.escape(word)}(?:e?s|ing|ed)?" if len(word) > 2 and word.isalpha() else re.escape(word) for word in before
    ]
    return rf"(?<!\w){' '.join([*forms, re.escape(last)])}{end}"


def _uninflected(text: str) -> str:
    """Return a text without articles, with "do" and "have" for their forms: how a fact is worded is not judged."""
    text = re.sub(r"\b(ca|do|does|did|is|are|was|were|has|have)n['’]?t\b", r"\1 not", normalise_text(text))
    text = re.sub(r"\b(?:an?|the) (?=\w)", "", text)
    return re.sub(r"\b(?:has|had|having)\b", "have", re.sub(r"\b(?:does|did|doing)\b", "do", text))


def with_days(fact: Fact) -> Fact:
    """Return a fact with its dates in words too: "2024-04-16, Tuesday 16th" for what was said of "Tuesday"."""

    def worded(date: re.Match[str]) -> str:
        day = datetime.fromisoformat(date[0])
        ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
        names = (
            f"{day:%A} {day.day}{ending}",
            f"{day.day} {day:%B}",
            f"{day.day}{ending} of {day:%B}",
            f"{day:%B} {day.day}",
        )
        return ", ".join((date[0], *names))

    return replace(fact, object=re.sub(r"\d{4}-\d\d-\d\d", worded, fact.object))


# -- one fact against a listed one ------------------------------------------------------------------------------------


def is_about(fact: Fact, subject: str) -> bool:
    """Return whether a fact is about a listed subject: "user's friend Kofi" is "Kofi", but not "user"."""
    name, wanted = normalise_name(fact.subject), normalise_name(subject)
    return name == wanted or (wanted != SPEAKER and name.endswith(f" {wanted}"))


def begins_before(alternatives: str, text: str, limit: int) -> bool:
    """Return whether one of the alternatives begins a word of ``text`` before ``limit``.

    An alternative of one or two letters is a whole word ("go", "goes").
    """
    for alternative in alternatives.split("/"):
        end = r"(?:e?s|ing)?(?!\w)" if len(alternative) < 3 else ""
        found = re.search(rf"(?<!\w){re.escape(normalise_text(alternative))}{end}", text)
        if found and found.start() < limit:
            return True
    return False


def matches(fact: Fact, listed: str, sentence: str) -> bool:
    """Return whether a fact says what "subject | relation/relation | object" says.

    The object may be longer. The relation may stand in the object ("has", "cat called Pixel") or, for the speaker, in
    the subject ("user's cat"), and the fact may be turned round ("Pixel", "is cat of", "user"). A negated relation is
    right only where the sentence or the listed relation is negated.
    """
    subject, relations, wanted = (normalise_name(part.strip()) for part in listed.split("|"))
    relation, name = normalise_text(fact.relation), normalise_name(fact.subject)
    if NEGATION.search(relation) and not NEGATION.search(f"{relations} {normalise_text(sentence)}"):
        return False
    if is_about(fact, wanted) and normalise_name(fact.object) == subject:
        return begins_before(relations, relation, len(relation))
    text = f"{relation} {normalise_text(fact.object)}"
    place = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text)
    if place is None:
        return False
    owned = name.removeprefix(f"{subject}'s ")
    return (is_about(fact, subject) and begins_before(relations, text, place.start())) or (
        owned != name and begins_before(relations, owned, len(owned))
    )


# -- the parts --------------------------------------------------------------------------------------------------------


def judge_sentence(
    part: str, sentence: str, listed: list[str], speaker: str = SPEAKER, *, is_complete: bool = True
) -> Verdict:
    """Judge a sentence with the facts that it may give.

    Args:
        part: the part of the measure.
        sentence: what is said.
        listed: facts, one of which is to be stated.
        speaker: who says it.
        is_complete: whether a fact about the same subjects that is not listed is wrong; else it is one beside.
    """
    with new_memory() as memory:
        tell(memory, sentence, FIRST, speaker)
        facts = stated_facts(memory)
    others = [fact for fact in facts if not any(matches(fact, one, sentence) for one in listed)]
    subjects = {one.partition("|")[0].strip() for one in listed} | {speaker}
    wrong = [
        fact
        for fact in others
        if is_complete
        and (
            any(is_about(fact, subject) for subject in subjects)
            or normalise_name(fact.subject).startswith(f"{normalise_name(speaker)}'s ")
        )
    ]
    outcome: Outcome = "wrong" if wrong else "right" if len(facts) > len(others) else "missed"
    return Verdict(part, outcome, (sentence,), tuple(map(str, facts)), len(others) - len(wrong))


def judge_nothing(part: str, sentence: str) -> Verdict:
    """Judge a sentence from which no fact may be stated."""
    with new_memory() as memory:
        tell(memory, sentence, FIRST)
        facts = stated_facts(memory)
    return Verdict(part, "wrong" if facts else "right", (sentence,), tuple(map(str, facts)))


def judge_change(part: str, before: Before, later: str, words: str, *others: str, speaker: str = SPEAKER) -> Verdict:
    """Judge a change: every fact with the words ends, and none with the words of ``others``."""
    with new_memory() as memory:
        messages = tell_all(memory, before, FIRST, speaker)
        first = {s for s in unended(memory, FIRST) if isinstance(s, Fact)}
        held = {s for s in first if has_words(with_days(s), words)}
        tell(memory, later, LATER, speaker)
        last = unended(memory, LATER)
        stated = tuple(map(str, stated_facts(memory)))
    ended_too = {s for s in first - held - last if any(has_words(s, other) for other in others)}
    outcome: Outcome = "wrong" if held & last or ended_too else "right" if held else "missed"
    return Verdict(part, outcome, (*messages, later), (*stated, *(f"ended: {fact}" for fact in ended_too)))


def judge_look_alike(part: str, before: Before, later: str, speaker: str = SPEAKER) -> Verdict:
    """Judge a pair in which no statement may end."""
    with new_memory() as memory:
        messages = tell_all(memory, before, FIRST, speaker)
        first = unended(memory, FIRST)
        held = unended(memory, LATER)  # "a meeting at 3 pm" is over on the next day, whatever is said then
        tell(memory, later, LATER, speaker)
        ended = held - unended(memory, LATER)
    nothing = not any(isinstance(statement, Fact) for statement in first)
    stated = tuple(f"ended: {statement}" for statement in ended)
    return Verdict(part, "wrong" if ended else "missed" if nothing else "right", (*messages, later), stated)


def judge_correction(part: str, before: Before, correction: str, words: str, speaker: str = SPEAKER) -> Verdict:
    """Judge a correction: no fact with the words from before holds at any time."""
    with new_memory() as memory:
        messages = tell_all(memory, before, FIRST, speaker)
        held = [fact for fact in stated_facts(memory) if has_words(with_days(fact), words)]
        tell(memory, correction, LATER, speaker)
        facts = stated_facts(memory)
        starts = [v.interval.valid_from for v in stated_versions(memory) if v.statement in held]
        times = [FIRST.timestamp(), FIRST.timestamp() + 1, LATER.timestamp(), LATER.timestamp() + 1, *starts]
        true = any(
            memory.view(at).holds(fact) for fact in held for at in (None, *times) if at is None or math.isfinite(at)
        )
    outcome: Outcome = "wrong" if true else "right" if held else "missed"
    return Verdict(part, outcome, (*messages, correction), tuple(map(str, facts)))


def judge_date(at: str, sentence: str, words: str, start: str, end: str) -> Verdict:
    """Judge the interval of the facts with the words."""
    with new_memory() as memory:
        tell(memory, sentence, datetime.fromisoformat(at).replace(tzinfo=UTC))
        versions = stated_versions(memory)
    found = [v for v in versions if isinstance(v.statement, Fact) and has_words(v.statement, words)]
    right = any(is_interval(v, start.removeprefix("~"), end.removeprefix("~")) for v in found)
    stated = tuple(f"{v.statement} [{_date(v.interval.valid_from)}, {_date(v.interval.valid_to)})" for v in found)
    return Verdict("dates", "right" if right else "wrong" if found else "missed", (at, sentence, start, end), stated)


def judge_undated(at: str, sentence: str, words: str) -> Verdict:
    """Judge a sentence with an expression that dates nothing: its fact has no bound but the time of the message."""
    time = datetime.fromisoformat(at).replace(tzinfo=UTC)
    with new_memory() as memory:
        tell(memory, sentence, time)
        versions = stated_versions(memory)
    found = [v for v in versions if isinstance(v.statement, Fact) and has_words(v.statement, words)]
    bounds = {bound for v in found for bound in (v.interval.valid_from, v.interval.valid_to) if math.isfinite(bound)}
    outcome: Outcome = "right" if bounds <= {time.timestamp()} else "wrong"
    stated = tuple(f"{v.statement} [{_date(v.interval.valid_from)}, {_date(v.interval.valid_to)})" for v in found)
    return Verdict("undated", outcome, (at, sentence), stated)


def is_interval(version: Version, start: str, end: str) -> bool:
    """Return whether a version holds from a time on the day ``start`` to a time on the day ``end`` or its midnight.

    An empty ``end`` is an open end; with an empty ``start`` any start before the end is right.
    """
    valid_from, valid_to = version.interval.valid_from, version.interval.valid_to
    day = timedelta(days=1).total_seconds()
    begins = _midnight(start) <= valid_from < _midnight(start) + day if start else valid_from < valid_to
    ends = _midnight(end) <= valid_to <= _midnight(end) + day if end else version.interval.is_open
    return begins and ends and valid_from < valid_to


def _midnight(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def _date(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M}" if math.isfinite(time) else ""


def read(part: str, half: str) -> dict[str, Any]:
    """Return the contents of a file of sentences."""
    return tomllib.loads((FOLDER / f"{part}_{half}.toml").read_text(encoding="utf-8"))


def everyday(half: str) -> Iterator[Verdict]:
    for name in ("everyday", "everyday_second", "everyday_third"):
        part = name.replace("_", ", ")
        for sentence, *listed in read(name, half)["sentences"]:
            yield judge_sentence(part, sentence, listed)
    for speaker, sentence, *listed in read("everyday_fourth", half)["sentences"]:
        yield judge_sentence("everyday, fourth", sentence, listed, speaker)


def changes(half: str) -> Iterator[Verdict]:
    for name, scenes in (("changes", ""), ("changes_own", ", scenes")):
        data = read(name, half)
        yield from (judge_change(f"changes{scenes}", *entry) for entry in data["changes"])
        yield from (judge_look_alike(f"look-alikes{scenes}", *entry) for entry in data["look_alikes"])
        yield from (judge_correction(f"corrections{scenes}", *entry) for entry in data["corrections"])


def changes_third(half: str, name: str = "third") -> Iterator[Verdict]:
    data = read(f"changes_{name}", half)
    for _, speaker, *entry in data["changes"]:
        before, later, words, *others = entry
        yield judge_change(f"changes, {name}", before, later, words, *others, speaker=speaker)
    for speaker, before, later in data["look_alikes"]:
        yield judge_look_alike(f"look-alikes, {name}", before, later, speaker=speaker)
    for speaker, before, correction, words in data["corrections"]:
        yield judge_correction(f"corrections, {name}", before, correction, words, speaker=speaker)
    yield from (replace(judge_date(*entry), part=f"dates, {name}") for entry in data.get("dates", ()))


def changes_plain(half: str) -> Iterator[Verdict]:
    yield from changes_third(half, "plain")


def changes_varied(half: str) -> Iterator[Verdict]:
    yield from changes_third(half, "varied")


def corrections(half: str) -> Iterator[Verdict]:
    data = read("corrections", half)
    for speaker, before, later in data["look_alikes"]:
        yield judge_look_alike("look-alikes, corrections", before, later, speaker=speaker)
    for speaker, before, correction, words in data["corrections"]:
        yield judge_correction("corrections, varied words", before, correction, words, speaker=speaker)


def dates(half: str) -> Iterator[Verdict]:
    yield from (judge_date(*entry) for entry in read("dates", half)["dates"])


def dates_varied(half: str, file: str = "varied", shown: str = "dates") -> Iterator[Verdict]:
    for name, entries in read(f"dates_{file}", half).items():
        if name == "undated":
            yield from (judge_undated(*entry) for entry in entries)
        else:
            yield from (replace(judge_date(*entry), part=f"{shown}, {name}") for entry in entries)


def dates_plain_second(half: str, name: str = "plain_second") -> Iterator[Verdict]:
    data, shown = read(f"dates_{name}", half), name.replace("_", ", ")
    yield from (replace(judge_date(*entry), part=f"dates, {shown}") for entry in data["english"])
    yield from (replace(judge_undated(*entry), part=f"undated, {shown}") for entry in data["undated"])


def dates_constructions(half: str) -> Iterator[Verdict]:
    yield from dates_plain_second(half, "constructions")


def dates_eighth(half: str) -> Iterator[Verdict]:
    yield from dates_varied(half, "eighth", "dates, eighth")


def dates_seventh(half: str) -> Iterator[Verdict]:
    yield from dates_plain_second(half, "seventh")


def nonsense(half: str) -> Iterator[Verdict]:
    yield from (judge_nothing("nonsense", sentence) for sentence in read("nonsense", half)["sentences"])
    yield from (judge_nothing("nonsense, second", sentence) for sentence in read("nonsense_second", half)["sentences"])


def fifth(half: str, name: str = "fifth") -> Iterator[Verdict]:
    for speaker, sentence, *listed in read(f"everyday_{name}", half)["sentences"]:
        yield judge_sentence(f"everyday, {name}", sentence, listed, speaker, is_complete=name == "fifth")
    yield from changes_third(half, name)
    yield from dates_plain_second(half, name)
    yield from (
        judge_nothing(f"nonsense, {name}", sentence) for sentence in read(f"nonsense_{name}", half)["sentences"]
    )


def sixth(half: str) -> Iterator[Verdict]:
    yield from fifth(half, "sixth")


def seventh(half: str) -> Iterator[Verdict]:
    yield from fifth(half, "seventh")


PARTS: dict[str, Callable[[str], Iterator[Verdict]]] = {
    "everyday": everyday,
    "changes": changes,
    "changes_third": changes_third,
    "changes_plain": changes_plain,
    "changes_varied": changes_varied,
    "corrections": corrections,
    "dates": dates,
    "nonsense": nonsense,
    "dates_varied": dates_varied,
    "dates_plain_second": dates_plain_second,
    "dates_constructions": dates_constructions,
    "fifth": fifth,
    "sixth": sixth,
    "seventh": seventh,
    "dates_seventh": dates_seventh,
    "dates_eighth": dates_eighth,
}


# -- the table --------------------------------------------------------------------------------------------------------


def figures(verdicts: list[Verdict]) -> dict[str, dict[str, Any]]:
    """Count the outcomes of every part, with 95 % Wilson intervals of the shares of right and wrong."""
    table: dict[str, dict[str, Any]] = {}
    for part in dict.fromkeys(verdict.part for verdict in verdicts):
        ours = [verdict for verdict in verdicts if verdict.part == part]
        counts = Counter(verdict.outcome for verdict in ours)
        table[part] = {
            "entries": len(ours),
            "right": counts["right"],
            "wrong": counts["wrong"],
            "missed": counts["missed"],
            "beside": sum(verdict.beside for verdict in ours),
            "right_interval": wilson_interval(counts["right"], len(ours)),
            "wrong_interval": wilson_interval(counts["wrong"], len(ours)),
        }
    return table


def print_table(table: dict[str, dict[str, Any]]) -> None:
    """Print a line for each part."""
    print(f"{'':24}{'entries':>8}{'right':>7}{'wrong':>7}{'missed':>7}{'beside':>7}  right, 95 %   wrong, 95 %")
    for part, row in table.items():
        counts = f"{row['entries']:8}{row['right']:7}{row['wrong']:7}{row['missed']:7}{row['beside']:7}"
        shares = [
            f"{100 * low:4.0f}-{100 * high:3.0f} %" for low, high in (row["right_interval"], row["wrong_interval"])
        ]
        print(f"{part:24}{counts}   {'    '.join(shares)}")


def main() -> None:
    global PROMPT, READER
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("development", "unseen"), required=True)
    parser.add_argument("--part", choices=PARTS, nargs="+", help="default: each sentence once")
    parser.add_argument("--show-failures", action="store_true", help="print what was not right")
    parser.add_argument("--reveal", action="store_true", help="allow --show-failures for the unseen half")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    calls = parser.add_mutually_exclusive_group()
    calls.add_argument("--record", type=Path, help="ask the configured chat model, and record its answers in this file")
    calls.add_argument("--replay", type=Path, help="take a chat model's answers from this file")
    parser.add_argument("--prompt", type=int, choices=(3, 4), default=PROMPT, help="the version of the prompt")
    options = parser.parse_args()
    PROMPT = options.prompt
    parts = options.part or [part for part in PARTS if part != "dates_seventh"]
    if options.record is not None or options.replay is not None:
        kept = {"record": options.record, "cache": False} if options.replay is None else {"replay": options.replay}
        model = chat_model(**kept)
        if model is None:
            sys.exit("no chat model is configured: set WORLDTHREAD_MODEL")
        READER = model
    if options.show_failures and options.half == "unseen" and not options.reveal:
        sys.exit("the unseen half is for counts only; give --reveal too if it need not stay unseen")
    verdicts = [verdict for part in parts for verdict in PARTS[part](options.half)]
    if options.show_failures:
        for verdict in verdicts:
            if verdict.outcome != "right":
                print(f"{verdict.part}, {verdict.outcome}: {' / '.join(verdict.sentences)}")
                print(*(f"    {line}" for line in verdict.stated), sep="\n", end="\n" if verdict.stated else "")
    table = figures(verdicts)
    if options.json:
        print(json.dumps(table))
    else:
        print_table(table)


if __name__ == "__main__":
    main()
