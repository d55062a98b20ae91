"""The store for LangGraph does what LangGraph's own stores do, and what only a memory does."""

from __future__ import annotations

import asyncio
import io
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from worldthread import InputError, Memory

pytest.importorskip("langgraph")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from worldthread.adapters.langgraph import LangGraphStore

ADAPTER, PACKAGES = "`LangGraphStore`", ("langgraph", "langgraph-checkpoint")


@pytest.fixture
def store(memory: Memory) -> LangGraphStore:
    return LangGraphStore(memory)


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


# -- get, put, delete -------------------------------------------------------------------------------------------------


def test_an_item_comes_back_as_it_was_put(store: LangGraphStore) -> None:
    value = {"text": "Möwe \U0001f426", "n": 1, "x": 0.5, "none": None, "yes": True, "list": [1, {"a": []}], "": {}}
    store.put(("users", "anna"), "profile", value)
    item = store.get(("users", "anna"), "profile")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "profile", ("users", "anna"))
    assert item.created_at == item.updated_at
    assert item.created_at.tzinfo is not None
    assert store.get(("users",), "profile") is None
    assert store.get(("users", "anna"), "Profile") is None
    assert store.get(("users", "Anna"), "profile") is None


@pytest.mark.parametrize("value", [{}, {"a": "\0"}, {"a": "\ud800"}, {"a": "b" * 30_000}, {"a": "  "}, {"\n": "\r\n"}])
@pytest.mark.parametrize("index", [None, False, ["a"], ["missing"]])
def test_any_json_comes_back(store: LangGraphStore, value: dict[str, Any], index: Any) -> None:
    store.put(("n",), "k", value, index=index)
    assert store.get(("n",), "k").value == value
    assert [item.value for item in store.search(("n",))] == [value]


@pytest.mark.parametrize(
    "key", ["a/b", "a b", " ", "the key", "key.", "KEY", "key", "ké", "\x00", "\n", "x" * 500, "%2F", "#"]
)
def test_any_key_is_a_key_of_its_own(store: LangGraphStore, key: str) -> None:
    others = ["key", "Key", "a", "b", "a%2Fb", "?", "keys"]
    for other in others:
        store.put(("n",), other, {"of": other})
    store.put(("n",), key, {"of": "mine"})
    assert store.get(("n",), key).value == {"of": "mine"}
    assert all(store.get(("n",), other).value == {"of": other} for other in others if other != key)
    store.delete(("n",), key)
    assert store.get(("n",), key) is None
    assert sorted(keys(store.search(("n",)))) == sorted(set(others) - {key})


def test_a_second_put_keeps_the_time_of_creation(memory: Memory, clock: Any) -> None:
    store = LangGraphStore(memory, clock=clock)
    store.put(("n",), "k", {"v": 1})
    first = store.get(("n",), "k")
    clock.pass_minutes(1)
    store.put(("n",), "k", {"v": 2})
    second = store.get(("n",), "k")
    assert second.value == {"v": 2}
    assert second.created_at == first.created_at
    assert (second.updated_at - first.updated_at).total_seconds() == 60
    store.delete(("n",), "k")
    store.put(("n",), "k", {"v": 3})
    assert store.get(("n",), "k").created_at == second.updated_at


def test_the_last_write_counts_though_the_clock_is_set_back(memory: Memory, clock: Any) -> None:
    store = LangGraphStore(memory, clock=clock)
    for number in range(5):
        store.put(("n",), "k", {"v": number})
        clock.pass_minutes(-10)
    assert store.get(("n",), "k").value == {"v": 4}
    assert [item.value for item in store.search(("n",), query="v")] == [{"v": 4}]


def test_deleting_what_is_not_there_does_nothing(store: LangGraphStore) -> None:
    store.delete(("n",), "k")
    assert store.search(()) == []


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), ("langgraph", "x"), ("a\0",), (1,)])
def test_what_langgraph_refuses_as_namespace_is_refused(store: LangGraphStore, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {})
    if namespace and namespace[0] != "langgraph":
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(namespace, "k", {})])


