"""A mirror of a memory in a graph database, for Cypher and the tools of that database.

>>> from worldthread.mirror import Mirror, open_graph                    # doctest: +SKIP
>>> with open_graph("falkordb://localhost:6379/home") as graph:          # doctest: +SKIP
...     Mirror(memory, graph).update()                                   # doctest: +SKIP
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Final

from worldthread.caches.base import shown_address
from worldthread.errors import InputError
from worldthread.mirror.following import Mirror, MirrorCounts
from worldthread.mirror.graph_server import GraphServer
from worldthread.mirror.read_graph import mirror_index
from worldthread.mirror.view import MirrorView

__all__ = ["GRAPH_SERVERS", "GraphServer", "Mirror", "MirrorCounts", "MirrorView", "mirror_index", "open_graph"]

GRAPH_SERVERS: Final[dict[str, str]] = {
    "bolt": "worldthread.mirror.neo4j_server:Neo4jServer",
    "bolt+s": "worldthread.mirror.neo4j_server:Neo4jServer",
    "falkordb": "worldthread.mirror.falkordb_server:FalkorDBServer",
    "falkordbs": "worldthread.mirror.falkordb_server:FalkorDBServer",
    "neo4j": "worldthread.mirror.neo4j_server:Neo4jServer",
    "neo4j+s": "worldthread.mirror.neo4j_server:Neo4jServer",
}
"""The class of every graph database by the scheme of its addresses; imported when one is opened."""


def open_graph(address: str) -> GraphServer:
    """Connect to a graph database.

    Args:
        address: ``"falkordb://HOST:PORT/GRAPH"`` (``falkordbs`` with TLS), or ``"neo4j://USER@HOST:PORT/DATABASE"`` (or
            ``bolt``; ``+s`` with TLS). The password comes from the address, else from ``$FALKORDB_PASSWORD`` or
            ``$NEO4J_PASSWORD``; no message shows it.

    Returns:
        The connection; close it, or use it as a context manager.

    Raises:
        InputError: the address cannot be used.
        MissingExtraError: the client of the database is not installed.
        StoreUnavailableError: the server cannot be reached.
    """
    scheme = address.partition("://")[0]
    if "://" not in address or scheme not in GRAPH_SERVERS:
        known = ", ".join(sorted(GRAPH_SERVERS))
        raise InputError(f"there is no graph database for {shown_address(address)!r}; schemes are: {known}")
    opened: GraphServer = resolve_name(GRAPH_SERVERS[scheme])(address)
    return opened
