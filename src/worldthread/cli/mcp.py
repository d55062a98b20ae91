"""``worldthread mcp``: the memory as tools for any MCP client."""

from __future__ import annotations

import importlib.util
import logging
import sys
from typing import Annotated, Final

import typer

from worldthread.cli.opening import DEFAULT_FILE, MemoryOption, ModelOption, NamespaceOption
from worldthread.errors import InputError, MissingExtraError

_HOST: Final = "127.0.0.1"
_PORT: Final = 8765


def mcp(
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    readonly: Annotated[bool, typer.Option("--readonly", help="Never write: no remember, no forget.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP; otherwise over stdin and stdout.")] = False,
    host: Annotated[
        str | None, typer.Option(help=f"With --http: address to listen on. Default: {_HOST}, this machine only.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"With --http: port; 0 takes a free one. Default: {_PORT}.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="WORLDTHREAD_MCP_TOKEN",
            help="With --http: what clients must show; better given in the variable, since other users of the machine "
            "see command lines. Default: a new one at every start.",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="With --http: serve every process of this machine.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --http: another name by which clients ask for the server. Repeatable."),
    ] = None,
    model: ModelOption = None,
) -> None:
    """Give a memory to any MCP client: tools to remember, recall, ask and forget.

    Without options it speaks over stdin and stdout, to the client that started it. Several servers and commands may
    use one file at once.

    [dim]Examples:[/dim]

        worldthread mcp --memory ~/notes.worldthread

        worldthread mcp --memory ~/notes.worldthread --http
    """
    if not http and (host is not None or port is not None or no_token or allow_host):
        raise InputError("--host, --port, --no-token and --allow-host are for --http")
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtraError("the MCP server", extra="mcp", package="mcp")

    from worldthread.mcp.access import Access
    from worldthread.mcp.configuration import http_configuration, stdio_configuration
    from worldthread.mcp.server import create_server
    from worldthread.mcp.serving import listening_socket, serve_http, serve_stdio, url_of
    from worldthread.mcp.shared import SharedMemory

    # before the SDK, whose own log draws tracebacks over hundreds of lines
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    if not http:
        shared = SharedMemory(memory, namespace=namespace, readonly=readonly, model=model)
        if sys.stdin.isatty():
            _tell("An MCP client starts this command by itself, as configured with:", stdio_configuration(shared))
        serve_stdio(create_server(shared), shared.close)
        return
    access = Access.of(
        host or _HOST, _PORT if port is None else port, names=allow_host or (), token=token, no_token=no_token
    )
    with listening_socket(access) as listening:
        shared = SharedMemory(memory, namespace=namespace, readonly=readonly, model=model)
        url = url_of(access, listening)
        _tell(
            f"Serving {shared.path} at {url}. Configuration for clients that take a URL:",
            http_configuration(url, access),
        )
        serve_http(create_server(shared), access, listening)


def _tell(*lines: str) -> None:
    """For people: standard output belongs to the protocol."""
    for line in lines:
        typer.echo(line, err=True)
