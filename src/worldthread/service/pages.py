"""The page of one memory of the service, for those whose token opens that memory. Needs the extra ``web``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import ASGIApp

from worldthread.errors import InputError
from worldthread.service.clients import ClientDirectory
from worldthread.support.server_access import Access
from worldthread.web.app import create_app
from worldthread.web.app_state import AppState
from worldthread.web.assets import read_assets


@dataclass(frozen=True)
class _PageAccess(Access):
    """The access to the page: with any token that opens its memory.

    Args:
        directory: knows the tokens.
        namespace: the memory.
    """

    directory: ClientDirectory = field(default_factory=lambda: ClientDirectory(()))
    namespace: str = ""

    @property
    def needs_token(self) -> bool:
        return True

    def is_token(self, given: str) -> bool:
        try:
            client = self.directory.client_of(given) if given else None
        except InputError:  # the file of clients cannot be used
            return False
        return client is not None and self.namespace in client.namespaces


def page_app(
    path: Path, access: Access, directory: ClientDirectory, namespace: str, *, embedder: str | None = None
) -> tuple[ASGIApp, AppState]:
    """Return the page of a memory as an application. It shows the memory and answers questions, and changes nothing.

    Args:
        path: the file of the memory.
        access: the host names of the service.
        directory: knows the tokens.
        namespace: the memory.
        embedder: name of an embedder; see :class:`~worldthread.Memory`.

    Returns:
        The application, and what it holds open; the caller closes that.

    Raises:
        InputError: the pages were not built.
    """
    page_access = _PageAccess(access.host, access.port, access.names, directory=directory, namespace=namespace)
    state = AppState(path, namespace, embedder=embedder, editable=False, only_this=True)
    return create_app(state, read_assets(), page_access), state
