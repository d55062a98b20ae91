"""Runs an HTTP server that clients cannot block by holding connections open.

uvicorn serves the requests. It keeps a connection for as long as the client takes to send its request or to read the
answer, and once the process has no file descriptor left, nobody else can connect. Here the number of connections is
limited: where one too many is opened, the oldest whose client has to act is closed. Requests and the reading of answers
have time limits too.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import os
import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, cast

import h11
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

Phase: TypeAlias = Literal["head", "body", "reading", "closing"]
"""What a connection waits for its client to do: send a head or a body, read an answer, or read the rest of it."""

_KEPT_BYTES: Final = 32_768  # of a head or a body, before it is handed on
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_CONTENT_LENGTH: Final = re.compile(rb"\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*\r?\n", re.IGNORECASE)
_EXPECTATION: Final = re.compile(rb"\n(?:expect|transfer-encoding):", re.IGNORECASE)
_MOST_FILES: Final = 8192  # open files that the process asks for: more would serve nobody
_QUEUE: Final = 2048  # connections that wait in the kernel to be accepted
_CLOSED_AT_ONCE: Final = 200  # connections whose clients take too long, in one second
_SWEEP_TICKS: Final = 10  # of a tenth of a second
_LOG_SECONDS: Final = 60.0
_IDLE_SECONDS: Final = 5
_MOST_HEAPS_OPTION: Final = -8  # M_ARENA_MAX in malloc.h of glibc

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections a server keeps, and how long it waits for their clients.

    Args:
        connections: the most connections at a time.
        head_seconds: the longest wait for the head of a request, also for its first byte.
        body_seconds: the longest wait for the body of a request, to which one second is added for each
            ``body_bytes_per_second`` that have arrived.
        body_bytes_per_second: the slowest rate of a body.
        reading_seconds: the longest wait for a client that does not read its answer.
        closing_seconds: the longest wait for a client to read the rest of its answer after the server has closed the
            connection.
    """

    connections: int = 4096
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    body_bytes_per_second: float = 10_000.0
    reading_seconds: float = 30.0
    closing_seconds: float = 10.0

    def seconds(self, phase: Phase, received: int) -> float:
        """Return how long a connection may stay in a phase in which it has received so many bytes."""
        if phase == "body":
            return self.body_seconds + received / self.body_bytes_per_second
        return {"head": self.head_seconds, "reading": self.reading_seconds, "closing": self.closing_seconds}[phase]


