"""Who is served, and what every answer bears."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.support.server_access import WrongTokens

pytestmark = pytest.mark.web

TOKEN = "a-token-of-the-tests-0123456789"
PATHS = ["/", "/runs", "/play", "/api/about", "/api/memories", "/api/memories/file/graph", "/static/memory.html"]


@pytest.fixture
def guarded(serve: Callable[..., Any], home_memory: Path) -> Any:
    return serve(home_memory, token=TOKEN)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_told_without_the_token(guarded: Any, path: str) -> None:
    answer = guarded.get(path)
    assert answer.status_code == 401
    assert answer.json()["error"]["kind"] == "TokenWanted"
    assert guarded.get(path, headers={"authorization": f"Bearer {TOKEN}x"}).status_code == 401
    assert guarded.get(path, headers={"authorization": f"Basic {TOKEN}"}).status_code == 401
    assert guarded.get(path, headers={"cookie": f"worldthread-8766={TOKEN}"}).status_code == 401
    assert guarded.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_wrong_tokens_are_logged_but_not_with_every_request(guarded: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert guarded.get("/runs").status_code == 401
    assert caplog.messages == []  # no token is not a wrong one
    for number in range(5):
        assert guarded.get("/runs", headers={"authorization": f"Bearer wrong{number}"}).status_code == 401
        assert guarded.get(f"/runs?token=guess{number}").status_code == 401
    [message] = caplog.messages
    assert message.startswith("wrong token: 1 requests since the last such line, the last one from ")
    assert "wrong0" not in message


@pytest.mark.parametrize("scope", [{"client": ("10.0.0.7", 5000)}, {"client": None}, {}])
def test_wrong_tokens_are_counted_between_lines(scope: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    tokens = WrongTokens(lambda: now)
    sender = "10.0.0.7" if scope.get("client") else "an unknown address"
    for _ in range(7):
        tokens.note(scope)
    now = 161.0
    tokens.note(scope)
    assert [message.split(": ")[1] for message in caplog.messages] == [
        f"{count} requests since the last such line, the last one from {sender}" for count in (1, 7)
    ]


def test_what_a_header_claims_of_the_sender_cannot_steer_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    WrongTokens().note({"client": ("1.2.3.4\x9b2J\x85\x1b[2J", 1)})
    [message] = caplog.messages
    assert message.endswith(r"the last one from 1.2.3.4\x9b2J\x85\x1b[2J")


def test_a_person_is_asked_for_the_token_by_a_page_that_needs_no_script(guarded: Any) -> None:
    asked = guarded.get("/runs", headers={"accept": "text/html"})
    assert asked.status_code == 401
    assert 'type="password"' in asked.text
    assert "<script" not in asked.text
    assert guarded.get("/static/app.css").status_code == 200  # its looks alone


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(guarded: Any) -> None:
    answer = guarded.get(f"/runs?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/api/memories").status_code == 200  # the client keeps cookies


def test_the_form_takes_the_token_too(guarded: Any) -> None:
    assert guarded.post("/login", data={"token": "wrong"}).status_code == 401
    assert guarded.post("/login", data={"token": TOKEN}).status_code == 303
    assert guarded.get("/").status_code == 200


def test_no_address_of_others_can_be_redirected_to(guarded: Any) -> None:
    location = guarded.get(f"//evil.example/x?token={TOKEN}").headers.get("location", "/")
    assert location.startswith("/")
    assert not location.startswith("//")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8766", "127.0.0.1.evil.example", "", "[::1"])
def test_other_names_are_refused(home: Any, host: str) -> None:
    answer = home.get("/api/memories", headers={"host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["kind"] == "UnknownHost"


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1:1", "[::1]:8766"])
def test_names_of_this_machine_are_served_at_any_port(home: Any, host: str) -> None:
    assert home.get("/api/memories", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_posts_from_other_pages_are_refused(home: Any, headers: dict[str, str]) -> None:
    answer = home.post("/api/plays", json={"game": "tiny"}, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["kind"] == "ForeignPage"


def test_scripts_of_other_pages_read_nothing_and_links_lead_here(home: Any) -> None:
    foreign = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert home.get("/api/memories", headers=foreign).status_code == 403
    assert home.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


def test_every_answer_bears_a_strict_policy(guarded: Any) -> None:
    answers = [guarded.get("/"), guarded.get("/nothing"), guarded.get("/", headers={"host": "evil.example"})]
    answers.append(guarded.get("/", headers={"authorization": f"Bearer {TOKEN}"}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers


def test_long_bodies_are_refused(home: Any) -> None:
    assert home.post("/api/plays", content=b"x" * 100_000).status_code == 413


def test_files_for_browsers_are_kept_by_their_tag(home: Any) -> None:
    tag = home.get("/static/app.css").headers["etag"]
    assert home.get("/static/app.css", headers={"if-none-match": tag}).status_code == 304


def test_what_is_not_safe_is_refused_at_the_start() -> None:
    from worldthread.support.server_access import Access

    assert Access.for_web("127.0.0.1", 1).token is None
    assert len(Access.for_web("192.0.2.1", 1).token or "") > 30
    with pytest.raises(InputError, match="--allow-host"):
        Access.for_web("0.0.0.0", 1, token=TOKEN)
    for token in ("", "two words", "schlüssel"):
        with pytest.raises(InputError, match="printable ASCII"):
            Access.for_web("127.0.0.1", 1, token=token)
    assert TOKEN not in repr(Access.for_web("127.0.0.1", 1, token=TOKEN))


def test_pages_that_were_not_built_are_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from worldthread.web import assets

    package = tmp_path / "checkout" / "src" / "worldthread" / "web"
    monkeypatch.setattr(assets, "files", lambda _: package)
    with pytest.raises(InputError, match=r"`make web`.* and then again: pip install"):
        assets.read_assets()
    (tmp_path / "checkout" / "frontend").mkdir(parents=True)
    (tmp_path / "checkout" / "frontend" / "build.mjs").touch()
    with pytest.raises(InputError, match=r"`make web` in .*/checkout") as told:
        assets.read_assets()
    assert "pip install" not in str(told.value)


def test_without_the_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from worldthread.cli.main import app
    from worldthread.errors import MissingExtraError

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["web"])
    assert result.exit_code == 2
    assert not isinstance(result.exception, MissingExtraError)
    assert "pip install " in result.stderr
    assert "[web]'" in result.stderr
