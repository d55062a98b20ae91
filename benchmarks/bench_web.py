"""Measure in a real browser how fast the page of a large memory appears, and a neighbourhood after a click.

    python benchmarks/bench_web.py [--vertices 50000] [--clicks 100] [--shared FOLDER] [--keep FOLDER] [--recalls 20]
                                   [--quick]

Builds a memory as bench_scale.py does, with a number of distinct names, and stores its index, with random unit vectors
for what is stored: a search costs the same. ``--vertices 92000`` gives 124,000 facts, ``--vertices 745000`` a million.
Needs Linux, Chromium, playwright, and the built pages (make web). WebGL is rendered in software, so a machine with a
graphics card is faster.

First paint: from the request for the page until the first frame with the graph. Click: from the choice of a name, once
the list with it was drawn, until the frame with its neighbourhood, including the two requests and the drawing; also
measured for the server alone. Typed: from a key until the names that contain what was typed are listed.

Recall: a question after the page was opened, the first (at once, and three seconds later) and others, with the index
stored in the file; in the meantime other pages are asked for, to see whether they wait. The embedder is a stand-in
without a model, which is left out of the figures: a question takes MiniLM some 5 ms. Cancelled: from the request to end
the first question, asked without a stored index, until it has ended. End: from SIGTERM until the process has ended.

Times of the wall say little on a machine that is busy with other work. Beside them stand milliseconds of the processor
(``cpu_ms``): of the server, of the main thread of the page (``page``, in parts: ``script``, ``layout``, ``style``) and
of the processes of the browser by kind; and counts: requests, bytes that the server sent, elements of the page. A
target that the processor's time alone exceeds cannot be met on a quiet machine either.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from bench_memory import renamed
from numpy.typing import NDArray
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from worldthread import Episode, Extraction, Fact, Memory
from worldthread.models import embedder
from worldthread_lab.bench.datasets import load

# a person clicks on what is to be seen: the list of names is drawn before the time begins
_CLICK = """async () => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return new Promise(resolve => {
    const before = document.getElementById("chosen");
    const panel = document.getElementById("panel");
    const begun = performance.now();
    new MutationObserver((_, observer) => {
        const now = document.getElementById("chosen");
        if (now === null || now === before) return;
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
    }).observe(panel, {childList: true});
    document.getElementById("found-0").click();
    });
}"""


class RandomVectors:
    """Embeds every text as a random unit vector, under the name of the embedder that the server uses."""

    def __init__(self) -> None:
        fake = embedder("fake")
        self.name, self.dimensions = fake.name, fake.dimensions
        self._random = np.random.default_rng(0)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._random.normal(size=(len(texts), self.dimensions)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def build(path: Path, shared: Path, vertices: int, *, with_index: bool = True) -> None:
    """Add passages with their triples, renamed, until there are ``vertices`` distinct names, and store the index.

    Args:
        path: the memory.
        shared: the folder with ``data``.
        vertices: how many names.
        with_index: whether to make and store the index.
    """
    passages = load("musique_train", shared / "data").passages
    names: set[str] = set()
    with Memory(path, model="none", embedder=RandomVectors()) as memory:
        generation = 0
        while len(names) < vertices:
            batch = []
            for passage in passages:
                facts = tuple(
                    Fact(renamed(f.subject, generation), f.relation, renamed(f.object, generation))
                    for f in passage.facts
                )
                names.update(name for fact in facts for name in (fact.key[0], fact.key[2]))
                text = renamed(passage.full_text, generation)
                batch.append(Episode(text, float(generation), passage.id, Extraction("given/1", facts)))
                if len(names) >= vertices:
                    break
            memory.record.add_many(batch)
            generation += 1
        memory.checkpoint()
    if not with_index:
        return
    shutil.copy(path, unindexed(path))
    with Memory(path, model="none", embedder=RandomVectors()) as memory:
        memory.recall("What is this about?")
        memory.checkpoint()


def unindexed(path: Path) -> Path:
    """Return the copy of a memory that has no vectors."""
    return path.with_name(f"unindexed-{path.name}")


class Meter:
    """Counts time of the processor and work of the server and of a page.

    Args:
        server: the process id of the server.
        browser: the browser.
        page: the page.
    """

    def __init__(self, server: int, browser: Browser, page: Page) -> None:
        self._server = server
        self._system: CDPSession = browser.new_browser_cdp_session()
        self._page: CDPSession = page.context.new_cdp_session(page)
        self._page.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._sent = self._requests = 0
        self._page.on("Network.loadingFinished", self._finished)
        self._page.send("Network.enable")
        self._before = self._now()

    def _finished(self, event: dict[str, Any]) -> None:
        self._requests += 1
        self._sent += int(event["encodedDataLength"])

    def _now(self) -> dict[str, float]:
        metrics = {one["name"]: one["value"] for one in self._page.send("Performance.getMetrics")["metrics"]}
        found = {
            "server": 1000 * cpu_seconds(self._server),
            "page": 1000 * metrics["TaskDuration"],
            "page_script": 1000 * metrics["ScriptDuration"],
            "page_layout": 1000 * metrics["LayoutDuration"],
            "page_style": 1000 * metrics["RecalcStyleDuration"],
        }
        for process in self._system.send("SystemInfo.getProcessInfo")["processInfo"]:
            kind = f"browser_{process['type'].lower()}"
            found[kind] = found.get(kind, 0.0) + 1000 * process["cpuTime"]
        return found | {"requests": self._requests, "kilobytes": self._sent / 1024, "elements": metrics["Nodes"]}

    def since(self) -> dict[str, float]:
        """Return what was used since the last call, or since the beginning; ``elements`` are those there now."""
        now, before = self._now(), self._before
        self._before = now
        return {name: round(now[name] - (0 if name == "elements" else before.get(name, 0.0)), 1) for name in now}


def cpu_seconds(process: int) -> float:
    """Return the seconds of the processor that a process has used, with its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentiles(milliseconds: list[float]) -> dict[str, float]:
    return {share: round(float(np.percentile(milliseconds, int(share[1:]))), 1) for share in ("p50", "p95", "p99")}


