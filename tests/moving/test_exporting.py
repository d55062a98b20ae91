"""Statements written for other programs: the same statements and intervals as in the memory, whatever their text."""

from __future__ import annotations

import builtins
import csv
import io
import json
import math
import tarfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread import Episode, Extraction, Fact, Filter, InputError, Memory, MissingExtraError, StoreError, Thesis
from worldthread.cli.main import app
from worldthread.moving import EXPORT_FORMATS, export_statements, import_dump, to_networkx, to_pandas

Rows = Counter[tuple[str, float, float]]

HOSTILE = (
    Fact('<b>"Anna" & co</b>', "says, or\nquotes", "=1+1;'x'\u2028"),
    Thesis('A "text", with\x01 control\x0b characters & <tags>\nand ]]> lines', ("]]>", "Anna")),
    Fact("Äöü 日本", "likes", "🍵"),
    Fact("Anna", "likes", "tea"),
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(model="none", embedder="fake") as memory:
        memory.remember([("Anna", "lives in", "Rome")], "2023-05-01", "first")
        memory.remember([("Anna", "lives in", "Paris")], "2024-03-01", 'se"cond')
        memory.remember([("Anna", "lives in", "Rome")], "2025-03-01")
        memory.remember("Tom likes cheese. Tom has a dog named Rex.", "2024-04-01")
        memory.record.add(Episode("hostile", 1.7e9 + 0.123456, "a\tb", Extraction("test/1", HOSTILE)))
        yield memory


@pytest.fixture
def _pages_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread.moving.statements_table._PAGE", 2)


def held(memory: Memory, **options: Any) -> Rows:
    """The statements of the memory with their intervals, as the memory lists them."""
    items = memory.list_statements(limit=1000, **options).items
    return Counter((one.statement.id, one.interval.valid_from, one.interval.valid_to) for one in items)


def end(value: Any) -> float:
    return math.inf if value in (None, "") else float(value)


def of_csv(data: bytes) -> Rows:
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    return Counter((row["id"], float(row["valid_from"]), end(row["valid_to"])) for row in rows)


def of_jsonld(data: bytes) -> Rows:
    nodes = json.loads(data)["@graph"]
    ids = [node["@id"] for node in nodes]
    assert len(set(ids)) == len(ids)
    said = [node for node in nodes if "validFrom" in node]
    for node in said:  # whatever a statement points to has its name in the file
        assert {node.get("subject"), node.get("predicate"), node.get("object"), *node.get("about", ())} - {None} <= set(
            ids
        )
    return Counter(
        (node["@id"].rpartition(":")[2].partition("%40")[0], node["validFrom"], end(node.get("validTo")))
        for node in said
    )


def of_networkx(graph: Any) -> Rows:
    found = [data for _, data in graph.nodes(data=True)] + [data for _, _, data in graph.edges(data=True)]
    return Counter((d["id"], d["valid_from"], end(d.get("valid_to"))) for d in found if d["kind"] in ("fact", "thesis"))


def of_graphml(data: bytes) -> Rows:
    networkx = pytest.importorskip("networkx")
    graph = networkx.parse_graphml(data.decode(), force_multigraph=True)
    assert all("kind" in node for _, node in graph.nodes(data=True))  # no edge made a node
    # networkx gives the id of an edge as its key, and our attribute named id with the others
    return of_networkx(graph)


def of_cogx(data: bytes) -> Rows:
    found: Rows = Counter()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    records = {name: [json.loads(line) for line in files.get(name, b"").splitlines()]
               for name in ("entities.jsonl", "facts.jsonl", "memories.jsonl")}  # fmt: skip
    names = [record["external_id"] for record in records["entities.jsonl"]]
    assert len(set(names)) == len(names)
    for record in records["facts.jsonl"]:
        assert {record["subject_ref"], record["object_ref"]} <= set(names)
    said = [*records["facts.jsonl"], *records["memories.jsonl"]]
    for record in said:
        times = record["metadata"]
        found[record["external_id"].partition("@")[0], times["valid_from"], end(times.get("valid_to"))] += 1
    counts = json.loads(files["manifest.json"])["counts"]
    assert counts == {kind: len(records[name]) for kind, name in
                      (("entity", "entities.jsonl"), ("fact", "facts.jsonl"), ("memory", "memories.jsonl"))
                      if records[name]}  # fmt: skip
    return found


READERS: dict[str, Callable[[bytes], Rows]] = {
    "csv": of_csv,
    "graphml": of_graphml,
    "jsonld": of_jsonld,
    "cogx": of_cogx,
}


def written(memory: Memory, format: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    count = export_statements(memory, stream, format, **options)
    assert count == held(memory, **options).total()
    return stream.getvalue()


@pytest.mark.usefixtures("_pages_are_short")
@pytest.mark.parametrize("options", [{}, {"only_current": False}, {"as_of": "2023-06-01"}], ids=["now", "all", "then"])
@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_statements_and_intervals_are_those_of_the_memory(format: str, options: Any, memory: Memory) -> None:
    expected = held(memory, **options)
    assert READERS[format](written(memory, format, **options)) == expected
    assert expected.total() >= 1


def test_there_is_something_to_tell_apart(memory: Memory) -> None:
    assert held(memory, as_of="2023-06-01").total() < held(memory).total() < held(memory, only_current=False).total()


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_a_filter_and_an_empty_memory(format: str, memory: Memory) -> None:
    where = Filter(source="first")
    assert READERS[format](written(memory, format, where=where, only_current=False)) == held(
        memory, where=where, only_current=False
    )
    with Memory(model="none", embedder="fake") as empty:
        assert READERS[format](written(empty, format)) == Counter()


def test_csv_keeps_every_text_and_source(memory: Memory) -> None:
    rows = list(csv.DictReader(io.StringIO(written(memory, "csv", only_current=False).decode(), newline="")))
    versions = memory.list_statements(only_current=False, limit=1000).items
    assert [row["text"] for row in rows] == [str(version.statement) for version in versions]
    assert [json.loads(row["episodes"]) for row in rows] == [list(version.sources) for version in versions]
    assert [row["ended_by"] for row in rows] == [version.ended_by or "" for version in versions]
    assert {source for row in rows for source in json.loads(row["sources"])} == {"first", 'se"cond', "a\tb"}
    rome = [row for row in rows if row["object"] == "Rome"]
    assert [(row["since"], row["until"]) for row in rome] == [("2023-05-01", "2024-03-01"), ("2025-03-01", "")]


@pytest.mark.parametrize("hostile", [False, True])
def test_a_memory_comes_back_from_cogx(hostile: bool, memory: Memory, tmp_path: Path) -> None:
    if not hostile:
        memory.forget(next(one.id for one in memory.episodes() if one.source == "a\tb"))
    path = tmp_path / "memory.cogx.tar.gz"
    export_statements(memory, path, "cogx", only_current=False)
    with Memory(model="none", embedder="fake") as copy:
        done = import_dump(copy, path)
        assert done.format == "cogx"
        assert set(done.left_out) == {"entities, which facts name"}
        assert held(copy, only_current=False) == held(memory, only_current=False)
        assert held(copy, as_of="2023-06-01") == held(memory, as_of="2023-06-01")
        again = tmp_path / "again.cogx.tar.gz"
        export_statements(copy, again, "cogx", only_current=False)
        assert of_cogx(again.read_bytes()) == of_cogx(path.read_bytes())


def test_turns_come_back_from_cogx_and_not_beside_dates(memory: Memory, tmp_path: Path) -> None:
    episode = Episode("game", 3.0, "game", Extraction("test/1", (Fact("Key 1", "is in", "Box", valid_to=7.5),)))
    with Memory(model="none", embedder="fake") as game, Memory(model="none", embedder="fake") as copy:
        game.record.add(episode)
        export_statements(game, tmp_path / "game.cogx.tar.gz", "cogx", only_current=False)
        import_dump(copy, tmp_path / "game.cogx.tar.gz")
        assert held(copy, only_current=False) == held(game, only_current=False)
    dates = held(memory, only_current=False)
    memory.record.add(episode)
    export_statements(memory, tmp_path / "both.cogx.tar.gz", "cogx", only_current=False)
    with Memory(model="none", embedder="fake") as copy:
        done = import_dump(copy, tmp_path / "both.cogx.tar.gz")
        assert done.left_out["with a time that cannot be meant"] == 1
        assert held(copy, only_current=False) == dates


def test_jsonld_is_read_as_rdf(memory: Memory) -> None:
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph().parse(data=written(memory, "jsonld", only_current=False), format="json-ld")
    statements = list(graph.subjects(rdflib.RDF.type, rdflib.RDF.Statement))
    theses = list(graph.subjects(rdflib.RDF.type, rdflib.URIRef("urn:worldthread:vocabulary:Thesis")))
    assert len(statements) + len(theses) == held(memory, only_current=False).total()
    for predicate in (rdflib.RDF.subject, rdflib.RDF.predicate, rdflib.RDF.object):
        assert all(graph.value(one, predicate) is not None for one in statements)


@pytest.mark.parametrize("options", [{}, {"only_current": False}])
def test_networkx_has_the_same_statements(options: Any, memory: Memory) -> None:
    pytest.importorskip("networkx")
    graph = to_networkx(memory, **options)
    assert of_networkx(graph) == held(memory, **options)
    assert graph.has_edge("entity: anna", "entity: rome")
    assert graph.nodes["entity: anna"] == {"kind": "entity", "label": "anna"}


def test_pandas_has_the_same_statements(memory: Memory) -> None:
    pytest.importorskip("pandas")
    table = to_pandas(memory, only_current=False)
    found = zip(table["id"], table["valid_from"], table["valid_to"], strict=True)
    assert Counter((id_, at, math.inf if end_ != end_ or end_ is None else end_) for id_, at, end_ in found) == held(
        memory, only_current=False
    )
    assert list(to_pandas(memory, where=Filter(source="nowhere")).columns) == list(table.columns)


@pytest.mark.parametrize(("function", "package"), [(to_networkx, "networkx"), (to_pandas, "pandas")])
def test_a_missing_package_is_named(
    function: Callable[..., Any], package: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=f"pip install {package}"):
        function(memory)


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        memory.remember([("Anna", "likes", "tea")], "2024-01-01")
        with pytest.raises(InputError, match="formats are: csv, graphml, jsonld, cogx"):
            export_statements(memory, tmp_path / "out", "xlsx")
        with pytest.raises(InputError, match="belongs to the memory itself"):
            export_statements(memory, path, "csv")
        assert export_statements(memory, tmp_path / "absent" / "out", "csv") == 1, "the folder is made"
        assert (tmp_path / "absent" / "out").is_file()
        with pytest.raises(StoreError, match="cannot be written"):
            export_statements(memory, tmp_path / "absent" / "out" / "below", "csv")
        assert export_statements(memory, tmp_path / "out", "csv") == 1


def test_the_command_writes_each_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    monkeypatch.chdir(tmp_path)
    with Memory("memory.worldthread", model="none", embedder="fake") as memory:
        memory.remember([("Anna", "lives in", "Rome")], "2023-05-01")
        memory.remember([("Anna", "lives in", "Paris")], "2024-03-01")
    run = CliRunner().invoke
    assert run(app, ["export", "now.csv", "--format", "csv"]).stdout == "wrote 1 statement to now.csv\n"
    assert run(app, ["export", "all.csv", "--format", "csv", "--all"]).stdout == "wrote 2 statements to all.csv\n"
    then = run(app, ["export", "-", "--format", "csv", "--as-of", "2023-06-01"]).stdout
    assert [row["object"] for row in csv.DictReader(io.StringIO(then))] == ["Rome"]
    assert json.loads(run(app, ["export", "x.xml", "--format", "graphml", "--json"]).stdout)["statements"] == 1
    for arguments, message in [
        (["export", "now.csv", "--format", "csv"], "already exists"),
        (["export", "new", "--format", "xlsx"], "is not a format"),
        (["export", "new", "--all"], "holds everything"),
    ]:
        refused = run(app, arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr


def test_the_same_statement_of_two_users_is_exported_twice() -> None:
    with Memory(model="none", embedder="fake") as memory:
        for user in ("", "anna", "Anna"):
            memory.remember([Fact("Rex", "is a", "dog"), Thesis("Rex barks.", ("Rex",))], at=1, user=user)
        for format in ("csv", "graphml", "jsonld"):
            stream = io.BytesIO()
            assert export_statements(memory, stream, format) == 6
            if format == "csv":
                rows = list(csv.DictReader(io.StringIO(stream.getvalue().decode())))
                assert sorted((row["kind"], row["user"]) for row in rows) == [
                    (kind, user) for kind in ("fact", "thesis") for user in ("", "Anna", "anna")
                ]
            if format == "jsonld":
                nodes = json.loads(stream.getvalue())["@graph"]
                assert len({node["@id"] for node in nodes}) == len(nodes)
            if format == "graphml":
                parts = [part.get("id") for part in ElementTree.fromstring(stream.getvalue()).iter() if part.get("id")]
                assert len(set(parts)) == len(parts)
