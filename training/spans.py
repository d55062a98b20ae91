"""Events as spans: where the parts of each labelled event stand in the words of its message.

The reader points at words instead of writing them, so that no name and no number can come out changed. An event is then

- the first and the last word of its object, in the message;
- a kind, and a relation out of a list;
- a subject: the speaker, a span of the message or of the turns before it, something of the speaker's ("my sister"), or
  something of a span's ("his sister", where "his" is Jonas);
- a kind of time, and the span of its words.

What cannot be said in this form is not learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

from messages import Labelled

from worldthread.extract.reader.events import KINDS, LONGEST_OBJECT, SUBJECTS, TIME_KINDS
from worldthread.extract.reader.pieces import Piece, pieces_of, sentences_of, words_of

ARTICLES: Final = frozenset({"a", "an", "the"})
SPEAKER_WORDS: Final = {
    **dict.fromkeys(("i", "me", "myself", "we", "us"), "i"),
    **dict.fromkeys(("my", "mine", "our", "ours"), "my"),
    "’s": "'s",
}
LONGEST_NAME: Final = 8
NEAR: Final = 0.75
"""Least share of words (F1) that a span of the message has in common with a label's object."""


class Frame(NamedTuple):
    """An event in words counted from 0: first the words before the message, then its own.

    Spans are closed: both ends belong to them. A name may stand at several places, so its spans are lists.
    """

    begin: int
    end: int
    kind: int
    relation: str
    subject: int
    heads: tuple[tuple[int, int], ...]
    owners: tuple[tuple[int, int], ...]
    time_kind: int
    times: tuple[tuple[int, int], ...]


def _forms(words: Sequence[str]) -> list[str]:
    return [SPEAKER_WORDS.get(word.lower(), word.lower()) for word in words]


def _forms_of_label(part: str, speaker: str) -> list[str]:
    own = [word.text.lower() for word in words_of(speaker)]
    words = [word.text.lower().replace("’", "'") for word in words_of(part)]
    forms: list[str] = []
    place = 0
    while place < len(words):
        if words[place : place + len(own)] == own:
            place += len(own)
            if words[place : place + 1] == ["'s"]:
                place += 1
                forms.append("my")
            else:
                forms.append("i")
        else:
            forms.append(words[place])
            place += 1
    return forms


def _same(forms: Sequence[str], wanted: Sequence[str], first: int = 0) -> list[tuple[int, int]]:
    """Return every span of ``forms`` that reads as ``wanted``, articles aside."""
    places = [place for place in range(first, len(forms)) if forms[place] not in ARTICLES]
    content = [form for form in wanted if form not in ARTICLES]
    if not content:
        return []
    kept = [forms[place] for place in places]
    size = len(content)
    return [
        (places[start], places[start + size - 1])
        for start in range(len(kept) - size + 1)
        if kept[start : start + size] == content
    ]


def _nearest(forms: Sequence[str], wanted: Sequence[str], first: int, taken: Container[int]) -> tuple[int, int] | None:
    """Return the span of ``forms`` from ``first`` on that shares most words with ``wanted``, if it is near."""
    content = Counter(form for form in wanted if form not in ARTICLES)
    size = content.total()
    best: tuple[float, int, int] | None = None
    for start in range(first, len(forms)):
        if forms[start] not in content or start in taken:
            continue
        seen: Counter[str] = Counter()
        for stop in range(start, min(len(forms), start + LONGEST_OBJECT)):
            if forms[stop] in ARTICLES:
                continue
            seen[forms[stop]] += 1
            if forms[stop] not in content:
                continue
            shared = (seen & content).total()
            score = 2 * shared / (size + seen.total())
            if best is None or score > best[0]:
                best = score, start, stop
    return None if best is None or best[0] < NEAR else best[1:]


def frame_of(event: str, piece: Piece, taken: Container[int] = ()) -> Frame | None:
    """Return where the parts of an event stand in a piece; ``None`` when its object stands nowhere in it.

    Args:
        event: a line of LABELS.md.
        piece: the piece.
        taken: words at which its object does not begin, those of other events among them.
    """
    parts = [part.strip() for part in event.split("|")]
    kind, subject, relation, label = parts[:4]
    first = len(piece.before)
    forms = _forms([*piece.before, *(word.text for word in piece.words)])
    wanted = _forms_of_label(label, piece.speaker)
    spans = [span for span in _same(forms, wanted, first) if span[0] not in taken]
    span = spans[0] if spans else _nearest(forms, wanted, first, taken)
    sentences = sentences_of(piece)
    if span is None or span[1] - span[0] >= LONGEST_OBJECT or sentences[span[0]] != sentences[span[1]]:
        return None
    named = _forms_of_label(subject, piece.speaker)
    owners: list[tuple[int, int]] = []
    heads: list[tuple[int, int]] = []
    which = "other"
    if named == ["i"]:
        which = "speaker"
    elif found := _same(forms, named):
        which, heads = "span", found
    elif named[0] == "my" and (found := _same(forms, named[1:])):
        which, heads = "speaker's span", found
    elif "'s" in named:
        cut = len(named) - 1 - named[::-1].index("'s")
        owners, heads = _same(forms, named[:cut]), _same(forms, named[cut + 1 :])
        if owners and heads:
            which = "span's span"
    if which in ("other", "speaker") or any(stop - start >= LONGEST_NAME for start, stop in heads):
        heads, owners = [], []
        which = which if which == "speaker" else "other"
    elif which != "span's span":
        owners = []
    time_kind, times = 0, []
    if len(parts) == 5:
        name, _, when = parts[4].partition(":")
        times = _same(forms, _forms_of_label(when, piece.speaker), first)
        time_kind = TIME_KINDS.index(name) if times else -1
    return Frame(
        *span, KINDS.index(kind), relation, SUBJECTS.index(which), tuple(heads), tuple(owners), time_kind, tuple(times)
    )


def frames_of(message: Labelled) -> Iterator[tuple[Piece, list[Frame]]]:
    """Yield the pieces of a labelled message with the frames that stand in each; two never begin at one word."""
    left = list(message.events)
    for piece in pieces_of(message.speaker, message.before, message.text):
        frames: dict[int, Frame] = {}
        rest: list[str] = []
        for event in left:
            frame = frame_of(event, piece, frames)
            if frame is None:
                rest.append(event)
            else:
                frames.setdefault(frame.begin, frame)
        left = rest
        yield piece, sorted(frames.values())
