"""One server, one file, many clients: each is held to its own memory."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from worldthread import InputError, Memory
from worldthread.support.server_access import Access, load_clients

pytestmark = pytest.mark.mcp

TOKENS = {name: f"the-token-of-{name}-0123456789" for name in ("anna", "bob", "carl")}


def clients_file(folder: Path) -> Path:
    path = folder / "clients.toml"
    path.write_text(
        "".join(f'[{name}]\ntoken = "{token}"\n' for name, token in TOKENS.items()) + 'namespace = "notes of carl"\n'
    )
    path.chmod(0o600)
    return path


def call(port: int, token: str, tool: str, **arguments: Any) -> Any:
    """Call a tool; return the status and what it gives."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18", "Authorization": f"Bearer {token}",
    }  # fmt: skip
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    connection.request("POST", "/mcp", json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200, (answer.status, text)
    [data] = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    result = json.loads(data)["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


def test_each_client_sees_its_own_memory_only(start: Callable[..., Any], tmp_path: Path) -> None:
    server = start(tmp_path / "m", "--clients", str(clients_file(tmp_path)), token=None)
    assert not any(token in server.output for token in TOKENS.values())
    port = server.port

    def use(name: str) -> None:
        for number in range(4):
            call(port, TOKENS[name], "remember", text=f"{name.title()} keeps the secret {name}{number}.", user=name)
            found = json.dumps(call(port, TOKENS[name], "recall", question="Who has which secret?", k=50))
            assert f"{name}{number}" in found
            for other in TOKENS:
                assert other == name or f"secret {other}" not in found
                assert other == name or not call(port, TOKENS[name], "about", entity=other)["statements"]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(use, TOKENS))
    assert call(port, TOKENS["carl"], "stats")["namespace"] == "notes of carl"
    assert len(call(port, TOKENS["bob"], "list_statements", where={"user": "bob"}, limit=500)["statements"]) >= 4
    assert call(port, TOKENS["bob"], "list_statements", where={"user": "anna"})["statements"] == []
    page = call(port, TOKENS["anna"], "list_statements", where={"kind": "fact"}, limit=1)
    statement = page["statements"][0]
    assert page["cursor"]
    call(port, TOKENS["anna"], "update", statement=statement["id"], new_object="nothing")
    assert call(port, TOKENS["anna"], "forget", statement=statement["id"])["would_forget"] == 1
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", "/mcp", "{}", {"Authorization": "Bearer the-token-of-nobody-0123456789"})
    assert connection.getresponse().status == 401
    server.process.terminate()
    server.process.wait(60)
    with Memory(tmp_path / "m", readonly=True) as memory:
        assert [(one.name, one.episodes) for one in memory.namespaces()] == [
            ("anna", 5), ("bob", 4), ("notes of carl", 4),
        ]  # fmt: skip


def test_a_call_from_nobody_sees_nothing(tmp_path: Path) -> None:
    from worldthread.mcp import SharedMemory
    from worldthread.memory.served_memory import serving_client

    shared = SharedMemory(tmp_path / "m", model="none", per_client=True)
    for use in (lambda: shared.memory, lambda: shared.namespace, lambda: shared.writing().__enter__()):
        with pytest.raises(InputError, match="known clients only"):
            use()
    with serving_client(["a"]), shared.writing() as memory:
        assert memory.namespace == "a"
    for number in range(300):  # more than are kept open
        with serving_client([f"n{number}"]):
            assert shared.memory.namespace == f"n{number}"
    shared.close()


def test_a_client_may_have_several_memories_and_no_others(start: Callable[..., Any], tmp_path: Path) -> None:
    path = clients_file(tmp_path)
    path.write_text(path.read_text() + f'[dora]\ntoken = "{TOKENS["anna"]}-d"\nnamespaces = ["dora", "anna"]\n')
    server = start(tmp_path / "m", "--clients", str(path), token=None)
    dora, anna = TOKENS["anna"] + "-d", TOKENS["anna"]
    call(server.port, dora, "remember", text="Dora lives in Oslo.")
    call(server.port, dora, "remember", text="The family lives in Bergen.", namespace="anna")
    assert "Bergen" in json.dumps(call(server.port, anna, "recall", question="Who lives where?"))
    assert "Oslo" not in json.dumps(call(server.port, anna, "recall", question="Who lives where?"))
    assert "Bergen" not in json.dumps(call(server.port, dora, "recall", question="Who lives where?"))
    assert call(server.port, dora, "stats")["namespace"] == "dora"
    with pytest.raises(AssertionError, match="there is no memory 'bob' for you; the namespaces are: dora, anna"):
        call(server.port, dora, "stats", namespace="bob")
    with pytest.raises(AssertionError, match="there is no memory 'dora' for you"):
        call(server.port, anna, "remember", text="I was here.", namespace="dora")


def test_a_file_of_clients_is_checked(tmp_path: Path) -> None:
    path = clients_file(tmp_path)
    clients = load_clients(path)
    assert [(c.name, *c.namespaces) for c in clients] == [("anna", "anna"), ("bob", "bob"), ("carl", "notes of carl")]
    access = Access.for_mcp("127.0.0.1", 1, clients=clients)
    assert access.needs_token
    assert access.client_of(TOKENS["bob"]) == clients[1]
    assert access.client_of(TOKENS["bob"] + "x") is None is access.client_of("")
    assert not any(token in repr(access) for token in TOKENS.values())
    with pytest.raises(InputError, match="token of its own"):
        Access.for_mcp("127.0.0.1", 1, clients=clients, token="x" * 20)
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        load_clients(path)
    long = "x" * 16
    for text in (
        "", "x", "a = 1", "[a]", '[a]\ntoken = "short"', f'[a]\ntoken = "{long}"\nmore = 1',
        f'[a]\ntoken = "{long}"\n[b]\ntoken = "{long}"', f'[a]\ntoken = "{long}"\nnamespace = ""',
        f'[a]\ntoken = "{long} {long}"', f'[a]\ntoken = "{long}"\nnamespace = 3',
        f'[a]\ntoken = "{long}"\nnamespaces = []', f'[a]\ntoken = "{long}"\nnamespaces = ["b", ""]',
        f'[a]\ntoken = "{long}"\nnamespaces = ["b"]\nnamespace = "c"', f'[a]\ntoken = "{long}"\nnamespaces = "b"',
    ):  # fmt: skip
        path.write_text(text)
        path.chmod(0o600)
        with pytest.raises(InputError) as told:
            load_clients(path)
        assert long not in str(told.value)
    with pytest.raises(InputError, match="cannot be read"):
        load_clients(tmp_path / "nothing")


def test_a_client_may_be_named_by_a_hash_and_only_read(start: Callable[..., Any], tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "clients.toml"
    hashed = hashlib.sha256(TOKENS["anna"].encode()).hexdigest()
    path.write_text(f'[anna]\ntoken_hash = "{hashed}"\nwrites = false\n')
    path.chmod(0o600)
    with Memory(tmp_path / "m", namespace="anna", model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)
    server = start(tmp_path / "m", "--clients", str(path), token=None)
    stats = call(server.port, TOKENS["anna"], "stats")
    assert (stats["counts"]["episodes"], stats["readonly"]) == (1, True)
    with pytest.raises(AssertionError, match="only reads"):
        call(server.port, TOKENS["anna"], "remember", text="Anna lives in Paris.")
    assert call(server.port, TOKENS["anna"], "stats")["counts"]["episodes"] == 1
    for text in (
        '[a]\ntoken_hash = "x"', f'[a]\ntoken_hash = "{hashed}"\ntoken = "{"x" * 16}"',
        f'[a]\ntoken_hash = "{hashed}"\nwrites = 1', f'[a]\ntoken_hash = "{hashed}"\nnamespaces = []',
        f'[a]\ntoken_hash = "{hashed}"\nnamespaces = ["a"]\nnamespace = "a"',
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError):
            load_clients(path)
    path.write_text(f'[a]\ntoken_hash = "{hashed}"\nnamespaces = ["a", "b"]')
    [client] = load_clients(path)
    assert client.namespaces == ("a", "b")


def test_a_revoked_token_opens_nothing_at_once(start: Callable[..., Any], tmp_path: Path) -> None:
    path = clients_file(tmp_path)
    server = start(tmp_path / "m", "--clients", str(path), token=None)
    new = "a-token-of-somebody-who-came-later"
    call(server.port, TOKENS["anna"], "remember", text="Anna lives in Rome.")
    with pytest.raises(AssertionError, match="401"):
        call(server.port, new, "stats")
    path.write_text(f'[anna]\ntoken = "{new}"\n')
    with pytest.raises(AssertionError, match="401"):
        call(server.port, TOKENS["anna"], "recall", question="Where is Anna?")
    assert "Rome" in json.dumps(call(server.port, new, "recall", question="Where is Anna?"))
    for damage in (lambda: path.write_text("[anna"), lambda: path.chmod(0o644), path.unlink):
        damage()
        with pytest.raises(AssertionError, match="503"):
            call(server.port, new, "recall", question="Where is Anna?")
    path.write_text(f'[anna]\ntoken = "{new}"\n')
    path.chmod(0o600)
    assert "Rome" in json.dumps(call(server.port, new, "recall", question="Where is Anna?"))
