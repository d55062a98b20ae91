"""``worldthread mirror``: show a memory in a graph database."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.cli.opening import JsonLinesOption, MemoryPlace, NamespaceOption, opened_to_read
from worldthread.cli.output import number_of, print_json

if TYPE_CHECKING:
    from worldthread.mirror import MirrorCounts


def mirror(
    memory: Annotated[
        MemoryPlace,
        typer.Argument(metavar="MEMORY", parser=MemoryPlace, help="A memory file, or an address.", show_default=False),
    ],
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="The graph database: falkordb://HOST:PORT/GRAPH or neo4j://USER@HOST:PORT/DATABASE. Its password can "
            "be in $FALKORDB_PASSWORD or $NEO4J_PASSWORD.",
            show_default=False,
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", help="Go on, and show every change until interrupted.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="At the end, compare everything, not only changes.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the mirror, and nothing else.")] = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of the mirror. Default: the namespace.")
    ] = None,
    namespace: NamespaceOption = "default",
    as_json: JsonLinesOption = False,
) -> None:
    """Mirror a memory into FalkorDB or Neo4j, for Cypher and the tools that people know.

    Vertices are objects, theses and episodes; edges are facts with their intervals and sources, and what an episode
    states and names. All of them belong to the mirror: change the memory, not them. What was written is read back and
    compared. After an interruption, give the same command again.

    [dim]Examples:[/dim]

        worldthread mirror memory.worldthread falkordb://localhost:6379/home

        worldthread mirror memory.worldthread neo4j://neo4j@localhost:7687 --follow

        worldthread mirror memory.worldthread falkordb://localhost:6379/home --remove
    """
    from worldthread.mirror import Mirror, open_graph

    def show(counts: MirrorCounts) -> None:
        if as_json:
            print_json(
                {
                    "vertices": counts.vertices,
                    "edges": counts.edges,
                    "written": counts.written,
                    "removed": counts.removed,
                    "compared": counts.compared,
                    "state_hash": counts.state_hash,
                }
            )
            return
        typer.echo(
            f"{counts.vertices:,} vertices and {number_of(counts.edges, 'edge')}: "
            f"{counts.written:,} written and compared, {counts.removed:,} removed; state {counts.state_hash}"
        )

    with ExitStack() as opened:
        store = opened.enter_context(opened_to_read(memory, namespace, model="none", may_be_empty=True))
        graph = opened.enter_context(open_graph(address))
        shown = Mirror(store, graph, name, place=_place(memory))
        if remove:
            typer.echo(f"removed {shown.remove():,} vertices of the mirror {shown.name!r}")
            return
        show(shown.update(progress=None))
        if verify:
            typer.echo(f"compared all {shown.verify():,} vertices and edges", err=as_json)
        if follow:
            shown.follow(on_update=show)


def _place(memory: MemoryPlace) -> str:
    return str(memory.location.resolve()) if not isinstance(memory.location, str) else str(memory)
