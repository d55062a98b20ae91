"""What another package adds to the pages of a memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from starlette.routing import BaseRoute

from worldthread.web.memories import MemoryLocation


class AddedPages(Protocol):
    """The pages that another package adds to one server.

    An entry point of the group :data:`worldthread.support.extensions.PAGES` names what makes it from the
    :class:`~worldthread.web.app_state.AppState` of the server. That happens before the first page is shown, so what
    takes long to import waits for the first request that needs it.

    Attributes:
        paths: the paths of :data:`worldthread.web.assets.PAGES` that it serves.
    """

    paths: Collection[str]

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes of its pages; a server that shows one memory only has none of them."""

    def memory_routes(self) -> Sequence[BaseRoute]:
        """Return more routes below ``/api/memories/{key}``, which every server has."""

    def memories(self) -> list[dict[str, Any]]:
        """Return the memories that it adds to the list: ``key``, ``label``, and whether each ``exists``."""

    def location_of(self, key: str) -> MemoryLocation | None:
        """Find a memory by its key.

        Args:
            key: the key that a browser sent.

        Returns:
            Where the memory is; ``None`` when the key is of another kind.

        Raises:
            NotFoundError: the key is of its kind, and there is no such memory.
        """

    def stop(self) -> None:
        """Let its work end, without waiting for it; what begins later ends at once."""

    def close(self) -> None:
        """Release what it holds. May be called again."""
