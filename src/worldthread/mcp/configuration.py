"""Configuration entries to paste into an MCP client."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldthread.mcp.shared import SharedMemory
from worldthread.server_access import MCP_TOKEN_VARIABLE, Access
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread_lab.envs.files import GAMES_VARIABLE

if TYPE_CHECKING:
    from worldthread.mcp.game import SharedGame

MEMORY_SERVER: Final = "worldthread"
GAME_SERVER: Final = "worldthread-game"


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
    return _entry(_command(options))


def game_configuration(game: SharedGame) -> str:
    """Return the entry with which a client starts the server of a game, with the folders of games as set now."""
    kind, colon, file = game.id.partition(":")
    is_path = bool(colon) and Path(file).exists()  # else a name to look up in the folders of games
    options = ["--game", f"{kind}:{Path(file).absolute()}" if is_path else game.id]
    if game.seed:
        options += ["--seed", str(game.seed)]
    if game.valid_actions is not None:
        options += ["--valid-actions", game.valid_actions]
    if game.path is not None:
        options += ["--memory", str(game.path)]
    entry = _command(options)
    folders = [folder for folder in os.environ.get(GAMES_VARIABLE, "").split(os.pathsep) if folder]
    if folders:
        entry["env"] = {GAMES_VARIABLE: os.pathsep.join(str(Path(folder).absolute()) for folder in folders)}
    return _entry(entry, GAME_SERVER)


def _command(options: Sequence[str]) -> dict[str, object]:
    program = shutil.which("worldthread")
    command = [program] if program else [str(Path(sys.executable).absolute()), "-m", "worldthread"]
    return {"command": command[0], "args": [*command[1:], "mcp", *options]}


def http_configuration(url: str, access: Access, server: str = MEMORY_SERVER) -> str:
    """Return the entry with which a client reaches a server over HTTP; it contains the token only if generated."""
    entry: dict[str, object] = {"type": "http", "url": url}
    if access.needs_token:
        shown = access.token if access.is_generated else f"${{{MCP_TOKEN_VARIABLE}}}"
        entry["headers"] = {"Authorization": f"Bearer {shown}"}
    return _entry(entry, server)


def _entry(entry: dict[str, object], server: str = MEMORY_SERVER) -> str:
    return json.dumps({"mcpServers": {server: entry}}, indent=2)
