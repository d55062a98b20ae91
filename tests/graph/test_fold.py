"""The incremental graph against the definition, over random histories."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from worldthread.errors import InputError, NotFoundError
from worldthread.graph import TemporalGraph, fold, state_hash
from worldthread.graph.columns import RowList, RowTable
from worldthread.graph.fold import version_row
from worldthread.graph.strings import StringTable
from worldthread.types import Ending, Episode, Extraction, Fact, Interval, Thesis, Version

# few names, so that histories collide: the same facts in different spellings, shared aspects, ties in time
NAMES = st.sampled_from(["Key 1", "key 1", "the key 1", "locker", "A Locker", "room a"])
RELATIONS = st.sampled_from(["is in", "Is In", "unlocks"])
ASPECTS = st.sampled_from([None, "place", "state", "place of key 1"])
FACTS = st.builds(Fact, NAMES, RELATIONS, NAMES, ASPECTS)
THESES = st.builds(
    Thesis,
    st.sampled_from(["The key fits.", "the key fits", "The locker is shut."]),
    st.lists(NAMES, max_size=2).map(tuple),
    ASPECTS,
)
STATEMENTS = FACTS | THESES
KEY_IN_KEY = Fact("key 1", "is in", "key 1")
TIMES = st.none() | st.integers(-1, 6).map(float)


@st.composite
def timed_statements(draw: st.DrawFn) -> Fact | Thesis:
    """A statement whose text states when it begins, when it ends, both or neither."""
    begin, end = draw(TIMES), draw(TIMES)
    if begin is not None and end is not None:
        begin, end = min(begin, end), max(begin, end)
    latest = None if begin is None or not draw(st.booleans()) else begin + 1
    return replace(draw(STATEMENTS), valid_from=begin, valid_to=end, begins_by=latest)


ENDINGS = st.builds(Ending, STATEMENTS, st.sampled_from(["gone", "taken"]))
EXTRACTIONS = st.builds(
    Extraction,
    st.just("test/1"),
    st.lists(STATEMENTS, max_size=3).map(tuple),
    st.lists(ENDINGS, max_size=2).map(tuple),
)
TIMED_ENDINGS = st.builds(Ending, STATEMENTS, st.sampled_from(["gone", "taken"]), TIMES)
CORRECTIONS = st.builds(Ending, STATEMENTS, st.sampled_from(["wrong", "a joke"]), never=st.just(True))
TIMED_EXTRACTIONS = st.builds(
    Extraction,
    st.just("test/1"),
    st.lists(timed_statements(), max_size=3).map(tuple),
    st.lists(TIMED_ENDINGS | CORRECTIONS, max_size=2).map(tuple),
    same_names=st.just(())
    | st.sampled_from([(("key 1", "locker"),), (("Locker", "the room a"),), (("room a", "Key 1"),)]),
)

CHANCES = st.builds(random.Random, st.integers(0, 2**32))
"""Random numbers, of which hypothesis knows the seed alone: choosing each takes it longer than what is tested."""

THOROUGH = 15 if os.environ.get("WORLDTHREAD_THOROUGH") else 1  # `make test-slow` draws fifteen times as many histories


USERS = st.sampled_from(["", "key 1", "Key 1"])
"""Ids of users, which are compared exactly; here they are names of things too."""


@st.composite
def histories(draw: st.DrawFn, times_stated: bool | None = None) -> list[Episode]:
    """Episodes with unique ids, in no order, with ties and with recorded times that contradict world time."""
    if times_stated is None:
        times_stated = draw(st.booleans())
    several_users = draw(st.booleans())
    extractions = draw(st.lists(TIMED_EXTRACTIONS if times_stated else EXTRACTIONS, max_size=9))
    return [
        Episode(
            f"text {number}",
            draw(st.integers(0, 4)),
            extraction=extraction,
            recorded_at=draw(st.integers(0, 4)),
            user=draw(USERS) if several_users else "",
        )
        for number, extraction in enumerate(extractions)
    ]


def reference_hash(episodes: list[Episode], later: list[Episode] | None = None) -> str:
    return state_hash(fold(episodes, later or ()).rows())


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 100)
@given(histories(), CHANCES)
def test_any_order_and_batching_gives_the_fold(episodes: list[Episode], chance: random.Random) -> None:
    expected = reference_hash(episodes)
    chance.shuffle(episodes)
    graph = TemporalGraph()
    rest = list(episodes)
    while rest:
        size = chance.randint(1, len(rest))
        batch, rest = rest[:size], rest[size:]
        if chance.random() < 0.5:
            graph.add_many(batch)
        else:
            for episode in batch:
                assert graph.add(episode)
        if chance.random() < 0.3:  # a snapshot in the middle changes nothing
            graph = TemporalGraph.from_arrays(graph.to_arrays())
    assert graph.state_hash() == expected
    assert not any(graph.add(episode) for episode in episodes)
    assert graph.state_hash() == expected


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 100)
@given(histories(), CHANCES)
def test_what_is_read_later_is_as_if_it_had_been_read_at_once(episodes: list[Episode], chance: random.Random) -> None:
    expected = reference_hash(episodes)
    graph = TemporalGraph()
    waiting = [episode for episode in episodes if chance.random() < 0.6]
    blank = {episode.id for episode in waiting}
    graph.add_many(replace(one, extraction=Extraction(failures=("later",))) for one in episodes if one.id in blank)
    rest = [episode for episode in episodes if episode.id not in blank]
    chance.shuffle(waiting)
    while waiting or rest:
        if rest and chance.random() < 0.5:
            graph.put_many([rest.pop()])
        elif waiting:
            episode = waiting.pop()
            graph.put_many([episode])
            assert graph.episode(episode.id).extractor == episode.extraction.extractor
        if chance.random() < 0.2:
            graph = TemporalGraph.from_arrays(graph.to_arrays())
    assert graph.state_hash() == expected
    assert graph.is_compact, "each keeps its number"


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 100)
@given(histories(), CHANCES)
def test_forgetting_equals_never_having_known(episodes: list[Episode], chance: random.Random) -> None:
    graph = TemporalGraph(episodes)
    kept = list(episodes)
    chance.shuffle(kept)
    while kept and chance.random() < 0.8:
        gone = kept.pop()
        graph.forget(gone.id)
        assert gone.id not in graph
        assert graph.state_hash() == reference_hash(kept)
        if chance.random() < 0.3:
            graph.compact()
            assert graph.unused_fraction == 0
            assert graph.state_hash() == reference_hash(kept)
        if chance.random() < 0.3:
            graph = TemporalGraph.from_arrays(graph.to_arrays())
        if chance.random() < 0.3:
            graph.add(gone)
            kept.insert(0, gone)
            assert graph.state_hash() == reference_hash(kept)


@pytest.mark.thorough
@pytest.mark.parametrize("stays", [0.0, 0.5, 0.9])
def test_what_comes_late_into_a_long_history_gives_the_fold(stays: float) -> None:
    # few things that move, are seen again where they are, and are ended by name: long versions and many of them
    for seed in range(THOROUGH * 8):
        chance = random.Random(seed)
        things = [f"thing {number}" for number in range(chance.randint(1, 2))]
        places: dict[str, str] = {}
        episodes = []
        for number in range(chance.randint(30, 90)):
            thing = chance.choice(things)
            if chance.random() > stays:
                places[thing] = chance.choice(("hall", "attic", "yard"))
            where = Fact(
                thing,
                "is in",
                places.setdefault(thing, "hall"),
                chance.choice((f"place of {thing}",) * 5 + (None, "x")),
            )
            ended = Fact(thing, "is in", chance.choice(("hall", "attic", "yard")))
            endings = (Ending(ended, chance.choice(("gone", "taken"))),) if chance.random() < 0.2 else ()
            said = Extraction("test/1", (where,) * (chance.random() < 0.8), endings)
            episodes.append(Episode(f"text {number}", float(number // 2), extraction=said))
        known = [episode for episode in episodes if chance.random() < 0.6]
        rest = [episode for episode in episodes if episode not in known]
        graph = TemporalGraph(known)
        for number in range(40):
            if rest and chance.random() < 0.5:
                known.append(rest.pop(chance.randrange(len(rest))))
                graph.add(known[-1])
            elif known:
                rest.append(known.pop(chance.randrange(len(known))))
                graph.forget(rest[-1].id)
            if number % 13 == 0:
                graph = TemporalGraph.from_arrays(graph.to_arrays())
            assert graph.state_hash() == reference_hash(known), f"history {seed}, change {number}"


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 100)
@given(histories(), st.integers(-1, 5), st.integers(-1, 5))
def test_as_of_equals_folding_the_prefix(episodes: list[Episode], world_time: int, recorded_time: int) -> None:
    graph = TemporalGraph(episodes)
    by_world = [e for e in episodes if e.at <= world_time]
    by_recorded = [e for e in episodes if e.recorded_at is not None and e.recorded_at <= recorded_time]
    both = [e for e in by_world if e in by_recorded]
    # what was corrected later is left out, unless this was not yet known
    assert graph.as_of(world_time=world_time).state_hash() == reference_hash(by_world, episodes)
    assert graph.as_of(recorded_time=recorded_time).state_hash() == reference_hash(by_recorded)
    assert graph.as_of(world_time, recorded_time).state_hash() == reference_hash(both, by_recorded)
    now = graph.view()
    assert {*now.facts(), *now.theses()} == fold(episodes).current()
    view = graph.view(at=world_time)
    held = {s for s, versions in fold(episodes).versions.items() if any(world_time in v.interval for v in versions)}
    assert {*view.facts(), *view.theses()} == held


def test_a_correction_does_not_reach_what_is_called_the_same_later() -> None:
    said = Episode("The key is in the key.", 0, extraction=Extraction("test/1", (KEY_IN_KEY,)), recorded_at=0)
    other = Ending(Fact("room a", "is in", "locker"), "wrong", never=True)
    never = Episode("Room A was never in the locker.", 3, extraction=Extraction("test/1", (), (other,)), recorded_at=0)
    pairs = (("key 1", "locker"), ("room a", "key 1"))
    same = Episode("All are one.", 4, extraction=Extraction("test/1", same_names=pairs), recorded_at=4)
    graph = TemporalGraph([said, never, same])
    assert graph.as_of(0, 0).state_hash() == reference_hash([said], [said, never])
    assert [*graph.as_of(0, 0).view().facts()] == [KEY_IN_KEY]
    assert graph.as_of(0).state_hash() == reference_hash([said], [said, never, same])
    assert not graph.as_of(0).view().facts(), "as it is known now, they are one"


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 35)
@given(histories(times_stated=False), st.integers(-1, 5))
def test_where_no_times_are_stated_a_view_sees_what_the_prefix_says(episodes: list[Episode], time: int) -> None:
    view = TemporalGraph(episodes).view(at=time)
    assert {*view.facts(), *view.theses()} == fold(e for e in episodes if e.at <= time).current()


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 40)
@given(histories(), STATEMENTS)
def test_versions_are_disjoint_ordered_and_explained(episodes: list[Episode], statement: Fact | Thesis) -> None:
    graph = TemporalGraph(episodes)
    assert sorted(map(version_row, chain.from_iterable(graph.all_versions()))) == sorted(
        version_row(version) for versions in fold(episodes).versions.values() for version in versions
    )
    if not any(episode.extraction.same_names for episode in episodes):
        assert graph.versions(statement) == fold(episodes).versions.get(statement, ())
    for versions in graph.all_versions():
        assert list(versions) == sorted(versions, key=lambda v: v.interval)
        for earlier, later in pairwise(v for v in versions if v.interval.valid_from < v.interval.valid_to):
            assert earlier.interval.valid_to <= later.interval.valid_from
        for version in versions:
            assert version.sources
            assert version.interval.valid_from <= version.interval.valid_to
            assert version.interval.is_open == (version.ended_by is None) == (version.reason is None)


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 60)
@given(histories(), STATEMENTS, st.integers(-1, 5))
def test_each_user_has_what_a_graph_of_their_own_has(
    episodes: list[Episode], statement: Fact | Thesis, time: int
) -> None:
    graph = TemporalGraph(episodes)
    now = max((episode.at for episode in episodes), default=0.0)
    for user in {episode.user for episode in episodes}:
        own = TemporalGraph(episode for episode in episodes if episode.user == user)
        theirs = [n for n in graph.statement_numbers if graph.user_of(n) == user and graph.numbered_versions(n)]
        assert sorted(version_row(v) for n in theirs for v in graph.numbered_versions(n)) == sorted(
            map(version_row, chain.from_iterable(own.all_versions()))
        )
        for at in (float(time), now):
            view, alone = graph.view(at, user), own.view(at)
            for name in ("key 1", "locker", "room a"):
                assert view.timeline(name) == alone.timeline(name)
                assert view.about(name) == alone.about(name)
                assert view.longer_and_shorter(name) == alone.longer_and_shorter(name)
            assert view.facts() == alone.facts()
            assert view.theses() == alone.theses()
            assert view.versions(statement) == alone.versions(statement)
            assert view.holds(statement) == alone.holds(statement)
    everything = {str(v.statement) for name in ("key 1", "locker", "room a") for v in graph.view().timeline(name)}
    assert everything == {
        str(v.statement) for versions in graph.all_versions() for v in versions if graph.names_of(number_of(graph, v))
    }


def number_of(graph: TemporalGraph, version: Version) -> int:
    number = graph.number_of(version.statement, version.sources[0])
    assert number is not None
    return number


def test_users_are_apart_whatever_they_are_called() -> None:
    def lives(where: str, at: float, user: str, *, same: tuple[tuple[str, str], ...] = ()) -> Episode:
        fact = Fact("Anna", "lives in", where, aspect="home of anna")
        return Episode(f"I live in {where}", at, extraction=Extraction("test", (fact,), same_names=same), user=user)

    episodes = [lives("Rome", 1, "Tm9kZQ"), lives("Oslo", 2, "tm9kzq"), lives("Bern", 3, ""), lives("Rome", 4, "bob")]
    for graph in (TemporalGraph(episodes), TemporalGraph.from_arrays(TemporalGraph(episodes).to_arrays())):
        assert graph.state_hash() == reference_hash(episodes)
        assert [fact.object for fact in graph.view(user="Tm9kZQ").facts()] == ["Rome"]
        assert [fact.object for fact in graph.view(user="tm9kzq").facts("anna")] == ["Oslo"]
        assert [fact.object for fact in graph.view(user="").facts("anna")] == ["Bern"]
        assert graph.view(user="nobody").facts() == graph.view(user="nobody").about("Anna") == []
        assert [fact.object for fact in graph.view().facts("anna", "lives in")] == ["Bern", "Oslo", "Rome"]
        rome = graph.versions(Fact("anna", "lives in", "rome"))
        assert [(v.interval.valid_from, v.sources) for v in rome] == [(1, (episodes[0].id,)), (4, (episodes[3].id,))]
        assert [graph.user_of(number) for number in graph.numbers_of(rome[0].statement.id)] == ["Tm9kZQ", "bob"]
        never = Extraction(
            "test", (), (Ending(rome[0].statement, "wrong", never=True),), same_names=(("Rome", "Roma"),)
        )
        graph.add(Episode("no", 5, extraction=never, user="bob"))
        assert graph.view(user="bob").facts() == []
        assert [fact.object for fact in graph.view(user="Tm9kZQ").facts(object="Rome")] == ["Rome"]
        assert [fact.object for fact in graph.view(4.5, "Tm9kZQ").about("Rome") if isinstance(fact, Fact)] == ["Rome"]
        graph.add(Episode("was it", 6, extraction=Extraction("test", (rome[0].statement,)), user="bob"))
        assert [fact.object for fact in graph.view().facts(object="Rome")] == ["Roma", "Rome"], "bob calls it Roma"
        assert graph.with_canonical_names("Where is Rome?", "bob") == "Where is Roma?"
        assert graph.with_canonical_names("Where is Rome?", "Tm9kZQ") == "Where is Rome?"


@pytest.mark.thorough
@settings(max_examples=THOROUGH * 20)
@given(histories(times_stated=False))
def test_where_no_times_are_stated_episodes_are_the_borders(episodes: list[Episode]) -> None:
    graph = TemporalGraph(episodes)
    for versions in graph.all_versions():
        for earlier, later in pairwise(versions):
            assert earlier.interval.valid_to <= later.interval.valid_from
        for version in versions:
            assert version.interval.valid_from == graph.episode(version.sources[0]).at
            if version.ended_by is not None:
                assert version.ended_by not in version.sources
                assert graph.episode(version.ended_by).at == version.interval.valid_to


def test_a_graph_of_nothing_has_no_values() -> None:
    assert TemporalGraph().view().value("key", "is in") is None


def step(at: float, *statements: Fact | Thesis, ends: tuple[Ending, ...] = ()) -> Episode:
    return Episode(f"at {at}", at, extraction=Extraction("test/1", statements, ends))


def place(thing: str, where: str) -> Fact:
    return Fact(thing, "is in", where, aspect=f"place of {thing}")


def test_a_life_of_one_key() -> None:
    found, taken, dropped = (
        step(1, place("key", "room")),
        step(5, place("key", "hand")),
        step(9, place("key", "room")),
    )
    graph = TemporalGraph([dropped, found, taken])
    first, second = graph.versions(place("key", "room"))
    assert (first.interval.valid_from, first.interval.valid_to) == (1, 5)
    assert first.ended_by == taken.id
    assert first.reason == "replaced by: key, is in, hand"
    assert (second.interval.valid_from, second.interval.is_open) == (9, True)
    assert graph.view(at=4.9).holds(place("key", "room"))
    assert not graph.view(at=5).holds(place("key", "room"))
    assert graph.view().value("key", "is in") == "room"
    assert [str(v.statement) for v in graph.view().timeline("hand")] == ["key, is in, hand"]

    graph.forget(taken.id)  # what it ended lives on: one version, two sources
    (only,) = graph.versions(place("key", "room"))
    assert only.sources == (found.id, dropped.id)
    assert graph.versions(place("key", "hand")) == ()
    assert graph.objects() == ["key", "room"]


def work(employer: str, valid_from: float | None = None, valid_to: float | None = None) -> Fact:
    return Fact("Tom", "works for", employer, "employer of tom", valid_from, valid_to)


def intervals(graph: TemporalGraph, statement: Fact | Thesis) -> list[tuple[float, float, str | None]]:
    return [(v.interval.valid_from, v.interval.valid_to, v.reason) for v in graph.versions(statement)]


# months of one year are the numbers from 1 to 12
LATER = math.inf
REPLACED = "replaced by: Tom, works for, Airbus"


def test_what_is_announced_counts_from_when_it_begins() -> None:
    graph = TemporalGraph([step(1, work("Siemens")), step(5, work("Airbus", 6)), step(5.5, work("Siemens"))])
    assert intervals(graph, work("Siemens")) == [(1, 6, REPLACED)], "said again in the meantime, it is still true"
    assert intervals(graph, work("Airbus")) == [(6, LATER, None)]
    view = graph.view()
    assert view.holds(work("Siemens"))
    assert view.holds(work("Airbus")), "an announcement is not over"
    assert view.value("Tom", "works for") == "Siemens", "what has not begun is no value"
    assert graph.view(at=5.9).value("Tom", "works for") == "Siemens"
    assert graph.view(at=6).value("Tom", "works for") == "Airbus"
    graph.add(step(7, Fact("Tom", "likes", "tea")))
    assert not graph.view().holds(work("Siemens")), "now is when the latest episode is"
    assert graph.counts()["current_facts"] == 2
    assert graph.view().value("Tom", "works for") == "Airbus"
    # somebody who is first heard of after the announcement ends there too
    late = TemporalGraph([step(5, work("Airbus", 6)), step(5.5, work("Siemens"))])
    assert intervals(late, work("Siemens")) == [(5.5, 6, REPLACED)]


def test_what_has_been_so_for_a_while_ends_what_was_before() -> None:
    graph = TemporalGraph([step(1, work("Siemens")), step(4, work("Bosch")), step(5, work("Airbus", 3))])
    assert intervals(graph, work("Siemens")) == [(1, 3, REPLACED)]
    assert intervals(graph, work("Bosch")) == [(4, 4, REPLACED)], "it never held, by what was said last"
    assert intervals(graph, work("Airbus")) == [(3, LATER, None)]
    assert graph.ended_by(step(5, work("Airbus", 3)).id) == tuple((work(w), REPLACED) for w in ("Bosch", "Siemens"))


def test_what_is_past_replaces_nothing() -> None:
    graph = TemporalGraph([step(2020, work("Siemens")), step(2021, work("Airbus", 2010, 2014))])
    assert intervals(graph, work("Siemens")) == [(2020, LATER, None)]
    assert intervals(graph, work("Airbus")) == [(2010, 2014, "said to end")]
    assert graph.view(at=2012).value("Tom", "works for") == "Airbus"
    assert not graph.view().holds(work("Airbus"))
    graph.add(step(2022, work("Siemens", None, 2021.5)))
    assert intervals(graph, work("Siemens")) == [(2020, 2021.5, "said to end")]
    graph.add(step(2023, work("Bosch", None, 2022)))
    assert intervals(graph, work("Bosch")) == [(2022, 2022, "said to end")], "nobody says when it began"


def test_the_end_that_was_stated_last_counts() -> None:
    graph = TemporalGraph([step(1, work("Airbus", None, 8)), step(2, work("Airbus"))])
    assert intervals(graph, work("Airbus")) == [(1, 8, "said to end")]
    assert graph.view().holds(work("Airbus"))
    graph.add(step(3, work("Airbus", None, 10)))
    assert intervals(graph, work("Airbus")) == [(1, 10, "said to end")]
    graph.add(step(4, work("Airbus", 0.5, 7)))
    assert intervals(graph, work("Airbus")) == [(0.5, 7, "said to end")], "the earliest beginning counts"
    graph.add(step(9, work("Airbus")))
    assert intervals(graph, work("Airbus")) == [(0.5, 7, "said to end"), (9, LATER, None)]
    graph.add(step(10, work("Airbus", 5)))
    assert intervals(graph, work("Airbus")) == [(0.5, LATER, None)], "there was no interruption"


@pytest.mark.parametrize(
    ("at", "end"), [(None, 5), (3, 3), (8, 8), (0, 1)], ids=["now", "earlier", "later", "before it began"]
)
def test_an_ending_states_its_time(at: float | None, end: float) -> None:
    graph = TemporalGraph([step(1, work("Airbus")), step(5, ends=(Ending(work("Airbus"), "she quit", at),))])
    assert intervals(graph, work("Airbus")) == [(1, end, "she quit")]
    graph.add(step(6, Fact("Tom", "likes", "tea")))
    assert graph.view().holds(work("Airbus")) == (end > 6)
    assert not any(graph.view(at=time).holds(work("Airbus")) for time in (end, end + 5))


def test_an_announcement_that_is_taken_back_ends_nothing() -> None:
    said = [step(1, work("Siemens")), step(2, work("Airbus", 6))]
    called_off = step(3, ends=(Ending(work("Airbus"), "they withdrew"),))
    graph = TemporalGraph([*said, called_off])
    assert intervals(graph, work("Siemens")) == [(1, LATER, None)]
    assert intervals(graph, work("Airbus")) == [(6, 6, "they withdrew")]
    graph.forget(called_off.id)
    assert intervals(graph, work("Siemens")) == [(1, 6, REPLACED)]
    graph.add(step(4, work("Airbus", 9)))
    assert intervals(graph, work("Siemens")) == [(1, 9, REPLACED)]
    assert intervals(graph, work("Airbus")) == [(6, 6, "put off"), (9, LATER, None)]
    graph.add(step(12, ends=(Ending(work("Airbus"), "he never came", 9),)))
    assert intervals(graph, work("Siemens")) == [(1, LATER, None)]


def test_what_was_never_true_is_so_at_no_time() -> None:
    oslo, rome = place("Tom", "Oslo"), place("Tom", "Rome")
    said = [step(1, oslo), step(3, rome), step(4, rome)]
    correction = Episode(
        "never", 9, extraction=Extraction("x", (), (Ending(rome, "it was Milan", never=True),)), recorded_at=90
    )
    graph = TemporalGraph([*said, correction])
    assert intervals(graph, oslo) == [(1, LATER, None)], "what was never true has ended nothing"
    assert intervals(graph, rome) == [(3, 3, "it was Milan"), (4, 4, "it was Milan")]
    assert not any(graph.view(at=time).holds(rome) for time in (3, 3.5, 4, 9, 99))
    assert graph.as_of(world_time=5).versions(rome) == (), "later corrections count"
    assert graph.as_of(world_time=5).view().value("Tom", "is in") == "Oslo"
    assert graph.as_of(world_time=5, recorded_time=89).view().value("Tom", "is in") == "Rome", "unless nobody knew"
    assert graph.ended_by(correction.id) == ((rome, "it was Milan"),) * 2
    graph.add(step(10, rome))  # it is true from then on
    assert intervals(graph, rome)[-1] == (10, LATER, None)
    assert intervals(graph, oslo) == [(1, 10, "replaced by: Tom, is in, Rome")]
    graph.forget(correction.id)
    assert intervals(graph, rome) == [(3, LATER, None)]
    with pytest.raises(InputError, match="leave out at"):
        Ending(rome, "wrong", 3, never=True)


def test_names_that_are_merged_count_as_one_with_their_aspects() -> None:
    old, new = place("Anna", "Rome"), place("anna rossi", "Paris")
    thesis = Thesis("She sings.", ("Anna", "choir"), "hobby of ANNA")
    merge = Episode("same", 9, extraction=Extraction("x", same_names=(("Anna", "Anna Rossi"),)))
    graph = TemporalGraph([step(1, old, thesis), step(3, new)])
    before, count = graph.state_hash(), graph.numbering
    graph.add(merge)
    assert graph.numbering == count + 1
    assert intervals(graph, old) == [(1, 3, "replaced by: anna rossi, is in, Paris")]
    assert graph.extracted(step(1, old, thesis).id) == (
        place("Anna Rossi", "Rome"),
        replace(thesis, objects=("Anna Rossi", "choir")),
    )
    assert graph.numbered_statement(0).aspect == "place of anna rossi"
    assert graph.with_canonical_names("where is ANNA, Annabel?") == "where is Anna Rossi, Annabel?"
    again = TemporalGraph.from_arrays(graph.to_arrays())
    assert again.state_hash() == graph.state_hash() != before
    assert again.view().facts("anna") == [place("Anna Rossi", "Paris")]
    for one in (graph, again):
        one.forget(merge.id)
        assert one.state_hash() == before
        assert one.extracted(step(1, old, thesis).id)[1].objects == ("Anna", "choir")


def test_another_name_of_somebody_known_folds_nothing_again() -> None:
    def live(name: str, where: str) -> Fact:
        return Fact(name, "lives in", where, f"home of {name.lower()}")

    def merge(*names: tuple[str, str]) -> Episode:
        return Episode(f"same {names}", 9, extraction=Extraction("x", (live(names[0][0], "Oslo"),), same_names=names))

    episodes = [step(1, live("Anna Rossi", "Rome")), step(2, Thesis("She sings.", ("choir",), "hobby of Ann"))]
    graph = TemporalGraph(episodes)
    for pair, refolds in (
        (("Anna", "Anna Rossi"), False),  # the text that gives the name is the first with it
        (("Nina", "Anna Rossi"), False),
        (("Anna Rossi", "Anna Rossi-Berg"), True),  # the name that is shown changes
        (("choir", "Choir of Rome"), True),
        (("Ann", "Anna Rossi"), False),  # only an aspect of something else names her so
        (("home", "Anna Rossi"), True),  # one of hers does
        (("Zoe", "Zoë"), False),
        (("Mr. Bo", "Bo"), False),
    ):
        numbering, changes = graph.numbering, graph.change_count
        episodes.append(merge(pair))
        assert graph.add(episodes[-1])
        assert graph.change_count > changes
        assert (graph.numbering > numbering) is refolds, pair
        assert graph.state_hash() == state_hash(fold(episodes).rows()), pair
    assert graph.view().facts("nina") == graph.view().facts("Anna Rossi-Berg")
    assert graph.view().facts("nina") == [live("Anna Rossi-Berg", "Oslo")]
    graph.forget(episodes.pop().id)
    assert graph.state_hash() == state_hash(fold(episodes).rows())


def test_aspects_are_read_with_merged_names_as_if_all_had_been_folded() -> None:
    names = ("Anna", "ANNA", "Anna Rossi", "Rossi", "Bo", "bo", "Oslo")
    for seed in range(300):
        chance = random.Random(seed)
        graph, episodes = TemporalGraph(), []
        for number in range(chance.randint(2, 8)):
            one, two, three = (chance.choice(names) for _ in range(3))
            fact = Fact(one, "is in", two, chance.choice((None, f"place of {three}", f"{one} of {three}")))
            pairs = ((chance.choice(names[:2] + names[3:5]), three),) if chance.random() < 0.5 else ()
            extraction = Extraction("x", (fact,), same_names=tuple(p for p in pairs if p[0].lower() != p[1].lower()))
            episodes.append(Episode(f"{number}", float(chance.randint(0, 4)), extraction=extraction))
            graph.add(episodes[-1])
            if chance.random() < 0.15:
                graph.forget(episodes.pop(chance.randrange(len(episodes))).id)
            elif chance.random() < 0.1:
                graph = TemporalGraph.from_arrays(graph.to_arrays())
            assert graph.state_hash() == state_hash(fold(episodes).rows()), seed
            assert graph.state_hash() == TemporalGraph(episodes).state_hash(), seed
            for episode in episodes:
                assert graph.extracted(episode.id) == TemporalGraph(episodes).extracted(episode.id), seed


def test_one_text_can_state_what_is_and_what_will_be() -> None:
    graph = TemporalGraph([step(5, work("Siemens"), work("Airbus", 6))])
    assert intervals(graph, work("Siemens")) == [(5, 6, REPLACED)]
    graph = TemporalGraph([step(5, work("Siemens", 2, 4), work("Airbus", 4))])
    assert intervals(graph, work("Siemens")) == [(2, 4, "said to end")]


def test_times_are_part_of_the_extraction_and_not_of_the_statement() -> None:
    assert work("Airbus", 1, 2) == work("Airbus")
    assert work("Airbus", 1, 2).id == work("Airbus").id
    said = [
        (work("Airbus"),), (work("Airbus", 1),), (work("Airbus", None, 1),), (work("Airbus", 1, 1),),
        (work("Airbus", 1), work("Bosch")), (work("Airbus"), work("Bosch", 1)), (work("Airbus"), work("Bosch")),
    ]  # fmt: skip
    digests = {Extraction("x", statements).digest for statements in said}
    digests |= {Extraction("x", (), (Ending(work("Airbus"), "gone", at),)).digest for at in (None, 1)}
    digests.add(Extraction("x", (), (Ending(work("Airbus"), "gone", never=True),)).digest)
    assert len(digests) == len(said) + 3
    assert str(work("Airbus", -0.0).valid_from) == "0.0"
    for wrong, why in (((2, 1), "before valid_from"), ((math.inf,), "finite"), (("x",), "must be a number")):
        with pytest.raises(InputError, match=why):
            work("Airbus", *wrong)


def test_a_beginning_is_kept_as_exactly_as_it_was_told() -> None:
    told = replace(work("Airbus", 3.0), begins_by=9.0)
    graph = TemporalGraph([Episode("it", 4, extraction=Extraction("test", (told,)))])
    exact = TemporalGraph([Episode("it", 4, extraction=Extraction("test", (work("Airbus", 3.0),)))])
    assert graph.state_hash() != exact.state_hash()
    for same in (graph, TemporalGraph.from_arrays(graph.to_arrays())):
        [version] = same.versions(told)
        assert (version.statement.begins_by, version.interval) == (9.0, Interval(3.0))
        assert same.state_hash() == graph.state_hash()
    for begin, latest, why in ((None, 9.0, "needs valid_from"), (3.0, 3.0, "not after"), (3.0, math.nan, "finite")):
        with pytest.raises(InputError, match=why):
            replace(work("Airbus", begin), begins_by=latest)


def test_arrays_of_older_formats_and_wrong_times_are_refused() -> None:
    arrays = TemporalGraph([step(1, place("key", "room")), step(2, place("key", "hand"))]).to_arrays()
    with pytest.raises(InputError, match="format 4"):  # it has no speakers
        TemporalGraph.from_arrays({**arrays, "format": arrays["format"] * 0 + 4})
    wrong = {"forms_timed": np.array([0]), "forms_times": np.array([[-2, 0, 0]])}
    with pytest.raises(InputError, match="not finite"):
        TemporalGraph.from_arrays({**arrays, **wrong})


def wide_arrays(graph: TemporalGraph) -> dict[str, NDArray[Any]]:
    """The arrays of format 5: integers of 64 bits, times among the other columns, no index of strings."""
    arrays = graph.to_arrays()
    wide = {"format": np.array([5], np.int64)}
    for name, array in arrays.items():
        if name in ("format", "string_index", "string_seed") or name.endswith(("_timed", "_times")):
            continue
        if f"{name}_timed" in arrays:
            width = arrays[f"{name}_times"].shape[1] - (name == "forms")  # it does not say by when a statement begins
            times = np.full((len(array), width), -1, np.int64)
            times[arrays[f"{name}_timed"]] = arrays[f"{name}_times"][:, :width]
            array = np.concatenate((array, times), axis=1)
        wide[name] = array.astype(np.int64) if array.dtype == np.int32 else array
    return without_users(wide)


def without_users(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays as before format 8, which do not know whose a statement is."""
    forms = np.delete(arrays["forms"], 5, axis=1)
    return {**arrays, "keys": arrays["keys"][:, :3], "forms": forms}


