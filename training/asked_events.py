"""Questions for the labels of the reader's messages, made by rule, for a first epoch of the network that answers.

    python training/asked_events.py training/messages/a.jsonl

The label ``state | Ida | lives in | Lyon`` becomes "Where does Ida live in?", beside the message and its neighbours, or
beside the neighbours alone, where nothing answers. Such questions are clumsy, but there are many, and what they ask for
is worded in another way than the message.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from messages import Labelled, read
from small_lives import DAY, Question, seconds

from worldthread.answering.pointing import Told
from worldthread.extract.prose.words import first_person

BESIDE: Final = 4
"""Neighbours of a message that are shown with it."""
UNANSWERED: Final = 0.4
"""Share of questions that nothing shown answers."""
OWN: Final = 0.7
"""Share of messages that are shown as the words of whoever asks."""


class Asked(NamedTuple):
    """A question for a part of a label, and the words of the message that answer; or "yes" or "no"."""

    question: str
    answer: str


def questions_of_events(path: Path, chance: random.Random) -> Iterator[Question]:
    """Yield at most one question for each message of a file.

    Args:
        path: the file, as in ``messages/``.
        chance: draws events and their forms.
    """
    messages = list(read(path))
    for number, message in enumerate(messages):
        is_own = message.speaker == "user" or chance.random() < OWN
        asked = [one for event in message.events if (one := _asked(event, message, is_own, chance)) is not None]
        if not asked:
            continue
        question = chance.choice(asked)
        shown = [
            (place, one)
            for place in range(max(0, number - BESIDE), min(len(messages), number + BESIDE + 1))
            if (one := messages[place]).speaker == message.speaker and place != number
        ]
        shown = chance.sample(shown, min(BESIDE, len(shown)))
        is_answered = chance.random() >= UNANSWERED
        if is_answered:
            shown = [(number, message), *shown[: BESIDE - 1]]
        elif not shown:
            continue
        told = [(Told(_by(one, is_own), one.text, seconds(one.time)), place == number) for place, one in shown]
        told.sort(key=lambda pair: pair[0].at)
        now = max(one.at for one, _ in told) + chance.randint(0, 60) * DAY
        source = next((place for place, (_, is_source) in enumerate(told) if is_source), -1)
        answer = question.answer if is_answered else ""
        yield Question(question.question, now, tuple(one for one, _ in told), source, answer)


def _by(message: Labelled, is_own: bool) -> str:
    return "user" if is_own else message.speaker


def _asked(event: str, message: Labelled, is_own: bool, chance: random.Random) -> Asked | None:
    """Return a question for a part of an event, if its words stand in the message."""
    kind, subject, relation, end, *when = (part.strip() for part in event.split("|"))
    is_speaker = subject == message.speaker
    own = _own(message.speaker) if is_own else {}
    subject, end = own.get(subject, subject), own.get(end, end)
    if is_own:
        subject = subject.replace(f"{message.speaker}'s ", "my ")
    first = subject == "I"
    verb = first_person(relation) if first else relation
    if kind in ("ends", "never"):
        question = _question("", subject, relation)
        return Asked(f"{question} {end}?", "no") if kind == "ends" and question else None
    forms = list[Asked]()
    if words := _verbatim(end, message.text):
        wh = _asking(relation, end, chance)
        question = _question(wh, subject, relation) if kind != "happened" else None
        forms += [Asked(f"{question or f'{subject} {verb} {wh.lower()}'}?", words)] * 4
    if when and (words := _verbatim(when[0].partition(": ")[2], message.text)):
        forms.append(Asked(f"When {subject} {verb} {end}?", words))
    if not is_speaker and (words := _verbatim(subject.removeprefix("my "), message.text)):
        forms.append(Asked(f"Who {relation} {end}?", words))
    question = _question("", subject, relation)
    if kind in ("state", "begins") and question:
        forms.append(Asked(f"{question} {end}?", "yes"))
    return chance.choice(forms) if forms else None


def _own(speaker: str) -> dict[str, str]:
    return {speaker: "I", f"{speaker}'s": "my"}


def _asking(relation: str, end: str, chance: random.Random) -> str:
    if relation.split()[-1] in ("in", "at", "to", "from") and chance.random() < 0.5:
        return "Where"
    return chance.choice(("Who", "What")) if end[:1].isupper() else "What"


def _question(wh: str, subject: str, relation: str) -> str | None:
    """Return the beginning of a question in the present, with or without a word that asks; ``None`` for other verbs."""
    verb, _, rest = relation.partition(" ")
    if verb in ("is", "are"):
        said = f"{wh} {'am' if subject == 'I' else verb} {subject} {rest}"
    elif verb == "has" and rest and wh:
        said = f"{wh} is {'my' if subject == 'I' else subject + chr(39) + 's'} {rest}"
    elif verb.endswith("s"):
        said = f"{wh} {'do' if subject == 'I' else 'does'} {subject} {first_person(relation)}"
    else:
        return None
    said = " ".join(said.split())
    return said[:1].upper() + said[1:]


def _verbatim(words: str, text: str) -> str | None:
    """Return the words as they stand in a text; ``None`` where they do not."""
    begin = text.casefold().find(words.casefold())
    return text[begin : begin + len(words)] if words and begin >= 0 and len(text.casefold()) == len(text) else None


def main() -> None:
    for name in sys.argv[1:]:
        for one in islice(questions_of_events(Path(name), random.Random(1)), 12):
            print(f"{one.text}  ->  {one.answer!r} in {one.told[one.source].text if one.source >= 0 else None!r}")


if __name__ == "__main__":
    main()
