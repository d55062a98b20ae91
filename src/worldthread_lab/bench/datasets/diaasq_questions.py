"""Questions about opinions of the types that PersonalAI shows (Tables 11 and 12), generated from our own templates.

========= ================================================================= ==========================================
type      asks                                                              answer
========= ================================================================= ==========================================
opinion   what a speaker thinks of a subject                                positive, negative or neutral
majority  what most of those who spoke about a subject think of it          positive, negative or neutral
better    which of two targets has the better opinions in an aspect         a target
people    who has an opinion of a polarity of a subject                     one to three names
similar   whose opinions, of two people, are most similar to a third's      a name
========= ================================================================= ==========================================

Each question asks about now and, where the answer differs, as of the end of a month (``opinion_as_of``, ...), or of a
day. Of two people, the one is more similar who agrees more often, less the disagreements, on the subjects of which both
that person and the third hold an opinion.
Questions that need more than :data:`MOST_GOLD` passages are left out, so that Recall@5 can always reach 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, combinations, permutations
from random import Random
from typing import Final, TypeAlias

from worldthread_lab.bench.datasets.base import Question
from worldthread_lab.bench.datasets.diaasq_files import POLARITIES, Polarity
from worldthread_lab.bench.datasets.diaasq_opinions import NOW, Subject, Timeline
from worldthread_lab.bench.datasets.diaasq_passages import written_date
from worldthread_lab.bench.datasets.diaasq_words import QUESTIONS

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


def generate_questions(
    timeline: Timeline, random: Random, *, similar: bool = False, by_day: bool = False
) -> list[Question]:
    """Return the questions in an order that mixes all types.

    Args:
        timeline: the opinions.
        random: chooses words, times and what is compared.
        similar: whether to ask who is most similar, too.
        by_day: whether questions about the past name a day on which somebody spoke, instead of the end of a month.

    Returns:
        The questions.
    """
    questions: list[Question] = []
    issues = chain(_issues(timeline, random), _similar_issues(timeline, random) if similar else ())
    for number, issue in enumerate(issues):
        answers = issue.answers(NOW)
        if answers:
            questions += _question(timeline, random, issue, number, answers, None)
        ends = (_day_ends if by_day else _month_ends)(timeline, issue.keys)
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


def _similar_issues(timeline: Timeline, random: Random) -> Iterator[_Issue]:
    """Yield, for each speaker, who of two others judges more like that speaker."""
    subjects: dict[str, set[Subject]] = {}
    for speaker, subject in timeline.keys:
        subjects.setdefault(speaker, set()).add(subject)
    for speaker in sorted(subjects):
        others = [other for other in sorted(subjects) if other != speaker and subjects[other] & subjects[speaker]]
        pairs = list(combinations(others, 2))
        for pair in random.sample(pairs, min(_PAIRS, len(pairs))):
            one, other = random.sample(pair, 2)
            shared = {who: sorted(subjects[who] & subjects[speaker], key=str) for who in (one, other)}
            keys = tuple(
                dict.fromkeys(key for who, both in shared.items() for s in both for key in ((speaker, s), (who, s)))
            )
            words = {"speaker": speaker, "one": one, "other": other}
            yield _Issue("similar", keys, _similar(timeline, speaker, shared), words)


def _similar(timeline: Timeline, speaker: str, shared: dict[str, list[Subject]]) -> Callable[[float], tuple[str, ...]]:
    def score(who: str, time: float) -> int | None:
        pairs = [(timeline.polarity((speaker, s), time), timeline.polarity((who, s), time)) for s in shared[who]]
        known = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
        return sum(1 if mine == theirs else -1 for mine, theirs in known) if known else None

    def answers(time: float) -> tuple[str, ...]:
        scores = {who: score(who, time) for who in shared}
        (one, first), (other, second) = scores.items()
        return () if first is None or second is None or first == second else (one if first > second else other,)

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


def _day_ends(timeline: Timeline, keys: Iterable[_Key]) -> list[datetime]:
    """Return the last second of every day but the last on which an opinion of the keys was stated."""
    times = [opinions[0].at for key in keys for opinions in timeline.by_passage(key)]
    days = sorted({datetime.fromtimestamp(time, UTC).date() for time in times})
    ends = [datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC) for day in days]
    return [end for end in ends if end.timestamp() < max(times)]


def _month_ends(timeline: Timeline, keys: Iterable[_Key]) -> list[datetime]:
    """Return the last second of every month between the first and the last opinion of the keys."""
    times = [opinions[0].at for key in keys for opinions in timeline.by_passage(key)]
    month = datetime.fromtimestamp(min(times), UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    ends = []
    while month.timestamp() <= max(times):
        month = (month + timedelta(days=32)).replace(day=1)
        ends.append(month - timedelta(seconds=1))
    return [end for end in ends if end.timestamp() < max(times)]
