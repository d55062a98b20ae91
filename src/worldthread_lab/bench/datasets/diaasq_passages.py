"""Dates and names for the dialogues of DiaASQ, and generated dialogues in which speakers change their opinions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from worldthread.errors import InputError
from worldthread.names import normalise_name
from worldthread_lab.bench.datasets.diaasq_files import POLARITIES, Dialogue
from worldthread_lab.bench.datasets.diaasq_opinions import NOW, Opinion, Subject, Timeline
from worldthread_lab.bench.datasets.diaasq_words import MONTHS, NAMES, TAKEN_BACK, WORDS

_FIRST_DAY: Final = datetime(2021, 1, 1, tzinfo=UTC)
_HOUR: Final = timedelta(hours=10)
_LATER_HOUR: Final = timedelta(hours=19)  # a different hour, so that no two passages share a time
_GAP: Final = (1, 3)  # days between dialogues, both inclusive
_DELAY: Final = (40, 200)  # days until an opinion changes: a month ends in between
_TOGETHER: Final = (1, 3)  # changes of opinion in one dialogue


@dataclass(frozen=True)
class DatedText:
    """A dialogue as the memory receives it; ``at`` is in seconds since 1970-01-01 UTC."""

    id: str
    title: str
    text: str
    at: float


def date_dialogues(dialogues: Iterable[Dialogue], random: Random) -> tuple[list[Opinion], list[DatedText]]:
    """Give the dialogues dates, one to three days apart, and their speakers names.

    Args:
        dialogues: dialogues in the order of the file.
        random: chooses the gaps between dates and the names.

    Returns:
        The opinions and the texts of the dialogues.

    Raises:
        InputError: a dialogue has more speakers than there are names.
    """
    dialogues = list(dialogues)
    display = _display_forms(name for d in dialogues for q in d.quadruples for name in (q.target, q.aspect))
    opinions, texts = [], []
    day = _FIRST_DAY
    for dialogue in dialogues:
        at = (day + _HOUR).timestamp()
        numbers = sorted(set(dialogue.speakers))
        if len(numbers) > len(NAMES):
            raise InputError(f"dialogue {dialogue.id} has {len(numbers)} speakers; there are names for {len(NAMES)}")
        names = dict(zip(numbers, random.sample(NAMES, len(numbers)), strict=True))
        lines = [f"{names[n]}: {text}" for n, text in zip(dialogue.speakers, dialogue.sentences, strict=True)]
        texts.append(DatedText(dialogue.id, _title(day), "\n".join(lines), at))
        for quadruple in dialogue.quadruples:
            subject = Subject(display[normalise_name(quadruple.aspect)], display[normalise_name(quadruple.target)])
            speaker = names[dialogue.speakers[quadruple.utterance]]
            opinions.append(Opinion(speaker, subject, quadruple.polarity, quadruple.opinion, at, dialogue.id))
        day += timedelta(days=random.randint(*_GAP))
    return opinions, texts


def contradict(timeline: Timeline, random: Random, share: float) -> tuple[list[Opinion], list[DatedText]]:
    """Generate later dialogues in which a share of the keys gets an opinion of another polarity.

    Args:
        timeline: opinions of the original dialogues.
        random: chooses keys, dates and words.
        share: share of the keys whose opinion changes; 0..1.

    Returns:
        The opinions and the texts of one to three changes each, 40 to 200 days after the last opinion of their keys,
        or later where another generated dialogue has the day already.
    """
    keys = sorted((key for key in timeline.keys if timeline.polarity(key, NOW)), key=str)
    chosen = random.sample(keys, round(share * len(keys)))
    opinions: list[Opinion] = []
    texts: list[DatedText] = []
    days: set[datetime] = set()
    while chosen:
        together = [chosen.pop() for _ in range(min(len(chosen), random.randint(*_TOGETHER)))]
        last = max(timeline.held(key, NOW)[0].at for key in together)
        day = datetime.fromtimestamp(last, UTC) - _HOUR + timedelta(days=random.randint(*_DELAY))
        while day in days:
            day += timedelta(days=1)
        days.add(day)
        id_, at, lines = f"later-{len(texts):04d}", (day + _LATER_HOUR).timestamp(), []
        for speaker, subject in together:
            before = timeline.polarity((speaker, subject), NOW)
            polarity = random.choice([polarity for polarity in POLARITIES if polarity != before])
            words = random.choice(WORDS[polarity])
            lines.append(f"{speaker}: {random.choice(TAKEN_BACK).format(subject=subject, words=words)}")
            opinions.append(Opinion(speaker, subject, polarity, words, at, id_))
        texts.append(DatedText(id_, _title(day), "\n".join(lines), at))
    return opinions, texts


def written_date(time: datetime) -> str:
    """Return a date as text, such as "3 March 2021"."""
    return f"{time.day} {MONTHS[time.month - 1]} {time.year}"


def _title(day: datetime) -> str:
    return f"Forum dialogue of {written_date(day)}"


def _display_forms(names: Iterable[str]) -> dict[str, str]:
    """Return the display form of each normalised name: the most frequent form, the first alphabetically on a tie."""
    forms: dict[str, Counter[str]] = {}
    for name in names:
        forms.setdefault(normalise_name(name), Counter())[name] += 1
    return {key: min(counted, key=lambda form: (-counted[form], form)) for key, counted in forms.items()}
