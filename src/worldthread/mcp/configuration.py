"""Configuration entries to paste into an MCP client."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from worldthread.mcp.shared import SharedMemory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.support.server_access import MCP_TOKEN_VARIABLE, Access

MEMORY_SERVER: Final = "worldthread"


def stdio_configuration(shared: SharedMemory, *, reference_tools: bool = False) -> str:
    """Return the entry with which a client starts the server of a memory, in the format of most clients."""
    options = ["--memory", str(shared.path)]
    namespace, *more = shared.namespaces
    if namespace != DEFAULT_NAMESPACE:
        options += ["--namespace", namespace]
    for other in more:
        options += ["--also-namespace", other]
    if shared.readonly:
        options.append("--readonly")
    if reference_tools:
        options.append("--reference-tools")
    return configuration_of(start_entry(options))


def start_entry(options: Sequence[str]) -> dict[str, object]:
    """Return the entry of a server that a client starts with these options of ``worldthread mcp``."""
    program = shutil.which("worldthread")
    command = [program] if program else [str(Path(sys.executable).absolute()), "-m", "worldthread"]
    return {"command": command[0], "args": [*command[1:], "mcp", *options]}


def http_configuration(url: str, access: Access, server: str = MEMORY_SERVER) -> str:
    """Return the entry with which a client reaches a server over HTTP; it contains the token only if generated."""
    entry: dict[str, object] = {"type": "http", "url": url}
    if access.needs_token:
        shown = access.token if access.is_generated else f"${{{MCP_TOKEN_VARIABLE}}}"
        entry["headers"] = {"Authorization": f"Bearer {shown}"}
    return configuration_of(entry, server)


def configuration_of(entry: dict[str, object], server: str = MEMORY_SERVER) -> str:
    """Return the entry of a server in the format of most clients."""
    return json.dumps({"mcpServers": {server: entry}}, indent=2)
