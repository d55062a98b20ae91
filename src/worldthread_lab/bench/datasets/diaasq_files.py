"""Readers of DiaASQ's files: the official JSON arrays, and JSON Lines with a mapping for each quadruple.

An official dialogue has ``doc_id``, ``sentences`` (tokens joined by spaces), ``speakers`` and ``triplets``: begin and
end, in tokens of the dialogue, of target, aspect and opinion, the polarity, and the three texts. A JSON Lines entry has
``id`` instead, and ``quadruples`` with the texts and the numbers of their utterances.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from worldthread.errors import FormatError
from worldthread.support.text import one_line
from worldthread_lab.bench.datasets.files import first_character, read_array, read_lines

Polarity: TypeAlias = Literal["positive", "negative", "neutral"]

POLARITIES: Final[tuple[Polarity, ...]] = ("positive", "negative", "neutral")

_POLARITIES: Final[dict[str, Polarity | None]] = {
    "pos": "positive",
    "neg": "negative",
    "neu": "neutral",
    "amb": None,
    "doubt": None,  # annotated as ambiguous or doubtful: not a clear opinion
}
_INCOMPLETE: Final = "quadruples left out: incomplete"
_UNCLEAR: Final = "quadruples left out: polarity unclear"


@dataclass(frozen=True)
class Quadruple:
    """An opinion in a dialogue.

    Args:
        target: a phone, a maker or a part.
        aspect: aspect of the target.
        opinion: words of the opinion.
        polarity: polarity of the opinion.
        utterance: number of the utterance that contains the opinion, from 0.
    """

    target: str
    aspect: str
    opinion: str
    polarity: Polarity
    utterance: int


@dataclass(frozen=True)
class Dialogue:
    """A dialogue with its annotated opinions.

    Args:
        id: id in the file.
        sentences: the utterances, detokenised.
        speakers: number of the speaker of each utterance, from 0.
        quadruples: the complete quadruples with a clear polarity.
    """

    id: str
    sentences: tuple[str, ...]
    speakers: tuple[int, ...]
    quadruples: tuple[Quadruple, ...]


class _Utterances(msgspec.Struct):
    opinion: int | None


class _Mapping(msgspec.Struct):
    target: str
    aspect: str
    opinion: str
    polarity: str | int
    utterances: _Utterances


class _DialogueLine(msgspec.Struct):
    id: str
    sentences: list[str]
    speakers: list[int]
    quadruples: list[_Mapping]


_Triplet: TypeAlias = tuple[int, int, int, int, int, int, str | int, str, str, str]


class _Official(msgspec.Struct):
    doc_id: str
    sentences: list[str]
    speakers: list[int]
    triplets: list[_Triplet]


_Raw: TypeAlias = tuple[str, str, str, str | int, int | None]  # target, aspect, opinion, polarity, utterance


def read_dialogues(path: Path, counts: dict[str, int]) -> list[Dialogue]:
    """Read the dialogues of a file of either form.

    Args:
        path: the file.
        counts: receives the number of quadruples that are left out, by reason.

    Returns:
        The dialogues in the order of the file.

    Raises:
        InputError: the file cannot be read.
        FormatError: the file does not have the expected form.
    """
    dialogues = []
    for number, (id_, sentences, speakers, raw) in enumerate(_rows(path), start=1):
        if len(sentences) != len(speakers) or not sentences:
            raise FormatError(
                f"dialogue {number} ({id_}) has {len(sentences)} sentences and {len(speakers)} speakers; expected a "
                "speaker for each sentence",
                path=path,
            )
        quadruples = []
        for target, aspect, opinion, polarity, utterance in raw:
            if not (target.strip() and aspect.strip() and opinion.strip()) or utterance is None:
                counts[_INCOMPLETE] = counts.get(_INCOMPLETE, 0) + 1
                continue
            if polarity not in _POLARITIES or not 0 <= utterance < len(sentences):
                raise FormatError(
                    f"dialogue {number} ({id_}) has a quadruple of polarity {polarity!r} in utterance {utterance}; "
                    f"expected one of {', '.join(_POLARITIES)} in 0..{len(sentences) - 1}",
                    path=path,
                )
            clear = _POLARITIES[str(polarity)]
            if clear is None:
                counts[_UNCLEAR] = counts.get(_UNCLEAR, 0) + 1
                continue
            target, aspect, opinion = map(detokenised, (target, aspect, opinion))
            quadruples.append(Quadruple(target, aspect, opinion, clear, utterance))
        dialogues.append(Dialogue(id_, tuple(map(detokenised, sentences)), tuple(speakers), tuple(quadruples)))
    return dialogues


def _rows(path: Path) -> Iterator[tuple[str, list[str], list[int], list[_Raw]]]:
    if first_character(path) == "[":
        expected = "an array of dialogues with doc_id, sentences, speakers and triplets"
        for entry in read_array(path, _Official, expected):
            yield entry.doc_id, entry.sentences, entry.speakers, _located(entry)
        return
    for line in read_lines(path, _DialogueLine, "a dialogue with id, sentences, speakers and quadruples"):
        raw: list[_Raw] = [(q.target, q.aspect, q.opinion, q.polarity, q.utterances.opinion) for q in line.quadruples]
        yield line.id, line.sentences, line.speakers, raw


def _located(entry: _Official) -> list[_Raw]:
    """Return the triplets with the number of the utterance in which their opinion begins."""
    ends = list(accumulate(len(sentence.split()) for sentence in entry.sentences))
    return [
        (target, aspect, opinion, polarity, bisect_right(ends, begin) if begin >= 0 else None)
        for *_, begin, _, polarity, target, aspect, opinion in entry.triplets
    ]


_TO_LEFT: Final = re.compile(r" +(?=n't\b|'(?:s|m|re|ve|ll|d)\b|[.,!?;:%)\]}…]|\.\.\.)", re.IGNORECASE)
_TO_RIGHT: Final = re.compile(r"(?<=[(\[{$#]) +")
_BETWEEN: Final = re.compile(r"(?<=\w) ([-/]) (?=\w)")
_QUOTED: Final = re.compile(r'" ([^"]*?) "')


def detokenised(text: str) -> str:
    """Return a tokenised text with normal spacing: "do n't know ." becomes "don't know."."""
    text = _BETWEEN.sub(r"\1", one_line(text))
    return _QUOTED.sub(r'"\1"', _TO_RIGHT.sub("", _TO_LEFT.sub("", text)))
