"""Who gets in: tokens that are missing, wrong, or of another memory see nothing and change nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from worldthread.errors import InputError, NotFoundError

pytestmark = pytest.mark.serve

SECRET = "the-secret-of-bob"
BODIES = {
    "remember": {"text": "Mallory lives here."},
    "recall": {"question": SECRET},
    "ask": {"question": SECRET},
    "about": {"entity": SECRET},
    "timeline": {"entity": SECRET},
    "statements": {},
    "episodes": {},
    "update": {"statement": "0" * 32},
    "correct": {"statement": "0" * 32},
    "merge": {"name": "a", "into": "b"},
    "forget": {"where": {}},
    "export": {},
    "mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "stats", "arguments": {}}},
}
WRITES = {"remember", "update", "correct", "merge", "forget", "import"}


def requests_of(namespace: str, job: str) -> list[tuple[str, str, Any]]:
    """Every request that the API knows, for one memory."""
    from worldthread.service.app import description

    found: list[tuple[str, str, Any]] = [("POST", f"/v1/namespaces/{namespace}/mcp", BODIES["mcp"])]
    for path, operations in description()["paths"].items():
        if "{namespace}" not in path:
            continue
        address = path.replace("{namespace}", namespace).replace("{job}", job).replace("{episode}", "0" * 32)
        for method in operations:
            found.append((method.upper(), address, BODIES.get(path.rsplit("/", 1)[-1])))
    return found


@pytest.mark.mcp
def test_no_token_opens_another_memory(serve: Callable[..., Any]) -> None:
    made = serve(mcp=True)
    bob = made("bob")
    sent = bob.post("/v1/namespaces/bob/remember?background=true", json={"text": f"Bob has {SECRET}.", "user": SECRET})
    job = sent.json()["id"]
    while bob.get(sent.headers["location"]).json()["ended"] is None:
        time.sleep(0.05)  # more often would be too often for its rate
    headers = {"accept": "application/json, text/event-stream"}
    requests = requests_of("bob", job)
    assert len(requests) >= 21
    before = bob.get("/v1/namespaces/bob").json()
    for name, status in (("anna", 403), ("auditor", 403), ("nobody", 401), (None, 401)):
        client = made(name)
        for method, address, body in requests:
            answer = client.request(method, address, json=body, headers=headers)
            assert answer.status_code == status, (name, method, address)
            assert SECRET not in answer.text + str(answer.headers)
            assert answer.headers["content-type"] == "application/problem+json"
        for other in ("%62ob", "bob%2f", "anna%2f..%2fbob", "./bob", "anna/../bob", "bob%00", "BOB", " bob"):
            answer = client.post(f"/v1/namespaces/{other}/recall", json=BODIES["recall"])
            assert answer.status_code in (status, 404), (name, other)
            assert SECRET not in answer.text
    for path in ("/v1/namespaces", "/metrics"):
        assert made(None).get(path).status_code == 401
        assert "bob" not in made("anna").get(path).text
    # what is in a memory that nobody has is refused just as what is in one that somebody has
    theirs = made("anna").get("/v1/namespaces/bob").json()
    assert made("anna").get("/v1/namespaces/nothing").json() == theirs
    # jobs are of their memory
    assert made("anna").get(f"/v1/namespaces/anna/jobs/{job}").status_code == 404
    assert bob.get("/v1/namespaces/bob").json() == before
    assert {one["name"] for one in made("anna").get("/v1/namespaces").json()["namespaces"]} == {"anna", "family"}


@pytest.mark.mcp
def test_a_token_that_reads_does_not_write(serve: Callable[..., Any]) -> None:
    made = serve(mcp=True)
    made("anna").post("/v1/namespaces/anna/remember", json={"text": "Anna lives in Rome.", "at": 1})
    auditor = made("auditor")
    for method, address, body in requests_of("anna", "x"):
        kind = address.rsplit("/", 1)[-1]
        answer = auditor.request(method, address, json=body, headers={"accept": "application/json, text/event-stream"})
        if kind in WRITES or kind == "cancel":
            assert (answer.status_code, "only reads" in answer.json()["detail"]) == (403, True), address
        else:
            assert answer.status_code in (200, 404), address
    call = BODIES["mcp"] | {"params": {"name": "remember", "arguments": {"text": "x"}}}
    headers = {"accept": "application/json, text/event-stream"}
    result = auditor.post("/v1/namespaces/anna/mcp", json=call, headers=headers).json()["result"]
    assert result["isError"]
    assert "only reads" in json.dumps(result)
    result = made("anna").post("/v1/namespaces/anna/mcp", json=call, headers=headers).json()["result"]
    assert result["structuredContent"]["added"] == 1
    assert made("anna").get("/v1/namespaces/anna").json()["counts"]["episodes"] == 2


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic {}", "Bearer {}x", "Bearer x{}", "bearer {} x", "{}", "Bearer {}, Bearer {}"],
)
def test_only_the_exact_token_counts(header: str, serve: Callable[..., Any], tokens: dict[str, str]) -> None:
    client = serve()(None)
    answer = client.get("/v1/namespaces", headers={"authorization": header.replace("{}", tokens["anna"])})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Bearer realm="worldthread"')
    assert tokens["anna"] not in answer.text
    assert client.get("/v1/namespaces", params={"token": tokens["anna"]}).status_code == 401
    for path in ("/health", "/ready", "/openapi.json"):
        assert client.get(path).status_code == 200


def test_clients_are_limited(serve: Callable[..., Any]) -> None:
    made = serve(rate=0.001, burst=3, body_bytes=100, remember_bytes=1000, import_bytes=50)
    client = made("anna")
    assert [client.get("/v1/namespaces").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = client.get("/v1/namespaces")
    assert int(refused.headers["retry-after"]) > 100
    assert made("bob").get("/v1/namespaces").status_code == 200  # others are not
    client = serve(body_bytes=100, remember_bytes=1000, import_bytes=50)("anna")
    path = "/v1/namespaces/anna"
    assert client.post(f"{path}/remember", json={"text": "x" * 500}).status_code == 200
    headers = {"content-type": "application/x-ndjson"}
    for kind, size, more in (("recall", 200, {}), ("remember", 2000, {}), ("import", 60, headers)):
        for content in (b"x" * size, iter([b"x"] * size)):  # with a length, and in chunks
            refused = client.post(f"{path}/{kind}", content=content, headers=more)
            assert refused.status_code == 413, kind
            assert "bytes" in refused.json()["detail"]
    gzipped = client.post(f"{path}/recall", content=b"x", headers={"content-encoding": "gzip"})
    assert gzipped.status_code == 415


def test_too_many_requests_at_a_time_are_sent_away(serve: Callable[..., Any]) -> None:
    client = serve(requests=0)("anna")
    refused = client.get("/v1/namespaces")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert client.get("/health").status_code == 200
    text = serve()("anna").get("/metrics").text
    assert 'worldthread_info{version="' in text
    assert "worldthread_requests_total" in text


def test_metrics_name_routes_and_nobody(serve: Callable[..., Any]) -> None:
    made = serve()
    made("anna").post("/v1/namespaces/anna/remember", json={"text": "Anna lives in Rome.", "user": "somebody"})
    made("nobody").request("BREW", "/v1/namespaces/secret%20place")
    text = made("anna").get("/metrics").text
    line = 'worldthread_requests_total{method="POST",route="/v1/namespaces/{namespace}/remember",status="200"} 1.0'
    assert line in text
    assert "worldthread_added_episodes_total 1.0" in text
    assert re.search(r'method="other",route="other",status="401"} 1\.0', text)
    assert "anna" not in text
    assert "somebody" not in text
    assert "secret" not in text


def test_a_file_of_clients_is_made_changed_and_followed(tmp_path: Path) -> None:
    from worldthread.service.clients import ClientDirectory, add_client, revoke_client
    from worldthread.support.server_access import load_clients

    path = tmp_path / "clients.toml"
    anna = add_client(path, "anna", ["anna", 'the "Ännä"\t\x7f'.replace("\t", " ").replace("\x7f", "")], writes=True)
    bob = add_client(path, "bob", ["bob"], writes=False)
    assert path.stat().st_mode & 0o777 == 0o600
    assert anna not in path.read_text()
    directory = ClientDirectory(path)
    found = directory.client_of(anna)
    assert found is not None
    assert (found.namespaces, found.writes) == (("anna", 'the "Ännä" '), True)
    assert [client.writes for client in load_clients(path)] == [True, False]
    for wrong in ("x y", "", "a" * 65, "ä"):
        with pytest.raises(InputError, match="letters"):
            add_client(path, wrong, ["a"], writes=True)
    for namespace in ("a/b", "..", ".", "", "x" * 300, "a\x00"):
        with pytest.raises(InputError, match="namespace"):
            add_client(path, "carl", [namespace], writes=True)
    with pytest.raises(InputError, match="already"):
        add_client(path, "anna", ["anna"], writes=True)
    with pytest.raises(NotFoundError, match="anna, bob"):
        revoke_client(path, "carl")
    revoke_client(path, "anna")
    assert directory.client_of(anna) is None
    assert directory.client_of(bob) is not None
    revoke_client(path, "bob")
    assert directory.client_of(bob) is None
    carl = add_client(path, "carl", ["carl"], writes=True)
    assert directory.client_of(carl) is not None
    path.chmod(0o644)  # nobody is let in by a file that others can read, or that is gone
    with pytest.raises(InputError, match="chmod 600"):
        directory.client_of(carl)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        directory.client_of(carl)


def test_the_log_says_why_a_file_of_clients_cannot_be_used(
    serve: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from worldthread.service.clients import add_client

    made = serve()
    client = made("anna")
    path = tmp_path / "clients.toml"
    add_client(path, "anna", ["anna"], writes=True)
    made.service.directory._path = path
    path.write_text("[anna]\n")
    refused = client.get("/v1/namespaces")
    assert (refused.status_code, "log" in refused.json()["detail"]) == (503, True)
    assert str(path) in caplog.text
    assert str(path) not in refused.text


def test_names_with_other_letters_have_addresses(serve: Callable[..., Any], tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from worldthread.service.app import create_app
    from worldthread.service.clients import ClientDirectory
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.state import Service
    from worldthread.support.server_access import Client, token_digest

    name, token = 'the notes of "Ännä" 100%?#', "x" * 20
    with pytest.raises(InputError, match="address"):
        ClientDirectory([Client("c", token_digest(token), ("a/b",))])
    with ServiceMemories(tmp_path / "other", model="none", embedder="fake") as memories:
        service = Service(memories, ClientDirectory([Client("c", token_digest(token), (name,))]))
        with TestClient(create_app(service), headers={"authorization": f"Bearer {token}"}) as client:
            path = f"/v1/namespaces/{quote(name, safe='')}"
            sent = client.post(f"{path}/remember?background=true", json={"text": "Anna lives in Rome."})
            assert sent.headers["location"].startswith(path)
            assert client.get(sent.headers["location"]).status_code == 200
            assert client.get(path).json()["namespace"] == name