def test_a_batch_reads_before_it_writes_and_the_last_write_counts(store: LangGraphStore) -> None:
    store.put(("n",), "old", {"v": 0})
    results = store.batch(
        [
            PutOp(("n",), "new", {"v": 1}),
            GetOp(("n",), "new"),
            PutOp(("n",), "new", {"v": 2}),
            SearchOp(("n",)),
            PutOp(("n",), "old", None),
            GetOp(("n",), "old"),
            ListNamespacesOp(),
        ]
    )
    assert results[:3] == [None, None, None]
    assert keys(results[3]) == ["old"]
    assert results[5].value == {"v": 0}
    assert results[6] == [("n",)]
    assert store.get(("n",), "new").value == {"v": 2}
    assert store.get(("n",), "old") is None
    assert store.batch([]) == []
    with pytest.raises(ValueError, match="unknown operation"):
        store.batch(["get"])


# -- search -----------------------------------------------------------------------------------------------------------


def test_search_looks_below_a_namespace_newest_first_in_pages(store: LangGraphStore) -> None:
    for number in range(5):
        store.put(("docs", "a"), f"k{number}", {"n": number})
    store.put(("docs", "ab"), "other", {"n": 9})
    store.put(("docs",), "a", {"n": 10})
    assert keys(store.search(("docs", "a"))) == ["k4", "k3", "k2", "k1", "k0"]
    assert keys(store.search(("docs", "a"), limit=2, offset=1)) == ["k3", "k2"]
    assert keys(store.search(("docs",), limit=100)) == ["a", "other", "k4", "k3", "k2", "k1", "k0"]
    assert store.search(("docs", "a"), offset=9) == []
    assert store.search(("do",)) == []
    store.put(("docs", "a"), "k0", {"n": 0})
    assert keys(store.search(("docs", "a"), limit=1)) == ["k0"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"color": "red"}, {"a", "c"}),
        ({"score": {"$gt": 2}}, {"b", "c"}),
        ({"score": {"$gte": 2.0}}, {"a", "b", "c"}),
        ({"score": {"$lt": 4.5}}, {"a", "b"}),
        ({"score": {"$lte": 4}}, {"a", "b"}),
        ({"score": {"$ne": 2}}, {"b", "c", "d"}),
        ({"score": {"$eq": 2}}, {"a"}),
        ({"score": {"$gt": 2, "$lt": 4.5}}, {"b"}),
        ({"score": {"$gte": 2}, "color": "red"}, {"a", "c"}),
        ({"color": {"$gt": "b"}}, {"a", "b", "c"}),
        ({"color": {"$gt": "green"}}, {"a", "c"}),
        ({"missing": None}, {"a", "b", "c", "d"}),
        ({"nested": {"deep": 1}}, {"d"}),
        ({"nested": {"deep": {"$gt": 0}}}, {"d"}),
        ({"tags": ["x", "y"]}, {"d"}),
        ({"tags": ["x"]}, set()),
        ({"score": {"$gt": "2"}}, set()),
        ({}, {"a", "b", "c", "d"}),
    ],
)
def test_filters(store: LangGraphStore, wanted: dict[str, Any], found: set[str]) -> None:
    store.put(("n",), "a", {"color": "red", "score": 2, "text": "apple"})
    store.put(("n",), "b", {"color": "green", "score": 4, "text": "pear"})
    store.put(("n",), "c", {"color": "red", "score": 4.5, "text": "cherry"})
    store.put(("n",), "d", {"nested": {"deep": 1}, "tags": ["x", "y"]})
    assert set(keys(store.search(("n",), filter=wanted))) == found
    assert set(keys(store.search(("n",), query="fruit", filter=wanted))) == found


def test_an_unknown_operator_is_an_error(store: LangGraphStore) -> None:
    store.put(("n",), "a", {"score": 2})
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("n",), filter={"score": {"$near": 2}})


@pytest.mark.parametrize("value", [{"day": date(2024, 5, 1)}, {"a": {1, 2}}, {1: "a", "b": "c"}])
def test_a_value_that_is_not_json_is_refused_and_nothing_is_written(memory: Memory, value: dict[Any, Any]) -> None:
    store = LangGraphStore(memory)
    store.put(("n",), "kept", {"n": 1})
    with pytest.raises(InputError, match="JSON"):
        store.batch([PutOp(("n",), "kept", None), PutOp(("n",), "a", {}), PutOp(("n",), "b", value)])
    assert keys(store.search(("n",))) == ["kept"]


