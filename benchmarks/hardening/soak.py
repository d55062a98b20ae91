"""Use a memory for a long time at a constant size, and measure whether anything grows.

    python benchmarks/hardening/soak.py [--minutes 60] [--live 300] [--plot FILE]

One file is used by a web server, an MCP server over HTTP, a process that opens it for each change, and a reader that
stays. A second file is used by a writer that stays. Texts are remembered and older ones forgotten, so that the number
of live episodes is constant. Sampled: resident memory, open files and threads of every process, and the size of the
files. After a warm-up of a third of the time, a line is fitted to the medians of twenty intervals, or to the
peaks of what is counted (Theil-Sen, 95 %).

Filling a cache of a fixed size is growth that ends, though not within the hour: every process fills its caches of names
before anything is measured. The graph in RAM keeps forgotten episodes until they are most of at least 2,000, so
resident memory rises and falls by some MB again and again, and the allocator of C keeps part of each rise.

A series is flat when its slope may be zero, or when it would grow by less than 2 % in an hour. Needs the extras web,
mcp and report.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from material import scratch_folder

from worldthread import Memory
from worldthread.errors import WorldthreadError
from worldthread.models.fake import FakeEmbedder

INTERVALS = 20
TOLERANCE = 0.02
"""What may be added in an hour, as a part of the level."""

PEOPLE = [f"{first} {last}" for first in ("Anna", "Bob", "Carla", "Dan") for last in ("Rossi", "Smith", "Kaya")]
PLACES = ("Rome", "Paris", "Oslo", "Lima", "Kyoto", "Accra")
QUESTIONS = ("Where does Anna Rossi live?", "Who lives in Paris?", "Who works for Acme?")


def text_number(number: int) -> str:
    """Return a text of two sentences; the same people move again and again."""
    chance = random.Random(number)
    person = chance.choice(PEOPLE)
    return f"{person} lives in {chance.choice(PLACES)}. Note {number} says that {person} works for Firm {number % 97}."


def opened(path: Path, **settings: Any) -> Memory:
    """Open a memory without a model."""
    return Memory(path, model="none", embedder=FakeEmbedder(), **settings)


def fill_caches() -> None:
    """Fill the caches of names with names that nobody uses."""
    from worldthread.names import normalise_name
    from worldthread.retrieve.query import names_in

    size = normalise_name.cache_info().maxsize
    assert size is not None
    names_in(" ".join(f"Filler{number}" for number in range(size)), lambda _: None)
    assert normalise_name.cache_info().currsize == size


# -- processes ---------------------------------------------------------------------------------------------------------


def turn_over(memory: Memory, numbers: Any, live: int, count: int) -> None:
    """Remember texts, and forget the oldest ones."""
    for number in itertools.islice(numbers, count):
        memory.remember(text_number(number), at=float(number), source=f"pid {os.getpid()}")
    graph_ids = [episode.id for episode in memory.episodes()]
    for id_ in graph_ids[: max(0, len(graph_ids) - live)]:
        memory.record.forget(id_)


def run_staying_writer(path: Path, live: int) -> None:
    """Keep one memory open and change it."""
    numbers = itertools.count()
    with opened(path) as memory:
        while True:
            turn_over(memory, numbers, live, 10)
            memory.recall(random.choice(QUESTIONS))
            print("changed 10", flush=True)
            time.sleep(0.05)


def run_opening_writer(path: Path, live: int) -> None:
    """Open the memory for each change."""
    numbers = itertools.count()
    while True:
        with opened(path, wait=60.0) as memory:
            turn_over(memory, numbers, live, 10)
        print("changed 10", flush=True)
        time.sleep(0.2)


def run_reader(path: Path, _: int) -> None:
    """Keep one memory open for reading and ask."""
    with opened(path, readonly=True) as memory:
        while True:
            memory.recall(random.choice(QUESTIONS), only_current=False)
            memory.timeline("Anna Rossi")
            memory.as_of(world_time=time.time())
            print("asked 1", flush=True)
            time.sleep(0.05)


def run_web(path: Path, _: int) -> None:
    """Serve the pages; where they are not built, their routes."""
    from worldthread.errors import InputError
    from worldthread.support.server_access import Access, listening_socket, port_of
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState
    from worldthread.web.assets import read_assets
    from worldthread.web.serving import serve

    try:
        assets = read_assets()
    except InputError:
        assets = {}
    access = Access.for_web("127.0.0.1", 0, names=(), token=None)
    with (
        listening_socket(access.host, access.port) as listening,
        AppState(path, runs=path.parent / "runs", model="none", embedder=FakeEmbedder()) as state,
    ):
        print(f"http://127.0.0.1:{port_of(listening)}", flush=True)
        serve(create_app(state, assets, access), listening)


def run_mcp(path: Path, _: int) -> None:
    """Run ``worldthread mcp``."""
    from worldthread.cli.main import app

    app(["mcp", "--memory", str(path), "--http", "--port", "0"])


ROLES: dict[str, Callable[[Path, int], None]] = {
    "web": run_web, "mcp": run_mcp, "reader": run_reader,
    "staying writer": run_staying_writer, "opening writer": run_opening_writer,
}  # fmt: skip


class Child:
    """A process of the soak, whose output goes to a file."""

    def __init__(self, name: str, command: list[str], output: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.output = output
        with output.open("wb") as stream:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=environment
            )

    def wait_for(self, pattern: str) -> str:
        """Return what matches a pattern as soon as the process has printed it."""
        while self.process.poll() is None:
            found = re.search(pattern, self.output.read_text())
            if found:
                return found[0]
            time.sleep(0.1)
        raise RuntimeError(f"{self.name} ended:\n{self.output.read_text()}")

    def sample(self) -> dict[str, float]:
        """Return resident memory in MB, and the numbers of open files and threads."""
        root = Path("/proc") / str(self.process.pid)
        status = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines())
        return {
            f"{self.name}: resident memory, MB": int(status["VmRSS"].split()[0]) / 1024,
            f"{self.name}: open files": len(list((root / "fd").iterdir())),
            f"{self.name}: threads": int(status["Threads"]),
        }

    def counted(self) -> int:
        """Return how many changes or questions the process has reported."""
        return sum(int(number) for number in re.findall(r"^(?:changed|asked) (\d+)$", self.output.read_text(), re.M))


class Clients:
    """What the clients of both servers do, from this process."""

    def __init__(self, web: str, mcp: str, token: str) -> None:
        self._web = web
        self._mcp = mcp
        self._token = token
        self._numbers = itertools.count(1_000_000)
        self._kept: list[str] = []
        self.requests = 0
        self.failures: list[str] = []

    def once(self) -> None:
        """Send a few requests to both servers."""
        for path in ("", "/graph", f"/recall?q={urllib.parse.quote(random.choice(QUESTIONS))}", "/names?q=anna"):
            self._send(urllib.request.Request(f"{self._web}/api/memories/file{path}"))
        number = next(self._numbers)
        told = self._call("remember", text=text_number(number), at=str(number), source="mcp")
        self._kept += told.get("episodes", [])
        while len(self._kept) > 20:
            self._call("forget", episode=self._kept.pop(0), confirm=True)
        self._call("recall", question=random.choice(QUESTIONS))

    def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        answer = self._send(
            urllib.request.Request(
                self._mcp,
                json.dumps(body).encode(),
                {
                    "Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream",
                    "MCP-Protocol-Version": "2025-06-18",
                    "Authorization": f"Bearer {self._token}",
                },
            )
        )
        found = re.search(r"^\{.*\}$", re.sub(r"^data: ", "", answer, flags=re.M), re.M)
        result = json.loads(found[0]).get("result", {}) if found else {}
        # an episode that the other writer forgot first is gone
        if not found or (result.get("isError") and "no episode" not in answer):
            self.failures.append(f"{tool}: {answer[:300]}")
        structured: dict[str, Any] = result.get("structuredContent") or {}
        return structured

    def _send(self, request: urllib.request.Request) -> str:
        self.requests += 1
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                content: str = answer.read().decode()
                return content
        except (urllib.error.URLError, TimeoutError) as error:
            detail = error.read().decode()[:300] if isinstance(error, urllib.error.HTTPError) else ""
            self.failures.append(f"{request.full_url}: {error} {detail}")
            return ""


# -- measuring ---------------------------------------------------------------------------------------------------------


class Slope(NamedTuple):
    """A line through a series.

    Args:
        per_hour: what is added in an hour.
        low: the lower end of its interval.
        high: the upper end of its interval.
        level: the median of the series.
        is_flat: whether that counts as no growth.
    """

    per_hour: float
    low: float
    high: float
    level: float
    is_flat: bool


def slope(times: list[float], values: list[float], *, use_peaks: bool) -> Slope:
    """Fit a line to a series after its warm-up.

    Args:
        times: seconds since the beginning.
        values: the samples.
        use_peaks: take the greatest sample of each interval, for what comes and goes, instead of the median.
    """
    from scipy.stats import theilslopes

    begin = times[-1] / 3
    kept = [(t / 3600, v) for t, v in zip(times, values, strict=True) if t >= begin]
    size = max(1, len(kept) // INTERVALS)
    # medians of intervals: neighbouring samples resemble each other, which would make the interval too narrow
    parts = [kept[at : at + size] for at in range(0, len(kept), size)]
    x = [median(t for t, _ in part) for part in parts]
    y = [(max if use_peaks else median)([v for _, v in part]) for part in parts]
    found = theilslopes(y, x, 0.95)
    level = median(y)
    is_flat = found.low_slope <= 0 or found.low_slope < TOLERANCE * level
    return Slope(float(found.slope), float(found.low_slope), float(found.high_slope), level, is_flat)


def size_of(path: Path) -> float:
    """Return the MB of a memory with everything beside it."""
    total = 0
    for place in path.parent.glob(f"{path.name}*"):
        for file in [place, *place.rglob("*")]:
            with contextlib.suppress(OSError):  # snapshots come and go
                total += file.stat().st_size if file.is_file() else 0
    return total / 1e6


def start_all(folder: Path, live: int, token: str) -> list[Child]:
    """Start every process, the servers first."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("WORLDTHREAD_")},
        "WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none", "WORLDTHREAD_MCP_TOKEN": token,
        "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    shared, alone = folder / "shared.worldthread", folder / "alone.worldthread"
    for path in (shared, alone):
        with opened(path) as memory:
            turn_over(memory, itertools.count(-live), live, live)

    def role(name: str, path: Path) -> Child:
        command = [sys.executable, __file__, "--role", name, "--file", str(path), "--live", str(live)]
        return Child(name, command, folder / f"{name}.log", environment)

    return [
        role("web", shared),
        role("mcp", shared),
        role("opening writer", shared),
        role("reader", shared),
        role("staying writer", alone),
    ]