def test_arrays_of_the_last_format_are_read() -> None:
    told = Extraction(
        "test", (work("Airbus", 3.0, 9.0),), (Ending(work("Acme"), "she left", 2.5),), same_names=(("Ann", "Anna"),)
    )
    episodes = [
        step(1, place("key", "room")),
        Episode("it", 2, extraction=Extraction("test", (work("Acme"),))),
        Episode("on", 4, extraction=told),
    ]
    graph = TemporalGraph(episodes)
    wide = wide_arrays(graph)
    assert {array.dtype for array in wide.values()} == {np.dtype(kind) for kind in ("i8", "u1", "f8")}
    assert TemporalGraph.from_arrays(wide).state_hash() == graph.state_hash() == reference_hash(episodes)
    arrays = graph.to_arrays()
    common = {**without_users(arrays), "format": np.array([7], np.int64)}
    exact = {**common, "format": np.array([6], np.int64), "forms_times": arrays["forms_times"][:, :2]}
    for older in (common, exact):
        again = TemporalGraph.from_arrays(older)
        assert again.state_hash() == graph.state_hash()
        again.add(step(5, place("key", "hall")))
        assert again.state_hash() == reference_hash([*episodes, step(5, place("key", "hall"))])
    owned = TemporalGraph([replace(episodes[0], user="anna")]).to_arrays()
    with pytest.raises(InputError, match="whose"):  # it was not folded apart by users, so it comes from the record
        TemporalGraph.from_arrays({**without_users(owned), "format": np.array([7], np.int64)})
    with pytest.raises(InputError):
        TemporalGraph.from_arrays({**wide, "keys": wide["keys"] + 2**40})
    with pytest.raises(InputError):
        TemporalGraph.from_arrays({**wide, "strings": np.concatenate((wide["strings"], wide["strings"]))})


