"""``worldthread serve``: an HTTP API for memories, and the tokens of its clients."""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Final

import typer

from worldthread.cli.console import help_text
from worldthread.cli.opening import (
    DEFAULT_FILE,
    EmbedderOption,
    MemoryOption,
    MemoryPromptsOption,
    ModelOption,
    NamespaceOption,
)
from worldthread.cli.output import note, one_line
from worldthread.errors import InputError, MissingExtraError

_HOST: Final = "127.0.0.1"
_PORT: Final = 8767
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
    host: Annotated[str, typer.Option(help="The address to listen on; the default serves only this machine.")] = _HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = _PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name under which browsers reach the page. Repeatable."),
    ] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="Change no memory, whatever tokens allow.")] = False,
    rate: Annotated[
        float, typer.Option(min=0.1, metavar="NUMBER", help="The requests per second that one token may send for long.")
    ] = 100.0,
    burst: Annotated[
        float | None,
        typer.Option(min=1, metavar="NUMBER", help="The requests it may send at once. Default: twice --rate."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="The jobs of one memory that may wait or run.")] = 8,
    threads: Annotated[int, typer.Option(min=1, help="The requests that are worked on at a time; others wait.")] = 16,
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
    openapi: Annotated[bool, typer.Option("--openapi", help="Print the OpenAPI description, and end.")] = False,
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
    from worldthread.server_access import Access, Client, generate_secret, listening_socket, port_of, token_digest
    from worldthread.service.clients import ClientDirectory
    from worldthread.service.limits import ServiceLimits
    from worldthread.service.memories import ServiceMemories
    from worldthread.service.serving import serve as run
    from worldthread.service.state import Service

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


def add_(
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
    """Make a token and print it. Nobody can find it out again: the file holds its digest.

    A service that uses the file knows the token at once.

    [dim]Examples:[/dim]

        worldthread serve token add anna

        worldthread serve token add dashboard --namespace anna --namespace bert --readonly
    """
    from worldthread.service.clients import add_client

    typer.echo(add_client(clients, name, namespace or [name], writes=not readonly))
    note(f"{clients} lists the client; worldthread serve --clients {clients} lets it in")


def list_(clients: ClientsOption = DEFAULT_CLIENTS) -> None:
    """List clients with what their tokens open.

    [dim]Example:[/dim]

        worldthread serve token list
    """
    from worldthread.server_access import load_clients

    for client in load_clients(clients, may_be_empty=True):
        may = "reads and writes" if client.writes else "reads"
        typer.echo(f"{one_line(client.name)} {may} {', '.join(map(one_line, client.namespaces))}")


def revoke_(
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


for _command in (add_, list_, revoke_):
    token.command(_command.__name__.rstrip("_"), help=help_text(_command))(_command)
serve.callback(help=help_text(serve_))(serve_)
serve.add_typer(token, name="token")
