"""The graph against a second, naive implementation of its definition, which shares no code with it.

The oracle knows the rules as ``docs/concepts.md`` states them and nothing of :mod:`worldthread.graph`. It keeps no
state: to say when one statement held, it walks through all episodes in order, for that statement alone, on plain
tuples. It has its own normalisation of names, for the few names that occur here.
"""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest

from worldthread.graph import TemporalGraph, fold, state_hash
from worldthread.types import Ending, Episode, Extraction, Fact, Statement, Thesis

TRIALS = int(os.environ.get("WORLDTHREAD_TRIALS") or (1500 if os.environ.get("WORLDTHREAD_THOROUGH") else 150))

# written form -> the form that all spellings of the name share
NAMES = {
    "Straße 5": "strasse 5", "STRASSE 5": "strasse 5", "ｓｔｒａｓｓｅ ５": "strasse 5",
    "the Key": "key", "KEY": "key", "key": "key", "keys": "keys",
    "Ångström": "ångström", "a ÅNGSTRÖM": "ångström", "Room A": "room a",
}  # fmt: skip
RELATIONS = {"is in": "is in", "Is  In": "is in", "fits": "fits"}
SENTENCES = {"The key fits.": "the key fits", "the KEY fits": "the key fits", "It is night.": "it is night"}
ASPECTS = (None, "place", "Place", "state", "place of key")
REASONS = ("gone", "it was taken", "replaced by: a, b, c")

Key: TypeAlias = tuple[Any, ...]


def key_of(statement: Statement) -> Key:
    """The identity of a statement, by the tables above."""
    if isinstance(statement, Fact):
        return "fact", NAMES[statement.subject], RELATIONS[statement.relation], NAMES[statement.object]
    return "thesis", SENTENCES[statement.text], frozenset(NAMES[name] for name in statement.objects)


def words_of(statement: Statement) -> str:
    if isinstance(statement, Fact):
        return f"{statement.subject}, {statement.relation}, {statement.object}"
    return statement.text


@dataclass(frozen=True)
class Held:
    """One interval in which a statement held, as the oracle sees it."""

    start: float
    end: float
    sources: tuple[str, ...]
    ender: str | None
    reason: str | None


def said_interval(at: float, statement: Statement) -> tuple[float, float]:
    end = math.inf if statement.valid_to is None else statement.valid_to
    return (min(at, end) if statement.valid_from is None else statement.valid_from), end


def nearest(at: float, begin: float, end: float) -> float:
    return begin if at < begin else end if at > end else at


def end_of(episode: Episode, ending: Ending) -> float:
    return episode.at if ending.at is None else ending.at


def taken_back(episodes: list[Episode], episode: Episode, statement: Statement) -> tuple[str, str] | None:
    """Which episode takes an announcement back, and why."""
    begin, end = said_interval(episode.at, statement)
    wanted, seen = key_of(statement), False
    for later in sorted(episodes, key=lambda e: (e.at, e.id)):
        if seen:
            again = [said_interval(later.at, s)[0] for s in later.extraction.statements if key_of(s) == wanted]
            if episode.at < begin > later.at and [other for other in again if begin < other < end]:
                return later.id, "put off"
            ends = [e for e in later.extraction.endings if key_of(e.statement) == wanted]
            ends = [e for e in ends if e.never or episode.at < begin >= end_of(later, e)]
            if ends and not again:
                return later.id, ends[0].reason
        seen = seen or later.id == episode.id
    return None


