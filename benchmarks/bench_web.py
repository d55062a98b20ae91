"""Measure in a real browser how fast the page of a large memory appears, and a neighbourhood after a click.

    python benchmarks/bench_web.py [--vertices 50000] [--clicks 100] [--shared FOLDER] [--keep FOLDER] [--recalls 20]

Builds a memory as bench_scale.py does, with a number of distinct names. Needs Chromium, playwright, and the built pages
(make web). WebGL is rendered in software, so a machine with a graphics card is faster.

First paint: from the request for the page until the first frame with the graph. Click: from the choice of a name until
the frame with its neighbourhood, including the two requests and the drawing; also measured for the server alone.

Recall: a question after the page was opened, the first and others, with the index stored in the file; in the meantime
other pages are asked for, to see whether they wait. The embedder is a stand-in without a model, which is left out of
the figures: a question takes MiniLM some 5 ms. End: from SIGTERM until the process has ended.
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
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from bench_memory import StandIn, renamed
from playwright.sync_api import Page, sync_playwright

from worldthread import Episode, Extraction, Fact, Memory
from worldthread.bench.datasets import load

_CLICK = """() => new Promise(resolve => {
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
})"""


def build(path: Path, shared: Path, vertices: int) -> None:
    """Add passages with their triples, renamed, until there are ``vertices`` distinct names."""
    passages = load("musique_train", shared / "data").passages
    names: set[str] = set()
    with Memory(path, model="none", embedder=StandIn(set())) as memory:
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
    with Memory(path, model="none", embedder="fake") as memory:  # the index that the server will find
        memory.recall("What is this about?")
        memory.checkpoint()


def percentiles(milliseconds: list[float]) -> dict[str, float]:
    return {share: round(float(np.percentile(milliseconds, int(share[1:]))), 1) for share in ("p50", "p95", "p99")}


def server_alone(url: str, names: list[str]) -> list[float]:
    """Measure milliseconds of the two requests of a click, in sequence."""
    took = []
    for name in names:
        query = urllib.parse.urlencode({"name": name, "limit": 40})
        begin = time.perf_counter()
        for path in ("neighbours", "entity"):
            with urllib.request.urlopen(f"{url}api/memories/file/{path}?{query}") as answer:
                answer.read()
        took.append(1000 * (time.perf_counter() - begin))
    return took


def recalls(url: str, names: list[str]) -> dict[str, Any]:
    """Measure milliseconds of recalls one after the other, and of the list of runs in the meantime."""
    others: list[float] = []
    is_over = threading.Event()

    def ask_others() -> None:
        while not is_over.is_set():
            others.append(asked(f"{url}api/runs"))
            time.sleep(0.05)

    thread = threading.Thread(target=ask_others)
    thread.start()
    try:
        took = [asked(f"{url}api/memories/file/recall?{urllib.parse.urlencode({'q': f'What of {n}?'})}") for n in names]
    finally:
        is_over.set()
        thread.join()
    return {
        "first_recall_ms": round(took[0]),
        "next_recalls_ms": percentiles(took[1:]) if took[1:] else None,
        "other_page_meanwhile_ms": percentiles(others),
    }


def asked(url: str) -> float:
    """Measure milliseconds of a request."""
    begin = time.perf_counter()
    with urllib.request.urlopen(url) as answer:
        answer.read()
    return 1000 * (time.perf_counter() - begin)


def first_paint(page: Page, url: str) -> float:
    """Measure milliseconds until the graph is drawn."""
    begin = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return 1000 * (time.perf_counter() - begin)


def click(page: Page, name: str) -> float:
    """Measure milliseconds from a click on a found name until its neighbourhood is drawn and listed."""
    page.wait_for_selector("body[data-layout=done]")  # users click after the layout has settled
    page.fill("#search", name)
    page.locator("#found-0 span", has_text=name).first.wait_for()
    return float(page.evaluate(_CLICK))


def measure(path: Path, clicks: int, recalled: int, chromium: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "worldthread", "web", str(path), "--port", "0"]
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "WORLDTHREAD_EMBEDDER": "fake"}
    )
    try:
        url = re.search(r"http://\S+", process.stderr.readline())[0]
        started = time.perf_counter() - begin
        with sync_playwright() as playwright:
            options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
            options += ["--no-sandbox"] if os.getuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=options)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            cold = first_paint(page, url)
            warm = [first_paint(browser.new_page(viewport={"width": 1280, "height": 800}), url) for _ in range(5)]
            with urllib.request.urlopen(f"{url}api/memories/file") as answer:
                about = json.load(answer)
            names = sample(url, clicks)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            first_paint(page, url)
            took = [click(page, name) for name in names]
            alone = server_alone(url, names)
            browser.close()
        told = recalls(url, names[:recalled])
    finally:
        begin = time.perf_counter()
        process.terminate()
        process.wait(timeout=60)
        ended = time.perf_counter() - begin
    return {
        "names": about["names"],
        "statements": about["counts"].get("statements", about["counts"].get("facts")),
        "server_start_seconds": round(started, 2),
        "first_paint_ms": round(cold),
        "next_paints_ms": {"p50": round(float(np.median(warm))), "max": round(max(warm))},
        "click_ms": percentiles(took),
        "click_server_ms": percentiles(alone),
        **told,
        "end_seconds": round(ended, 2),
    }


def sample(url: str, number: int) -> list[str]:
    """Return random names, every fourth replaced by one of the strongest, as users would choose them."""
    found: list[str] = []
    for letter in "abcdefghijklmnoprstuvw":
        with urllib.request.urlopen(f"{url}api/memories/file/names?q={letter}&limit=1000") as answer:
            found += [one["name"] for one in json.load(answer)["names"]]
    with urllib.request.urlopen(f"{url}api/memories/file") as answer:
        strong = [one["name"] for one in json.load(answer)["strongest"]]
    chosen = random.Random(0).sample(sorted(set(found)), number)
    return [strong[place // 4 % len(strong)] if place % 4 == 0 else name for place, name in enumerate(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=50_000, help="number of distinct names")
    parser.add_argument("--clicks", type=int, default=100, help="number of clicks")
    parser.add_argument("--recalls", type=int, default=20, help="number of recalls")
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder with data/")
    parser.add_argument("--keep", type=Path, help="folder that keeps the memory and reuses an existing one")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("Chromium was not found. On Debian or Ubuntu: apt-get install chromium")
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.keep or Path(temporary)) / f"names-{options.vertices}.worldthread"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            build(path, options.shared, options.vertices)
        print(json.dumps(measure(path, options.clicks, options.recalls, chromium)), flush=True)


if __name__ == "__main__":
    main()
