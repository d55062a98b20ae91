"""The page of one memory, behind the tokens of the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread import Memory

pytestmark = [pytest.mark.serve, pytest.mark.web]


def test_the_page_opens_for_tokens_of_its_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.testclient import TestClient

    from worldthread.service import pages
    from worldthread.service.app import create_app
    from worldthread.service.clients import ClientDirectory, add_client, revoke_client
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.state import Service
    from worldthread.support.server_access import Access
    from worldthread.web.app_state import namespace_key
    from worldthread.web.assets import Asset

    shown = {name: Asset(b"<html>the page</html>", "text/html", '"1"') for name in ("memory.html", "app.css")}
    monkeypatch.setattr(pages, "read_assets", lambda: shown)
    with Memory(tmp_path / "m", namespace="anna", model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)
    with Memory(tmp_path / "m", namespace="bob", model="none", embedder="fake") as memory:
        memory.remember("Bob lives in Oslo.", at=1)
    monkeypatch.setenv("WORLDTHREAD_MODEL", "ollama/some-model")
    clients = tmp_path / "clients.toml"
    anna = add_client(clients, "anna", ["anna"], writes=True)
    bob = add_client(clients, "bob", ["bob"], writes=True)
    directory = ClientDirectory(clients)
    access = Access.for_service("127.0.0.1", 1, needs_names=True)
    page, state = pages.page_app(tmp_path / "m", access, directory, "anna", embedder="fake")
    memories = ServiceMemories(tmp_path / "m", model="none", embedder="fake")
    with state, TestClient(create_app(Service(memories, directory), page=page), "http://127.0.0.1") as client:
        for token in (bob, "x", ""):
            refused = client.get("/", params={"token": token}, headers={"accept": "text/html"})
            assert (refused.status_code, "the page" in refused.text) == (401, False)
            assert client.get("/api/memories/file", headers={"authorization": f"Bearer {token}"}).status_code == 401
        assert "the page" in client.get("/", params={"token": anna}).text
        assert client.get("/api/memories/file").json()["counts"]["texts"] == 1  # by its cookie
        assert client.post("/api/memories/file/forget", json={"ids": ["x"]}).status_code == 403
        # the other memories of the file, and the model of the environment, are not for this page
        assert [one["key"] for one in client.get("/api/memories").json()["memories"]] == ["file"]
        assert client.get(f"/api/memories/{namespace_key('bob')}").status_code == 404
        assert client.get(f"/api/memories/{namespace_key('bob')}/work").status_code == 404
        assert client.get("/api/about").json()["model"] == ""
        for path in ("/runs", "/play", "/api/runs", "/api/plays"):
            assert client.get(path).status_code == 404
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421
        # the cookie opens no API, and the API answers beside the page
        assert client.get("/v1/namespaces").status_code == 401
        assert client.get("/v1/namespaces", headers={"authorization": f"Bearer {bob}"}).status_code == 200
        revoke_client(clients, "anna")
        assert client.get("/api/memories/file").status_code == 401
