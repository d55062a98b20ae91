"""The dialogues of DiaASQ with dates and names, and the dialogues of our own in which opinions are taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from worldthread.bench.datasets.diaasq_files import POLARITIES, Dialogue
from worldthread.bench.datasets.diaasq_opinions import NOW, Opinion, Subject, Timeline
from worldthread.bench.datasets.diaasq_words import MONTHS, NAMES, TAKEN_BACK, WORDS
from worldthread.errors import InputError
from worldthread.names import normalise_name

_FIRST_DAY: Final = datetime(2021, 1, 1, tzinfo=UTC)
_HOUR: Final = timedelta(hours=10)
_LATER_HOUR: Final = timedelta(hours=19)  # another one, so that no two passages share a time
_GAP: Final = (1, 3)  # days between dialogues, both inclusive
_DELAY: Final = (40, 200)  # days until a mind is changed: a month ends in between
_TOGETHER: Final = (1, 3)  # minds changed in one dialogue


@dataclass(frozen=True)
class DatedText:
    """A dialogue as it is remembered; ``at`` in seconds since 1970-01-01 UTC."""

    id: str
    title: str
    text: str
    at: float


def date_dialogues(dialogues: Iterable[Dialogue], random: Random) -> tuple[list[Opinion], list[DatedText]]:
    """Dialogues in the order of the file, one to three days apart, their speakers named: their opinions and texts.

    Raises:
        InputError: a dialogue has more speakers than there are names.
    """
    dialogues = list(dialogues)
    shown = _shown(name for d in dialogues for q in d.quadruples for name in (q.target, q.aspect))
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
            subject = Subject(shown[normalise_name(quadruple.aspect)], shown[normalise_name(quadruple.target)])
            speaker = names[dialogue.speakers[quadruple.utterance]]
            opinions.append(Opinion(speaker, subject, quadruple.polarity, quadruple.opinion, at, dialogue.id))
        day += timedelta(days=random.randint(*_GAP))
    return opinions, texts


def contradict(timeline: Timeline, random: Random, share: float) -> tuple[list[Opinion], list[DatedText]]:
    """Later dialogues in which a share of the keys gets an opinion of another polarity: their opinions and texts.

    A change of mind comes 40 days or more after all that was said of its key, one to three of them in a dialogue.
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
    """A date in words, such as "3 March 2021"."""
    return f"{time.day} {MONTHS[time.month - 1]} {time.year}"


def _title(day: datetime) -> str:
    return f"Forum dialogue of {written_date(day)}"


def _shown(names: Iterable[str]) -> dict[str, str]:
    """How each normalised name is shown: the form that is used most, the first by the alphabet of several."""
    forms: dict[str, Counter[str]] = {}
    for name in names:
        forms.setdefault(normalise_name(name), Counter())[name] += 1
    return {key: min(counted, key=lambda form: (-counted[form], form)) for key, counted in forms.items()}
