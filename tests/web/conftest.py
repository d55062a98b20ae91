"""A small memory, a server in this process behind its guard, servers in processes of their own, and a real browser."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from worldthread import Ending, Episode, Extraction, Fact, Memory, Thesis

HOME = "http://127.0.0.1:8766"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CHROMIUM_OPTIONS = [
    "--headless",
    "--no-sandbox",  # with its sandbox it does not start as root
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
BROWSER = os.environ.get("WORLDTHREAD_TEST_BROWSER", "chromium")
"""Drives the tests of the pages: ``chromium`` or ``firefox``."""
STATIC = Path(__file__).parents[2] / "src" / "worldthread" / "web" / "static"


@pytest.fixture(scope="session")
def home_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anna moves from Rome to Paris at 2; Rex is hers; an episode that ended something says why."""
    path = tmp_path_factory.mktemp("home") / "home.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        rome, paris = Fact("Anna", "lives in", "Rome", "home"), Fact("Anna", "lives in", "Paris", "home")
        rex = Fact("Anna", "has dog", "Rex")
        tea = Thesis("Anna loves tea.", ("Anna", "tea"))
        memory.record.add(
            Episode("Anna lives in Rome. She loves tea.", 1.0, "a letter", Extraction("given/1", (rome, tea)))
        )
        memory.record.add(Episode("Anna moved to Paris with Rex.", 2.0, "a call", Extraction("given/1", (paris, rex))))
        memory.record.add(
            Episode("Rex ran away.", 3.0, "a call", Extraction("given/1", (), (Ending(rex, "he ran away"),)))
        )
    return path


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes clients of servers: ``serve(memory, token=..., host=..., headers=...)``."""
    from starlette.testclient import TestClient

    from worldthread.support.server_access import Access
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState
    from worldthread.web.assets import Asset

    assets = {
        name: Asset(f"<title>{name}</title>".encode(), "text/html", f'"{name}"')
        for name in ("memory.html", "runs.html", "play.html", "app.css")
    }
    with ExitStack() as stack:

        def client(memory: Path, *, runs: Path | None = None, **access: Any) -> Any:
            app_state = stack.enter_context(AppState(memory, runs=runs or tmp_path / "runs", embedder="fake"))
            app = create_app(app_state, assets, Access.for_web(access.pop("host", "127.0.0.1"), 8766, **access))
            made = TestClient(app, base_url=HOME, follow_redirects=False)
            made.app_state = app_state
            return made

        yield client


@pytest.fixture
def home(serve: Callable[..., Any], home_memory: Path) -> Any:
    return serve(home_memory)


# -- in a real browser ------------------------------------------------------------------------------------------------


def lacking(what: str) -> None:
    """Skips a test of the browser; in CI, where the browser is installed beforehand, the test fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def _display() -> Iterator[str]:
    """A screen in memory: without one, Firefox draws no graphs."""
    if shutil.which("Xvfb") is None:
        lacking("needs Xvfb: scripts/system-packages")
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield f":{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Gives the browser that shows pages in a colour scheme: ``browser("dark")``."""
    path = {"chromium": CHROMIUM, "firefox": FIREFOX}[BROWSER]
    if path is None:
        lacking(f"needs {BROWSER}: scripts/system-packages")
    for package in ("playwright", *(("websockets",) if BROWSER == "firefox" else ())):
        if importlib.util.find_spec(package) is None:
            lacking(f"needs {package}: pip install {package}")
    from playwright.sync_api import sync_playwright

    launched: dict[str, Any] = {}
    with ExitStack() as stack:
        display = stack.enter_context(_display()) if BROWSER == "firefox" else ""
        playwright = stack.enter_context(sync_playwright())

        def launch(scheme: str = "light") -> Any:
            if BROWSER == "chromium":
                scheme = "any"  # each page says itself which scheme it wants
                if scheme not in launched:
                    launched[scheme] = playwright.chromium.launch(executable_path=path, args=CHROMIUM_OPTIONS)
            elif scheme not in launched:
                bridge = tmp_path_factory.mktemp("firefox") / "firefox"
                command = [sys.executable, str(Path(__file__).with_name("firefox_bridge.py")), path]
                bridge.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
                bridge.chmod(0o700)
                launched[scheme] = playwright.firefox.launch(
                    channel="moz-firefox",
                    executable_path=bridge,
                    headless=False,
                    env={**os.environ, "DISPLAY": display},
                    firefox_user_prefs={
                        "layout.css.prefers-color-scheme.content-override": int(scheme == "light"),
                        "webgl.force-enabled": True,  # also when it is rendered in software
                    },
                )
            return launched[scheme]

        yield launch
        for one in launched.values():
            one.close()


@pytest.fixture(scope="session")
def built_pages() -> None:
    if not (STATIC / "memory.js").is_file():
        lacking("needs the built pages: make web")


_STOPPED: set[str] = set()
"""Addresses of servers that were stopped: what an open page still asks of one is refused, and that is no complaint."""


class ServerAddress(str):
    """The address of a server, which knows the ``process`` that serves."""

    process: subprocess.Popen[str]


def home_of(url: str) -> str:
    """Return the scheme and host of an address."""
    found = re.match(r"http://[^/]+", url)
    assert found is not None, url
    return found[0]


@contextmanager
def _served(
    memory: Path, runs: Path, *options: str, program: tuple[str, ...] = (), port: int = 0, **environment: str
) -> Iterator[ServerAddress]:
    """The address of a server in a process of its own; ``program`` replaces the worldthread of this environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WORLDTHREAD_")}
    if "WORLDTHREAD_GAMES" in os.environ:
        kept["WORLDTHREAD_GAMES"] = os.environ["WORLDTHREAD_GAMES"]
    command = program or (sys.executable, "-m", "worldthread")
    process = subprocess.Popen(
        [*command, "web", str(memory), "--runs", str(runs), "--port", str(port), *options],
        cwd=runs.parent,
        env={**kept, "WORLDTHREAD_EMBEDDER": "fake", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        told = process.stderr.readline()
        found = re.search(r"http://\S+", told)
        assert found is not None, told
        address = ServerAddress(found[0])
        address.process = process
        _STOPPED.discard(home_of(address))
        yield address
        _STOPPED.add(home_of(address))
    finally:
        process.send_signal(signal.SIGCONT)  # a test may have put it to sleep
        process.terminate()
        process.communicate(timeout=600)
        assert process.returncode in (0, -15)


@pytest.fixture(scope="session")
def served() -> Callable[..., Any]:
    """Starts servers: ``with served(memory, runs) as url``."""
    return _served


@pytest.fixture
def open_page(browser: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Opens pages that must not complain, nor ask anybody but their server."""
    complaints: list[str] = []
    allowed = ["GPU stall", "GL Driver"]  # software rendering says that it is slow
    if BROWSER == "firefox":
        allowed.append("blocked an inline style")  # that of playwright, which takes a picture
    contexts = []

    def opened(url: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser(scheme).new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        home = home_of(url)

        def heard(message: Any) -> None:
            is_refused = "CONNECTION_REFUSED" in message.text and home in _STOPPED
            if message.type in ("error", "warning") and not is_refused:
                complaints.append(message.text)

        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda r: None if r.url.startswith((home, "blob:")) else complaints.append(f"asked {r.url}"))
        page.goto(url)
        page.wait_for_selector("body[data-ready]", timeout=600_000)
        return page

    opened.complaints_allowed = allowed  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    assert [line for line in complaints if not any(words in line for words in allowed)] == []