def test_packing_what_came_later_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = [step(number, place(f"thing {number % 3}", f"room {number % 5}")) for number in range(60)]
    monkeypatch.setattr("worldthread.graph.temporal._LEAST_SETTLED", 4)
    graph = TemporalGraph(episodes[:20])
    graph.add_many(episodes[20:50])
    assert graph._state.late < 20
    for episode in episodes[50:]:
        graph.add(episode)
    graph.forget(episodes[7].id)
    rest = [*episodes[:7], *episodes[8:]]
    assert graph.state_hash() == reference_hash(rest)
    graph.add_many([episodes[7]])
    assert graph.state_hash() == reference_hash(episodes)


def test_a_statement_confirmed_by_another_episode_survives_forgetting_the_first() -> None:
    first, second = step(1, Fact("oak", "is a", "tree")), step(2, Fact("Oak", "is a", "tree"))
    graph = TemporalGraph([first, second])
    graph.forget(first.id)
    (version,) = graph.versions(Fact("oak", "is a", "tree"))
    assert version.interval.valid_from == 2
    assert version.statement.subject == "Oak", "shown as the earliest episode that is left wrote it"


def test_several_values_of_one_aspect_in_one_episode_hold_together() -> None:
    both = step(1, Fact("box", "is", "red", aspect="colour"), Fact("box", "is", "blue", aspect="colour"))
    graph = TemporalGraph([both])
    assert len(graph.view().facts("box", "is")) == 2
    graph.add(step(2, Fact("box", "is", "red", aspect="colour")))
    assert [f.object for f in graph.view().facts("box", "is")] == ["red"]


