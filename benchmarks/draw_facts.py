"""Draw facts at random with the sentences that they were taken from, to be labelled by eye.

    python benchmarks/draw_facts.py chat|encyclopaedia|documentation|mail|lines|conversations|sentences [FILE ...]
        [--texts N] [--facts N]

Texts are drawn at random, each is remembered by a memory of its own without a model, and of all their facts --facts are
drawn. Prints tab-separated lines: an empty label, the fact, its interval, the interval as memories show it, the
sentence, the source and, with --context, the time, the part before and the whole part that the fact was taken from.
With --enough, no further text is read once so many facts are found. The yield goes to standard error. --labels fills
in the labels of facts that an earlier table has, and counts them. What a kind reads:

* chat: sessions of LoCoMo and stretches of 20 turns of BEAM, in the folder of real data ($WORLDTHREAD_SHARED);
* encyclopaedia: passages of the multi-hop sets there;
* documentation: passages of the READMEs, news and notes in /usr/share/doc, or of the files and folders given;
* mail: the messages and texts in the files and folders given, of which a file may hold several between lines "%%"; one
  with headers is said by its sender at its date;
* lines: one text a line of the files given, such as news or notes;
* conversations: the conversations in files of JSON Lines, a turn a line with its conversation, speaker, text and time;
* sentences: each of the speakers and sentences in files such as everyday_sixth_unseen.toml, said alone.

The texts are for labelling only: check their licence before a sample is committed.
"""

from __future__ import annotations

import argparse
import csv
import email
import email.policy
import email.utils
import gzip
import json
import math
import os
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worldthread import Fact, Memory
from worldthread.models.fake import FakeEmbedder
from worldthread.names import normalise_text
from worldthread.retrieve.text import shown_interval
from worldthread.types import Version

