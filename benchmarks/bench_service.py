"""Measure how fast `worldthread serve` answers many clients at the same time.

    python benchmarks/bench_service.py [--clients 200] [--seconds 120] [--think 2.0] [--messages 500] [--memory ADDRESS]

Starts a service on a new file (or the given place) with 20 namespaces of 500 messages each, and a token for each. The
clients are spread over the tokens. Each sends one request after another over a connection of its own, and thinks for an
exponentially distributed time in between (0: not at all), also before the first one: so the load is the same from the
beginning to the end. With ``--together`` all first requests come at once, and are reported apart.

Of the requests 70 % recall, 15 % remember a new sentence, 10 % list what holds about somebody, and 5 % ask. They come
from this process, on the same machine.

Prints latencies by kind of request, the processor time of the service, what failed, and whether everything that
was acknowledged is in the memory afterwards. Needs the extra `serve`, and httpx.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from worldthread import Memory
from worldthread.service.clients import add_client

_NAMES = [
    "Anna", "Bert", "Carla", "David", "Emma", "Felix", "Gina", "Hugo", "Ida", "Jonas", "Karla", "Leo", "Mia", "Nils",
    "Olga", "Paul", "Rosa", "Sven", "Tina", "Udo",
]  # fmt: skip
_PLACES = ["Rome", "Paris", "Berlin", "Lisbon", "Oslo", "Vienna", "Prague", "Madrid", "Athens", "Dublin"]


def sentence(random_: random.Random) -> str:
    """Return a plain sentence about somebody."""
    name, other = random_.sample(_NAMES, 2)
    return random_.choice(
        (
            f"{name} lives in {random_.choice(_PLACES)}.",
            f"{name} met {other} in {random_.choice(_PLACES)}.",
            f"{name} works for {random_.choice(_PLACES)} Press.",
            f"{name} bought a bicycle number {random_.randrange(10_000)} from {other}.",
        )
    )


def build(place: str, folder: Path, namespaces: int, messages: int) -> dict[str, str]:
    """Fill the namespaces, and make the tokens; returns the token of each namespace."""
    tokens = {}
    for number in range(namespaces):
        random_ = random.Random(number)
        name = f"n{number}"
        with Memory(place, namespace=name, model="none", wait=60) as memory:
            memory.remember_many([sentence(random_) for _ in range(messages)], at="2024-01-01", progress=False)
        tokens[name] = add_client(folder / "clients.toml", name, [name], writes=True)
    return tokens


class Load:
    """What the clients sent, and what came of it."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.failed: Counter[str] = Counter()
        self.stored: set[str] = set()
        self.first: list[float] = []
        """Milliseconds of the first request of each client, when all of them are sent at once."""
        self.running = 0
        self.most_running = 0


async def run_client(
    client: httpx.AsyncClient, seed: int, end: float, think: float, is_together: bool, load: Load
) -> None:
    """Send requests until the time is over."""
    random_ = random.Random(f"client {seed}")
    async with client:
        if think and not is_together:
            await asyncio.sleep(random_.expovariate(1 / think))
        while time.monotonic() < end:
            draw, name = random_.random(), random_.choice(_NAMES)
            if draw < 0.70:
                kind, body = "recall", {"question": f"Where does {name} live?"}
            elif draw < 0.85:
                kind, body = "remember", {"text": f"{sentence(random_)} That was note {seed} {random_.random()}."}
            elif draw < 0.95:
                kind, body = "about", {"entity": name}
            else:
                kind, body = "ask", {"question": f"Where does {name} live?"}
            began = time.perf_counter()
            load.running += 1
            load.most_running = max(load.most_running, load.running)
            try:
                answer = await client.post(kind, json=body)
                (load.first if is_together else load.milliseconds[kind]).append(1000 * (time.perf_counter() - began))
                if answer.status_code != 200:
                    load.failed[str(answer.status_code)] += 1
                elif kind == "remember":
                    load.stored.update(answer.json()["episodes"])
            except httpx.HTTPError as error:
                load.failed[type(error).__name__] += 1
            finally:
                load.running -= 1
                is_together = False
            if think:
                await asyncio.sleep(random_.expovariate(1 / think))


