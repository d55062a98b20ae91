"""Random labelled episodes, random filters, and what a filter selects by its definition, one testimony at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from worldthread import Ending, Episode, Extraction, Fact, Filter, Thesis, Version
from worldthread.graph import Fold, fold
from worldthread.types import Interval, Statement

USERS, AGENTS, SESSIONS, SOURCES = ("", "anna", "bob", "Anna"), ("", "helper"), ("", "s1", "s2"), ("", "chat", "mail")
SPEAKERS = ("", "Anna", "anna ", "Bob")
RELATIONS = ("lives in", "Lives  In", "likes", "owns")
TOPICS: tuple[Any, ...] = ("work", "home", 1, 1.0, True, 0)
NAMES = ("Rome", "Paris", "tea")
KINDS = ("fact", "thesis", "episode")

Item = Statement | None
"""What an episode vouches for; ``None`` for itself."""
Oracle = Callable[[Episode, Item], bool]


def random_episodes(chance: Random, count: int) -> list[Episode]:
    """Episodes that repeat, replace and end each other's statements, with and without labels."""
    found = {}
    for number in range(count):
        statements = tuple(random_statement(chance) for _ in range(chance.randrange(3)))
        endings = tuple(Ending(random_statement(chance), "it ended") for _ in range(chance.randrange(2)))
        speaker = chance.choice(SPEAKERS)
        episode = Episode(
            f"{speaker}: note {number}" if speaker else f"note {number}",
            float(chance.randrange(12)),
            chance.choice(SOURCES),
            Extraction("test/1", statements, endings),
            recorded_at=float(chance.randrange(12)) if chance.random() < 0.9 else None,
            speaker=speaker,
            user=chance.choice(USERS),
            agent=chance.choice(AGENTS),
            session=chance.choice(SESSIONS),
            metadata={"topic": chance.choice(TOPICS)} if chance.random() < 0.6 else {},
        )
        found[episode.id] = episode
    return list(found.values())


def random_statement(chance: Random) -> Statement:
    if chance.random() < 0.3:
        return Thesis(chance.choice(("It rains.", "it rains", "Anna is in Rome.")), (chance.choice(NAMES),))
    subject = chance.choice(("Anna", "ANNA", "Bob"))
    aspect = f"home of {subject.lower()}" if chance.random() < 0.4 else None
    return Fact(subject, chance.choice(RELATIONS), chance.choice(NAMES), aspect)


def random_filter(chance: Random, depth: int = 2) -> tuple[Filter, Oracle]:
    """A filter, and whether a testimony meets it, told without the package."""
    if depth and chance.random() < 0.5:
        first, meets_first = random_filter(chance, depth - 1)
        second, meets_second = random_filter(chance, depth - 1)
        match chance.randrange(3):
            case 0:
                return first & second, lambda e, s: meets_first(e, s) and meets_second(e, s)
            case 1:
                return first | second, lambda e, s: meets_first(e, s) or meets_second(e, s)
        return ~first, lambda e, s: not meets_first(e, s)
    given: dict[str, Any] = {}
    checks: list[Oracle] = []
    for field, values in (("user", USERS), ("agent", AGENTS), ("session", SESSIONS), ("source", SOURCES)):
        if chance.random() < 0.3:
            wanted = chance.sample(values, chance.randrange(1, len(values)))
            given[field] = wanted if len(wanted) > 1 or chance.random() < 0.5 else wanted[0]
            checks.append(lambda e, s, field=field, wanted=wanted: getattr(e, field) in wanted)  # type: ignore[misc]
    if chance.random() < 0.2:
        name = chance.choice(SPEAKERS)
        given["speaker"] = name
        checks.append(lambda e, s: e.speaker.strip().lower() == name.strip().lower())
    if chance.random() < 0.2:
        kinds = chance.sample(KINDS, chance.randrange(1, 3))
        given["kind"] = kinds
        checks.append(lambda e, s: kind_of(s) in kinds)
    if chance.random() < 0.2:
        relation = chance.choice((*RELATIONS, "hates"))
        given["relation"] = relation
        checks.append(lambda e, s: has_relation(e, s, relation))
    if chance.random() < 0.2:
        topic = chance.choice(TOPICS)
        given["metadata"] = {"topic": [topic, "work"]}
        checks.append(lambda e, s: any(is_value(e.metadata.get("topic"), one) for one in (topic, "work")))
    for field, names in (("at", ("since", "until")), ("recorded_at", ("recorded_since", "recorded_until"))):
        if chance.random() < 0.2:
            start, end = float(chance.randrange(12)), float(chance.randrange(12))
            given |= dict(zip(names, (start, end), strict=True))
            checks.append(lambda e, s, f=field, a=start, b=end: is_within(getattr(e, f), a, b))  # type: ignore[misc]
    return Filter(**given), lambda e, s: all(check(e, s) for check in checks)