def test_one_episode_with_two_extractions_is_refused() -> None:
    one, other = Episode("x", 0, extraction=Extraction("a")), Episode("x", 0, extraction=Extraction("b"))
    graph = TemporalGraph([one])
    with pytest.raises(InputError, match="another extraction"):
        graph.add(other)
    with pytest.raises(InputError, match="two different extractions"):
        fold([one, other])
    with pytest.raises(InputError, match="another extraction"):
        TemporalGraph([one, other])


def test_forgetting_the_unknown_is_an_error_and_changes_nothing() -> None:
    graph = TemporalGraph([step(1, place("key", "room"))])
    before = graph.state_hash()
    with pytest.raises(NotFoundError, match="no episode"):
        graph.forget("0" * 32)
    assert graph.state_hash() == before


def test_arrays_hold_no_trace_of_what_was_forgotten() -> None:
    secret, kept = step(1, place("diary", "drawer")), step(2, place("key", "room"))
    graph = TemporalGraph([secret, kept])
    graph.forget(secret.id)
    arrays = graph.to_arrays()
    assert not any(b"diary" in array.tobytes() for array in arrays.values())
    assert TemporalGraph.from_arrays(arrays).state_hash() == reference_hash([kept])


def sizes(graph: TemporalGraph) -> dict[str, int]:
    """The number of items in every table of a graph."""
    state = graph._state
    state.settle()
    tables = {name: getattr(state, name) for name in state.__slots__}
    tables |= {f"episodes.{name}": getattr(state.episodes, name) for name in state.episodes.__slots__}
    tables |= {f"statements.{name}": getattr(state.statements, name) for name in state.statements.__slots__}
    found = {}
    for name, table in tables.items():
        if isinstance(table, RowTable):
            found[name] = len(table.packed(len(table._base[3]) - 1)[1]) + table.late
        elif isinstance(table, StringTable | RowList | list | dict | set) and not name.endswith("._made"):
            found[name] = len(table)  # `_made` is a cache of what was shown
    return found