async def run_clients(url: str, tokens: dict[str, str], options: argparse.Namespace, load: Load) -> None:
    """Run all clients."""
    names = sorted(tokens)
    # made before the clock starts, with one context of TLS: each takes 60 ms of this process, for which all would wait
    context = httpx.create_ssl_context()
    clients = []
    for number in range(options.clients):
        name = names[number % len(names)]
        headers = {"authorization": f"Bearer {tokens[name]}"}
        base = f"{url}v1/namespaces/{name}/"
        clients.append(httpx.AsyncClient(base_url=base, headers=headers, timeout=300, verify=context))
    end = time.monotonic() + options.seconds
    async with asyncio.TaskGroup() as tasks:
        for number, client in enumerate(clients):
            tasks.create_task(run_client(client, number, end, options.think, options.together, load))


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def summary(milliseconds: list[float]) -> dict[str, float]:
    """Return the number of requests and their percentiles."""
    p50, p95, p99 = np.percentile(milliseconds, (50, 95, 99))
    return {"requests": len(milliseconds), "p50_ms": round(p50, 1), "p95_ms": round(p95, 1), "p99_ms": round(p99, 1)}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run a service and its clients, and look at what it stored."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = options.memory or str(folder / "m.worldthread")
        tokens = build(place, folder, options.namespaces, options.messages)
        process = subprocess.Popen(
            [sys.executable, "-m", "worldthread", "serve", "--memory", place, "--port", "0", "--clients",
             str(folder / "clients.toml"), "--rate", "10000", "--model", "none", "--threads", str(options.threads)],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        try:
            url = re.search(r"http://\S+?/", process.stderr.readline())[0]
            for namespace, token in tokens.items():  # opened, as in a service that has run for a while
                httpx.post(
                    f"{url}v1/namespaces/{namespace}/recall", json={"question": "Anna"}, timeout=60,
                    headers={"authorization": f"Bearer {token}"},
                ).raise_for_status()  # fmt: skip
            load, before = Load(), cpu_seconds(process.pid)
            began = time.monotonic()
            asyncio.run(run_clients(url, tokens, options, load))
            seconds = time.monotonic() - began
            cpu = cpu_seconds(process.pid) - before
            status = Path(f"/proc/{process.pid}/status").read_text()
            megabytes = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
        finally:
            process.terminate()
            process.wait(60)
        found: set[str] = set()
        for namespace in tokens:
            with Memory(place, namespace=namespace, model="none", readonly=True) as memory:
                found.update(memory.record.graph.episodes())
    everything = [value for values in load.milliseconds.values() for value in values]
    requests = len(everything) + len(load.first)
    return {
        "clients": options.clients,
        "seconds": round(seconds),
        "think_seconds": options.think,
        "namespaces": options.namespaces,
        "messages_of_each": options.messages,
        "requests_per_second": round(requests / seconds, 1),
        "service_cpu_ms_per_request": round(1000 * cpu / requests, 1),
        "most_requests_at_a_time": load.most_running,
        **({"first_requests_together": summary(load.first)} if load.first else {}),
        "all": summary(everything),
        **{kind: summary(values) for kind, values in sorted(load.milliseconds.items())},
        "errors": dict(load.failed),
        "acknowledged_episodes": len(load.stored),
        "lost_episodes": len(load.stored - found),
        "service_megabytes": round(megabytes),
        "load_average": [round(one, 1) for one in os.getloadavg()],
    }


def main() -> None:
    """Parse the command line, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--think", type=float, default=2.0, help="the mean pause between requests, in seconds")
    parser.add_argument("--namespaces", type=int, default=20)
    parser.add_argument("--messages", type=int, default=500, help="the messages in each namespace at first")
    parser.add_argument("--threads", type=int, default=16, help="see worldthread serve --threads")
    parser.add_argument("--together", action="store_true", help="all clients begin at once")
    parser.add_argument("--memory", help="an empty place, such as postgresql://...; default: a new file")
    print(json.dumps(measure(parser.parse_args()), indent=2))


if __name__ == "__main__":
    main()