def server_alone(url: str, server: int, names: list[str]) -> dict[str, Any]:
    """Measure milliseconds of the two requests of a click, in sequence, and their size."""
    took, size, before = [], 0, cpu_seconds(server)
    for name in names:
        query = urllib.parse.urlencode({"name": name, "limit": 40})
        begin = time.perf_counter()
        for path in ("neighbours", "entity"):
            with urllib.request.urlopen(f"{url}api/memories/file/{path}?{query}") as answer:
                size += len(answer.read())
        took.append(1000 * (time.perf_counter() - begin))
    cpu = 1000 * (cpu_seconds(server) - before) / len(names)
    return {"ms": percentiles(took), "cpu_ms_each": round(cpu, 1), "kilobytes_each": round(size / len(names) / 1024, 1)}


def recall(url: str, name: str) -> float:
    """Measure milliseconds of a recall."""
    return asked(f"{url}api/memories/file/recall?{urllib.parse.urlencode({'q': f'What of {name}?'})}")


def first_recall(path: Path, name: str, seconds: float) -> dict[str, Any]:
    """Measure the first recall of a server, some seconds after its page was opened, with the index in the file."""
    with served(path, {"WORLDTHREAD_EMBEDDER": "fake"}) as (process, url, _):
        for part in ("/graph", "", f"/entity?{urllib.parse.urlencode({'name': name})}"):
            fetched(f"{url}api/memories/file{part}")
        time.sleep(seconds)
        before = cpu_seconds(process.pid)
        took = recall(url, name)
        used = cpu_seconds(process.pid) - before
        return {"ms": round(took), "cpu_ms": round(1000 * used)}


