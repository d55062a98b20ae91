"""Questions about opinions of the types that PersonalAI shows (Tables 11 and 12), generated from our own templates.

========= ================================================================= ==========================================
type      asks                                                              answer
========= ================================================================= ==========================================
opinion   what a speaker thinks of a subject                                positive, negative or neutral
majority  what most of those who spoke about a subject think of it          positive, negative or neutral
better    which of two targets has the better opinions in an aspect         a target
people    who has an opinion of a polarity of a subject                     one to three names
========= ================================================================= ==========================================

Each question asks about now and, where the answer differs, as of the end of a month (``opinion_as_of``, ...).
Questions that need more than :data:`MOST_GOLD` passages are left out, so that Recall@5 can always reach 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations
from random import Random
from typing import Final, TypeAlias

from worldthread.bench.datasets.base import Question
from worldthread.bench.datasets.diaasq_files import POLARITIES, Polarity
from worldthread.bench.datasets.diaasq_opinions import NOW, Subject, Timeline
from worldthread.bench.datasets.diaasq_passages import written_date
from worldthread.bench.datasets.diaasq_words import QUESTIONS

MOST_GOLD: Final = 5
_MOST_PEOPLE: Final = 3
_PAIRS: Final = 3  # pairs of targets compared in one aspect, at most

_Key: TypeAlias = tuple[str, Subject]


@dataclass(frozen=True)
class _Issue:
    """A template of a question: the keys it is about, a function that returns its answers at a time, and its words."""

    type: str
    keys: tuple[_Key, ...]
    answers: Callable[[float], tuple[str, ...]]  # empty at a time when it has no clear answer
    words: dict[str, str]
    polarity: Polarity | None = None  # of the opinions that answer it; ``None`` for any


def generate_questions(timeline: Timeline, random: Random) -> list[Question]:
    """Return the questions in an order that mixes all types."""
    questions: list[Question] = []
    for number, issue in enumerate(_issues(timeline, random)):
        answers = issue.answers(NOW)
        if answers:
            questions += _question(timeline, random, issue, number, answers, None)
        ends = _month_ends(timeline, issue.keys)
        random.shuffle(ends)
        for end in ends:
            then = issue.answers(end.timestamp())
            if then and then != answers:
                questions += _question(timeline, random, issue, number, then, end)
                break
    random.shuffle(questions)
    return questions


def _question(
    timeline: Timeline, random: Random, issue: _Issue, number: int, answers: tuple[str, ...], end: datetime | None
) -> Iterator[Question]:
    """Yield the question, unless it needs too many passages."""
    time = NOW if end is None else end.timestamp()
    type_ = issue.type if end is None else f"{issue.type}_as_of"
    held = [opinion for key in issue.keys for opinion in timeline.held(key, time)]
    gold = _passages(opinion.passage_id for opinion in held if issue.polarity in (None, opinion.polarity))
    if len(gold) > MOST_GOLD:
        return
    current = _passages(opinion.passage_id for opinion in held)
    stated = [opinion for key in issue.keys for opinions in timeline.by_passage(key) for opinion in opinions]
    stale = _passages(opinion.passage_id for opinion in stated if opinion.at <= time)
    stale_ids, future_ids = timeline.outdated(time)
    date = "" if end is None else written_date(end)
    yield Question(
        f"{type_}-{number:04d}",
        random.choice(QUESTIONS[type_]).format(**issue.words, date=date),
        answers,
        gold,
        type_,
        as_of=None if end is None else time,
        stale_ids=stale_ids,
        future_ids=future_ids,
        stale_passage_ids=tuple(id_ for id_ in stale if id_ not in current),
        future_passage_ids=_passages(opinion.passage_id for opinion in stated if opinion.at > time),
    )


def _issues(timeline: Timeline, random: Random) -> Iterator[_Issue]:
    for key in sorted(timeline.keys, key=str):
        speaker, subject = key
        yield _Issue("opinion", (key,), _opinion(timeline, key), {"speaker": speaker, "subject": str(subject)})
    subjects = sorted(timeline.speakers, key=str)
    for subject in subjects:
        keys = _keys(timeline, subject)
        if len(keys) > 1:
            yield _Issue("majority", keys, _majority(timeline, keys), {"subject": str(subject)})
        for polarity in POLARITIES:
            words = {"subject": str(subject), "polarity": polarity}
            yield _Issue("people", keys, _people(timeline, keys, polarity), words, polarity)
    for aspect in dict.fromkeys(subject.aspect for subject in subjects):
        pairs = list(combinations((subject for subject in subjects if subject.aspect == aspect), 2))
        for one, other in random.sample(pairs, min(_PAIRS, len(pairs))):
            both = _keys(timeline, one) + _keys(timeline, other)
            first, second = random.sample((one.target, other.target), 2)
            words = {"aspect": aspect, "one": first, "other": second}
            yield _Issue("better", both, _better(timeline, one, other), words)


def _opinion(timeline: Timeline, key: _Key) -> Callable[[float], tuple[str, ...]]:
    def answers(time: float) -> tuple[str, ...]:
        polarity = timeline.polarity(key, time)
        return (polarity,) if polarity else ()

    return answers


def _majority(timeline: Timeline, keys: tuple[_Key, ...]) -> Callable[[float], tuple[str, ...]]:
    def answers(time: float) -> tuple[str, ...]:
        found = _held(timeline, keys, time)
        ranked = Counter(found.values()).most_common(2)
        undecided = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
        return () if len(found) < 2 or undecided else (ranked[0][0],)

    return answers


def _people(timeline: Timeline, keys: tuple[_Key, ...], wanted: Polarity) -> Callable[[float], tuple[str, ...]]:
    def answers(time: float) -> tuple[str, ...]:
        names = sorted(speaker for (speaker, _), polarity in _held(timeline, keys, time).items() if polarity == wanted)
        if not 1 <= len(names) <= _MOST_PEOPLE:
            return ()
        orders = list(permutations(names))
        listed = [", ".join(order) for order in orders]
        joined = [", ".join(order[:-1]) + f" and {order[-1]}" for order in orders if len(order) > 1]
        return (*listed, *joined)

    return answers


def _better(timeline: Timeline, one: Subject, other: Subject) -> Callable[[float], tuple[str, ...]]:
    def score(subject: Subject, time: float) -> float | None:
        found = list(_held(timeline, _keys(timeline, subject), time).values())
        return (found.count("positive") - found.count("negative")) / len(found) if found else None

    def answers(time: float) -> tuple[str, ...]:
        a, b = score(one, time), score(other, time)
        return () if a is None or b is None or a == b else ((one if a > b else other).target,)

    return answers


def _held(timeline: Timeline, keys: Iterable[_Key], time: float) -> dict[_Key, Polarity]:
    """Return the polarities that hold for the keys; empty when one key holds several at once."""
    held = {key: timeline.polarity(key, time) for key in keys if timeline.held(key, time)}
    clear = {key: polarity for key, polarity in held.items() if polarity is not None}
    return clear if len(clear) == len(held) else {}


def _keys(timeline: Timeline, subject: Subject) -> tuple[_Key, ...]:
    return tuple((speaker, subject) for speaker in timeline.speakers[subject])


def _passages(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(ids)))


def _month_ends(timeline: Timeline, keys: Iterable[_Key]) -> list[datetime]:
    """Return the last second of every month between the first and the last opinion of the keys."""
    times = [opinions[0].at for key in keys for opinions in timeline.by_passage(key)]
    month = datetime.fromtimestamp(min(times), UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    ends = []
    while month.timestamp() <= max(times):
        month = (month + timedelta(days=32)).replace(day=1)
        ends.append(month - timedelta(seconds=1))
    return [end for end in ends if end.timestamp() < max(times)]