def test_a_query_ranks_and_only_what_is_indexed_is_found(memory: Memory) -> None:
    store = LangGraphStore(memory, fields=["text", "notes[*].body"])
    store.put(("n",), "cat", {"text": "The cat sleeps on the sofa.", "secret": "treasure"})
    store.put(("n",), "car", {"text": "The car needs petrol.", "notes": [{"body": "bought in Rome"}]})
    store.put(("n",), "hidden", {"text": "The cat sleeps."}, index=False)
    store.put(("n",), "other", {"text": "nothing", "secret": "a treasure of gold"}, index=["secret"])
    found = store.search(("n",), query="where does the cat sleep")
    assert found[0].key == "cat"
    assert found[0].score > max(one.score or 0 for one in found[1:])
    assert sorted(keys(found)) == ["car", "cat", "other"]
    assert "hidden" not in keys(found)
    assert keys(store.search(("n",), query="bought in Rome", limit=1)) == ["car"]
    assert keys(store.search(("n",), query="treasure of gold", limit=1)) == ["other"]
    assert store.get(("n",), "hidden") is not None
    assert "hidden" in keys(store.search(("n",)))
    assert keys(store.search(("n",), query="cat", limit=1, offset=1)) == keys(store.search(("n",), query="cat"))[1:2]


def test_a_query_with_a_filter_finds_what_is_far_down(store: LangGraphStore) -> None:
    store.batch([PutOp(("n",), f"k{number}", {"text": f"apple {number}", "n": number}) for number in range(60)])
    found = store.search(("n",), query="apple", filter={"n": {"$gte": 50}}, limit=10)
    assert sorted(keys(found)) == sorted(f"k{number}" for number in range(50, 60))


# -- namespaces -------------------------------------------------------------------------------------------------------


def test_namespaces_are_listed_by_condition_and_depth(store: LangGraphStore) -> None:
    paths = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"), ("x",)]
    for path in paths:
        store.put(path, "k", {})
    assert store.list_namespaces() == sorted(paths)
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]
    assert store.list_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
    assert store.list_namespaces(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
    assert store.list_namespaces(suffix=("d", "*")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
    assert store.list_namespaces(prefix=("a",), suffix=("e",)) == [("a", "b", "d", "e")]
    assert store.list_namespaces(limit=2, offset=1) == sorted(paths)[1:3]
    assert store.list_namespaces(max_depth=1) == [("a",), ("x",)]
    with pytest.raises(ValueError, match="match type"):
        store.batch([ListNamespacesOp((MatchCondition("middle", ("a",)),))])  # type: ignore[arg-type]
    store.delete(("x",), "k")
    assert ("x",) not in store.list_namespaces()


# -- expiry -----------------------------------------------------------------------------------------------------------


def test_items_expire_unless_they_are_read(memory: Memory, clock: Any) -> None:
    store = LangGraphStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True}, clock=clock)
    store.put(("n",), "read", {"text": "one"})
    store.put(("n",), "found", {"text": "two"})
    store.put(("n",), "unread", {"text": "three"})
    store.put(("n",), "long", {"text": "four"}, ttl=60)
    store.put(("n",), "for ever", {"text": "five"}, ttl=None)
    clock.pass_minutes(6)
    assert store.get(("n",), "read") is not None
    assert len(store.search(("n",), filter={"text": "two"})) == 1
    assert store.get(("n",), "unread", refresh_ttl=False) is not None
    clock.pass_minutes(6)
    assert sorted(keys(store.search(("n",), refresh_ttl=False))) == ["for ever", "found", "long", "read"]
    assert "unread" not in keys(store.search(("n",), query="three", refresh_ttl=False))
    assert store.get(("n",), "unread") is None
    memory.remember("A meeting is planned.", at="2030-01-01")  # the time of the world does not expire items
    assert store.get(("n",), "long", refresh_ttl=False) is not None
    assert store.sweep_ttl() == 1
    assert "three" not in "".join(episode.text for episode in memory.episodes())
    clock.pass_minutes(60)
    assert store.sweep_ttl() == 3
    assert keys(store.search(("n",))) == ["for ever"]


