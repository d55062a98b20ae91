"""Processes: tokens, foreign pages, signals, and several servers on one file."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import InputError

pytestmark = pytest.mark.mcp

# what the fixtures share; a plain import of conftest is not there under importmode=importlib
TOKEN = "a-token-of-the-tests-0123456789"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LAST = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def start_stdio(memory: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "worldthread", "mcp", "--memory", str(memory), *options],
        env={**os.environ, "WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ask(process: subprocess.Popen[str], method: str, **params: Any) -> Any:
    """One request over pipes, and the line that answers it."""
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"]


def greet(process: subprocess.Popen[str]) -> None:
    client = {"name": "test", "version": "1"}
    ask(process, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    process.stdin.flush()


def remember(process: subprocess.Popen[str], text: str) -> None:
    assert not ask(process, "tools/call", name="remember", arguments={"text": text}).get("isError")


def post(port: int, body: Any = PING, *, method: str = "POST", **headers: str) -> tuple[int, dict[str, str], str]:
    """One raw request: status, headers in lower case, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    sent = {"Content-Type": "application/json", **LAST, **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, "/mcp", json.dumps(body), sent)
    answer = connection.getresponse()
    found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()
    connection.close()
    return found


def unwritten(path: Path) -> int:
    """Bytes that wait beside a memory to be moved into it."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0


def texts(path: Path) -> set[str]:
    with Memory(path, wait=5) as memory:  # the writer's lock is free as well
        return {episode.text for episode in memory.episodes()}


# -- HTTP: who is served ----------------------------------------------------------------------------------------------


def test_only_the_token_opens(start: Callable[..., Any], tmp_path: Path) -> None:
    server = start(tmp_path / "m")
    for wrong in ({}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN}, {"Authorization": "Bearer"}):
        status, headers, body = post(server.port, **wrong)
        assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="worldthread"'), wrong
        assert TOKEN not in body
    for wrong in ("x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü", f"{TOKEN} {TOKEN}"):
        status, headers, _ = post(server.port, Authorization=f"Bearer {wrong}")
        assert status == 401, wrong
        assert 'error="invalid_token"' in headers["www-authenticate"], wrong
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        assert post(server.port, method=method)[0] == 401
    for scheme in ("Bearer", "bearer"):
        status, _, body = post(server.port, Authorization=f"{scheme} {TOKEN}")
        [data] = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {")]
        assert (status, json.loads(data)["result"]) == (200, {})
    server.process.terminate()
    out, error = server.process.communicate(timeout=600)
    assert out == ""
    assert TOKEN not in server.output + error  # it was given: there is no need to print it
    logged = [line for line in (server.output + error).splitlines() if "wrong token" in line]
    assert len(logged) == 1
    assert logged[0].endswith("1 requests since the last such line, the last one from 127.0.0.1")
    assert "${WORLDTHREAD_MCP_TOKEN}" in server.output


@pytest.mark.slow
def test_the_sdk_client_is_refused_without_the_token(start: Callable[..., Any], tmp_path: Path) -> None:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    url = start(tmp_path / "m").url

    async def connect(token: str) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http_client,
            Client(streamable_http_client(url, http_client=http_client)) as client,
        ):
            await client.list_tools()

    asyncio.run(connect(TOKEN))
    with pytest.raises(ExceptionGroup):
        asyncio.run(connect("wrong"))


@pytest.mark.slow
def test_a_token_is_made_where_none_is_given(start: Callable[..., Any], tmp_path: Path) -> None:
    one, other = (start(tmp_path / name, token=None) for name in "ab")
    entries = [json.loads(s.output[s.output.index("{") :])["mcpServers"]["worldthread"] for s in (one, other)]
    assert entries[0]["url"] == one.url
    shown = [entry["headers"]["Authorization"] for entry in entries]
    assert shown[0] != shown[1]
    assert len(shown[0]) > len("Bearer ") + 40
    assert post(one.port, Authorization=shown[0])[0] == 200
    assert post(one.port, Authorization=shown[1])[0] == 401


@pytest.mark.slow
def test_foreign_names_and_pages_are_refused(start: Callable[..., Any], tmp_path: Path) -> None:
    for server in (start(tmp_path / "a"), start(tmp_path / "b", "--no-token", token=None)):
        port, known = server.port, {"Authorization": f"Bearer {TOKEN}"}
        for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil"):
            assert post(port, **known, Host=name)[0] == 421, name
        for name in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost:9"):
            assert post(port, **known, Host=name)[0] == 200, name
        for origin in (
            "https://evil.example",
            "http://localhost:3000",
            "null",
            f"http://localhost:{port}.evil.example",
        ):
            status, headers, _ = post(port, **known, Origin=origin)
            assert status == 403, origin
            assert "access-control-allow-origin" not in headers
        assert post(port, **known, Origin=f"http://localhost:{port}")[0] == 200


@pytest.mark.slow
def test_another_name_can_be_allowed(start: Callable[..., Any], tmp_path: Path) -> None:
    server = start(tmp_path / "m", "--host", "0.0.0.0", "--allow-host", "memory.example")
    assert server.url == f"http://memory.example:{server.port}/mcp"
    known = {"Authorization": f"Bearer {TOKEN}"}
    assert post(server.port, **known, Host="memory.example")[0] == 200
    assert post(server.port, **known, Host=f"memory.example:{server.port}")[0] == 200
    assert post(server.port, **known, Host="evil.example")[0] == 421
    assert post(server.port, Host="memory.example")[0] == 401


def test_what_is_not_safe_is_refused() -> None:
    from worldthread.mcp import Access

    with pytest.raises(InputError, match="give a token"):
        Access.for_mcp("0.0.0.0", 1)
    with pytest.raises(InputError, match="give a token"):
        Access.for_mcp("192.168.1.5", 1, no_token=True)
    with pytest.raises(InputError, match="--allow-host"):
        Access.for_mcp("::", 1, token=TOKEN)
    with pytest.raises(InputError, match="choose one"):
        Access.for_mcp("localhost", 1, token="secret", no_token=True)
    for token in ("", "two words", "ümlaut", "line\nbreak"):
        with pytest.raises(InputError, match="printable ASCII"):
            Access.for_mcp("localhost", 1, token=token)
    assert Access.for_mcp("::1", 1, no_token=True).token is None
    assert TOKEN not in repr(Access.for_mcp("192.168.1.5", 1, token=TOKEN))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example"])
def test_other_machines_cannot_guess_the_token(host: str) -> None:
    from worldthread.support.server_access import Access

    for make in (Access.for_mcp, Access.for_web):
        with pytest.raises(InputError, match=r"at least 16.*token_urlsafe") as told:
            make(host, 1, names=("a",), token="fifteen-letters")
        assert "fifteen-letters" not in str(told.value)
        assert make(host, 1, names=("a",), token="sixteen-letters!").token == "sixteen-letters!"
        assert make("localhost", 1, token="x").token == "x"


@pytest.mark.slow
def test_a_command_that_cannot_serve_says_why(tmp_path: Path) -> None:
    def failed(*options: str) -> str:
        process = start_stdio(tmp_path / "m", *options)
        out, error = process.communicate(timeout=600)
        assert (process.returncode, out) == (2, "")
        assert "Traceback" not in error
        return error

    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "cannot listen" in failed("--http", "--port", str(taken.getsockname()[1]))
    assert "need --http" in failed("--port", "8765")
    assert "no memory here" in failed("--readonly")
    (tmp_path / "m").write_text("a diary, not a memory")
    assert "not a memory of worldthread" in failed()
    assert (tmp_path / "m").read_text() == "a diary, not a memory"


# -- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_standard_output_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    process = start_stdio(tmp_path / "m")
    greet(process)
    remember(process, "Anna lives in Rome.")
    process.stdin.write("this is not JSON\n")
    out, _ = process.communicate(timeout=600)  # closes standard input
    assert process.returncode == 0
    for line in out.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert unwritten(tmp_path / "m") == 0
    assert texts(tmp_path / "m") == {"Anna lives in Rome."}


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(other, marks=pytest.mark.slow) for other in (signal.SIGINT, signal.SIGHUP))],
)
def test_a_signal_ends_the_server_and_loses_nothing(tmp_path: Path, number: signal.Signals) -> None:
    process = start_stdio(tmp_path / "m")
    greet(process)
    remember(process, "Anna lives in Rome.")
    process.send_signal(number)  # standard input stays open: nothing else tells it to end
    assert process.wait(timeout=600) == -number
    assert unwritten(tmp_path / "m") == 0
    assert texts(tmp_path / "m") == {"Anna lives in Rome."}
    process.communicate()


@pytest.mark.slow
def test_a_server_over_http_ends_with_clients_connected(start: Callable[..., Any], tmp_path: Path) -> None:
    server = start(tmp_path / "m")
    call = {"name": "remember", "arguments": {"text": "Anna lives in Rome."}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    assert "new" in post(server.port, body, Authorization=f"Bearer {TOKEN}")[2]
    idle = http.client.HTTPConnection("127.0.0.1", server.port)
    idle.request("GET", "/mcp", headers={**LAST, "Authorization": f"Bearer {TOKEN}"})
    server.process.terminate()
    assert server.process.wait(timeout=600) == -signal.SIGTERM
    idle.close()
    assert unwritten(tmp_path / "m") == 0
    assert texts(tmp_path / "m") == {"Anna lives in Rome."}


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    for number in range(3):
        process = start_stdio(tmp_path / "m")
        greet(process)
        remember(process, f"Anna has {number} cats.")
        process.kill()
        process.communicate()
    assert texts(tmp_path / "m") == {f"Anna has {number} cats." for number in range(3)}


@pytest.mark.slow
def test_two_servers_and_a_command_write_to_one_file(tmp_path: Path) -> None:
    one, other = (start_stdio(tmp_path / "m") for _ in range(2))
    for process in (one, other):
        greet(process)
    for number in range(5):
        for name, process in (("Anna", one), ("Olga", other)):
            request = {"name": "remember", "arguments": {"text": f"{name} has {number} cats.", "at": number}}
            line = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": request}
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
    with Memory(tmp_path / "m", wait=20) as memory:
        memory.remember("Ivan has 9 cats.", at=9)
    for process in (one, other):
        for _ in range(5):
            assert not json.loads(process.stdout.readline())["result"].get("isError")
    for process in (one, other):  # each sees at once what the other wrote
        found = ask(process, "tools/call", name="stats", arguments={})["structuredContent"]
        assert found["counts"]["episodes"] == 11
        process.communicate(timeout=600)
    wanted = {f"{name} has {number} cats." for name in ("Anna", "Olga") for number in range(5)} | {"Ivan has 9 cats."}
    assert texts(tmp_path / "m") == wanted


@pytest.mark.slow
def test_the_entry_to_paste_starts_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from worldthread.mcp import SharedMemory
    from worldthread.mcp.configuration import stdio_configuration

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")  # the command is not on it: the interpreter's own path is told
    shared = SharedMemory(Path("m"), namespace="home")
    entry = json.loads(stdio_configuration(shared))["mcpServers"]["worldthread"]
    shared.close()
    monkeypatch.chdir("/")
    process = subprocess.Popen([entry["command"], *entry["args"]], stdin=-1, stdout=-1, stderr=-1, text=True)
    greet(process)
    remember(process, "Anna lives in Rome.")
    process.communicate(timeout=600)
    with Memory(tmp_path / "m", namespace="home", readonly=True) as memory:
        assert memory.stats()["episodes"] == 1


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
@pytest.mark.slow
def test_a_server_answers_before_the_embedding_model_is_loaded(tmp_path: Path) -> None:
    process = start_stdio(tmp_path / "m")
    greet(process)
    assert "onnxruntime" not in Path(f"/proc/{process.pid}/maps").read_text()
    process.communicate(timeout=600)
