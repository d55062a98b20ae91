"""Puts plain sentences together to notes of several, about several people and things."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from messages import Labelled
from plain_changes import NAMES
from plain_statements import bare
from spans import Frame, frame_of

from worldthread.extract.reader.pieces import Piece, pieces_of, words_of

_TIME: Final = "2024-05-14T12:00"
_LONGEST: Final = 24  # words of a message that is put together with others
_NAMED_WORDS: Final = 3


class JoinedNote(NamedTuple):
    """A note of several sentences.

    Args:
        piece: the note.
        frames: its events.
        pairs: facts as they are shown to the network, each with whether the note says so.
    """

    piece: Piece
    frames: list[Frame]
    pairs: list[tuple[str, bool]]


def joined_notes(path: Path, told: Sequence[Labelled], count: int, seed: int) -> Iterator[JoinedNote]:
    """Yield notes, two of three about others than the speaker, one of three made of short messages of one speaker.

    Args:
        path: the file of words and forms.
        told: the labelled messages, whose names are used, and the short ones themselves.
        count: how many.
        seed: of the choice.
    """
    chance = random.Random(seed)
    words = tomllib.loads(path.read_text(encoding="utf-8"))
    names = [*NAMES, *_names_in(told)]
    short = [one for one in told if not one.before and len(one.text.split()) <= _LONGEST and "\n" not in one.text]
    own = [one for one in short if one.speaker == "user"]
    for _ in range(count):
        if chance.random() < 0.33:
            parts = chance.sample(own, chance.choice((2, 2, 3, 4)))
        else:
            parts = _about_others(words, names, chance)
        note = _joined(parts, chance.choice((" ", " ", " ", "\n")), chance)
        if note is not None:
            yield note


def _names_in(told: Sequence[Labelled]) -> list[str]:
    """Return the names of people and things that labelled messages tell of."""
    found: dict[str, None] = {}
    for message in told:
        for event in message.events:
            subject = event.split(" | ")[1]
            words = subject.split()
            if subject != message.speaker and len(words) <= _NAMED_WORDS and all(word.istitle() for word in words):
                found[subject] = None
    return [name for name in found if "'" not in name]


def _about_others(words: dict[str, Any], names: Sequence[str], chance: random.Random) -> list[Labelled]:
    """Return sentences about two or three people, who are named again or called "he" or "she", and about things."""
    people = chance.sample(names, chance.choice((1, 2, 2, 3)))
    called = {name: chance.choice(("He", "She")) for name in people}
    made: list[Labelled] = []
    last = ""
    for _ in range(chance.choice((1, 2, 2, 3, 3, 4, 5))):
        who = chance.choice(people)
        kind = chance.random()
        if kind < 0.45:
            _, third, past, _, *objects = chance.choice(words["verbs"])
            thing = chance.choice(objects)
            form, event = chance.choice(words["told_of_others"])
            text = form.replace("{third}", third).replace("{past}", past)
            event = event.replace("third", third).replace("past", past)
        elif kind < 0.65:
            noun, _, *objects = chance.choice([row for row in words["things"] if not row[1]])
            thing = chance.choice([*objects, *(name for name in people if name != who)])
            form, event = chance.choice(words["kin_of_others"])
            text, event = form.replace("{n}", noun), event.replace("noun", noun)
        elif kind < 0.8:
            text, event, *objects = chance.choice(words["done_by_others"])
            thing = chance.choice(objects)
        else:
            who, relation, *objects = chance.choice(words["named"])
            thing, text, event = chance.choice(objects), f"{{S}} {relation} {{x}}.", f"state | S | {relation} | x"
        parts = event.split(" | ")
        subject = {"S": who, "x": thing}[parts[1]]
        shown = {"S": bare(who), "x": bare(thing)}.get(parts[3], parts[3])
        is_again = who == last and who in called and text.startswith("{S} ") and chance.random() < 0.5
        text = text.replace("{S}", called[who] if is_again else who).replace("{x}", thing)
        text = text[:1].upper() + text[1:]
        made.append(
            Labelled("joined", _TIME, "user", (), text, (f"{parts[0]} | {bare(subject)} | {parts[2]} | {shown}",))
        )
        last = who
    return made


def _joined(parts: Sequence[Labelled], between: str, chance: random.Random) -> JoinedNote | None:
    """Return messages as one; ``None`` where it is longer than a piece."""
    parts = [part._replace(text=part.text if part.text[-1] in ".!?" else f"{part.text}.") for part in parts]
    text = between.join(part.text for part in parts)
    pieces = list(pieces_of(parts[0].speaker, (), text))
    if len(pieces) != 1:
        return None
    (piece,) = pieces
    frames: dict[int, Frame] = {}
    begin = 0
    for part in parts:
        end = begin + len(words_of(part.text))
        for event in part.events:
            taken = {*frames, *range(begin), *range(end, len(piece.words))}
            frame = frame_of(event, piece, taken)
            if frame is not None:
                frames[frame.begin] = frame
        begin = end
    texts = dict.fromkeys(event for part in parts for event in part.events)
    facts = [event.split(" | ") for event in texts]
    stated = [(kind, subject, f"{relation} {thing}") for kind, subject, relation, thing, *_ in facts]
    subjects = list(dict.fromkeys(subject for _, subject, _ in stated))
    told = {(subject, rest) for _, subject, rest in stated}
    pairs: list[tuple[str, bool]] = []
    for kind, subject, rest in stated:
        if kind not in ("state", "begins"):
            continue
        pairs.append((f"{subject} {rest}", True))
        other = chance.choice(subjects)
        if (other, rest) not in told:
            pairs.append((f"{other} {rest}", False))
    return JoinedNote(piece, sorted(frames.values()), pairs)
