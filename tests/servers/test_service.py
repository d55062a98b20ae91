"""Two services on one PostgreSQL server: the same memory, an episode once, and a server that is killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from worldthread import Memory

pytest.importorskip("fastapi")
pytestmark = [pytest.mark.servers, pytest.mark.postgres, pytest.mark.serve]

TOKEN = "a-token-of-the-tests-0123456789"
PATH = "/v1/namespaces/anna"


@pytest.fixture
def serve() -> Iterator[Callable[[str], Any]]:
    """Starts services in this process, and returns a client of each."""
    from starlette.testclient import TestClient

    from worldthread.service.app import create_app
    from worldthread.service.clients import ClientDirectory
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.state import Service
    from worldthread.support.server_access import Client, token_digest

    with ExitStack() as stack:

        def started(address: str) -> Any:
            memories = ServiceMemories(address, model="none", embedder="fake", first="anna")
            names = ("anna", *(f"n{number}" for number in range(6)))
            service = Service(memories, ClientDirectory([Client("anna", token_digest(TOKEN), names)]))
            headers = {"authorization": f"Bearer {TOKEN}"}
            return stack.enter_context(TestClient(create_app(service), headers=headers))

        yield started


def test_services_on_one_server_are_one_memory(address: str, serve: Callable[[str], Any]) -> None:
    one, other = serve(address), serve(address)
    body, headers = {"text": "Anna lives in Rome.", "user": "anna"}, {"idempotency-key": "k"}
    assert one.post(f"{PATH}/remember", json=body, headers=headers).json()["added"] == 1
    again = other.post(f"{PATH}/remember", json=body, headers=headers)
    assert (again.json()["added"], again.headers["idempotency-replayed"]) == (0, "true")
    assert other.post(f"{PATH}/ask", json={"question": "Where does Anna live?"}).json()["answer"] == "Rome"
    for number in range(6):  # spread over several connections
        client, reader = (one, other) if number % 2 else (other, one)
        client.post(f"/v1/namespaces/n{number}/remember", json={"text": f"Bob met P{number}.", "at": 1})
        assert f"p{number}" in reader.get(f"/v1/namespaces/n{number}/entities").json()["entities"]
    exported = one.post(f"{PATH}/export", json={}).content
    sent = other.post("/v1/namespaces/n0/import", content=exported, headers={"content-type": "application/x-ndjson"})
    while (job := other.get(sent.headers["location"]).json())["ended"] is None:
        time.sleep(0.05)  # more often would be too often for its rate
    assert job["result"] == {"added": 1, "known": 0}
    assert one.post(f"{PATH}/forget", json={"where": {"user": "anna"}}).json()["forgotten"] == 1
    assert other.get(PATH).json()["counts"]["episodes"] == 0
    with Memory(address, namespace="n0", readonly=True, model="none", embedder="fake") as memory:
        assert len(list(memory.episodes())) == 2


def test_a_lost_server_is_said_and_work_goes_on(own_server: Any, serve: Callable[[str], Any]) -> None:
    client = serve(own_server.new_address())
    assert client.post(f"{PATH}/remember", json={"text": "Anna lives in Rome.", "at": 1}).json()["added"] == 1
    own_server.kill()
    own_server.start()
    assert client.post(f"{PATH}/remember", json={"text": "Anna moved to Paris.", "at": 2}).status_code in (200, 503)
    assert client.get("/ready").status_code == 200
    assert client.post(f"{PATH}/remember", json={"text": "Anna moved to Paris.", "at": 2}).status_code == 200
    texts = [one["text"] for one in client.post(f"{PATH}/episodes", json={}).json()["episodes"]]
    assert texts == ["Anna lives in Rome.", "Anna moved to Paris."]
