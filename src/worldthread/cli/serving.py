"""Commands for servers: ``serve``, ``mcp``, ``web`` and ``database``."""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from worldthread.cli.console import help_text
from worldthread.cli.options import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    EmbedderOption,
    MemoryOption,
    MemoryPlace,
    MemoryPromptsOption,
    ModelOption,
    NamespaceOption,
    WaitOption,
    opened_to_write,
    require_file,
)
from worldthread.cli.output import note, one_line
from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from worldthread.mcp.prepared import PreparedServer
    from worldthread.mcp.shared import SharedMemory


_HOST: Final = "127.0.0.1"
HostOption = Annotated[str, typer.Option(help="The address to listen on; the default serves only this machine.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")]
_SERVE_PORT: Final = 8767
_NEEDED: Final = (("fastapi", "serve"), ("prometheus_client", "serve"), ("uvicorn", "serve"))

serve = typer.Typer(rich_markup_mode="rich", invoke_without_command=True)
token = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Make, list and revoke the tokens of clients of the API."
)
ClientsOption = Annotated[
    Path,
    typer.Option(
        "--clients",
        envvar="WORLDTHREAD_SERVE_CLIENTS",
        metavar="FILE",
        help="The file of clients. It holds digests of tokens, and only its owner can read it.",
    ),
]
DEFAULT_CLIENTS: Final = Path("clients.toml")


def serve_(
    context: typer.Context,
    memory: MemoryOption = DEFAULT_FILE,
    clients: Annotated[
        Path | None,
        typer.Option(
            envvar="WORLDTHREAD_SERVE_CLIENTS",
            metavar="FILE",
            help="The file of clients that [bold]worldthread serve token add[/bold] makes; changes count at once.",
        ),
    ] = None,
    namespace: NamespaceOption = "default",
    token: Annotated[
        str | None,
        typer.Option(
            envvar="WORLDTHREAD_SERVE_TOKEN",
            help="Without --clients: the only token, which opens --namespace. Prefer the variable, since other users "
            "can see command lines. Default: a new token at every start.",
        ),
    ] = None,
    host: HostOption = _HOST,
    port: PortOption = _SERVE_PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name under which browsers reach the page. Repeatable."),
    ] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="Change no memory, whatever tokens allow.")] = False,
    rate: Annotated[
        float,
        typer.Option(min=0.1, metavar="NUMBER", help="Requests per second that one token may send over time."),
    ] = 100.0,
    burst: Annotated[
        float | None,
        typer.Option(min=1, metavar="NUMBER", help="The requests that it may send at once. Default: twice --rate."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="The jobs of one memory that may wait or run.")] = 8,
    threads: Annotated[int, typer.Option(min=1, help="How many requests are handled at a time; others wait.")] = 16,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="Serve each memory to MCP clients too, at /v1/namespaces/NAME/mcp.")
    ] = False,
    page: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Serve the page of this namespace too, at /. It needs a memory file."),
    ] = None,
    model: ModelOption = None,
    embedder: EmbedderOption = None,
    prompts: MemoryPromptsOption = None,
    openapi: Annotated[bool, typer.Option("--openapi", help="Print the OpenAPI description and exit.")] = False,
) -> None:
    """Serve memories over an HTTP API, each token its own.

    Programs in any language remember, recall, ask, correct and forget over HTTP; long work runs as jobs. The API is
    described at [bold]/openapi.json[/bold]. Many services and commands can use one memory at the same time. Put a proxy
    in front that speaks TLS before other machines use it.

    [dim]Examples:[/dim]

        worldthread serve

        worldthread serve token add anna --namespace anna --namespace family

        worldthread serve --clients clients.toml --memory postgresql://worldthread@db.example.org/memories
    """
    if context.invoked_subcommand is not None:
        return
    for package, extra in (*_NEEDED, *((("mcp", "mcp"),) if mcp else ())):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the service", extra=extra, package=package)
    from worldthread.service.app import create_app, description

    if openapi:
        typer.echo(json.dumps(description(), indent=2))
        return
    from worldthread.service.clients import ClientDirectory
    from worldthread.service.limits import ServiceLimits
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.serving import serve as run
    from worldthread.service.state import Service
    from worldthread.support.server_access import (
        Access,
        Client,
        generate_secret,
        listening_socket,
        port_of,
        token_digest,
    )

    if clients is not None and token is not None:
        raise InputError("--clients lists the tokens: leave out --token and $WORLDTHREAD_SERVE_TOKEN")
    if page is not None:
        _ = memory.file  # an address has no page
    access = Access.for_service(host, port, names=allow_host or (), token=token, needs_names=page is not None)
    secret = generate_secret() if clients is None and token is None else token
    directory = ClientDirectory(
        clients if clients is not None else (Client("token", token_digest(secret or ""), (namespace,)),)
    )
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    limits = ServiceLimits(rate=rate, burst=2 * rate if burst is None else burst, jobs=jobs, threads=threads)
    first = next((client.namespaces[0] for client in directory.clients), namespace)
    with (
        ExitStack() as stack,
        listening_socket(access.host, access.port) as listening,
        ServiceMemories(
            memory.location,
            readonly=readonly,
            model=model,
            embedder=embedder,
            most_open=limits.open_memories,
            first=first,
        ) as memories,
    ):
        pages = None
        if page is not None:
            from worldthread.service.pages import page_app

            pages, state = page_app(memory.file, access, directory, page, embedder=embedder)
            stack.enter_context(state)
        service = Service(memories, directory, limits)
        memories.warm_up()
        url = access.url(port_of(listening))
        typer.echo(f"Serving {memory} at {url}v1/namespaces  (stop with Ctrl-C)", err=True)
        if clients is None and token is None:  # do not print a token that the user gave
            typer.echo(f"Its token, for the namespace {one_line(namespace)}: {secret}", err=True)
        run(create_app(service, mcp=mcp, page=pages), service, listening)


