"""Clients that hold connections open: neither server stops serving the others, nor fills its log."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http.client
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from worldthread.support import server_connections
from worldthread.support.server_connections import (
    Connection,
    ConnectionLimits,
    Connections,
    RepeatedMessages,
    _without_disconnections,
)

STATIC = Path(__file__).parents[1] / "src" / "worldthread" / "web" / "static"
FILES = 256
"""The open files that the servers of these tests may have; they take half as many connections."""
HALF_HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Half: "
HALF_BODY = (
    b"Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    b"Content-Length: 50000\r\n\r\n{"
)

COMMANDS = [
    pytest.param(("mcp", "--http", "--no-token", "--memory"), "/mcp", 406, marks=pytest.mark.mcp, id="mcp"),
    pytest.param(("web", "--runs"), "/api/about", 200, marks=pytest.mark.web, id="web"),
]


class Served:
    """A server in a process of its own, which may open few files; what it writes is collected."""

    def __init__(self, folder: Path, command: tuple[str, ...]) -> None:
        import resource

        if command[0] == "web" and not (STATIC / "memory.js").is_file():
            pytest.skip("needs the built pages: make web")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("WORLDTHREAD_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "worldthread", *command, str(folder / "m"), "--port", "0"],
            cwd=folder,
            env={**kept, "WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none"},
            stderr=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
        )
        line = ""
        while "http://" not in line:
            line = self.process.stderr.readline().decode()
            assert line, "the server ended"
        self.port = int(re.search(r"http://[^/]+:(\d+)", line)[1])
        self.written = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:
            self.written += line

    def status(self, path: str) -> int:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request("GET", path, headers={"Host": "localhost"})
        status = client.getresponse().status
        client.close()
        return status

    def close(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=600)
        self._reader.join()
        return code


@pytest.fixture
def connect() -> Iterator[Any]:
    """Opens connections to a port, and closes them at the end."""
    with contextlib.ExitStack() as stack:

        def connected(port: int, sent: bytes) -> socket.socket:
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            client.sendall(sent)
            return client

        yield connected


HALF_SENT = {
    "nothing": b"",
    "half a head": HALF_HEAD,
    "half a body": b"POST /mcp HTTP/1.1\r\n" + HALF_BODY,
    "half a body for web": b"POST /api/plays HTTP/1.1\r\n" + HALF_BODY,
}


@pytest.mark.parametrize(("command", "path", "status"), COMMANDS)
def test_half_sent_requests_do_not_stop_a_server(
    tmp_path: Path, connect: Any, command: tuple[str, ...], path: str, status: int
) -> None:
    served = Served(tmp_path, command)
    held: list[socket.socket] = []
    try:
        for what, sent in HALF_SENT.items():
            for earlier in held:
                earlier.close()
            held = [connect(served.port, sent) for _ in range(2 * FILES)]
            assert [served.status(path) for _ in range(3)] == [status] * 3, what
            with contextlib.suppress(ConnectionError):  # the first was closed to make room
                while held[0].recv(10_000):
                    pass
    finally:
        code = served.close()  # with connections still open
    assert code in (-signal.SIGINT, 130)
    assert "Traceback" not in served.written.decode()
    assert len(served.written) < 2000


# -- what a server decides, with a clock of the test ------------------------------------------------------------------

LIMITS = ConnectionLimits(connections=3)


class Wire(asyncio.Transport):
    """The server's end of a connection that goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.state = "open"
        self.protocol: Any = None

    def write(self, data: Any) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return self.state != "open"

    def close(self) -> None:
        if self.state == "open":
            self.state = "closing"  # what was written is never read

    def abort(self) -> None:
        if self.state != "aborted":
            self.state = "aborted"
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