def oracle(episodes: list[Episode], wanted: Key) -> tuple[str | None, list[Held]]:
    """How a statement is shown, and when it held."""
    said: list[tuple[float, float, str, list[Statement], list[Ending]]] = []
    void: list[tuple[float, float, str, Statement, Held]] = []
    for episode in episodes:
        moments: dict[float, tuple[list[Statement], list[Ending]]] = {}
        for statement in episode.extraction.statements:
            begin, end = said_interval(episode.at, statement)
            back = taken_back(episodes, episode, statement)
            if back is None:
                moments.setdefault(nearest(episode.at, begin, end), ([], []))[0].append(statement)
            elif key_of(statement) == wanted:
                void.append((begin, episode.at, episode.id, statement, Held(begin, begin, (episode.id,), *back)))
        asserted = {key_of(statement) for statement in episode.extraction.statements}
        for ending in episode.extraction.endings:
            if key_of(ending.statement) == wanted not in asserted and not ending.never:
                moments.setdefault(max(episode.at, end_of(episode, ending)), ([], []))[1].append(ending)
        said += [(moment, episode.at, episode.id, *what) for moment, what in moments.items()]
    by_id = {episode.id: episode for episode in episodes}
    shown = None
    found: list[tuple[Held, set[str]]] = []
    for moment, at, id_, statements, endings in sorted(said, key=lambda one: one[:3]):
        for ending in endings:
            found = [stopped(one, end_of(by_id[id_], ending), id_, ending.reason) for one in found]
        own = [s for s in statements if key_of(s) == wanted]
        lasting = [s for s in statements if said_interval(at, s)[1] > at]
        for aspect in () if own else sorted({s.aspect for s in lasting if s.aspect}):
            rivals = [s for s in lasting if s.aspect == aspect]
            begin = min(said_interval(at, s)[0] for s in rivals)
            reason = "replaced by: " + min((s.id, words_of(s)) for s in rivals)[1]
            found = [stopped(one, begin, id_, reason) if aspect in one[1] else one for one in found]
        for statement in own:
            shown = shown or words_of(statement)
            begin, end = said_interval(at, statement)
            joined = [one for one in found if one[0].end > begin]
            found = [one for one in found if one[0].end <= begin]
            sources = tuple(dict.fromkeys([*(id_ for one, _ in joined for id_ in one.sources), id_]))
            aspects = {aspect for _, ones in joined for aspect in ones}.union(
                (statement.aspect,) if statement.aspect else ()
            )
            limits = [(one.end, one.ender, one.reason) for one, _ in joined if moment < one.end < math.inf]
            last = limits[-1] if limits else (math.inf, None, None)
            if end < math.inf and (last[1] is None or (by_id[last[1]].at, last[1]) <= (at, id_)):
                last = end, id_, "said to end"
            start = min([begin, *(one.start for one, _ in joined)])
            found.append((Held(start, last[0], sources, *last[1:]), aspects))
    for *_, statement, held_never in sorted(void, key=lambda one: one[:3]):
        shown = shown or words_of(statement)
        found.append((held_never, set()))
    return shown, sorted((one for one, _ in found), key=lambda one: (one.start, one.end))


def stopped(one: tuple[Held, set[str]], at: float, ender: str, reason: str) -> tuple[Held, set[str]]:
    held_so, aspects = one
    if held_so.end <= at:
        return one
    return replace(held_so, end=max(at, held_so.start), ender=ender, reason=reason), aspects


def every_key(episodes: list[Episode]) -> set[Key]:
    """The identities of all statements that occur, asserted or only ended."""
    extractions = [episode.extraction for episode in episodes]
    return {key_of(s) for e in extractions for s in (*e.statements, *(ending.statement for ending in e.endings))}


def held(versions: tuple[Any, ...]) -> list[Held]:
    return [Held(v.interval.valid_from, v.interval.valid_to, v.sources, v.ended_by, v.reason) for v in versions]


def merged(episodes: list[Episode]) -> list[Episode]:
    """The episodes with one name for all that any of them says mean the same; the names have no words in common."""
    pairs = [(NAMES[a], NAMES[b], b) for e in episodes for a, b in e.extraction.same_names]
    groups: list[set[str]] = []
    for a, b, _ in pairs:
        touching = [group for group in groups if a in group or b in group]
        groups = [group for group in groups if group not in touching] + [{a, b}.union(*touching)]

    def read(name: str) -> str:
        for group in groups:
            if NAMES[name] in group:
                sinks = group - {a for a, _, _ in pairs} or group
                best = min(sinks, key=lambda key: (-len(key), key))
                spelled = min(n for e in episodes for p in e.extraction.same_names for n in p if NAMES[n] == best)
                return name if NAMES[name] == best else spelled
        return name

    def of(statement: Statement) -> Statement:
        names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
        about_key = any({NAMES[name], "key"} <= group for name in names for group in groups)
        if statement.aspect == "place of key" and about_key:
            statement = replace(statement, aspect=f"place of {NAMES[read('key')]}")
        if isinstance(statement, Fact):
            return replace(statement, subject=read(names[0]), object=read(names[1]))
        return replace(statement, objects=tuple(map(read, names)))

    return [
        replace(e, extraction=replace(
            e.extraction,
            statements=tuple(map(of, e.extraction.statements)),
            endings=tuple(replace(ending, statement=of(ending.statement)) for ending in e.extraction.endings),
        ))
        for e in episodes
    ]  # fmt: skip


