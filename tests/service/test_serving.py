"""Services in processes of their own: they end in order, and lose nothing that they acknowledged."""

from __future__ import annotations

import json
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory

pytestmark = pytest.mark.serve


def send(service: Any, path: str, body: Any = None, **headers: str) -> Any:
    """Send a request, and return the status and what it gave."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{service.url}{path}", data, service.headers() | {"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_what_is_acknowledged_survives_a_signal(start: Callable[..., Any], tmp_path: Path) -> None:
    """Clients write while the service is told to end: it ends by itself, and every answer was true."""
    service = start("--namespace", "anna", "--memory", "m", "--rate", "100000")
    assert service.headers()["authorization"].removeprefix("Bearer ") not in service.said
    assert send(service, "health")[1]["status"] == "ok"
    acknowledged: list[str] = []
    began = threading.Event()

    def write(number: int) -> None:
        for count in range(10_000):
            try:
                status, stored = send(service, "v1/namespaces/anna/remember", {"text": f"Anna met P{number}x{count}."})
            except OSError:  # it no longer listens
                return
            if status == 200:
                acknowledged.extend(stored["episodes"])
            began.set()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    assert began.wait(600)
    messages = [{"role": "Anna", "content": f"I met Q{number}."} for number in range(900)]
    job = send(service, "v1/namespaces/anna/remember?background=true", {"messages": messages, "at": 1})
    assert job[0] == 202
    service.process.send_signal(signal.SIGTERM)
    for writer in writers:
        writer.join()
    assert service.process.wait(60) == -signal.SIGTERM or service.process.returncode == 0
    with Memory(tmp_path / "m", namespace="anna", model="none", embedder="fake") as memory:  # the lock is free
        stored = {episode.id for episode in memory.episodes()}
    assert len(acknowledged) > 0
    assert set(acknowledged) <= stored


def test_new_users_get_a_token_and_advice(start: Callable[..., Any], tmp_path: Path) -> None:
    service = start(token=None)
    line = service.process.stderr.readline()
    token = line.rpartition(" ")[2].strip()
    request = urllib.request.Request(f"{service.url}v1/namespaces", headers={"authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["namespaces"] == [{"name": "default", "writes": True}]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{service.url}v1/namespaces")
    with refused.value:
        assert "Authorization: Bearer" in json.load(refused.value)["detail"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{service.url}runs")
    with refused.value:
        assert refused.value.code == 401


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--clients", "absent.toml"], "absent.toml cannot be read"),
        (["--clients", "absent.toml", "--token", "x" * 20], "leave out --token"),
        (["--host", "0.0.0.0", "--token", "short"], "could guess"),
        (["--page", "a", "--memory", "postgresql://db/x"], "needs a memory file"),
        (["token", "list"], "cannot be read"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(
    options: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from worldthread.cli.main import app

    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["serve", *options])
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())