class Bench:
    """Connections with a clock of their own."""

    def __init__(self, app: Any = None) -> None:
        import uvicorn
        from uvicorn.server import ServerState

        self.now = 0.0
        self.connections = Connections(LIMITS, lambda: self.now)
        self._config = uvicorn.Config(app or self.answer, ws="none", lifespan="off", log_config=None)
        self._state = ServerState()

    @staticmethod
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await Bench.reply(send)

    @staticmethod
    async def reply(send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def connect(self, *sent: bytes) -> Connection:
        made = Connection(self.connections, config=self._config, server_state=self._state, app_state={})
        wire = Wire()
        wire.protocol = made
        made.connection_made(wire)
        for data in sent:
            made.data_received(data)
        return made

    def states(self, *connections: Connection) -> list[str]:
        self.connections.sweep()
        return [connection.transport.state for connection in connections]


GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_the_oldest_connection_whose_request_is_incomplete_makes_room() -> None:
    async def never(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(3600)

    async def run() -> None:
        bench = Bench(never)
        served = [bench.connect(GET) for _ in range(2)]
        half = bench.connect(HALF_HEAD)
        new = bench.connect()
        assert bench.states(*served, half, new) == ["open", "open", "aborted", "open"]
        new.data_received(GET)
        refused = bench.connect()  # all others are being served
        assert bench.states(*served, new, refused) == ["open", "open", "open", "aborted"]
        assert len(bench.connections) == 3

    asyncio.run(run())


def test_a_head_has_a_time_limit_that_slow_bytes_do_not_extend() -> None:
    async def run() -> None:
        bench = Bench()
        silent, slow = bench.connect(), bench.connect()
        for second in range(11):
            bench.now = float(second)
            assert bench.states(silent, slow) == ["open", "open"]
            slow.data_received(HALF_HEAD[second : second + 1])
        bench.now = 10.1
        assert bench.states(silent, slow) == ["aborted", "aborted"]

    asyncio.run(run())


def test_a_client_that_asks_again_and_again_is_kept() -> None:
    async def run() -> None:
        bench = Bench()
        client = bench.connect()
        for second in range(0, 40, 8):
            bench.now = float(second)
            client.data_received(GET)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert bench.states(client) == ["open"]

    asyncio.run(run())


def test_a_body_may_take_longer_the_more_of_it_comes() -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"

    async def run() -> None:
        bench = Bench()
        slow, fast = bench.connect(head), bench.connect(head)
        for second in range(1, 60):
            bench.now = float(second)
            if slow.transport.state == "open":
                slow.data_received(b"x")
            fast.data_received(b"x" * 50_000)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert bench.states(slow, fast) == ["open" if second <= 20 else "aborted", "open"]

    asyncio.run(run())


@pytest.mark.parametrize("size", [1, 3, 7, 1000, 100_000])
def test_requests_arrive_whole_however_they_are_cut(size: int) -> None:
    """Bodies with a length and in chunks, one request after the other and several at once."""
    bodies: list[tuple[str, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        bodies.append((scope["path"], body))
        await Bench.reply(send)

    long = bytes(range(256)) * 140
    sent = [
        b"POST /a HTTP/1.1\r\nHost: x\r\ncontent-length:  5 \r\n\r\na\r\n\r\n",
        b"GET /b HTTP/1.1\nHost: x\n\n",
        b"POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(long) + long,
        b"POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        b"GET /f HTTP/1.1\r\nHost: x\r\n\r\n",
    ]
    wanted = [("/a", b"a\r\n\r\n"), ("/b", b""), ("/c", long), ("/d", b"abc"), ("/e", b""), ("/f", b"")]

    async def run(data: bytes) -> None:
        bench = Bench(app)
        client = bench.connect()
        for start in range(0, len(data), size):
            client.data_received(data[start : start + size])
            if size > 1000 or start % 100 == 0:
                await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        assert bench.states(client) == ["open"]

    asyncio.run(run(b"".join(sent)))
    assert bodies == wanted
    bodies.clear()
    for one in sent:
        asyncio.run(run(one))
    assert bodies == wanted


def test_a_client_that_does_not_read_its_answer_is_closed() -> None:
    async def run() -> None:
        bench = Bench()
        stuck, closing = bench.connect(GET), bench.connect(b"nonsense\r\n\r\n")
        stuck.pause_writing()
        bench.now = 10.0
        assert bench.states(stuck, closing) == ["open", "closing"]
        bench.now = 10.1
        assert bench.states(stuck, closing) == ["open", "aborted"]
        stuck.resume_writing()
        stuck.pause_writing()
        bench.now = 40.0
        assert bench.states(stuck) == ["open"]
        bench.now = 40.2
        assert bench.states(stuck) == ["aborted"]

    asyncio.run(run())


def test_closed_connections_are_logged_once_a_minute_with_their_number(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        bench = Bench()
        for second in range(125):
            bench.now = float(second)
            for _ in range(10):
                bench.connect()
            bench.connections.sweep()

    with caplog.at_level(logging.WARNING, "worldthread"):
        asyncio.run(run())
    counts = [int(record.getMessage().split()[0]) for record in caplog.records]
    assert counts == [7, 600, 600]


def test_a_message_is_shown_once_a_minute() -> None:
    now = 0.0
    shown = RepeatedMessages(lambda: now)

    def message(line: int, text: str) -> str | None:
        record = logging.LogRecord("uvicorn.error", logging.WARNING, "impl.py", line, text, ("a",), None)
        return record.getMessage() if shown.filter(record) else None

    assert [message(1, f"bad request {n} of %s") for n in range(100)] == ["bad request 0 of a", *[None] * 99]
    assert message(2, "other %s") == "other a"
    now = 60.0
    assert message(1, "bad request of %s") == "bad request of a (99 more messages like this were left out)"


def test_a_client_that_leaves_within_its_body_is_not_an_error() -> None:
    from starlette.requests import Request

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    asyncio.run(_without_disconnections(app)({"type": "http", "headers": []}, gone, lambda _: None))


def test_garbage_collections_skip_what_was_loaded_before_the_server_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped: list[int] = []

    class Server(server_connections._Server):
        def run(self, sockets: Any = None) -> None:
            skipped.append(gc.get_freeze_count())

    monkeypatch.setattr(server_connections, "_Server", Server)

    async def app(scope: Any, receive: Any, send: Any) -> None: ...

    listening = socket.create_server(("127.0.0.1", 0))
    server_connections.run_server(app, listening, shutdown_seconds=1, has_lifespan=False)
    assert skipped[0] > 10_000
    assert gc.get_freeze_count() == 0
