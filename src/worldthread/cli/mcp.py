"""``worldthread mcp``: serve a memory or a game to MCP clients."""

from __future__ import annotations

import importlib.util
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from worldthread.cli.opening import DEFAULT_FILE, MemoryOption, MemoryPromptsOption, ModelOption, NamespaceOption
from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from worldthread.mcp.prepared import PreparedServer
    from worldthread.mcp.shared import SharedMemory

_HOST: Final = "127.0.0.1"
_PORT: Final = 8765
_GAME: Final = "game"  # the entry point of what serves a game


def mcp(
    context: typer.Context,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    also_namespace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another memory of the file. Every tool then takes an argument that names one of them. Repeatable.",
        ),
    ] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="Offer no tools that change the memory.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    host: Annotated[
        str | None,
        typer.Option(help=f"With --http: the address to listen on. Default: {_HOST}, for this machine only."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help=f"With --http: the port; 0 chooses a free one. Default: {_PORT}."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="WORLDTHREAD_MCP_TOKEN",
            help="With --http: the token that clients must send. Prefer the variable, since other users can see "
            "command lines. Default: a new token at every start.",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="With --http: accept every process on this machine without a token.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="With --http: another host name under which clients reach the server. Repeatable."
        ),
    ] = None,
    clients: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --http: a TOML file with a table for each client: its token, and the namespaces that it is held "
            "to. Each client sees only its own memories.",
        ),
    ] = None,
    reference_tools: Annotated[
        bool,
        typer.Option(
            "--reference-tools",
            help="Offer the nine tools of the protocol's reference memory server (create_entities, add_observations, "
            "search_nodes, ...) instead of worldthread's own.",
        ),
    ] = False,
    model: ModelOption = None,
    prompts: MemoryPromptsOption = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Serve this game instead of a memory: a name that [bold]worldthread games[/bold] lists, or "
            "textworld:PATH, jericho:PATH. The memory of the play is in RAM unless --memory is given.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="With --game: the seed of the game. Default: 0.")] = None,
    valid_actions: Annotated[
        Literal["ours", "jericho", "none"] | None,
        typer.Option(
            help="With --game, of a Z-machine game: whose list of valid actions the client is told. Default: ours."
        ),
    ] = None,
) -> None:
    """Serve a memory or a game to MCP clients.

    The clients get tools to remember, recall, ask and forget; with [bold]--game[/bold], tools to play a game. By
    default, the client starts this command and talks to it over standard input and output; run it in a terminal to see
    the configuration for the client. Several servers and commands can use one memory file at the same time.

    [dim]Examples:[/dim]

        worldthread mcp --memory ~/notes.worldthread

        worldthread mcp --memory ~/notes.worldthread --http

        worldthread mcp --memory ~/notes.worldthread --reference-tools

        worldthread mcp --game treasure-hunt
    """
    if not http and (host is not None or port is not None or no_token or allow_host):
        raise InputError("--host, --port, --no-token and --allow-host need --http")
    if clients is not None and (not http or game is not None or _is_given(context, "namespace") or also_namespace):
        raise InputError("--clients needs --http, and cannot be combined with --namespace, --also-namespace and --game")
    if game is None and seed is not None:
        raise InputError("--seed needs --game")
    if game is None and valid_actions is not None:
        raise InputError("--valid-actions needs --game")
    if game is not None and (
        readonly or reference_tools or model is not None or _is_given(context, "namespace") or also_namespace
    ):
        raise InputError(
            "--readonly, --reference-tools, --namespace, --also-namespace and --model cannot be combined with --game"
        )
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtraError("the MCP server", extra="mcp", package="mcp")

    from worldthread.mcp.configuration import http_configuration
    from worldthread.mcp.serving import HTTP_PATH, serve_http, serve_stdio
    from worldthread.mcp.shared import SharedMemory
    from worldthread.server_access import Access, listening_socket, load_clients, port_of

    # before the import of the SDK, whose own log handler prints tracebacks of hundreds of lines
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)

    known = () if clients is None else load_clients(clients)

    def opened() -> PreparedServer:
        if game is None:
            shared = SharedMemory(
                memory.file,
                namespace=namespace,
                more_namespaces=also_namespace or (),
                readonly=readonly,
                model=model,
                per_client=clients is not None,
                offers_choice=any(len(client.namespaces) > 1 for client in known) or None,
            )
            return _memory(shared, reference_tools=reference_tools)
        # $WORLDTHREAD_MEMORY names the file of notes, not of plays
        return _game(
            game,
            seed=seed or 0,
            path=memory.file if _is_given(context, "memory") else None,
            valid_actions=valid_actions,
        )

    if not http:
        served = opened()
        if sys.stdin.isatty():
            _print_message("An MCP client starts this command itself. Its configuration:", served.stdio_entry())
        serve_stdio(served.server, served.close)
        return
    access = Access.for_mcp(
        host or _HOST,
        _PORT if port is None else port,
        names=allow_host or (),
        token=token,
        no_token=no_token,
        clients=clients if clients is not None else (),
    )
    with listening_socket(access.host, access.port) as listening:
        served = opened()
        url = access.url(port_of(listening), HTTP_PATH)
        _print_message(
            f"Serving {served.title} at {url}. Configuration for clients that accept a URL:",
            http_configuration(url, access, served.name),
        )
        serve_http(served.server, access, listening, served.end_changes)


def _memory(shared: SharedMemory, *, reference_tools: bool) -> PreparedServer:
    from worldthread.mcp.configuration import MEMORY_SERVER, stdio_configuration
    from worldthread.mcp.prepared import PreparedServer
    from worldthread.mcp.server import create_reference_server, create_server

    create = create_reference_server if reference_tools else create_server
    return PreparedServer(
        create(shared), shared.close, str(shared.path), MEMORY_SERVER,
        lambda: stdio_configuration(shared, reference_tools=reference_tools), shared.end_changes,
    )  # fmt: skip


def _game(
    id: str, *, seed: int, path: Path | None, valid_actions: Literal["ours", "jericho", "none"] | None
) -> PreparedServer:
    from worldthread.extensions import TOOLS, extensions, load_extension

    if _GAME not in extensions(TOOLS):
        raise InputError("--game needs a package that adds games to worldthread, and none is installed")
    prepared: PreparedServer = load_extension(TOOLS, _GAME)(id, seed=seed, path=path, valid_actions=valid_actions)
    return prepared


def _is_given(context: typer.Context, option: str) -> bool:
    """Return whether an option was given on the command line."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _print_message(*lines: str) -> None:
    """Print lines on standard error, since standard output belongs to the protocol."""
    for line in lines:
        typer.echo(line, err=True)
