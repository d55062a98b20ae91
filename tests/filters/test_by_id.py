"""Statements by their ids, lists page by page, and the namespaces of a file."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from filter_histories import Definition, random_episodes, random_filter

from worldthread import Fact, Filter, InputError, Memory, NamespaceSize, NotFoundError, ReadOnlyError, Version


def memory_of(path: Path | None = None) -> Memory:
    return Memory(path, model="none", embedder="fake", clock=lambda: 1000.0)


def test_a_statement_is_updated_corrected_and_deleted_by_its_id() -> None:
    with memory_of() as memory:
        memory.remember("Tom lives in Rome.", at=1, user="u-1", agent="helper", wait=True)
        memory.remember("Eve likes jam.", at=1, user="u-2", wait=True)
        rome = Fact("Tom", "lives in", "Rome")
        episode = memory.update(rome.id, ("Tom", "lives in", "Paris"), "he moved", at=5, source="form")
        assert (episode.user, episode.agent, episode.source, episode.at) == ("u-1", "helper", "form", 5)
        before, after = (v for v in memory.timeline("Tom", where=Filter(user="u-1")) if isinstance(v.statement, Fact))
        assert (before.statement, before.interval.valid_to) == (rome, 5)
        assert before.reason == "replaced by: Tom, lives in, Paris; he moved"
        assert (str(after.statement), after.interval.valid_from) == ("Tom, lives in, Paris", 5)
        assert after.statement.aspect == before.statement.aspect
        for wrong in (rome.id, "0" * 32, "", "x", "-1" * 16):
            with pytest.raises(NotFoundError):
                memory.update(wrong, at=9)
        memory.correct(after.statement.id, at=9)
        assert memory.view().value("Tom", "lives in") is None or memory.view().value("Tom", "lives in") == "Rome"
        assert memory.forget(statement=rome.id.upper()) >= 1
        assert not any(v.statement == rome for v in memory.timeline("Tom"))
        assert [e.text for e in memory.episodes(Filter(user="u-2"))] == ["Eve likes jam."]
        with pytest.raises(NotFoundError):
            memory.forget(statement=rome.id)
        with pytest.raises(NotFoundError):
            memory.forget(statement=Fact("Eve", "likes", "jam").id, where=Filter(user="u-1"))


def test_an_update_without_a_replacement_ends_a_statement() -> None:
    with memory_of() as memory:
        memory.remember(("Tom", "owns", "a boat"), at=1, wait=True)
        memory.update(("Tom", "owns", "a boat"), at=4)
        (version,) = memory.timeline("Tom")
        assert (version.interval.valid_to, version.reason) == (4, "no longer true")
        with pytest.raises(NotFoundError, match="does not hold"):
            memory.update(("Tom", "owns", "a boat"), at=5)
        memory.remember(("Tom", "owns", "a car"), at=1, wait=True)
        with pytest.raises(InputError, match="says the same"):
            memory.update(("Tom", "owns", "a car"), ("tom", "owns", "the car"), at=5)


def test_pages_hold_everything_once_in_order_while_the_memory_changes() -> None:
    chance = Random(3)
    for _ in range(6):
        episodes = random_episodes(chance, 25)
        where, meets = random_filter(chance)
        definition = Definition.of(episodes)
        with memory_of() as memory:
            memory.record.add_many(episodes)
            ids: list[str] = []
            cursor = None
            while True:
                page = memory.list_episodes(where, limit=3, cursor=cursor)
                ids += [episode.id for episode in page.items]
                cursor = page.cursor
                if cursor is None:
                    break
                assert len(page.items) == 3
            assert ids == definition.ids(meets)
            found: list[Version] = []
            while True:
                listed = memory.list_statements(where, only_current=False, limit=2, cursor=cursor)
                found += listed.items
                cursor = listed.cursor
                if cursor is None:
                    break
            order = [(v.interval.valid_from, v.statement.id, v.interval.valid_to) for v in found]
            assert order == sorted(order)
            assert (len(found), set(found)) == (len(definition.versions(meets)), definition.versions(meets))


def test_a_page_goes_on_where_it_stopped_when_its_last_item_is_forgotten() -> None:
    with memory_of() as memory:
        for number in range(6):
            memory.remember((f"n{number}", "is", "a number"), at=number, wait=True)
        first = memory.list_episodes(limit=2)
        memory.forget(first.items[1])
        memory.remember(("early", "is", "a word"), at=-1, wait=True)
        rest = memory.list_episodes(limit=10, cursor=first.cursor)
        assert [e.at for e in rest.items] == [2, 3, 4, 5]
        assert rest.cursor is None
        assert memory.list_statements(limit=100, as_of=2).items[-1].statement == Fact("n2", "is", "a number")
        for wrong in ("", "x/y", "0x1p0/" + "g" * 32, "nan/" + "0" * 32, 3, b""):
            with pytest.raises(InputError, match="cursor"):
                memory.list_episodes(cursor=wrong)  # type: ignore[arg-type]
            with pytest.raises(InputError, match="cursor"):
                memory.list_statements(cursor=wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="limit"):
            memory.list_episodes(limit=0)


def test_namespaces_are_listed_with_their_sizes_and_deleted(tmp_path: Path) -> None:
    file = tmp_path / "m"
    with memory_of(file) as memory, memory.open_namespace("b") as other, memory.open_namespace("empty"):
        memory.remember("The secret is a lemon.", at=1, wait=True)
        other.remember("The secret is a plum.", at=1, wait=True)
        other.remember("The secret is a pear.", at=2, wait=True)
        sizes = memory.namespaces()
        assert [(one.name, one.episodes) for one in sizes] == [("b", 2), ("default", 1)]
        assert all(isinstance(one, NamespaceSize) and one.bytes > 20 for one in sizes)
        assert memory.delete_namespace("b") == 2
        assert [one.name for one in other.namespaces()] == ["default"]
        assert list(other.episodes()) == []
        assert other.recall("What is the secret?").hits == ()
        with pytest.raises(NotFoundError):
            memory.delete_namespace("b")
        other.remember("The secret is a fig.", at=3, wait=True)
        assert [one.episodes for one in memory.namespaces()] == [1, 1]
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"plum" not in data
    assert b"lemon" in data
    with Memory(file, readonly=True, model="none", embedder="fake") as memory, pytest.raises(ReadOnlyError):
        memory.delete_namespace("default")
