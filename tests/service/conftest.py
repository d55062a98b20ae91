"""A service in this process, with three clients and three memories, and services in processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

TOKENS = {name: f"the-token-of-{name}-0123456789" for name in ("anna", "bob", "auditor", "nobody")}


@pytest.fixture
def tokens() -> dict[str, str]:
    """Tokens: ``anna`` opens anna and family, ``bob`` bob, ``auditor`` reads anna; ``nobody`` is not known."""
    return TOKENS


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts services, and returns a function that makes a client with the token of somebody."""
    from starlette.testclient import TestClient

    from worldthread.service.app import create_app
    from worldthread.service.clients import ClientDirectory
    from worldthread.service.limits import ServiceLimits
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.state import Service
    from worldthread.support.server_access import Client, token_digest

    with ExitStack() as stack:

        def started(*, mcp: bool = False, readonly: bool = False, most_open: int = 256, **limits: Any) -> Any:
            clients = [
                Client("anna", token_digest(TOKENS["anna"]), ("anna", "family")),
                Client("bob", token_digest(TOKENS["bob"]), ("bob",)),
                Client("auditor", token_digest(TOKENS["auditor"]), ("anna",), writes=False),
            ]
            memories = ServiceMemories(
                tmp_path / "m", model="none", embedder="fake", readonly=readonly, most_open=most_open, first="anna"
            )
            service = Service(memories, ClientDirectory(clients), ServiceLimits(**limits))
            app = create_app(service, mcp=mcp)
            # one of them runs the lifespan
            first = stack.enter_context(TestClient(app, raise_server_exceptions=False))

            def client_of(name: str | None) -> Any:
                first_or_new = TestClient(app, raise_server_exceptions=False)
                first_or_new.portal = first.portal
                if name is not None:
                    first_or_new.headers["authorization"] = f"Bearer {TOKENS[name]}"
                return first_or_new

            client_of.service = service  # type: ignore[attr-defined]
            return client_of

        yield started


class Process:
    """A service in a process of its own."""

    def __init__(self, folder: Path, *options: str, token: str | None = TOKENS["anna"]) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WORLDTHREAD_")}
        environment |= {"WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none"}
        environment |= {"WORLDTHREAD_SERVE_TOKEN": token} if token else {}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "worldthread", "serve", "--port", "0", *options],
            cwd=folder, env=environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.search(r"http://\S+?/", self.said)
        assert found, self.said + self.process.stderr.read()
        self.url = found[0]

    def headers(self, token: str = TOKENS["anna"]) -> dict[str, str]:
        """The header with a token."""
        return {"authorization": f"Bearer {token}"}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts services in processes, and ends those that are left."""
    started: list[Process] = []

    def make(*options: str, **more: Any) -> Process:
        started.append(Process(tmp_path, *options, **more))
        return started[-1]

    yield make
    for one in started:
        one.process.kill()
        one.process.wait()
        assert one.process.stderr is not None
        one.process.stderr.close()