def compare(graph: TemporalGraph, episodes: list[Episode]) -> None:
    """Require that a graph says what the oracle says of these episodes, on every question."""
    assert sorted(graph.episodes()) == sorted(e.id for e in episodes)
    assert graph.episodes() == [e.id for e in sorted(episodes, key=lambda e: (e.at, e.id))]
    aliases = {NAMES[n] for e in episodes for p in e.extraction.same_names for n in p}
    episodes = merged(episodes)
    expected = {key: oracle(episodes, key) for key in every_key(episodes)}
    stated = {key: answer for key, answer in expected.items() if answer[1]}
    assert {key_of(versions[0].statement) for versions in graph.all_versions()} == stated.keys()
    for versions in graph.all_versions():
        shown, intervals = stated[key_of(versions[0].statement)]
        assert words_of(versions[0].statement) == shown
        assert held(versions) == intervals
    for at in (None, -1.0, 0.0, 1.0, 2.0, 2.5, 9.0):
        view = graph.view(at)
        latest = max((e.at for e in episodes), default=0.0)
        now = {
            key
            for key, (_, intervals) in stated.items()
            if any(one.start < one.end > latest if at is None else one.start <= at < one.end for one in intervals)
        }
        assert {key_of(s) for s in (*view.facts(), *view.theses())} == now
        for name in {"KEY", "strasse 5", "nobody"} - ({"KEY", "strasse 5"} if aliases else set()):
            normal = NAMES.get(name, name)
            about = {k for k in now if normal in ((k[1], k[3]) if k[0] == "fact" else k[2])}
            assert {key_of(s) for s in view.about(name)} == about
    for episode in episodes:
        enders = [(shown, one.reason) for shown, ones in stated.values() for one in ones if one.ender == episode.id]
        assert sorted((words_of(s), reason) for s, reason in graph.ended_by(episode.id)) == sorted(enders)
    compare_links(graph, {key: intervals for key, (_, intervals) in stated.items()}, latest)


def compare_links(graph: TemporalGraph, stated: dict[Key, list[Held]], latest: float) -> None:
    """Require that the links between names are those of the statements, and hold when these do."""
    links = graph.name_links()
    keys = {number: key_of(graph.numbered_statement(number)) for number in set(links.statements.tolist())}

    # counted and not sorted: keys of theses hold sets, which have no order

    def told(chosen: list[bool]) -> Counter[tuple[Key, str, str]]:
        rows = zip(links.statements.tolist(), links.first.tolist(), links.second.tolist(), chosen, strict=True)
        return Counter(_link(keys[number], links.names[a], links.names[b]) for number, a, b, is_in in rows if is_in)

    def expected(holds: Callable[[Held], bool]) -> Counter[tuple[Key, str, str]]:
        found: Counter[tuple[Key, str, str]] = Counter()
        for number, key in keys.items():
            if any(map(holds, stated[key])):
                first, *others = graph.names_of(number)
                found.update(_link(key, first, other) for other in others or [first])
        return found

    assert {key for key in stated if key[0] == "fact" or key[2]} == set(keys.values())
    assert told(links.holding().tolist()) == expected(lambda one: one.start < one.end > latest)
    assert told(links.holding(ended=True).tolist()) == expected(lambda one: one.start < one.end)
    for at in (-1.0, 0.0, 1.0, 2.5, 9.0):
        assert told(links.holding(at).tolist()) == expected(lambda one, at=at: one.start <= at < one.end)
        ever = expected(lambda one, at=at: one.start <= at and one.start < one.end)
        assert told(links.holding(at, ended=True).tolist()) == ever
    within = expected(lambda one: one.start <= 2.0 and one.end > 1.0 and one.start < one.end)
    assert told(links.holding(span=(1.0, 2.0)).tolist()) == within


def _link(key: Key, one: str, other: str) -> tuple[Key, str, str]:
    return key, min(one, other), max(one, other)


def random_statement(chance: random.Random) -> Statement:
    aspect = chance.choice(ASPECTS)
    if chance.random() < 0.7:
        names = list(NAMES)
        return Fact(chance.choice(names), chance.choice(list(RELATIONS)), chance.choice(names), aspect)
    objects = tuple(chance.sample(list(NAMES), chance.randint(0, 2)))
    return Thesis(chance.choice(list(SENTENCES)), objects, aspect)


def random_times(chance: random.Random, statement: Statement) -> Statement:
    """A statement with stated times in two of three cases."""
    begin, end = sorted(chance.choice((0.0, 1.0, 2.0, 2.5, 3.0, 7.0, 12.0)) for _ in range(2))
    return replace(
        statement,
        valid_from=begin if chance.random() < 0.4 else None,
        valid_to=end if chance.random() < 0.4 else None,
    )


