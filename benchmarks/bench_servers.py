"""Measure whether clients that hold connections, and long texts, keep others from a server or a file.

    python benchmarks/bench_servers.py [--server mcp|web|both] [--held 2000] [--seconds 10] [--text-bytes 2000000]

Starts the real servers over loopback and asks them one request after the other, before, while and after other clients
hold connections open: with half a head, with half a body, with nothing, with one byte a second, and (web) with event
streams of a live play that nobody reads. Prints the median and the 95th percentile of the times in milliseconds, how
many requests failed, and how many bytes a minute the server wrote to its log. Needs the built pages (make web) for web.

With --text-bytes a text is remembered over MCP while another process appends an episode again and again, as quickly as
it can. Prints how long that process waited, and the longest times that the server held the lock of the file, with the
processor time of the thread that held it and the work that it did. Each part can be left out with 0.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import http.client
import json
import math
import multiprocessing
import os
import re
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from worldthread import Episode, Memory
from worldthread.errors import StoreLockedError

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
FIELDS = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"


class Server:
    """A server in a process of its own."""

    def __init__(self, kind: str, folder: Path, embedder: str | None = None, holds: Path | None = None) -> None:
        self.kind = kind
        self.memory = folder / f"{kind}.worldthread"
        options = ["--memory", str(self.memory), "--http", "--no-token"] if kind == "mcp" else ["--runs", str(folder)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WORLDTHREAD_")}
        kept["WORLDTHREAD_MODEL"] = "none"
        if embedder is not None:
            kept["WORLDTHREAD_EMBEDDER"] = embedder
        program = ["-m", "worldthread"] if holds is None else [__file__, "--record-holds", str(holds)]
        self._log = folder / f"{kind}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, kind, *options, "--port", "0"],
                cwd=folder, env=kept, stderr=log,
            )  # fmt: skip
        while not (found := re.search(r"http://[^/]+:(\d+)", self._log.read_text())):
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended: {self._log.read_text()}")
            time.sleep(0.1)
        self.port = int(found[1])
        atexit.register(self.process.kill)
        self.half_body = (
            f"POST {'/mcp' if kind == 'mcp' else '/api/plays'} HTTP/1.1\r\n{FIELDS}Content-Length: 900\r\n\r\n{{"
        )

    @property
    def log_bytes(self) -> int:
        return self._log.stat().st_size

    def post(self, path: str, body: Any) -> Any:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3600)
        client.request("POST", path, json.dumps(body), {"Host": "localhost", **JSON})
        answer = json.loads(client.getresponse().read())
        client.close()
        return answer

    def ask(self, patience: float = 10.0) -> None:
        """Ask for something small on a new connection, as clients do that come in between."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            if self.kind == "mcp":
                client.request("POST", "/mcp", json.dumps(PING), {"Host": "localhost", **JSON})
            else:
                client.request("GET", "/api/about", headers={"Host": "localhost"})
            answer = client.getresponse()
            answer.read()
            if answer.status != 200:
                raise ConnectionError(f"status {answer.status}")
        finally:
            client.close()

    def stop(self) -> float:
        """Press Ctrl-C; return the seconds until the process has ended."""
        begun = time.perf_counter()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=600)
        return time.perf_counter() - begun


def record_holds(path: Path, arguments: list[str]) -> None:
    """Run the command line, and write down every time for which the process held the lock of a memory.

    Args:
        path: gets a line for each: seconds, seconds of processor time of the thread, and the calls that took the lock.
        arguments: of the command line.
    """
    from filelock import FileLock

    from worldthread.cli.main import app
    from worldthread.stores import database

    held: dict[int, tuple[float, float, str]] = {}

    class RecordedLock(FileLock):
        def _acquire(self) -> None:
            super()._acquire()
            if self.is_locked:
                names = [frame.name for frame in traceback.extract_stack() if "worldthread" in frame.filename]
                held[id(self)] = time.perf_counter(), time.thread_time(), " > ".join(names[-9:])

        def _release(self) -> None:
            super()._release()
            wall, processor, calls = held.pop(id(self))
            with path.open("a") as file:
                file.write(f"{time.perf_counter() - wall:.4f} {time.thread_time() - processor:.4f} {calls}\n")

    vars(database)["FileLock"] = RecordedLock
    sys.argv = ["worldthread", *arguments]
    app()