def noise(number: int) -> Episode:
    what = Fact(f"thing {number}", "is in", f"place {number}", aspect=f"place of thing {number}")
    old = Ending(Thesis(f"It is night {number}.", (f"night {number}",)), f"morning {number}")
    return Episode(f"noise {number}", number, f"source {number}", Extraction(f"test/{number}", (what,), (old,)))


def test_compacting_releases_every_table_and_keeps_views() -> None:
    kept = [step(number / 10, place("key", f"room {number % 3}")) for number in range(30)]
    graph = TemporalGraph(kept)
    view, fresh = graph.view(), sizes(TemporalGraph(kept))
    assert graph.unused_fraction == 0
    graph.compact()
    assert graph.numbering == 0, "nothing was forgotten, so all numbers stay"
    for number in range(500):
        graph.add(noise(number))
        graph.view().about(f"thing {number}")
        graph.forget(noise(number).id)
    assert graph.unused_fraction == pytest.approx(1500 / 1560)
    changes = graph.change_count
    graph.compact()
    assert (graph.numbering, graph.unused_fraction, graph.is_compact) == (1, 0, True)
    assert graph.change_count > changes
    assert sizes(graph) == fresh
    assert len(graph.statement_numbers) == 3
    assert not graph._state.statements._made.keys() - range(len(graph._state.statements.forms))
    assert graph.state_hash() == reference_hash(kept)
    graph.add(step(99, place("key", "hall")))
    assert view.value("key", "is in") == "hall", "a view follows"
    restored = TemporalGraph.from_arrays(graph.to_arrays())
    restored.add(noise(1))
    restored.forget(noise(1).id)
    assert restored.unused_fraction == pytest.approx(3 / (3 + 62))
    restored.forget(step(99, place("key", "hall")).id)
    assert restored.unused_fraction == pytest.approx(5 / (5 + 60))
    restored.compact()
    assert sizes(restored) == fresh