def recalls(url: str, server: int, names: list[str]) -> dict[str, Any]:
    """Measure milliseconds of recalls one after the other, and of the list of runs in the meantime."""
    others: list[float] = []
    is_over = threading.Event()

    def ask_others() -> None:
        while not is_over.is_set():
            others.append(asked(f"{url}api/runs"))
            time.sleep(0.05)

    recall(url, names[0])
    before = cpu_seconds(server)
    alone = [recall(url, name) for name in names[1:]]
    after = cpu_seconds(server)
    thread = threading.Thread(target=ask_others)
    thread.start()
    try:
        for name in names:
            recall(url, name)
    finally:
        is_over.set()
        thread.join()
    return {
        "next_recalls_ms": percentiles(alone) if alone else None,
        "next_recalls_cpu_ms_each": round(1000 * (after - before) / len(alone), 1) if alone else None,
        "other_page_meanwhile_ms": percentiles(others),
    }


def asked(url: str) -> float:
    """Measure milliseconds of a request."""
    begin = time.perf_counter()
    with urllib.request.urlopen(url) as answer:
        answer.read()
    return 1000 * (time.perf_counter() - begin)


def new_page(browser: Browser) -> Page:
    """Return a page that waits as long as a busy machine needs."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(600_000)
    return page


def first_paint(page: Page, url: str) -> float:
    """Measure milliseconds until the graph is drawn."""
    begin = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return 1000 * (time.perf_counter() - begin)


def typed(page: Page, name: str) -> float:
    """Type a name, and measure milliseconds from its last key until the names that contain it are listed."""
    page.wait_for_selector("body[data-layout=done]")  # users click after the layout has settled
    page.fill("#search", "")
    begin = time.perf_counter()
    page.fill("#search", name)
    page.locator("#found-0 span", has_text=name).first.wait_for()
    return 1000 * (time.perf_counter() - begin)


def click(page: Page) -> float:
    """Measure milliseconds from a click on a found name until its neighbourhood is drawn and listed."""
    return float(page.evaluate(_CLICK))


@contextmanager
def served(path: Path, more: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], str, float]]:
    """Serve a memory; yields the process, its address, and the seconds until it printed it."""
    command = [sys.executable, "-m", "worldthread", "web", str(path), "--port", "0"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **more})
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield process, found[0], time.perf_counter() - begin
    finally:
        process.terminate()
        process.wait(timeout=60)


def measure(path: Path, clicks: int, recalled: int, chromium: str) -> dict[str, Any]:
    """Measure the page of a memory with a stored index."""
    with served(path, {"WORLDTHREAD_EMBEDDER": "fake"}) as (process, url, started):
        started_cpu = cpu_seconds(process.pid)
        with sync_playwright() as playwright:
            options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
            options += ["--no-sandbox"] if os.getuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=options)
            page = new_page(browser)
            meter = Meter(process.pid, browser, page)
            cold = first_paint(page, url)
            cold_used = meter.since()
            page.close()
            warm = []
            for _ in range(5):
                page = new_page(browser)
                meter = Meter(process.pid, browser, page)
                warm.append((first_paint(page, url), meter.since()))
                page.close()
            about = summary(url)
            names = sample(url, clicks)
            page = new_page(browser)
            meter = Meter(process.pid, browser, page)
            first_paint(page, url)
            typing, clicking, used = [], [], []
            for name in names:
                typing.append(typed(page, name))
                meter.since()
                clicking.append(click(page))
                used.append(meter.since())
            alone = server_alone(url, process.pid, names)
            browser.close()
        told = recalls(url, process.pid, names[:recalled]) if recalled else {}
        resident = resident_megabytes(process.pid)
        begin = time.perf_counter()
        process.terminate()
        process.wait(timeout=60)
        ended = time.perf_counter() - begin
    return {
        "load": os.getloadavg(),
        "names": about["names"],
        "statements": about["counts"].get("statements", about["counts"].get("facts")),
        "server_start_seconds": round(started, 2),
        "server_start_cpu_ms": round(1000 * started_cpu),
        "first_paint_ms": round(cold),
        "first_paint_used": cold_used,
        "next_paints_ms": {
            "p50": round(float(np.median([took for took, _ in warm]))),
            "max": round(max(took for took, _ in warm)),
        },
        "next_paints_used": middle([one for _, one in warm]),
        "typed_ms": percentiles(typing),
        "click_ms": percentiles(clicking),
        "click_used": middle(used),
        "click_used_p95": middle(used, 95),
        "click_server": alone,
        **told,
        "resident_mb": round(resident),
        "end_seconds": round(ended, 2),
    }


def middle(used: list[dict[str, float]], percentile: float = 50) -> dict[str, float]:
    """Return a percentile of each measure."""
    names = dict.fromkeys(name for one in used for name in one)
    return {name: round(float(np.percentile([one.get(name, 0) for one in used], percentile)), 1) for name in names}


def resident_megabytes(process: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cancelled(path: Path) -> dict[str, Any]:
    """Measure seconds until a first question ends that is cancelled while it computes vectors.

    Args:
        path: a memory without vectors.
    """
    with served(path, {"WORLDTHREAD_EMBEDDER": "fake"}) as (_, url, _):
        told: list[int] = []

        def ask() -> None:
            try:
                asked(f"{url}api/memories/file/recall?q=What+is+this%3F")
                told.append(200)
            except urllib.error.HTTPError as error:
                told.append(error.code)

        thread = threading.Thread(target=ask)
        thread.start()
        work = f"{url}api/memories/file/work"
        while not json.loads(fetched(work))["work"]:
            time.sleep(0.05)
        begin = time.perf_counter()
        request = urllib.request.Request(work, b"{}", {"content-type": "application/json"}, method="POST")
        urllib.request.urlopen(request).close()
        thread.join(timeout=120)
        return {"cancelled_seconds": round(time.perf_counter() - begin, 2), "cancelled_status": told}


def fetched(url: str) -> bytes:
    """Return what a request answers."""
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


def summary(url: str) -> dict[str, Any]:
    """Return what the page tells of the whole memory."""
    about: dict[str, Any] = json.loads(fetched(f"{url}api/memories/file"))
    return about


def sample(url: str, number: int) -> list[str]:
    """Return random names, every fourth replaced by one of the strongest, as users would choose them."""
    found: list[str] = []
    for letter in "abcdefghijklmnoprstuvw":
        found += [
            one["name"] for one in json.loads(fetched(f"{url}api/memories/file/names?q={letter}&limit=1000"))["names"]
        ]
    strong = [one["name"] for one in summary(url)["strongest"]]
    chosen = random.Random(0).sample(sorted(set(found)), number)
    return [strong[place // 4 % len(strong)] if place % 4 == 0 else name for place, name in enumerate(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=50_000, help="number of distinct names")
    parser.add_argument("--clicks", type=int, default=100, help="number of clicks")
    parser.add_argument(
        "--recalls",
        type=int,
        default=20,
        help="number of recalls; 0 needs no index, which takes long to make for a million facts",
    )
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--about", default="united states", help="the name that the first recall asks about")
    parser.add_argument("--quick", action="store_true", help="leave out the question that is cancelled")
    parser.add_argument("--keep", type=Path, help="folder that keeps the memory and reuses an existing one")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("Chromium was not found. On Debian or Ubuntu: apt-get install chromium")
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.keep or Path(temporary)) / f"names-{options.vertices}.worldthread"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            build(path, options.shared, options.vertices, with_index=options.recalls > 0)
        figures = measure(path, options.clicks, options.recalls, chromium)
        if options.recalls:
            # at once, as by a link to a question, and after a person has read the page
            for when, seconds in (("at_once", 0), ("after_3_seconds", 3)):
                figures[f"first_recall_{when}"] = first_recall(path, options.about, seconds)
        if options.recalls and not options.quick:
            figures |= cancelled(unindexed(path))
        print(json.dumps(figures, indent=1), flush=True)


if __name__ == "__main__":
    main()