def kind_of(item: Item) -> str:
    return "episode" if item is None else "fact" if isinstance(item, Fact) else "thesis"


def has_relation(episode: Episode, item: Item, relation: str) -> bool:
    stated = episode.extraction.statements if item is None else (item,)
    wanted = " ".join(relation.lower().split())
    return any(isinstance(s, Fact) and " ".join(s.relation.lower().split()) == wanted for s in stated)


def is_value(found: Any, wanted: Any) -> bool:
    return found is not None and isinstance(found, bool) == isinstance(wanted, bool) and bool(found == wanted)


def is_within(time: float | None, start: float, end: float) -> bool:
    return time is not None and start <= time < end


@dataclass(frozen=True)
class Definition:
    """What filters select of some episodes, by the definition: the fold, and every testimony looked at.

    Args:
        episodes: the episodes.
        folded: their fold.
    """

    episodes: Sequence[Episode]
    folded: Fold

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Definition:
        return cls(sorted(episodes, key=lambda e: (e.at, e.id)), fold(episodes))

    def lasting(self, version: Version) -> Version:
        """The version, ended with the last of the facts that an episode states of what its sentence says."""
        sentence = version.statement
        if isinstance(sentence, Fact):
            return version
        words = {word.strip(".!?").lower() for word in sentence.text.split()} | {o.lower() for o in sentence.objects}
        facts = {
            fact
            for episode in self.episodes
            if episode.id in version.sources
            for fact in episode.extraction.statements
            if isinstance(fact, Fact) and {fact.subject.strip().lower(), fact.object.strip().lower()} <= words
        }
        ends = [v for f in facts for v in self.folded.versions[f] if set(v.sources) & set(version.sources)]
        if not ends:
            return version
        last = max(ends, key=lambda v: (v.interval.valid_to, v.interval.valid_from))
        begin, end = version.interval.valid_from, last.interval.valid_to
        if end >= version.interval.valid_to:
            return version
        if end <= begin:
            begin = min(end, min(v.interval.valid_from for v in ends))
        return replace(version, interval=Interval(begin, end), ended_by=last.ended_by, reason=last.reason)

    def ids(self, meets: Oracle) -> list[str]:
        """The ids of the selected episodes."""
        return [episode.id for episode in self.episodes if meets(episode, None)]

    def versions(self, meets: Oracle) -> set[Version]:
        """The selected versions of all statements."""
        by_id = {episode.id: episode for episode in self.episodes}
        found = set()
        for versions in self.folded.versions.values():
            for told in versions:
                version, statement = self.lasting(told), told.statement
                sources = tuple(id_ for id_ in version.sources if meets(by_id[id_], statement))
                if sources:
                    tells_end = version.ended_by is not None and meets(by_id[version.ended_by], statement)
                    ended_by, reason = (version.ended_by, version.reason) if tells_end else (None, None)
                    found.add(replace(version, sources=sources, ended_by=ended_by, reason=reason))
        return found