def random_extraction(chance: random.Random, pool: list[Statement], timed: bool) -> Extraction:
    if chance.random() < 0.1:
        return Extraction(failures=("?",) if chance.random() < 0.5 else ())
    statements = tuple(chance.choice(pool) for _ in range(chance.randint(0, 4)))
    endings = tuple(Ending(chance.choice(pool), chance.choice(REASONS)) for _ in range(chance.randint(0, 2)))
    if timed:
        statements = tuple(random_times(chance, statement) for statement in statements)
        endings = tuple(
            replace(ending, never=True) if chance.random() < 0.2 else replace(ending, at=chance.choice((None, 0, 2, 7)))
            for ending in endings
        )
    pairs = [(a, b) for a in NAMES for b in NAMES if NAMES[a] != NAMES[b]]
    same_names = (chance.choice(pairs),) if timed and chance.random() < 0.08 else ()
    return Extraction(f"test/{chance.randint(1, 2)}", statements, endings, same_names=same_names)


def without_corrected(episode: Episode, known: list[Episode], time: float) -> Episode:
    """An episode without what one of the known episodes after ``time`` corrects."""
    wrong = {
        key_of(ending.statement)
        for later in known
        if later.at > time
        for ending in later.extraction.endings
        if ending.never and ending.statement not in later.extraction.statements
    }
    kept = tuple(s for s in episode.extraction.statements if key_of(s) not in wrong)
    return replace(episode, extraction=replace(episode.extraction, statements=kept))


def run(seed: int) -> int:
    """Live one random history, compare on the way, and return the number of comparisons."""
    chance = random.Random(seed)
    pool = [random_statement(chance) for _ in range(chance.randint(2, 9))]
    timed = chance.random() < 0.6
    known: dict[str, Episode] = {}
    forgotten: list[Episode] = []
    graph = TemporalGraph()
    clock, comparisons = 0.0, 0
    for number in range(chance.randint(1, 14)):
        clock += 1
        what = chance.random()
        if what < 0.6 or not known:
            at = float(chance.choice((number, chance.randint(0, 3), 2, 2.5)))
            new = Episode(f"text {number}", at, "", random_extraction(chance, pool, timed), clock)
            if forgotten and chance.random() < 0.2:
                new = forgotten.pop()
            assert graph.add(new)
            known[new.id] = new
        elif what < 0.75:
            old = known[chance.choice(list(known))]
            known[old.id] = replace(old, extraction=random_extraction(chance, pool, timed), extracted_at=clock)
            graph.forget(old.id)
            graph.add(known[old.id])
        elif what < 0.9:
            gone = known.pop(chance.choice(list(known)))
            graph.forget(gone.id)
            forgotten.append(gone)
        elif what < 0.95:
            graph.compact()
        else:
            graph = TemporalGraph.from_arrays(graph.to_arrays())
        if chance.random() < 0.2:
            compare(graph, list(known.values()))
            comparisons += 1
    episodes = list(known.values())
    compare(graph, episodes)
    assert graph.state_hash() == TemporalGraph(episodes).state_hash() == state_hash(fold(episodes).rows())
    time, recorded = chance.choice((0.0, 1.0, 2.0, 5.0)), chance.uniform(0, clock)
    then = [
        e if e.extracted_at is None or e.extracted_at <= recorded else replace(e, extraction=Extraction())
        for e in episodes
        if e.at <= time and (e.recorded_at or 0) <= recorded
    ]
    heard = [e for e in episodes if (e.recorded_at or 0) <= recorded and (e.extracted_at or 0) <= recorded]
    if not any(e.extraction.same_names for e in episodes):
        compare(graph.as_of(time, recorded), [without_corrected(e, heard, time) for e in then])
    return comparisons + 2


@pytest.mark.thorough
def test_the_graph_says_what_a_naive_implementation_says() -> None:
    comparisons = 0
    for seed in range(TRIALS):
        try:
            comparisons += run(seed)
        except Exception as error:
            raise AssertionError(f"history {seed} differs from the oracle") from error
    assert comparisons > 2 * TRIALS


def test_the_oracle_notices_what_is_wrong() -> None:
    room, hall = Fact("key", "is in", "Room A", "place"), Fact("key", "is in", "KEY", "place")
    episodes = [
        Episode("one", 1, extraction=Extraction("test/1", (room,))),
        Episode("two", 2, extraction=Extraction("test/1", (hall,))),
    ]
    compare(TemporalGraph(episodes), episodes)
    assert oracle(episodes, key_of(room)) == (
        "key, is in, Room A",
        [Held(1, 2, (episodes[0].id,), episodes[1].id, "replaced by: key, is in, KEY")],
    )
    with pytest.raises(AssertionError):
        compare(TemporalGraph(episodes[:1]), episodes)
    other = replace(episodes[1], extraction=Extraction("test/1", (replace(hall, aspect="state"),)))
    with pytest.raises(AssertionError):
        compare(TemporalGraph([episodes[0], other]), episodes)