class Connections:
    """The open connections of a server. Used by the thread of the event loop only.

    Args:
        limits: how many there may be, and how long they may take.
        clock: gives the time in seconds.
    """

    def __init__(self, limits: ConnectionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._open: set[Connection] = set()
        self._waiting: OrderedDict[Connection, tuple[Phase, float]] = OrderedDict()  # the longest wait comes first
        self._closed = 0  # to make room, since the last message about it
        self._logged = -_LOG_SECONDS

    def __len__(self) -> int:
        """Return the number of open connections."""
        return len(self._open)

    def add(self, connection: Connection) -> None:
        """Add a new connection, and close one if there are too many now."""
        self._open.add(connection)
        self.update(connection)
        if len(self._open) > self._limits.connections:
            # a new connection waits itself: it is the one that is closed if all others are being served
            oldest = next(iter(self._waiting), connection)
            self._closed += 1
            self._abort(oldest)

    def update(self, connection: Connection) -> None:
        """Look at what a connection waits for now."""
        if connection not in self._open:
            return
        phase = connection.phase()
        before = self._waiting.get(connection)
        if before is not None and before[0] == phase and not connection.has_begun_anew:
            return
        self._waiting.pop(connection, None)
        connection.has_begun_anew = False
        connection.received = 0
        if phase is not None:
            self._waiting[connection] = phase, self._clock()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self._waiting.pop(connection, None)

    def sweep(self) -> None:
        """Close the connections whose clients take too long, and log once a minute how many were closed for room."""
        for connection in list(self._open):
            self.update(connection)
        now = self._clock()
        late = (
            connection
            for connection, (phase, since) in list(self._waiting.items())
            if now - since > self._limits.seconds(phase, connection.received)
        )
        # clients that open theirs anew must not all come at once
        for connection in islice(late, _CLOSED_AT_ONCE):
            self._abort(connection)
        if self._closed and now - self._logged >= _LOG_SECONDS:
            _log.warning(
                "%d connections were closed before their requests were complete: more than %d were open",
                self._closed, self._limits.connections,
            )  # fmt: skip
            self._closed, self._logged = 0, now

    def abort_waiting(self) -> None:
        """Close every connection that waits for its client."""
        for connection in list(self._waiting):
            self._abort(connection)

    def abort_all(self) -> None:
        """Close every connection."""
        for connection in list(self._open):
            self._abort(connection)

    def _abort(self, connection: Connection) -> None:
        self.remove(connection)
        connection.transport.abort()


class Connection(H11Protocol):
    """One connection of uvicorn, which reports what it waits for.

    A request is handed on when its head and its body (or the beginning of a long one) have come, so that one that is
    never completed, or comes byte by byte, costs next to nothing.

    Args:
        connections: all connections of the server.
        options: what uvicorn passes.
    """

    def __init__(self, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._begun = bytearray()  # a request that is not handed on yet
        self._head_bytes = 0  # the length of its head; 0 while that is incomplete
        self._searched = 0  # so much of it holds no end of the head
        self._wanted_bytes = 0  # as many are handed on together
        self.received = 0
        """The bytes of the present phase."""
        self.has_begun_anew = False
        """Whether an answer was completed since the last update, so that the present phase belongs to a new request."""

    def phase(self) -> Phase | None:
        """Return what this connection waits for its client to do; ``None`` while the server has to act."""
        if self.transport.is_closing():
            return "closing"
        if self.flow.write_paused:
            return "reading"
        if self.conn.their_state is h11.IDLE:
            return "body" if self._head_bytes else "head"
        # a body that the application does not take yet is not late
        return "body" if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused else None

    def connection_made(self, transport: Any) -> None:
        """Take up a new connection."""
        super().connection_made(transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up a connection that is closed."""
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client has sent, and hand a request on when it is complete or long."""
        self.received += len(data)
        if self._begun or (self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]):
            self._unset_keepalive_if_required()
            self._begun += data
            had_head = self._head_bytes > 0
            if not self._is_enough():
                if had_head == (self._head_bytes > 0):
                    return  # it waits for what it waited for
            else:
                complete = bytes(self._begun)
                self._begun.clear()
                self._head_bytes = 0
                super().data_received(complete)
        else:
            super().data_received(data)
        self._connections.update(self)

    def _is_enough(self) -> bool:
        """Return whether to hand on what has come of a request."""
        if not self._head_bytes:
            # the end of the head may lie across two pieces; only the new one has to be searched
            end = _HEAD_END.search(self._begun, max(0, self._searched - 3))
            self._searched = len(self._begun)
            if end is None:
                return len(self._begun) > _KEPT_BYTES
            self._searched = 0
            self._head_bytes = end.end()
            head = bytes(self._begun[: self._head_bytes])
            length = _CONTENT_LENGTH.search(head)
            # who expects an answer before the body, or sends it in chunks, is left to h11
            is_plain = length is not None and not _EXPECTATION.search(head)
            body = min(int(length[1]), _KEPT_BYTES) if length is not None and is_plain else 0
            self._wanted_bytes = self._head_bytes + body
        return len(self._begun) >= self._wanted_bytes

    def on_response_complete(self) -> None:
        """Prepare for the next request."""
        self.has_begun_anew = True
        super().on_response_complete()
        self._connections.update(self)

    def pause_writing(self) -> None:
        """Note that the client does not read as fast as the server writes."""
        super().pause_writing()
        self._connections.update(self)

    def resume_writing(self) -> None:
        """Note that the client has read."""
        super().resume_writing()
        self._connections.update(self)


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, connections: Connections, listening: socket.socket, stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._connections = connections
        self._listening = listening
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.listen(_QUEUE)  # asyncio has set it to what it accepts at once

    async def on_tick(self, counter: int) -> bool:
        if counter % _SWEEP_TICKS == 0:
            self._connections.sweep()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        self._connections.abort_waiting()
        await super().shutdown(sockets)
        # requests that were cancelled would wait without end for clients that do not read
        self._connections.abort_all()


class RepeatedMessages(logging.Filter):
    """Lets one message in a minute through from each place in the code, and says how many it has left out.

    What clients send can make a server log: without a limit, they could fill the disk.

    Args:
        clock: gives the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._shown: dict[tuple[str, int, object], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to show a message."""
        place = record.pathname, record.lineno, record.exc_info[0] if record.exc_info else None
        now = self._clock()
        with self._lock:
            shown, left_out = self._shown.get(place, (-_LOG_SECONDS, 0))
            is_shown = now - shown >= _LOG_SECONDS
            self._shown[place] = (now, 0) if is_shown else (shown, left_out + 1)
        if is_shown and left_out:
            record.msg = f"{record.getMessage()} ({left_out} more messages like this were left out)"
            record.args = ()
        return is_shown


def run_server(
    app: ASGIApp,
    listening: socket.socket,
    *,
    shutdown_seconds: float,
    has_lifespan: bool,
    stopping: Callable[[], None] = lambda: None,
    limits: ConnectionLimits | None = None,
    idle_seconds: int | None = None,
) -> None:
    """Serve an application until a signal ends the process.

    Args:
        app: the application.
        listening: a socket from :func:`worldthread.support.server_access.listening_socket`; closed on return.
        shutdown_seconds: how long running requests may take when the server ends.
        has_lifespan: whether the application takes the events of its lifespan.
        stopping: called when the server begins to end, before it waits for running requests.
        limits: the limits of connections; ``None`` for those that fit this process.
        idle_seconds: how long a connection stays open between two requests; a client that sends one at the moment at
            which the server closes it gets an error. ``None`` for a few seconds.
    """
    _share_one_heap()
    files = _allowed_files()
    limits = limits or ConnectionLimits(
        min(ConnectionLimits.connections, max(1, files // 2)),
        head_seconds=max(ConnectionLimits.head_seconds, float(idle_seconds or 0)),
    )
    connections = Connections(limits)
    config = uvicorn.Config(
        _without_disconnections(app),
        # the constructor of a protocol: the annotation names its class
        http=cast("type[Any]", functools.partial(Connection, connections)),
        log_config=None,  # uvicorn's own configuration writes to standard output
        log_level="warning",
        access_log=False,
        server_header=False,
        # what a header claims of the sender and of TLS counts only if somebody said whose claims do
        proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
        ws="none",
        lifespan="on" if has_lifespan else "off",
        # asyncio accepts so many, a few times, before it looks at the first
        backlog=max(1, min(64, (files - limits.connections) // 8)),
        timeout_graceful_shutdown=cast("int", shutdown_seconds),  # a part of a second will do too
        timeout_keep_alive=_IDLE_SECONDS if idle_seconds is None else idle_seconds,
    )
    repeated = RepeatedMessages()
    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(repeated)
        handler.addFilter(_is_no_news_of_the_end)
    # what is loaded by now stays: full garbage collections, for which all requests wait, need not look at it
    gc.collect()
    gc.freeze()
    try:
        with listening:
            _Server(config, connections, listening, stopping).run(sockets=[listening])
    finally:
        gc.unfreeze()
        for handler in handlers:
            handler.removeFilter(repeated)
            handler.removeFilter(_is_no_news_of_the_end)


def _is_no_news_of_the_end(record: logging.LogRecord) -> bool:
    """Return whether a message says more than that requests were given up because the server ends."""
    if record.name != "uvicorn.error":
        return True
    is_cancelled = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not is_cancelled and "timeout graceful shutdown" not in record.getMessage()


def _share_one_heap() -> None:
    """Have all threads of this process allocate from one heap, where the C library is glibc.

    glibc gives each of the first ``8 * cores`` threads a heap of its own, and each keeps the memory that was once
    needed there. Python's lock lets one thread allocate at a time anyway, so separate heaps gain nothing.
    """
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(_MOST_HEAPS_OPTION, 1)


def _allowed_files() -> int:
    """Return how many files this process may open, after asking for more."""
    try:
        import resource
    except ImportError:  # not on Windows
        return _MOST_FILES
    soft, hard = (
        _MOST_FILES if limit == resource.RLIM_INFINITY else limit
        for limit in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    wanted = min(hard, _MOST_FILES)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            return wanted
    return soft


def _without_disconnections(app: ASGIApp) -> ASGIApp:
    """Return an application that ends without an error when its client is gone before the body was complete."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnect):
            await app(scope, receive, send)

    return serve
