"""The protocol's own conformance suite, and the reference memory server side by side with ours.

Both are packages of npm, pinned in `npm/package-lock.json`. `make test-mcp` installs them and runs this; with `-s` it
prints what was compared.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.mcp, pytest.mark.npm]

ADAPTER, PACKAGES = "MCP server", ("mcp",)

HERE = Path(__file__).parent
NODE_MODULES = HERE / "npm/node_modules"
CONFORMANCE = NODE_MODULES / "@modelcontextprotocol/conformance"
REFERENCE = NODE_MODULES / "@modelcontextprotocol/server-memory"

# What the server does not offer. All of it is optional in that revision, and gone or changed in the next.
NOT_OFFERED = {
    "2025-11-25": {
        "logging-set-level": "no messages of a log are sent to clients",
        "tools-call-with-logging": "no messages of a log are sent to clients",
        "tools-call-sampling": "the model of the client is never asked",
        "tools-call-elicitation": "the user of the client is never asked",
        "elicitation-sep1034-defaults": "the user of the client is never asked",
        "elicitation-sep1330-enums": "the user of the client is never asked",
        "resources-subscribe": "changes of resources are not announced: over HTTP no session is kept",
        "resources-unsubscribe": "changes of resources are not announced: over HTTP no session is kept",
    },
    "2026-07-28": {},
}


def node() -> str:
    """A Node.js that can run both packages: one beside them, else that of the system."""
    beside = [path for path in NODE_MODULES.glob("node-*/bin/node") if os.access(path, os.X_OK)]
    found = str(beside[0]) if beside else shutil.which("node")
    assert found, "Node.js 22 was not found"
    return found


def version_of(package: Path) -> str:
    return str(json.loads((package / "package.json").read_text("utf-8"))["version"])


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WORLDTHREAD_")}
    return {**kept, "WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none"}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_conformance(tmp_path: Path, revision: str, record_property: Callable[[str, object], None]) -> None:
    server = subprocess.Popen(
        [sys.executable, HERE / "conformance_server.py", tmp_path / "m"],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        url = server.stdout.readline().strip()
        assert url, "the server did not start"
        command = [node(), CONFORMANCE / "dist/index.js", "server", "--url", url, "--requirements", revision]
        done = subprocess.run([*command, "-o", tmp_path / "out"], capture_output=True, text=True, timeout=600)
    finally:
        server.terminate()
        server.communicate()
    summary = done.stdout[done.stdout.index("=== SUMMARY ===") :]
    results, _, beside = summary.partition("Not scored for")
    unscored = set(re.findall(r"[✓✗] (\S+) \(", beside))
    found = {
        name: (mark == "✓", int(passed), int(failed))
        for mark, name, passed, failed in re.findall(r"([✓✗]) (\S+): (\d+) passed, (\d+) failed", results)
        if name not in unscored
    }
    required = re.findall(
        r"^  - (\S+)$", (CONFORMANCE / f"requirements/{revision}.yaml").read_text().split("client:")[0], re.MULTILINE
    )
    assert set(found) == set(required)
    failed = {name for name, (is_passed, _, _) in found.items() if not is_passed}
    print(
        f"\n{revision}: {len(found)} required scenarios, {len(found) - len(failed)} passed, {len(failed)} not offered; "
        f"checks: {sum(p for _, p, _ in found.values())} passed, {sum(f for _, _, f in found.values())} failed"
    )
    not_offered = NOT_OFFERED[revision]
    record_property("adapter", f"MCP server, revision {revision}")
    record_property("suite", f"`@modelcontextprotocol/conformance` {version_of(CONFORMANCE)}: required scenarios")
    record_property("passed", len(found) - len(failed))
    record_property("failed", len(failed - set(not_offered)))
    record_property("skipped", len(failed & set(not_offered)))
    for reason in dict.fromkeys(not_offered.values()):
        record_property("reason", f"{list(not_offered.values()).count(reason)}: {reason}")
    assert failed == set(not_offered), summary


def added(name: str, *contents: str) -> dict[str, Any]:
    return {"entityName": name, "contents": list(contents)}


def entity(name: str, kind: str, *observations: str) -> dict[str, Any]:
    return {"name": name, "entityType": kind, "observations": list(observations)}


def edge(start: str, end: str, relation: str) -> dict[str, str]:
    return {"from": start, "to": end, "relationType": relation}


WRITTEN: list[tuple[str, dict[str, Any]]] = [
    ("read_graph", {}),
    ("create_entities", {"entities": [entity("Anna", "person", "Speaks Spanish", "Lives in Rome")]}),
    ("create_entities", {"entities": [entity("Anna", "cat", "Purrs"), entity("anna", "cat", "Purrs")]}),
    ("create_entities", {"entities": []}),
    ("create_entities", {"entities": [entity("Twin", "one"), entity("Twin", "two", "Second")]}),
    ("create_entities", {"entities": [entity("", "", "")]}),
    ("create_entities", {"entities": [entity("Zoë 🦊", "Straße", "Übt “Ruhe”\n\tund \u2028 mehr")]}),
    ("create_entities", {"entities": [{**entity("Extra", "thing"), "colour": "red"}]}),
    ("create_entities", {"entities": [{"name": "No type", "observations": []}]}),
    ("create_entities", {"entities": [{"name": "No list", "entityType": "thing"}]}),
    ("create_entities", {"entities": "Anna"}),
    ("create_entities", {}),
    ("create_relations", {"relations": [edge("Anna", "Acme", "works at"), edge("Anna", "Acme", "works at")]}),
    ("create_relations", {"relations": [edge("Anna", "Acme", "works at"), edge("Acme", "Anna", "employs")]}),
    ("create_relations", {"relations": [edge("nobody", "nowhere", ""), edge("anna", "anna", "is")]}),
    ("create_relations", {"relations": [{"from": "a", "to": "b"}]}),
    ("add_observations", {"observations": [added("Anna", "Has a dog", "Speaks Spanish", "Has a dog")]}),
    ("add_observations", {"observations": [added("Anna", "Lost"), added("Bob", "x")]}),
    ("add_observations", {"observations": [added("Twin", "Of the first")]}),
    ("add_observations", {"observations": [added("Anna")]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "SPANISH"}),
    ("search_nodes", {"query": "straSSE"}),
    ("search_nodes", {"query": "straße"}),
    ("search_nodes", {"query": ""}),
    ("search_nodes", {"query": "no such words"}),
    ("search_nodes", {"query": 7}),
    ("open_nodes", {"names": ["Anna", "nobody", "Anna", "Twin"]}),
    ("open_nodes", {"names": []}),
    ("open_nodes", {"names": [""]}),
    ("delete_observations", {"deletions": [{"entityName": "Anna", "observations": ["Has a dog", "never said"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "Bob", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [edge("Anna", "Acme", "works at"), edge("a", "b", "c")]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Anna", "Twin", "nobody"]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": []}),
    ("delete_entities", {"entityNames": "Anna"}),
    ("no_such_tool", {}),
]  # fmt: skip


def drawn(count: int, seed: int) -> list[tuple[str, dict[str, Any]]]:
    """Calls with few names, so that they meet."""
    draw = random.Random(seed)
    names = ["Anna", "anna", "Bob Ö", "Acme Inc.", "the lamp", "", "İstanbul"]
    texts = ["Likes tea", "likes TEA ", "Ends.\n", "“quoted”", "1", "", "ΟΔΟΣ", "Anna: tall"]
    kinds, relations = ["person", "place", ""], ["knows", "is in", "Knows"]

    def some(values: list[str], most: int = 3) -> list[str]:
        return draw.choices(values, k=draw.randint(0, most))

    def entities() -> dict[str, Any]:
        return {"entities": [entity(name, draw.choice(kinds), *some(texts)) for name in some(names)]}

    def edges() -> dict[str, Any]:
        return {"relations": [edge(name, draw.choice(names), draw.choice(relations)) for name in some(names)]}

    def additions() -> dict[str, Any]:
        return {"observations": [{"entityName": name, "contents": some(texts)} for name in some(names, 2)]}

    def deletions() -> dict[str, Any]:
        return {"deletions": [{"entityName": name, "observations": some(texts)} for name in some(names, 2)]}

    kinds_of_call = [
        ("create_entities", entities, 4), ("create_relations", edges, 3), ("add_observations", additions, 4),
        ("delete_entities", lambda: {"entityNames": some(names, 1)}, 1), ("delete_observations", deletions, 2),
        ("delete_relations", edges, 1), ("read_graph", dict, 2),
        ("search_nodes", lambda: {"query": draw.choice([*texts, "a", "ΟΔΟΣ".lower(), "i̇"])}, 2),
        ("open_nodes", lambda: {"names": some(names)}, 2),
    ]  # fmt: skip
    chosen = draw.choices(kinds_of_call, weights=[weight for _, _, weight in kinds_of_call], k=count)
    return [(tool, arguments()) for tool, arguments, _ in chosen]


def answered(result: Any) -> tuple[Any, ...]:
    """What is compared: all of it, but of a refused argument only that it was refused (each names its own checks)."""
    text = "".join(block.text for block in result.content)
    is_refused = result.is_error and not text.startswith("Entity with name ")
    return bool(result.is_error), "" if is_refused else text, result.structured_content


def test_the_reference_server_side_by_side(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    theirs = StdioServerParameters(
        command=node(),
        args=[str(REFERENCE / "dist/index.js")],
        env={**environment(), "MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
    )
    ours = StdioServerParameters(
        command=sys.executable,
        args=["-m", "worldthread", "mcp", "--memory", str(tmp_path / "m"), "--reference-tools"],
        env=environment(),
    )

    async def compare() -> None:
        async with Client(theirs) as reference, Client(ours) as own:
            tools = [{tool.name: tool for tool in (await one.list_tools()).tools} for one in (reference, own)]
            assert list(tools[0]) == list(tools[1])
            for name, tool in tools[0].items():
                other = tools[1][name]
                for schema, own_schema in (
                    (tool.input_schema, other.input_schema), (tool.output_schema, other.output_schema)
                ):  # fmt: skip
                    assert set(schema["properties"]) == set(own_schema["properties"]), name
                    assert schema.get("required", []) == own_schema.get("required", []), name
                assert tool.annotations.model_dump() == other.annotations.model_dump(), name
                assert tool.title == other.title
            calls = [*WRITTEN, *drawn(400, seed=1)]
            errors = 0
            for number, (tool, arguments) in enumerate(calls):
                expected, found = [
                    answered(await one.call_tool(tool, arguments)) if tool in tools[0] else await refused(one, tool)
                    for one in (reference, own)
                ]
                assert found == expected, (number, tool, arguments)
                errors += expected[0] is True
            resources = [
                json.loads((await one.read_resource("memory://knowledge-graph")).contents[0].text)
                for one in (reference, own)
            ]
            assert resources[0] == resources[1]
            record_property("adapter", "`--reference-tools`")
            record_property(
                "suite", f"`@modelcontextprotocol/server-memory` {version_of(REFERENCE)} side by side: calls"
            )
            record_property("passed", len(calls))
            print(f"\nside by side: {len(calls)} calls, {errors} of them refused, all answered alike")

    async def refused(client: Any, tool: str) -> tuple[Any, ...]:
        from mcp.shared.exceptions import MCPError

        try:
            return (bool((await client.call_tool(tool, {})).is_error),)
        except MCPError:
            return (True,)

    asyncio.run(compare())
