"""The server in this process, behind its guard, with a small memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from worldthread import Ending, Episode, Extraction, Fact, Memory, Thesis

HOME = "http://127.0.0.1:8766"


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

    from worldthread.web.access import Access
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState
    from worldthread.web.assets import Asset

    assets = {
        name: Asset(f"<title>{name}</title>".encode(), "text/html", f'"{name}"')
        for name in ("memory.html", "runs.html", "play.html", "app.css")
    }
    with ExitStack() as stack:

        def client(memory: Path, *, runs: Path | None = None, **access: Any) -> Any:
            desk = stack.enter_context(AppState(memory, runs=runs or tmp_path / "runs", embedder="fake"))
            app = create_app(desk, assets, Access.of(access.pop("host", "127.0.0.1"), 8766, **access))
            made = TestClient(app, base_url=HOME, follow_redirects=False)
            made.desk = desk
            return made

        yield client


@pytest.fixture
def home(serve: Callable[..., Any], home_memory: Path) -> Any:
    return serve(home_memory)
