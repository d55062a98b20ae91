"""Servers as a client meets them: in a process of their own, over both transports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TOKEN = "a-token-of-the-tests-0123456789"


@dataclass
class HttpServer:
    """A running server over HTTP."""

    process: subprocess.Popen[str]
    url: str
    output: str
    """What it printed on standard error before it served."""

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url)[1])


Connect = Callable[..., AbstractAsyncContextManager[Any]]


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WORLDTHREAD_")}
    return {**kept, "WORLDTHREAD_EMBEDDER": "fake", **more}


def command(memory: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "worldthread", "mcp", "--memory", str(memory), *options]


@pytest.fixture
def start() -> Iterator[Callable[..., HttpServer]]:
    """Starts servers over HTTP, and ends those that are left."""
    processes: list[subprocess.Popen[str]] = []

    def started(memory: Path, *options: str, token: str | None = TOKEN) -> HttpServer:
        process = subprocess.Popen(
            command(memory, "--http", "--port", "0", *options),
            env=environment(**({"WORLDTHREAD_MCP_TOKEN": token} if token else {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        output = ""
        while "\n}\n" not in output:  # the configuration is printed last
            line = process.stderr.readline()
            assert line, f"the server ended: {output}"
            output += line
        return HttpServer(process, re.search(r"http://\S+/mcp", output)[0], output)

    yield started
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@asynccontextmanager
async def over_http(url: str, token: str | None = TOKEN, mode: str = "auto") -> AsyncIterator[Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=600) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(memory: Path, *options: str, mode: str = "auto") -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    line = command(memory, *options)
    parameters = StdioServerParameters(command=line[0], args=line[1:], env=environment())
    # the SDK takes `sys.stderr` of the moment when it is imported, which in a test that captures it is no file
    transport = stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)
    async with Client(transport, mode=mode) as client:
        yield client


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, start: Callable[..., HttpServer]) -> Connect:
    """A client of a new server on a file, over one of the transports."""

    @asynccontextmanager
    async def connected(memory: Path, *options: str, mode: str = "auto") -> AsyncIterator[Any]:
        if request.param == "stdio":
            async with over_stdio(memory, *options, mode=mode) as client:
                yield client
        else:
            async with over_http(start(memory, *options).url, mode=mode) as client:
                yield client

    return connected
