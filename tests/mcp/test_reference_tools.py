"""The tools of the reference memory server on a memory. `make test-mcp` compares them with that server itself."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from worldthread import InputError, Memory, NotFoundError
from worldthread.adapters.entity_graph import Entity, EntityGraph, Relation

ANNA = Entity("Anna", "person", ("Speaks Spanish", "Lives in Rome"))
ACME = Entity("Acme", "company", ("Makes anvils",))
WORKS = Relation("Anna", "Acme", "works at")


@pytest.fixture
def memory() -> Any:
    with Memory(model="none", embedder="fake") as memory:
        yield memory


def test_what_is_written_is_read_and_known_names_are_passed_over(memory: Memory) -> None:
    graph = EntityGraph(memory)
    assert graph.create_entities([ANNA, ACME]) == [ANNA, ACME]
    assert graph.create_entities([Entity("Anna", "cat"), Entity("anna", "cat")]) == [Entity("anna", "cat")]
    assert graph.create_relations([WORKS, Relation("Acme", "nowhere", "moved to")])[0] == WORKS
    assert graph.create_relations([WORKS]) == []
    assert graph.add_observations([("Anna", ["Has a dog", "Speaks Spanish"]), ("Anna", ["Has a dog"])]) == [
        ("Anna", ["Has a dog"]), ("Anna", [])
    ]  # fmt: skip
    whole = graph.read()
    assert [entity.name for entity in whole.entities] == ["Anna", "Acme", "anna"]
    assert whole.entities[0].observations == ("Speaks Spanish", "Lives in Rome", "Has a dog")
    assert graph.search("ANVIL").entities == (ACME,)
    assert graph.search("anvil").relations == whole.relations
    assert graph.open(["anna", "nobody"]).relations == ()
    with pytest.raises(NotFoundError, match="Entity with name Bob not found"):
        graph.add_observations([("Anna", ["lost"]), ("Bob", ["x"])])
    assert graph.read() == whole


def test_what_is_written_is_remembered_like_everything_else(memory: Memory) -> None:
    graph = EntityGraph(memory)
    graph.create_entities([ANNA, ACME])
    graph.create_relations([WORKS])
    memory.remember("Anna likes tea.")
    assert memory.ask("Where does Anna work?").text == "Acme"
    assert {str(version.statement) for version in memory.about("Acme")} == {
        "Acme, is a, company", "Acme: Makes anvils", "Anna, works at, Acme"
    }  # fmt: skip
    assert [entity.name for entity in graph.read().entities] == ["Anna", "Acme"]


def test_what_is_deleted_leaves_nothing_behind(memory: Memory, tmp_path: Path) -> None:
    graph = EntityGraph(memory)
    memory.remember("Bob likes tea.")
    before = memory.record.state_hash()
    graph.create_entities([ANNA, ACME])
    graph.create_relations([WORKS])
    assert graph.delete_observations([("Anna", ["Lives in Rome", "never said"]), ("nobody", ["x"])]) == 1
    assert graph.read().entities[0].observations == ("Speaks Spanish",)
    assert graph.delete_relations([WORKS, Relation("a", "b", "c")]) == 1
    assert graph.create_relations([WORKS]) == [WORKS]
    assert graph.delete_entities(["Anna"]) == 3
    assert graph.read().relations == ()
    assert graph.delete_entities(["Acme", "Anna"]) == 2
    assert memory.record.state_hash() == before
    memory.export(tmp_path / "all.jsonl")
    assert "Rome" not in (tmp_path / "all.jsonl").read_text()


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud800", 'quoted "text"\n\ttab', "🦊 ", "x" * 30_000, "Anna: Anna", "\x1b[0m"]
)
def test_any_text_comes_back_as_it_was_written(memory: Memory, text: str) -> None:
    graph = EntityGraph(memory)
    entity = Entity(text[:900], text[:900], ("before", text))
    graph.create_entities([entity])
    graph.add_observations([(text[:900], ["after"])])
    graph.create_relations([Relation(text[:900], "b", text[:900])])
    whole = graph.read()
    assert whole.entities == (Entity(entity.name, entity.entity_type, ("before", text, "after")),)
    assert whole.relations == (Relation(text[:900], "b", text[:900]),)
    assert graph.delete_entities([text[:900]]) == 5
    assert memory.stats()["episodes"] == 0


def test_what_cannot_be_kept_exactly_is_refused(memory: Memory) -> None:
    with pytest.raises(InputError, match="too long"):
        EntityGraph(memory).create_entities([Entity("a", "t"), Entity("x" * 20_000, "t")])
    with pytest.raises(InputError, match="too long"):
        EntityGraph(memory).create_entities([Entity("a", "t", ("\0" + "x" * 20_000,))])
    assert memory.stats()["episodes"] == 0


def inside(path: Path, **options: Any) -> Any:
    from mcp import Client

    from worldthread.mcp import SharedMemory, create_reference_server

    return Client(create_reference_server(SharedMemory(path, model="none", **options)))


@pytest.mark.mcp
def test_the_tools_answer_in_the_form_of_the_reference_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")

    async def talk() -> None:
        async with inside(tmp_path / "m") as client:
            assert len((await client.list_tools()).tools) == 9
            entity = {"name": "Zoë", "entityType": "person", "observations": ["Likes “tea”"], "extra": 1}
            made = await client.call_tool("create_entities", {"entities": [entity]})
            del entity["extra"]
            assert made.structured_content == {"entities": [entity]}
            assert made.content[0].text == json.dumps([entity], indent=2, ensure_ascii=False)
            edge = {"from": "Zoë", "to": "Acme", "relationType": "works at"}
            assert (await client.call_tool("create_relations", {"relations": [edge]})).structured_content == {
                "relations": [edge]
            }
            added = await client.call_tool(
                "add_observations", {"observations": [{"entityName": "Zoë", "contents": ["Is tall"]}]}
            )
            assert added.structured_content == {"results": [{"entityName": "Zoë", "addedObservations": ["Is tall"]}]}
            whole = {"entities": [{**entity, "observations": ["Likes “tea”", "Is tall"]}], "relations": [edge]}
            for tool, arguments in (
                ("read_graph", {}), ("search_nodes", {"query": "TEA"}), ("open_nodes", {"names": ["Zoë"]})
            ):  # fmt: skip
                assert (await client.call_tool(tool, arguments)).structured_content == whole
            [resource] = (await client.read_resource("memory://knowledge-graph")).contents
            assert json.loads(resource.text) == whole
            missing = await client.call_tool(
                "add_observations", {"observations": [{"entityName": "Bob", "contents": ["x"]}]}
            )
            assert (missing.is_error, missing.content[0].text) == (True, "Entity with name Bob not found")
            for tool, arguments, what in (
                ("delete_observations", {"deletions": [{"entityName": "Zoë", "observations": ["Is tall"]}]}, "Obs"),
                ("delete_relations", {"relations": [edge]}, "Relations"),
                ("delete_entities", {"entityNames": ["Zoë"]}, "Entities"),
            ):
                done = (await client.call_tool(tool, arguments)).structured_content
                assert done["success"]
                assert done["message"].startswith(what)
            assert (await client.call_tool("read_graph", {})).structured_content == {"entities": [], "relations": []}
        async with inside(tmp_path / "m", readonly=True) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {
                "read_graph", "search_nodes", "open_nodes"
            }  # fmt: skip

    asyncio.run(talk())


@pytest.mark.mcp
def test_calls_at_one_time_write_an_entity_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    entity = {"name": "Anna", "entityType": "person", "observations": []}

    async def talk() -> None:
        async with inside(tmp_path / "m") as client:
            calls = [client.call_tool("create_entities", {"entities": [entity]}) for _ in range(8)]
            results = await asyncio.gather(*calls)
            assert not any(result.is_error for result in results)
            assert sum(len(result.structured_content["entities"]) for result in results) == 1

    asyncio.run(talk())
