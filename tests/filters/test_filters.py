"""Filters select exactly what their definition says, wherever they are given, and never show more."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from filter_histories import Definition, Oracle, random_episodes, random_filter

from worldthread import AsyncMemory, Episode, Extraction, Fact, Filter, InputError, Memory, NotFoundError, Version
from worldthread.types import Thesis

EPISODES = 24


def memory_of(path: Path | None = None) -> Memory:
    return Memory(path, model="none", embedder="fake", clock=lambda: 1000.0)


def check_query(memory: Memory, definition: Definition, chance: Random, where: Filter, meets: Oracle) -> None:
    """Compare one of the questions that a memory answers with the definition."""
    ids, versions = definition.ids(meets), definition.versions(meets)
    now = max((episode.at for episode in definition.episodes), default=0.0)
    entity, as_of = chance.choice(("Anna", "Bob", "Rome", "tea")), chance.choice((None, float(chance.randrange(12))))

    def is_about(version: Version) -> bool:
        statement = version.statement
        names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
        if isinstance(statement, Thesis):  # a sentence is also about every name in its words
            names = (*names, *statement.text.strip(".").split())
        return entity.lower() in (name.lower() for name in names)

    def holds(version: Version) -> bool:
        start, end = version.interval.valid_from, version.interval.valid_to
        return start < end > now if as_of is None else start <= as_of < end

    about = {version for version in versions if is_about(version)}
    match chance.randrange(5):
        case 0:
            found = memory.timeline(entity, where=where)
            assert (len(found), set(found)) == (len(about), about)
        case 1:
            assert set(memory.about(entity, as_of=as_of, where=where)) == {v for v in about if holds(v)}
        case 2:
            assert [episode.id for episode in memory.episodes(where)] == ids
        case 3:
            check_recall(memory, definition, versions, set(ids), as_of, where, {v for v in versions if holds(v)})
        case 4:
            stream = io.BytesIO()
            assert memory.export(stream, where=where) == len(ids)
            with memory_of() as copied:
                copied.import_(io.BytesIO(stream.getvalue()))
                assert [episode.id for episode in copied.episodes()] == ids


def check_recall(
    memory: Memory,
    definition: Definition,
    versions: set[Version],
    ids: set[str],
    as_of: float | None,
    where: Filter,
    holding: set[Version],
) -> None:
    users = {episode.id: episode.user for episode in definition.episodes}
    for only_current in (True, False):
        k = 100 if only_current else 2
        found = memory.recall("Where does Anna live?", k=k, as_of=as_of, only_current=only_current, where=where)
        wanted = holding if only_current else versions
        for kind, hits in ((Fact, found.facts), (Thesis, found.theses)):
            stated = [version for version in wanted if isinstance(version.statement, kind)]
            possible = {(version.statement, users[version.sources[0]]) for version in stated}
            assert {(hit.item, users[hit.version.sources[0]]) for hit in hits if hit.version} <= possible
            assert len(hits) == min(k, len(possible))
            for hit in hits:
                assert hit.version in versions
                assert hit.version is not None
                sources = [e for e in definition.episodes if e.id in hit.version.sources]
                assert str(hit.item) in {str(s) for e in definition.episodes for s in e.extraction.statements}
                assert {e.id for e in sources} <= {e.id for e in definition.episodes}
        assert {hit.item.id for hit in found.episodes} <= ids
        if not only_current:
            in_time = [e for e in definition.episodes if e.id in ids and (as_of is None or e.at <= as_of)]
            assert len(found.episodes) == min(k, len(in_time))


def check_random_queries(seed: int, histories: int, queries: int) -> int:
    """Ask many random questions of random histories; return how many."""
    chance = Random(seed)
    asked = 0
    for _ in range(histories):
        episodes = random_episodes(chance, EPISODES)
        definition = Definition.of(episodes)
        with memory_of() as memory:
            chance.shuffle(episodes)
            memory.record.add_many(episodes[: EPISODES // 2])
            extra = Episode("extra", 3.0, extraction=Extraction("test/1", (Fact("Anna", "likes", "jam"),)), user="anna")
            memory.record.add(extra)
            memory.record.add_many(episodes)
            memory.forget(extra)  # its number stays unused
            for _ in range(queries):
                where, meets = random_filter(chance)
                check_query(memory, definition, chance, where, meets)
                asked += 1
    return asked


def test_every_query_gives_what_the_definition_selects() -> None:
    assert check_random_queries(1, 12, 50) == 600


@pytest.mark.slow
def test_100_000_queries_give_what_the_definition_selects() -> None:
    assert check_random_queries(2, 500, 200) == 100_000


def test_a_selection_shows_neither_the_words_nor_the_reasons_of_others() -> None:
    home = "home of anna"
    theirs = Episode("a", 1, extraction=Extraction("t", (Fact("ANNA", "lives in", "Rome", home),)), agent="bob")
    ours = Episode("b", 2, extraction=Extraction("t", (Fact("Anna", "lives in", "Rome", home),)), agent="anna")
    later = Episode("c", 3, extraction=Extraction("t", (Fact("Anna", "lives in", "Secret", home),)), agent="bob")
    with memory_of() as memory:
        memory.record.add_many([theirs, ours, later])
        (version,) = memory.timeline("Anna", where=Filter(agent="anna"))
        assert (str(version.statement), version.sources) == ("Anna, lives in, Rome", (ours.id,))
        assert (version.interval.valid_from, version.interval.valid_to) == (1, 3), (
            "when it held is what all of one user say"
        )
        assert (version.ended_by, version.reason) == (None, None)
        assert memory.about("Anna", where=Filter(agent="anna")) == []
        assert memory.recall("Where does Anna live?", where=Filter(agent="anna")).facts == ()
        everything = memory.recall("Where does Anna live?", where=Filter(agent="anna"), only_current=False)
        assert "Secret" not in everything.text
        answer = memory.ask("Where does Anna live?", where=Filter(agent="anna"))
        assert "Secret" not in str(answer)
        both = memory.timeline("Anna", where=Filter(agent=["anna", "bob"]))
        assert [v.reason for v in both] == ["replaced by: Anna, lives in, Secret", None]


def test_a_filter_selects_across_saving_and_compaction(tmp_path: Path) -> None:
    chance = Random(5)
    episodes = random_episodes(chance, 60)
    where, meets = Filter(user="anna") & ~Filter(source="mail"), lambda e, _: e.user == "anna" and e.source != "mail"
    wanted = Definition.of(episodes).ids(meets)
    with memory_of(tmp_path / "m") as memory:
        memory.record.add_many(episodes)
        memory.checkpoint()
        assert [e.id for e in memory.episodes(where)] == wanted
    with Memory(tmp_path / "m", readonly=True, model="none", embedder="fake") as memory:
        assert [e.id for e in memory.episodes(where)] == wanted
    with memory_of(tmp_path / "m") as memory:
        assert memory.forget(where=Filter(source="mail")) == sum(e.source == "mail" for e in episodes)
        assert [e.id for e in memory.episodes(where)] == wanted
        memory.checkpoint()
        assert [e.id for e in memory.episodes(where)] == wanted
    with memory_of(tmp_path / "m") as memory:
        assert [e.id for e in memory.episodes(where)] == wanted
        kept = [e for e in episodes if e.source != "mail"]
        with memory_of() as other:
            other.record.add_many(kept)
            assert memory.record.state_hash() == other.record.state_hash()


def test_forget_takes_a_filter_alone_or_with_an_entity() -> None:
    with memory_of() as memory:
        for user in ("anna", "bob"):
            memory.remember(("Tom", "likes", "tea"), at=1, user=user)
            memory.remember(("Eve", "likes", "jam"), at=1, user=user)
        assert memory.forget(entity="Tom", where=Filter(user="anna")) == 1
        assert {(e.user, e.text) for e in memory.episodes()} == {
            ("anna", "Eve likes jam."), ("bob", "Eve likes jam."), ("bob", "Tom likes tea."),
        }  # fmt: skip
        assert memory.forget(where=Filter(user="bob")) == 2
        for wrong in ({"where": Filter(user="bob")}, {"entity": "Eve", "where": Filter(user="bob")}):
            with pytest.raises(NotFoundError):
                memory.forget(**wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            memory.forget()
        with pytest.raises(InputError):
            memory.forget("0" * 32, where=Filter(user="bob"))
        assert len(list(memory.episodes())) == 1


def test_i_means_the_user_whom_a_filter_selects() -> None:
    with memory_of() as memory:
        for user, town in (("u-1", "Rome"), ("u-2", "Paris")):
            memory.remember(f"I live in {town}.", at=1, user=user)
        found = memory.recall("Where do I live?", where=Filter(user="u-2") & Filter(kind="fact"))
        assert [str(hit.item) for hit in found.hits] == ["u-2, lives in, Paris"]
        assert not found.episodes


def test_a_namespace_is_never_widened(tmp_path: Path) -> None:
    with memory_of(tmp_path / "m") as memory:
        other = memory.open_namespace("other")
        other.remember(("Tom", "likes", "tea"), user="anna")
        memory.remember(("Eve", "likes", "jam"), user="anna")
        for where in (Filter(), Filter(user="anna"), ~Filter(user="nobody"), Filter(user="x") | Filter()):
            assert [e.text for e in memory.episodes(where)] == ["Eve likes jam."]
            assert memory.about("Tom", where=where) == []
            assert [str(h.item) for h in memory.recall("Who likes what?", where=where).facts] == ["Eve, likes, jam"]
        other.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"user": 1}, {"user": b"x"}, {"user": [1]}, {"user": {"a": 1}}, {"kind": "passage"}, {"kind": ["fact", "x"]},
        {"metadata": "x"}, {"metadata": {1: 2}}, {"metadata": {"a": None}}, {"metadata": {"a": [[]]}}, {"since": "x"},
        {"until": object()}, {"relation": ""}, {"recorded_since": float("nan")}, {"speaker": "\0"},
    ],
)  # fmt: skip
def test_what_is_no_filter_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Filter(**wrong)
    with memory_of() as memory, pytest.raises(InputError, match="must be a Filter"):
        memory.recall("x", where=wrong)  # type: ignore[arg-type]


def test_filters_are_values() -> None:
    assert Filter(user="a") == Filter(user=["a"]) == Filter(user={"a"})
    assert Filter(user="a") != Filter(user="b")
    assert len({Filter(since="2024-01-01"), Filter(since=1704067200), ~Filter(), Filter()}) == 3
    assert Filter(user="a", agent="b") == Filter(agent="b", user="a")
    truth, number = Filter(metadata={"a": True}), Filter(metadata={"a": 1})
    assert truth != number == Filter(metadata={"a": 1.0})
    with memory_of() as memory:
        memory.remember("It rains.", metadata={"a": 1})
        assert [len(list(memory.episodes(where))) for where in (truth, number, truth | number)] == [0, 1, 1]
    assert "user" in repr(Filter(user="a"))
    assert repr(Filter()) == "Filter(everything)"
    with pytest.raises(TypeError):
        Filter(user="a") & {"user": "b"}  # type: ignore[operator]


def test_an_asynchronous_memory_takes_filters() -> None:
    async def run() -> list[str]:
        async with AsyncMemory(model="none", embedder="fake") as memory:
            await memory.remember("It rains.", user="anna", metadata={"a": 1})
            await memory.remember("It snows.", user="bob")
            found = await memory.recall("rain", where=Filter(user="bob"))
            assert [orjson.dumps(h.item.text) for h in found.episodes] == [b'"It snows."']  # type: ignore[union-attr]
            return [episode.text async for episode in memory.episodes(Filter(metadata={"a": [1, 2]}))]

    assert asyncio.run(run()) == ["It rains."]
