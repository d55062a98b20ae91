"""The web pages and their JSON routes as an ASGI application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from worldthread import __version__
from worldthread.errors import WorldthreadError
from worldthread.support.server_access import Access
from worldthread.web.access import PageGuard
from worldthread.web.answers import json_response, render_error
from worldthread.web.app_state import AppState
from worldthread.web.assets import PAGES, Asset, asset_response
from worldthread.web.edit_routes import edit_routes
from worldthread.web.memory_routes import memory_routes
from worldthread.web.work import Cancelled


def create_app(app_state: AppState, assets: Mapping[str, Asset], access: Access) -> ASGIApp:
    """Return the application.

    Args:
        app_state: the memories to show, and what other packages add; the caller closes it.
        assets: the files for browsers by name; see :func:`worldthread.web.assets.read_assets`.
        access: the host names and the token of the server.

    Returns:
        The application behind its :class:`~worldthread.web.access.PageGuard`.
    """

    def page(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return asset_response(assets[name], request)

        return endpoint

    async def static(request: Request) -> Response:
        asset = assets.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404, "this file does not exist")
        return asset_response(asset, request)

    async def about(_: Request) -> Response:
        return json_response({"version": __version__, "editable": app_state.editable, "model": app_state.model})

    added = app_state.added
    paths = {"/"}.union(*(() if app_state.only_this else pages.paths for pages in added))
    routes: list[Any] = [Route(path, page(name)) for path, name in PAGES.items() if path in paths]
    routes += [
        Route("/static/{name}", static),
        Route("/api/about", about),
        *edit_routes(app_state),
        *memory_routes(app_state),
        *(route for pages in added for route in pages.memory_routes()),
        *(route for pages in added if not app_state.only_this for route in pages.routes()),
    ]
    handled = (HTTPException, WorldthreadError, Cancelled, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(handled, render_error))
    return PageGuard(app, access)