DATA = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared") / "data"
DOCUMENTS = Path("/usr/share/doc")
DOCUMENT = re.compile(r"(?:README|NEWS|FAQ|TODO|NOTES)|\.(?:txt|md|rst)(?:\.gz)?$")
SEPARATOR = re.compile(r"^%%\n", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
PASSAGE = 2000  # characters
STRETCH = 20  # turns
NOW = datetime(2024, 5, 15, 10, tzinfo=UTC)  # of texts that bring no time


@dataclass(frozen=True)
class Text:
    """A text to remember: a string or messages, its time, and where it comes from."""

    content: str | list[dict[str, str]]
    at: datetime
    source: str

    @property
    def parts(self) -> list[str]:
        return [self.content] if isinstance(self.content, str) else [turn["content"] for turn in self.content]

    def context(self, part: str) -> str:
        """Return the time, the part before and a part that contains a text, with their speakers, on one line."""
        if isinstance(self.content, str):
            said, at, index = [("", self.content)], self.at, 0
        else:
            said = [speaker_and_words(turn) for turn in self.content]
            inside = [i for i, (_, words) in enumerate(said) if words.strip() and words.strip() in part]
            index = max(inside, key=lambda i: len(said[i][1]), default=-1)  # "Yes" is in many parts
            given = self.content[index].get("at") if index >= 0 else None
            at = self.at if given is None else datetime.fromisoformat(given)
        shown = said[max(0, index - 1) : index + 1] if index >= 0 else [("", part)]
        lines = [f"{speaker}: {words}" if speaker else words for speaker, words in shown]
        return f"{at:%A %Y-%m-%d %H:%M} // " + " // ".join(" ".join(line.split()) for line in lines)


@dataclass(frozen=True)
class Draw:
    """A fact with its interval and the sentence that it was taken from."""

    version: Version
    sentence: str
    source: str
    context: str = ""


def speaker_and_words(turn: dict[str, str]) -> tuple[str, str]:
    """Return who says a turn, by name or role, and what."""
    return turn.get("speaker") or turn.get("role", ""), turn["content"]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def read_text(path: Path) -> str:
    """Return a file as text, decompressed if its name ends in .gz."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def files_in(paths: list[Path]) -> list[Path]:
    """Return the files given and those in the folders given, sorted."""
    return sorted(file for path in paths for file in (path.rglob("*") if path.is_dir() else (path,)) if file.is_file())


def chat(paths: list[Path]) -> list[Text]:
    texts = []
    for row in rows(DATA / "locomo" / "dev.jsonl.gz"):
        for session in row["sessions"]:
            turns = [{"speaker": turn["speaker"], "content": turn["text"]} for turn in session["turns"] if turn["text"]]
            at = datetime.strptime(session["date_time"].upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)
            texts.append(Text(turns, at, f"locomo {row['id']} session {session['session']}"))
    for row in rows(DATA / "beam" / "dev.jsonl.gz"):
        for start in range(0, len(row["turns"]), STRETCH):
            part = row["turns"][start : start + STRETCH]
            turns = [{"role": turn["role"], "content": turn["text"]} for turn in part if turn["text"].strip()]
            day = next((turn["day"] for turn in part if turn["day"]), None)
            # Noon, since the turns before the last one are recorded a little earlier, and not on the day before.
            at = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC) if day else NOW
            texts.append(Text(turns, at, f"beam {row['id']} turn {start}"))
    return texts


def encyclopaedia(paths: list[Path]) -> list[Text]:
    corpora = sorted((DATA / "multihop").glob("*_corpus.jsonl.gz"))
    return [
        Text(f"{row['title']}\n{row['text']}", NOW, f"{path.name.partition('_corpus')[0]} {row['id']}")
        for path in corpora
        for row in rows(path)
    ]


def documentation(paths: list[Path]) -> list[Text]:
    files = files_in(paths) if paths else [file for file in files_in([DOCUMENTS]) if DOCUMENT.search(file.name)]
    return [
        Text(text[start : start + PASSAGE].strip(), NOW, f"{file} {start}")
        for file in files
        for text in [read_text(file)]
        for start in range(0, len(text), PASSAGE)
        if text[start : start + PASSAGE].strip()
    ]


def mail(paths: list[Path]) -> list[Text]:
    return [text for file in files_in(paths) for text in mail_texts(read_text(file), str(file))]


def mail_texts(content: str, source: str) -> list[Text]:
    """Return the messages and texts between lines "%%" of a file."""
    texts = []
    for number, part in enumerate(SEPARATOR.split(content), start=1):
        message = email.message_from_string(part, policy=email.policy.default)
        body = message.get_body(("plain",)) if message["from"] else None
        words = str(body.get_payload()) if body else part  # get_content would lose letters that are not ASCII
        if not words.strip():
            continue
        name, address = email.utils.parseaddr(str(message["from"] or ""))
        at = email.utils.parsedate_to_datetime(str(message["date"])) if message["date"] else NOW
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        speaker = name or address
        turns = [{"speaker": speaker, "content": words}] if speaker else words
        texts.append(Text(turns, at, f"{source} {number}"))
    return texts


def lines(paths: list[Path]) -> list[Text]:
    return [
        Text(line, NOW, f"{file} {number}")
        for file in files_in(paths)
        for number, line in enumerate(read_text(file).splitlines(), start=1)
        if line.strip()
    ]


def conversations(paths: list[Path]) -> list[Text]:
    found: dict[str, list[dict[str, str]]] = {}
    for file in files_in(paths):
        for turn in map(json.loads, read_text(file).splitlines()):
            words = turn_of(turn["speaker"], turn["text"]) | {"at": turn["time"]}
            found.setdefault(f"{file} {turn['conversation']}", []).append(words)
    return [
        Text(turns, datetime.fromisoformat(turns[-1]["at"]).replace(tzinfo=UTC), source)
        for source, turns in found.items()
    ]


def spoken_sentences(paths: list[Path]) -> list[Text]:
    return [
        Text([turn_of(speaker, sentence)], NOW, f"{file} {number}")
        for file in files_in(paths)
        for number, (speaker, sentence, *_) in enumerate(tomllib.loads(read_text(file))["sentences"], start=1)
    ]


def turn_of(speaker: str, words: str) -> dict[str, str]:
    """Return a message of a speaker, who may be named by a role."""
    return {"role" if speaker in {"user", "assistant"} else "speaker": speaker, "content": words}


KINDS: dict[str, Callable[[list[Path]], list[Text]]] = {
    "chat": chat,
    "encyclopaedia": encyclopaedia,
    "documentation": documentation,
    "mail": mail,
    "lines": lines,
    "conversations": conversations,
    "sentences": spoken_sentences,
}


def sentences(text: str) -> list[str]:
    """Divide a text into sentences, roughly."""
    return [" ".join(part.split()) for part in SENTENCE_END.split(text) if part.strip()]


def sentence_of(fact: Fact, text: str) -> str:
    """Return the sentence of a text that has the most words of a fact; the first one of several."""
    words = set(normalise_text(f"{fact.subject} {fact.relation} {fact.object}").split())
    return max(sentences(text) or [text], key=lambda s: len(words & set(re.findall(r"[\w'-]+", normalise_text(s)))))


def facts_of(text: Text) -> list[Draw]:
    """Return the facts that a memory states of a text."""
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember(text.content, at=text.at)
        versions = {(v.statement.id, v.interval): v for name in memory.entities() for v in memory.timeline(name)}
        return [
            Draw(version, sentence_of(version.statement, part), text.source, text.context(part))
            for version in sorted(versions.values(), key=lambda v: (str(v.statement), v.interval))
            if isinstance(version.statement, Fact)
            for part in [memory.episode(version.sources[0]).text]
        ]


def interval(version: Version) -> str:
    """Return the days on which a version begins and ends, empty where it is open."""
    times = (version.interval.valid_from, version.interval.valid_to)
    return "..".join(f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d}" if math.isfinite(t) else "" for t in times)


def read_labels(path: Path) -> dict[tuple[str, str, str], str]:
    """Return the labels of an earlier table by fact, interval and sentence."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, dialect="excel-tab")
        return {(row["fact"], row["interval"], row["sentence"]): row["label"] for row in table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="*", type=Path, help="files and folders to read")
    parser.add_argument("--texts", type=int, default=200, help="how many texts to remember")
    parser.add_argument("--facts", type=int, default=100, help="how many facts to print")
    parser.add_argument("--enough", type=int, default=sys.maxsize, help="read no further text once so many are found")
    parser.add_argument("--context", action="store_true", help="print what surrounds each fact, too")
    parser.add_argument("--labels", type=Path, help="a table of an earlier draw with its labels")
    parser.add_argument("--seed", type=int, default=1, help="seeds both draws")
    options = parser.parse_args()
    if options.kind in {"mail", "lines", "conversations", "sentences"} and not options.files:
        parser.error(f"{options.kind} needs files")
    chance = random.Random(options.seed)
    texts = KINDS[options.kind](options.files)
    chosen = chance.sample(texts, min(options.texts, len(texts)))
    found: list[Draw] = []
    for number, text in enumerate(chosen):
        if len(found) >= options.enough:
            chosen = chosen[:number]
            break
        found += facts_of(text)
    parts = [part for text in chosen for part in text.parts]
    count = sum(len(sentences(part)) for part in parts)
    per_part, per_sentence = (100 * len(found) / max(1, size) for size in (len(parts), count))
    print(f"{options.kind}: {len(chosen)} of {len(texts)} texts, {len(found)} facts", file=sys.stderr)
    print(f"{per_part:.1f} per 100 of {len(parts)} parts", file=sys.stderr)
    print(f"{per_sentence:.1f} per 100 of {count} sentences", file=sys.stderr)
    table = csv.writer(sys.stdout, dialect="excel-tab", lineterminator="\n")
    columns = ("label", "fact", "interval", "shown", "sentence", "source", "context")
    table.writerow(columns if options.context else columns[:-1])
    labels = read_labels(options.labels) if options.labels else {}
    counts: Counter[str] = Counter()
    for draw in chance.sample(found, min(options.facts, len(found))):
        fact = draw.version.statement
        assert isinstance(fact, Fact)
        names, days = " | ".join((fact.subject, fact.relation, fact.object)), interval(draw.version)
        label = labels.get((names, days, draw.sentence), "")
        counts[label or "no label"] += 1
        row = (label, names, days, shown_interval(draw.version), draw.sentence, draw.source, draw.context)
        table.writerow(row if options.context else row[:-1])
    if labels:
        print(", ".join(f"{count} {label}" for label, count in sorted(counts.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
