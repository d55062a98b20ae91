"""The server as an ASGI application."""

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
from worldthread.server_access import Access
from worldthread.web.access import Guard
from worldthread.web.answers import answer, render_error
from worldthread.web.app_state import AppState
from worldthread.web.assets import PAGES, Asset, served
from worldthread.web.memory_routes import memory_routes
from worldthread.web.play_routes import play_routes
from worldthread.web.run_routes import run_routes


def create_app(desk: AppState, assets: Mapping[str, Asset], access: Access) -> ASGIApp:
    """The pages and what they ask for, behind their guard. Whoever made the desk closes it."""

    def page(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return served(assets[name], request)

        return endpoint

    async def static(request: Request) -> Response:
        asset = assets.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404, "there is no such file")
        return served(asset, request)

    async def about(_: Request) -> Response:
        return answer({"version": __version__})

    routes: list[Any] = [Route(path, page(name)) for path, name in PAGES.items()]
    routes += [
        Route("/static/{name}", static),
        Route("/api/about", about),
        *memory_routes(desk),
        *run_routes(desk),
        *play_routes(desk),
    ]
    handled = (HTTPException, WorldthreadError, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(handled, render_error))
    return Guard(app, access)
