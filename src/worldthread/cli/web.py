"""``worldthread web``: see a memory, look through runs, watch and play games, in a browser."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Final

import typer

from worldthread.cli.opening import DEFAULT_FILE, ModelOption, NamespaceOption, require_file
from worldthread.errors import MissingExtraError

_HOST: Final = "127.0.0.1"
_PORT: Final = 8766


def web(
    file: Annotated[
        Path | None,
        typer.Argument(
            envvar="WORLDTHREAD_MEMORY", metavar="[FILE]", help="The file of a memory. Default: memory.worldthread."
        ),
    ] = None,
    namespace: NamespaceOption = "default",
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder with runs; plays are kept there.")] = Path(
        "runs"
    ),
    host: Annotated[str, typer.Option(help="Address to listen on; by default only this machine is served.")] = _HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = _PORT,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="WORLDTHREAD_WEB_TOKEN",
            help="What a browser must show; better given in the variable, since other users of the machine see command "
            "lines. Without it this machine is served freely, and others with a token made at the start.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name by which browsers ask for the server. Repeatable."),
    ] = None,
    model: ModelOption = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """See the memory as a graph, look through runs, and watch agents play or play yourself, in a browser.

    Nothing is loaded from anywhere else, and no page changes the memory. Plays are kept as runs in the folder.

    [dim]Examples:[/dim]

        worldthread web --open

        worldthread web notes.worldthread --runs experiments/

        WORLDTHREAD_WEB_TOKEN=... worldthread web --host 0.0.0.0 --allow-host memory.example.org
    """
    for package in ("starlette", "uvicorn"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the web pages", extra="web", package=package)
    from worldthread.addresses import listening_socket, port_of
    from worldthread.web.access import Access
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState
    from worldthread.web.assets import read_assets
    from worldthread.web.serving import serve

    assets = read_assets()
    if file is not None:
        require_file(file)
    access = Access.of(host, port, names=allow_host or (), token=token)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    with (
        listening_socket(access.host, access.port) as listening,
        AppState(file or DEFAULT_FILE, namespace, runs=runs, model=model) as desk,
    ):
        # a token that was given is not repeated
        shown = f"?token={access.token}" if access.token and token is None else ""
        url = access.url(port_of(listening)) + shown
        typer.echo(f"Serving {desk.place.path} and the runs in {runs} at {url}  (Ctrl-C ends)", err=True)
        # while the browser starts
        threading.Thread(target=desk.warm, daemon=True).start()
        if open_browser:
            webbrowser.open(url)
        serve(create_app(desk, assets, access), listening)