def test_writes_sweep_every_few_minutes(memory: Memory, clock: Any) -> None:
    store = LangGraphStore(memory, ttl={"default_ttl": 1, "sweep_interval_minutes": 5}, clock=clock)
    store.put(("n",), "old", {"text": "old"})
    clock.pass_minutes(4)
    store.put(("n",), "young", {"text": "young"}, ttl=None)
    assert memory.stats()["episodes"] == 2
    clock.pass_minutes(2)
    store.put(("n",), "youngest", {"text": "youngest"}, ttl=None)
    assert memory.stats()["episodes"] == 2


# -- what only a memory does ------------------------------------------------------------------------------------------


def test_the_store_is_shown_as_it_was(memory: Memory, clock: Any) -> None:
    store = LangGraphStore(memory, clock=clock)
    start = clock.time
    store.put(("n",), "city", {"text": "Anna lives in Rome"})
    clock.pass_minutes(10)
    store.put(("n",), "city", {"text": "Anna lives in Paris"})
    store.put(("m",), "pet", {"text": "Anna has a cat"})
    past = store.as_of(start + 60)
    assert past.get(("n",), "city").value["text"] == "Anna lives in Rome"
    assert [item.value["text"] for item in past.search((), query="Anna lives in")] == ["Anna lives in Rome"]
    assert past.list_namespaces() == [("n",)]
    assert store.get(("n",), "city").value["text"] == "Anna lives in Paris"
    assert "Rome" not in str(store.search((), query="Anna lives in Rome"))
    with pytest.raises(ValueError, match="past"):
        past.put(("n",), "city", {})


def test_deleting_forgets_all_versions(memory: Memory, path: Path) -> None:
    store = LangGraphStore(memory)
    for word in ("firstsecret", "secondsecret"):
        store.put(("n",), "k", {"text": word})
    store.search((), query="secret")
    store.delete(("n",), "k")
    assert memory.stats()["episodes"] == 0
    memory.close()
    assert b"secret" not in path.read_bytes()


def test_versions_are_kept_only_if_wanted(memory: Memory) -> None:
    store = LangGraphStore(memory, keep_versions=False)
    for number in range(3):
        store.put(("n",), "k", {"v": number})
    assert memory.stats()["episodes"] == 1
    assert store.get(("n",), "k").value == {"v": 2}


def test_an_export_moves_a_store(memory: Memory) -> None:
    store = LangGraphStore(memory)
    store.put(("n",), "k", {"v": [1, {"a": "b"}]})
    stream = io.BytesIO()
    memory.export(stream)
    with Memory(model="none", embedder="fake") as other:
        other.import_(io.BytesIO(stream.getvalue()))
        assert LangGraphStore(other).get(("n",), "k") == store.get(("n",), "k")


def test_a_store_goes_on_in_another_process_and_beside_other_episodes(path: Path) -> None:
    with Memory(path, model="none", embedder="fake") as memory:
        memory.remember("Bob lives in Oslo.", at="2024-01-01")
        LangGraphStore(memory).put(("n",), "k", {"v": 1})
        LangGraphStore(memory, source="other").put(("n",), "k", {"v": 2})
        assert keys(LangGraphStore(memory).search((), query="Bob lives in Oslo")) == ["k"]
    with Memory(path, model="none", embedder="fake", readonly=True) as memory:
        store = LangGraphStore(memory)
        assert store.get(("n",), "k").value == {"v": 1}
        assert [item.value for item in store.search(())] == [{"v": 1}]
        assert memory.ask("Where does Bob live?").text == "Oslo"


# -- asynchronous, and against LangGraph's own store ------------------------------------------------------------------