def hold(port: int, count: int, sent: bytes, slow: bytes, opened: Any, end: Any) -> None:
    """Hold connections to a server open, in a process of its own, and open each anew that the server closes.

    Args:
        port: the port.
        count: how many connections.
        sent: what is sent at once.
        slow: what is sent afterwards, a byte a second.
        opened: counts the connections that were opened.
        end: is set when the connections are to be closed.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    reads = b"/events" not in sent  # the buffers of a stream are to fill
    selector = selectors.DefaultSelector()
    kept: list[socket.socket] = []
    missing, beat = count, time.monotonic()
    while not end.is_set():
        for _ in range(min(missing, 50)):  # as quickly as they come, and the machine is shared
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
            selector.register(client, selectors.EVENT_WRITE)
            missing -= 1
            opened.value += 1
        for key, events in selector.select(0.02):
            client = key.fileobj  # type: ignore[assignment]
            try:
                if events & selectors.EVENT_WRITE:
                    client.send(sent)
                    selector.modify(client, selectors.EVENT_READ)
                    if not reads:
                        selector.unregister(client)
                        kept.append(client)
                elif not client.recv(65536):
                    raise ConnectionError
            except OSError:
                selector.unregister(client)
                client.close()
                missing += 1
        if slow and time.monotonic() - beat > 1:
            beat = time.monotonic()
            for key in list(selector.get_map().values()):
                with contextlib.suppress(OSError):
                    key.fileobj.send(slow)  # type: ignore[union-attr]
        time.sleep(0.01)


def measure(server: Server, seconds: float, what: str) -> None:
    """Ask for some seconds, and print how long it took."""
    took, failed = [], 0
    log, begun = server.log_bytes, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        try:
            server.ask()
        except (OSError, http.client.HTTPException):
            failed += 1
        took.append(1000 * (time.perf_counter() - start))
        time.sleep(0.005)
    p50, p95 = np.percentile(took, (50, 95))
    per_minute = (server.log_bytes - log) * 60 / (time.perf_counter() - begun)
    print(
        f"{server.kind:4} {what:34} p50 {p50:7.1f} ms  p95 {p95:7.1f} ms  {len(took):5} requests, {failed} failed, "
        f"log {per_minute:,.0f} bytes a minute",
        flush=True,
    )


@contextlib.contextmanager
def holding(server: Server, count: int, sent: bytes, slow: bytes = b"") -> Iterator[Any]:
    """Hold connections open until the block ends; gives the number that was opened."""
    opened, end = multiprocessing.Value("i", 0), multiprocessing.Event()
    process = multiprocessing.Process(target=hold, args=(server.port, count, sent, slow, opened, end), daemon=True)
    process.start()
    while opened.value < count:
        time.sleep(0.05)
    server.ask(patience=60.0)  # answered when the server has taken the others in
    try:
        yield opened
    finally:
        end.set()
        process.join()


def bench_connections(kind: str, held: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(kind, Path(folder))
        try:
            for _ in range(20):
                server.ask()
            measure(server, seconds, "alone")
            cases: list[tuple[str, bytes, bytes]] = [
                ("half a head", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ", b""),
                ("half a body", server.half_body.encode(), b""),
                ("nothing", b"", b""),
                ("a byte of the head a second", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"a"),
                ("a byte of the body a second", server.half_body.encode(), b" "),
            ]
            if kind == "web":
                request = {"game": "treasure-hunt", "agent": "random", "steps": 100_000, "delay": 0.5}
                play = server.post("/api/plays", request)
                path = f"/api/plays/{play['id']}/events"
                cases.append(
                    ("streams that nobody reads", f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), b"")
                )
            for what, sent, slow in cases:
                with holding(server, held, sent, slow) as opened:
                    measure(server, seconds, f"{what}: {held} held")
                    print(f"     (opened {opened.value} times)")
            measure(server, seconds, "afterwards")
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            [most] = re.findall(r"VmHWM.*", status)
            with holding(server, held, cases[0][1]):
                print(f"     Ctrl-C with {held} held: {server.stop():.1f} s; {most}")
        finally:
            if server.process.poll() is None:
                server.process.kill()


def paragraphs(size: int) -> str:
    """Return a text of some bytes in plain English, in which no two sentences are the same."""
    parts: list[str] = []
    length = number = 0
    while length < size:
        part = (
            f"Anna{number} lives in Rome{number % 97}. She works for Acme{number % 13} and has {number} books. "
            f"Her brother Ivan{number} moved to Oslo{number % 31} in May, since the river Tiber{number} had risen.\n\n"
        )
        parts.append(part)
        length += len(part)
        number += 1
    return "".join(parts)[:size]


def bench_text(size: int, embedder: str | None, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        holds = Path(folder) / "holds"
        server = Server("mcp", Path(folder), embedder, holds)
        ended = threading.Event()

        def remember() -> None:
            call = {"name": "remember", "arguments": {"text": paragraphs(size), "at": 1}}
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):  # the server may be stopped
                server.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
            ended.set()

        begun = time.perf_counter()
        threading.Thread(target=remember, daemon=True).start()
        waits = longest_waits(server.memory, lambda: ended.is_set() or time.perf_counter() - begun > seconds)
        took = time.perf_counter() - begun
        is_whole = ended.is_set()
        stopped = server.stop()
        with Memory(server.memory, readonly=True, model="none") as memory:
            passages = memory.stats()["episodes"] - len(waits) - 1
        p50, p95 = np.percentile(waits, (50, 95))
        print(
            f"a text of {size:,} bytes: {passages} passages in {took:.0f} s ({'all' if is_whole else 'not all'}); "
            f"another process wrote {len(waits)} times and waited {p50:.3f} s in the median, {p95:.3f} s at the 95th "
            f"percentile, {max(waits):.3f} s at most; the server stopped within {stopped:.1f} s"
        )
        lines = [line.split(maxsplit=2) for line in holds.read_text().splitlines()]
        print(f"the server held the file {len(lines)} times, the longest:")
        for wall, processor, calls in sorted(lines, key=lambda line: -float(line[0]))[:5]:
            print(f"     {float(wall):.3f} s, of which {float(processor):.3f} s on the processor: {calls.strip()}")


def longest_waits(path: Path, is_over: Callable[[], bool]) -> list[float]:
    """Write to a file again and again, as another process does, and return how long each change took."""
    waits: list[float] = []
    with Memory(path, wait=3600.0, model="none", embedder="fake") as memory:
        memory.share_file()
        memory.record.add(Episode("the first change loads modules", 0.0))
        while not is_over():
            start = time.perf_counter()
            try:
                memory.record.add(Episode(f"meanwhile {len(waits)}", float(len(waits))))
            except StoreLockedError as error:
                raise SystemExit(f"the other process was kept out: {error}") from error
            waits.append(time.perf_counter() - start)
            time.sleep(0.01)
    return waits


def main() -> None:
    if sys.argv[1:2] == ["--record-holds"]:  # a server of this program
        record_holds(Path(sys.argv[2]), sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=("mcp", "web", "both"), default="both")
    parser.add_argument("--held", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--text-bytes", type=int, default=2_000_000)
    parser.add_argument("--text-seconds", type=float, help="stop the server in the middle of the text after so long")
    parser.add_argument("--embedder", help="for the text, such as fake; the default is the default embedder")
    options = parser.parse_args()
    print(f"load of the machine at the start: {os.getloadavg()}, {os.cpu_count()} processors")
    if options.held:
        for kind in ("mcp", "web") if options.server == "both" else (options.server,):
            bench_connections(kind, options.held, options.seconds)
    if options.text_bytes:
        bench_text(options.text_bytes, options.embedder, options.text_seconds or math.inf)
    print(f"load of the machine at the end: {os.getloadavg()}")


if __name__ == "__main__":
    main()