def test_a_graph_of_nothing_is_compacted_too() -> None:
    graph = TemporalGraph([noise(1)])
    graph.forget(noise(1).id)
    assert graph.unused_fraction == 1
    graph.compact()
    assert sizes(graph) == sizes(TemporalGraph())


def test_compacting_takes_time_linear_in_what_is_left(growth: Callable[[Callable[[int], object], int], float]) -> None:
    def made(size: int) -> TemporalGraph:
        graph = TemporalGraph(map(noise, range(size)))
        graph.add(noise(-1))
        graph.forget(noise(-1).id)
        return graph

    graphs = {size: [made(size) for _ in range(times)] for size, times in ((150, 2), (1200, 1))}
    assert growth(lambda size: graphs[size].pop().compact(), 150) < 1.5


def replacing(size: int, value: str, at: float, aspects: int) -> Episode:
    """An episode that states ``size`` facts under so many aspects."""
    facts = tuple(Fact(f"thing {n}", "is", f"{value} {n}", aspect=f"state {n % aspects}") for n in range(size))
    return Episode(value, at, extraction=Extraction("test/1", facts))


@pytest.mark.parametrize("aspects", [1, pytest.param(10**9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("order", ["in time", "late", "forgotten"])
def test_replacing_many_aspects_takes_linear_time(
    order: str, aspects: int, growth: Callable[[Callable[[int], object], int], float]
) -> None:
    def run(size: int) -> None:
        old, new, last = (replacing(size, value, at, aspects) for at, value in enumerate(("old", "new", "last")))
        graph = TemporalGraph()
        for episode in {"in time": (old, new, last), "late": (last, new, old), "forgotten": (old, new, last)}[order]:
            graph.add(episode)
        if order == "forgotten":
            graph.forget(new.id)
        assert graph.counts()["current_facts"] == size

    assert growth(run, 200) < 1.5


def test_the_definition_takes_linear_time_too(growth: Callable[[Callable[[int], object], int], float]) -> None:
    def run(size: int) -> None:
        assert len(fold(replacing(size, value, at, 10**9) for at, value in enumerate(("old", "new"))).current()) == size

    assert growth(run, 300) < 1.5


def test_memories_that_will_differ_have_different_hashes() -> None:
    night = Thesis("It is night.")
    plain, shown = step(1, Fact("key", "is in", "room")), step(1, place("key", "room"))
    ending = step(1, Fact("key", "is in", "room"), ends=(Ending(night, "morning came"),))
    unread = Episode(plain.text, 1, extraction=Extraction("", plain.extraction.statements))
    failed = Episode(plain.text, 1, extraction=Extraction("test/1", plain.extraction.statements, (), ("key; ;",)))
    reason = step(1, Fact("key", "is in", "room"), ends=(Ending(night, "the sun rose"),))
    graphs = [TemporalGraph([one]) for one in (plain, shown, ending, reason, unread, failed)]
    assert len({graph.state_hash() for graph in graphs}) == len(graphs)
    assert len({graph.state_hash(version=1) for graph in graphs}) == 1, "version 1 stays as it was"
    for graph, one in zip(graphs, (plain, shown, ending, reason, unread, failed), strict=True):
        assert graph.state_hash() == state_hash(fold([one]).rows())
        assert graph.state_hash(version=1) == state_hash(fold([one]).rows(), version=1)
        assert TemporalGraph.from_arrays(graph.to_arrays()).state_hash() == graph.state_hash()
    for graph in graphs:  # what a late episode makes of them
        graph.add(Episode("late", 0, extraction=Extraction("test/1", (night,))))
        graph.add(step(2, place("key", "hand")))
    assert len({graph.state_hash(version=1) for graph in graphs}) == 4


def test_the_version_of_a_state_hash_is_seen() -> None:
    graph = TemporalGraph([step(1, place("key", "room")), step(2, place("key", "hand"))])
    assert graph.state_hash(version=1) == "364408eadc1a05149aacba5702dce8e245fbc0da2f8132f426dd0c80fa666dfe"
    assert (
        graph.state_hash()
        == graph.state_hash(2)
        == "v2-41fe095abf33808ee88e97ad73d5bee5934f3eed50ff271ea24fb9e00b48d8bb"
    )
    for wrong in (0, 3, True, "1"):
        with pytest.raises(InputError, match="must be 1 or 2"):
            graph.state_hash(wrong)  # type: ignore[arg-type]


def test_arrays_of_something_else_are_refused() -> None:
    arrays = TemporalGraph([step(1, place("key", "room"))]).to_arrays()
    del arrays["keys"]
    with pytest.raises(InputError, match="do not hold a graph"):
        TemporalGraph.from_arrays(arrays)


@settings(max_examples=100, deadline=None)
@given(histories(), st.lists(STATEMENTS, max_size=6), CHANCES)
def test_statements_are_found_by_themselves_and_by_their_ids(
    episodes: list[Episode], asked: list[Fact | Thesis], chance: random.Random
) -> None:
    graph = TemporalGraph(episodes)
    forgotten = chance.sample(episodes, len(episodes) // 3)
    for episode in forgotten:
        graph.forget(episode.id)
    said = {s for episode in episodes for s in episode.extraction.statements}
    for statement in (*said, *asked):
        number = graph.number_of(statement)
        if number is None:
            assert not graph.versions(statement)
            assert graph.number_of(statement.id) is None
        else:
            shown = graph.numbered_statement(number)
            assert shown is not None
            assert number in graph.numbers_of(shown)
            assert number in graph.numbers_of(shown.id)
            assert shown == statement or any(episode.extraction.same_names for episode in episodes)


def test_views_answer_by_any_part_of_a_fact() -> None:
    graph = TemporalGraph(
        [step(1, place("Key 1", "Room A"), place("lamp", "room a"), Thesis("The lamp is lit.", ("lamp",)))]
    )
    view = graph.view()
    assert {f.subject for f in view.facts(object="ROOM A")} == {"Key 1", "lamp"}
    assert len(view.facts(relation="is in")) == 2
    assert view.facts("lamp", "is in", "room b") == []
    assert [str(s) for s in view.about("the lamp")] == ["lamp, is in, room a", "The lamp is lit."]
    assert view.about("is in") == [], "a relation is not a vertex"
    assert graph.counts() == {
        "episodes": 1, "unread": 0, "failed": 0,
        "facts": 2, "theses": 1, "current_facts": 2, "current_theses": 1, "ended": 0,
    }  # fmt: skip


def test_representations_say_what_is_inside() -> None:
    graph = TemporalGraph([step(1, place("key", "room")), step(2, place("key", "hand"))])
    assert repr(graph) == "<TemporalGraph of 2 episodes and 2 statements>"
    assert repr(graph.view()) == "GraphView(at=now, episodes=2)"
    assert repr(graph.view(at=1.5)) == "GraphView(at=1.5, episodes=2)"


def test_arrays_of_another_format_are_refused() -> None:
    arrays = TemporalGraph([step(1, place("key", "room"))]).to_arrays()
    with pytest.raises(InputError, match="they have format 9, not 8"):
        TemporalGraph.from_arrays({**arrays, "format": arrays["format"] * 0 + 9})
    with pytest.raises(InputError, match="do not hold a graph"):
        TemporalGraph.from_arrays({**arrays, "at": arrays["at"][:0]})
