"""What a person pastes into an MCP client."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from worldthread.mcp.access import TOKEN_VARIABLE, Access
from worldthread.mcp.shared import SharedMemory
from worldthread.stores import DEFAULT_NAMESPACE

_SERVER = "worldthread"


def stdio_configuration(shared: SharedMemory) -> str:
    """The entry with which a client starts the server, as most clients take it."""
    command = shutil.which("worldthread")
    start = [command] if command else [str(Path(sys.executable).absolute()), "-m", "worldthread"]
    options = ["--memory", str(shared.path)]
    if shared.namespace != DEFAULT_NAMESPACE:
        options += ["--namespace", shared.namespace]
    if shared.readonly:
        options.append("--readonly")
    return _entry({"command": start[0], "args": [*start[1:], "mcp", *options]})


def http_configuration(url: str, access: Access) -> str:
    """The entry with which a client reaches the server. A token that was given is not repeated."""
    entry: dict[str, object] = {"type": "http", "url": url}
    if access.token is not None:
        shown = access.token if access.is_generated else f"${{{TOKEN_VARIABLE}}}"
        entry["headers"] = {"Authorization": f"Bearer {shown}"}
    return _entry(entry)


def _entry(entry: dict[str, object]) -> str:
    return json.dumps({"mcpServers": {_SERVER: entry}}, indent=2)