def soak(minutes: float, live: int, plot: Path | None) -> int:
    """Run everything, and print what grew.

    Args:
        minutes: how long.
        live: the number of episodes that each file holds.
        plot: where to draw the series.
    """
    token = secrets.token_urlsafe(24)
    times: list[float] = []
    series: dict[str, list[float]] = {}
    with scratch_folder() as folder:
        children = start_all(folder, live, token)
        try:
            web, mcp = children[0].wait_for(r"http://\S+"), children[1].wait_for(r"http://\S+/mcp")
            clients = Clients(web, mcp, token)
            start = time.monotonic()
            pause = max(1.0, minutes * 60 / 1200)
            while time.monotonic() - start < minutes * 60:
                clients.once()
                for child in children:
                    if child.process.poll() is not None:
                        print(f"{child.name} ended:\n{child.output.read_text()[-3000:]}")
                        return 1
                if not times or time.monotonic() - start - times[-1] >= pause:
                    times.append(time.monotonic() - start)
                    sample = {
                        "shared file, MB": size_of(folder / "shared.worldthread"),
                        "file of the staying writer, MB": size_of(folder / "alone.worldthread"),
                    }
                    for child in children:
                        sample |= child.sample()
                    for name, value in sample.items():
                        series.setdefault(name, []).append(value)
                time.sleep(0.05)
            counts = {child.name: child.counted() for child in children[2:]}
        finally:
            for child in children:
                child.process.send_signal(signal.SIGTERM)
            for child in children:
                try:
                    child.process.wait(20)
                except subprocess.TimeoutExpired:
                    child.process.kill()
                    child.process.wait()
    slopes = {name: slope(times, values, use_peaks=not name.endswith("MB")) for name, values in series.items()}
    print(f"{minutes:g} minutes, {live} live episodes, {clients.requests:,} requests, {len(times)} samples; ", end="")
    print(f"remembered and forgotten by those who stay and those who open: {counts['staying writer']:,}, ", end="")
    print(f"{counts['opening writer']:,}; {counts['reader']:,} rounds of the reader\n")
    print("| series | level | added in an hour (95 %) | |\n|---|---|---|---|")
    for name, found in slopes.items():
        interval = f"{found.per_hour:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
        print(f"| {name} | {found.level:.1f} | {interval} | {'flat' if found.is_flat else 'NOT FLAT'} |")
    for failure in clients.failures[:10]:
        print(f"failed: {failure}")
    print(f"\n{len(clients.failures)} failed requests")
    if plot is not None:
        draw(times, series, plot)
    return bool(clients.failures) or not all(found.is_flat for found in slopes.values())


def draw(times: list[float], series: dict[str, list[float]], path: Path) -> None:
    """Draw every series that is measured in MB."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6))
    for name, values in series.items():
        if name.endswith("MB"):
            axes.plot([t / 60 for t in times], values, label=name)
    axes.set_xlabel("minutes")
    axes.set_ylabel("MB")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(path)


def main() -> int:
    """Run the soak, or one of its processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--live", type=int, default=300, help="episodes in each file")
    parser.add_argument("--plot", type=Path, help="draw the series there")
    parser.add_argument("--role", choices=ROLES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role is None:
        return soak(arguments.minutes, arguments.live, arguments.plot)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    fill_caches()
    try:
        ROLES[arguments.role](arguments.file, arguments.live)
    except WorldthreadError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