def test_the_asynchronous_methods_do_the_same(store: LangGraphStore) -> None:
    async def play() -> None:
        await asyncio.gather(*(store.aput(("n",), f"k{n}", {"n": n}) for n in range(20)))
        assert (await store.aget(("n",), "k3")).value == {"n": 3}
        assert len(await store.asearch(("n",), limit=50)) == 20
        assert len(await store.asearch(("n",), query="n", limit=50)) == 20
        await store.adelete(("n",), "k3")
        assert await store.aget(("n",), "k3") is None
        assert await store.alist_namespaces() == [("n",)]
        found = await store.abatch([GetOp(("n",), "k4"), SearchOp(("n",), limit=3)])
        assert (found[0].key, len(found[1])) == ("k4", 3)

    asyncio.run(play())


LABELS = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
VALUES = st.none() | st.dictionaries(LABELS, st.integers(0, 3) | LABELS | st.lists(LABELS, max_size=2), max_size=2)
FILTERS = st.none() | st.dictionaries(LABELS, st.integers(0, 3) | LABELS, max_size=1)
CONDITIONS = st.builds(
    MatchCondition, st.sampled_from(["prefix", "suffix"]), st.lists(LABELS | st.just("*"), max_size=2).map(tuple)
)
OPERATIONS = st.one_of(
    st.builds(PutOp, PATHS, LABELS, VALUES, st.none(), st.none()),
    st.builds(PutOp, PATHS, LABELS, VALUES, st.none(), st.none()),
    st.builds(GetOp, PATHS, LABELS),
    st.builds(SearchOp, PATHS | st.just(()), FILTERS, st.just(100)),
    st.builds(ListNamespacesOp, st.lists(CONDITIONS, max_size=2).map(tuple), st.none() | st.integers(1, 3)),
)  # fmt: skip


def plain(results: list[Any]) -> list[Any]:
    """Results without times and order."""
    shown: list[Any] = []
    for result in results:
        if isinstance(result, list):
            parts = [one if isinstance(one, tuple) else (one.namespace, one.key, repr(one.value)) for one in result]
            shown.append(sorted(parts))
        else:
            shown.append(None if result is None else (result.namespace, result.key, result.value))
    return shown


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(OPERATIONS, max_size=4), max_size=12))
def test_random_batches_give_what_langgraphs_own_store_gives(batches: list[list[Any]]) -> None:
    theirs: BaseStore = InMemoryStore()
    with Memory(model="none", embedder="fake") as memory:
        ours = LangGraphStore(memory)
        for batch in batches:
            # theirs lists namespaces that are empty again; its stores in databases do not
            for namespace in [name for name, items in theirs._data.items() if not items]:  # type: ignore[attr-defined]
                del theirs._data[namespace]  # type: ignore[attr-defined]
            assert plain(ours.batch(batch)) == plain(theirs.batch(batch))


# -- a graph ----------------------------------------------------------------------------------------------------------


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


def test_a_graph_remembers_across_threads_and_restarts(path: Path) -> None:
    def agent(state: State, *, store: BaseStore) -> dict[str, Any]:
        said = state["messages"][-1].content
        if said.startswith("I "):
            store.put(("users", "anna"), str(len(store.search(("users", "anna")))), {"text": said})
            return {"messages": [("ai", "Noted.")]}
        found = store.search(("users", "anna"), query=said, limit=1)
        return {"messages": [("ai", found[0].value["text"] if found else "I do not know.")]}

    def ask(memory: Memory, thread: str, text: str) -> str:
        builder = StateGraph(State)
        builder.add_node("agent", agent)
        builder.add_edge(START, "agent")
        builder.add_edge("agent", END)
        graph = builder.compile(store=LangGraphStore(memory), checkpointer=InMemorySaver())
        state = graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})
        return str(state["messages"][-1].content)

    with Memory(path, model="none", embedder="fake") as memory:
        assert ask(memory, "monday", "What do I like to drink?") == "I do not know."
        assert ask(memory, "monday", "I like to drink green tea") == "Noted."
        assert ask(memory, "monday", "I work in a museum") == "Noted."
        assert ask(memory, "tuesday", "What do I like to drink?") == "I like to drink green tea"
    with Memory(path, model="none", embedder="fake") as memory:
        assert ask(memory, "wednesday", "What do I like to drink?") == "I like to drink green tea"
