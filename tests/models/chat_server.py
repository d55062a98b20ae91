"""A small HTTP server that speaks OpenAI's chat protocol, well or badly, as a test tells it to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server does with one request.

    Args:
        text: the answer, when the status is 200.
        status: another one comes with ``error`` as its body.
        error: the object under ``"error"``.
        body: sent as it is, in place of an answer or an error.
        headers: added to the response.
        delay: seconds to wait first.
        drop: whether to close the connection without a word.
        message: more fields of the answer's message.
        finish_reason: why the answer ended.
    """

    text: str | None = ""
    status: int = 200
    error: Any = field(default_factory=lambda: {"message": "no luck"})
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    message: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str = "stop"


def kind_of_format(body: Mapping[str, Any]) -> str:
    """How a request hands over its schema: ``"none"`` when it has no ``response_format``."""
    wanted = body.get("response_format", {"type": "none"})
    return str(wanted["type"]) + ("_schema" if "schema" in wanted else "")


class ChatServer:
    """Answers the replies of ``script`` in order, then ``default`` for ever. A context manager.

    Attributes:
        script: replies still to come; a function makes one from the request's body.
        refuses: the status with which each kind of ``response_format`` is turned down, before the script is asked.
        requests: bodies that came, in order.
        headers: headers that came, in order, with names in lower case.
        times: when they came, in seconds of the monotonic clock.
        busiest: the most requests that were being answered at once.
    """

    def __init__(self, *script: Reply, default: Reply | Callable[[dict[str, Any]], Reply] | None = None) -> None:
        self.script = list(script)
        self.default = default or Reply("pong")
        self.refuses: dict[str, int] = {}
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Tests need no log."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def formats(self) -> list[str]:
        """Kinds of ``response_format`` that came, in order."""
        return [kind_of_format(body) for body in self.requests]

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.requests.append(body)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self.times.append(time.monotonic())
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
            reply = self._choose(handler.path, body)
        time.sleep(reply.delay)
        with self._lock:
            self._busy -= 1
        if reply.drop:
            handler.close_connection = True
            return
        self._send(handler, reply, body)

    def _choose(self, path: str, body: dict[str, Any]) -> Reply:
        kind = kind_of_format(body)
        if path != "/v1/chat/completions":
            return Reply(status=404, error={"message": f"no such path: {path}"})
        if kind in self.refuses:
            return Reply(status=self.refuses[kind], error={"message": f"response_format {kind} is not supported"})
        if self.script:
            return self.script.pop(0)
        return self.default(body) if callable(self.default) else self.default

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply, body: Mapping[str, Any]) -> None:
        content = reply.body
        if content is None:
            answer = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"] + "-2026",
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": reply.text, **reply.message},
                        "finish_reason": reply.finish_reason,
                    }
                ],
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 3,
                    "total_tokens": 13,
                    "prompt_tokens_details": {"cached_tokens": 4},
                },
            }
            content = json.dumps(answer if reply.status == 200 else {"error": reply.error}).encode()
        try:
            handler.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True  # the client did not wait
