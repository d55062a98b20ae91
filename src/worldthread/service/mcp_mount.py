"""The memories of the service as MCP servers, with the tokens of the service. Needs the extra ``mcp``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from worldthread.errors import ReadOnlyError
from worldthread.mcp.server import create_server
from worldthread.memory.memory import Memory
from worldthread.memory.served_memory import client_writes, served_namespaces
from worldthread.service.memories import ServiceMemories

MOUNTED_PATH: Final = "/mcp"
_MAX_BODY: Final = 16 * 1024 * 1024


def mcp_app(memories: ServiceMemories) -> Starlette:
    """Return the MCP server as an application, which shows each call the memory that its address names.

    Args:
        memories: the memories of the service, which closes them.

    Returns:
        The application; its lifespan must run while it serves.
    """
    return create_server(_MountedMemory(memories)).streamable_http_app(
        streamable_http_path=MOUNTED_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_MAX_BODY,
        # every request brings a token, so a foreign page under another host name gains nothing
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


class _MountedMemory:
    """The memory of the present call.

    Args:
        memories: the memories of the service.
    """

    def __init__(self, memories: ServiceMemories) -> None:
        self._memories = memories
        self.readonly = memories.readonly
        self.location = "the service"
        self.is_per_client = True
        self.offers_choice = False  # the path of a request names its memory

    @property
    def namespaces(self) -> tuple[str, ...]:
        return served_namespaces()

    @property
    def namespace(self) -> str:
        return self.namespaces[0]

    @property
    def memory(self) -> Memory:
        with self._memories.using(self.namespace) as memory:
            return memory  # a call holds it no longer than it takes to close another one; it is opened anew if need be

    @contextmanager
    def writing(self) -> Iterator[Memory]:
        if not client_writes():
            raise ReadOnlyError("this token only reads: ask for one that writes", path=self.location)
        self._memories.require_open()
        with self._memories.using(self.namespace) as memory:
            yield memory

    def close(self) -> None:
        """Leave the memories to the service."""
