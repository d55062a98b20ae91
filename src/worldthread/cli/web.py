"""``worldthread web``: the web pages for a memory, for runs, and for playing games."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Final

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    MemoryPlace,
    MemoryPromptsOption,
    ModelOption,
    NamespaceOption,
    require_file,
)
from worldthread.errors import MissingExtraError

_HOST: Final = "127.0.0.1"
_PORT: Final = 8766


def web(
    file: Annotated[
        MemoryPlace | None,
        typer.Argument(
            envvar="WORLDTHREAD_MEMORY",
            metavar="FILE",
            parser=MemoryPlace,
            help="The memory file. Default: memory.worldthread.",
        ),
    ] = None,
    namespace: NamespaceOption = "default",
    runs: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder of runs; new plays are stored there.")
    ] = Path("runs"),
    host: Annotated[str, typer.Option(help="The address to listen on; the default serves only this machine.")] = _HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = _PORT,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="WORLDTHREAD_WEB_TOKEN",
            help="The token that browsers must send. Prefer the variable, since other users can see command lines. "
            "Default: none for this machine, a new one at every start for other machines.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another host name under which browsers reach the server. Repeatable."),
    ] = None,
    model: ModelOption = None,
    prompts: MemoryPromptsOption = None,
    edit: Annotated[
        bool | None,
        typer.Option(
            "--edit/--read-only",
            help="Whether the pages may change the memory: remember, correct, merge, forget. Default: only when this "
            "machine alone is served.",
            show_default=False,
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the pages in a browser.")] = False,
) -> None:
    """Serve web pages to explore a memory and recorded runs, and to play games.

    The pages show the memory as a graph and answer questions, and show the steps of runs; you can watch agents play, or
    play yourself. They load nothing from other servers. On this machine, you can also remember texts, correct, merge
    and forget; [bold]--read-only[/bold] turns that off. New plays are stored in the folder of runs.

    [dim]Examples:[/dim]

        worldthread web --open

        worldthread web notes.worldthread --runs experiments/

        WORLDTHREAD_WEB_TOKEN=... worldthread web --host 0.0.0.0 --allow-host memory.example.org
    """
    path = (file or DEFAULT_FILE).file
    for package in ("graspologic_native", "starlette", "uvicorn"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the web server", extra="web", package=package)
    from worldthread.server_access import Access, is_loopback, listening_socket, port_of
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState
    from worldthread.web.assets import read_assets
    from worldthread.web.serving import serve

    assets = read_assets()
    if file is not None and not edit:
        require_file(path)
    access = Access.for_web(host, port, names=allow_host or (), token=token)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    with (
        listening_socket(access.host, access.port) as listening,
        AppState(
            path,
            namespace,
            runs=runs,
            model=model,
            editable=is_loopback(access.host) and not allow_host if edit is None else edit,
        ) as app_state,
    ):
        # do not print a token that the user gave
        shown = f"?token={access.token}" if access.is_generated else ""
        url = access.url(port_of(listening)) + shown
        typer.echo(f"Serving {app_state.location.path} and the runs in {runs} at {url}  (stop with Ctrl-C)", err=True)
        # warm up while the browser starts
        threading.Thread(target=app_state.warm, daemon=True).start()
        if open_browser:
            webbrowser.open(url)
        serve(create_app(app_state, assets, access), listening, app_state.stop)