def add_token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the client: letters, digits, - and _.")],
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A memory that the token opens. Repeatable. Default: the name of the client."
        ),
    ] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="The token only reads.")] = False,
    clients: ClientsOption = DEFAULT_CLIENTS,
) -> None:
    """Make a token and print it. It cannot be shown again: the file holds only its digest.

    A service that uses the file accepts the token at once.

    [dim]Examples:[/dim]

        worldthread serve token add anna

        worldthread serve token add dashboard --namespace anna --namespace bert --readonly
    """
    from worldthread.service.clients import add_client

    typer.echo(add_client(clients, name, namespace or [name], writes=not readonly))
    note(f"{clients} lists the client; worldthread serve --clients {clients} lets it in")


def list_tokens(clients: ClientsOption = DEFAULT_CLIENTS) -> None:
    """List clients with what their tokens open.

    [dim]Example:[/dim]

        worldthread serve token list
    """
    from worldthread.support.server_access import load_clients

    for client in load_clients(clients, may_be_empty=True):
        may = "reads and writes" if client.writes else "reads"
        typer.echo(f"{one_line(client.name)} {may} {', '.join(map(one_line, client.namespaces))}")


def revoke_token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A client that [bold]token list[/bold] shows.")],
    clients: ClientsOption = DEFAULT_CLIENTS,
) -> None:
    """Revoke the token of a client. A service that uses the file refuses it at once.

    [dim]Example:[/dim]

        worldthread serve token revoke anna
    """
    from worldthread.service.clients import revoke_client

    revoke_client(clients, name)
    typer.echo(f"{one_line(name)} may no longer do anything")


for _name, _command in (("add", add_token), ("list", list_tokens), ("revoke", revoke_token)):
    token.command(_name, help=help_text(_command))(_command)
serve.callback(help=help_text(serve_))(serve_)
serve.add_typer(token, name="token")


_MCP_PORT: Final = 8765
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
        typer.Option(min=0, max=65535, help=f"With --http: the port; 0 chooses a free one. Default: {_MCP_PORT}."),
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
            help="With --game, of a Z-machine game: whose list of valid actions the client gets. Default: ours."
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
    from worldthread.support.server_access import Access, listening_socket, load_clients, port_of

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
        _MCP_PORT if port is None else port,
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
    from worldthread.support.extensions import TOOLS, extensions, load_extension

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


_WEB_PORT: Final = 8766


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
    host: HostOption = _HOST,
    port: PortOption = _WEB_PORT,
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
    from worldthread.support.server_access import Access, is_loopback, listening_socket, port_of
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


_NOTHING_TO_REVOKE = 1

database = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Say who may use the memories on a PostgreSQL server, and keep it tidy.",
)
AddressArgument = Annotated[
    MemoryPlace,
    typer.Argument(
        metavar="ADDRESS", parser=MemoryPlace, help="postgresql://OWNER@HOST/DATABASE, as the owner of the tables."
    ),
]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help="A role of the server; make it with CREATE ROLE.")]


def grant_(
    address: AddressArgument,
    role: RoleArgument,
    namespace: Annotated[str | None, typer.Option(metavar="NAME", help="Only this memory.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All memories, also those to come.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Let the role write too; else it only reads.")] = False,
) -> None:
    """Let a role read a memory, or read and write it. The server itself keeps it away from all others.

    [dim]Examples:[/dim]

        worldthread database grant postgresql://owner@db.example.org/memories anna --namespace anna --write

        worldthread database grant postgresql://owner@db.example.org/memories auditor --all
    """
    from worldthread.stores.postgresql_access import grant

    if (namespace is None) == (not everything):
        raise InputError("give --namespace NAME or --all")
    grant(str(address.location), role, namespace=namespace, writes=write)
    may = "read and write" if write else "read"
    typer.echo(f"{one_line(role)} may {may} {'all memories' if namespace is None else one_line(namespace)}")


def revoke_(
    address: AddressArgument,
    role: RoleArgument,
    namespace: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only for this memory. Default: everything.")
    ] = None,
) -> None:
    """Take away what [bold]worldthread database grant[/bold] gave a role.

    [dim]Example:[/dim]

        worldthread database revoke postgresql://owner@db.example.org/memories anna
    """
    from worldthread.stores.postgresql_access import revoke

    if not revoke(str(address.location), role, namespace=namespace):
        note(f"{one_line(role)} had not been granted that")
        raise typer.Exit(_NOTHING_TO_REVOKE)
    typer.echo(f"{one_line(role)} may no longer do that")


def purge_(address: AddressArgument, wait: WaitOption = DEFAULT_WAIT) -> None:
    """Write the tables anew, so that nothing of what was forgotten is left in their files.

    Everybody else waits meanwhile. The write-ahead log of the server and its backups are not changed.

    [dim]Example:[/dim]

        worldthread database purge postgresql://owner@db.example.org/memories
    """
    if not isinstance(address.location, str):
        raise InputError("give an address like postgresql://OWNER@HOST/DATABASE: a file needs no purge")
    with opened_to_write(address, "default", wait) as store:
        store.checkpoint()
    typer.echo("the tables were written anew")


for _action, _of_database in (("grant", grant_), ("revoke", revoke_), ("purge", purge_)):
    database.command(_action, help=help_text(_of_database))(_of_database)
