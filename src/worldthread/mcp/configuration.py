"""What a person pastes into an MCP client."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldthread.envs.files import GAMES_VARIABLE
from worldthread.mcp.access import TOKEN_VARIABLE, Access
from worldthread.mcp.shared import SharedMemory
from worldthread.stores import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from worldthread.mcp.game import SharedGame

MEMORY_SERVER: Final = "worldthread"
GAME_SERVER: Final = "worldthread-game"


def stdio_configuration(shared: SharedMemory) -> str:
    """The entry with which a client starts the server, as most clients take it."""
    options = ["--memory", str(shared.path)]
    if shared.namespace != DEFAULT_NAMESPACE:
        options += ["--namespace", shared.namespace]
    if shared.readonly:
        options.append("--readonly")
    return _entry(_start(options))


def game_configuration(game: SharedGame) -> str:
    """The entry with which a client starts the server of a game. Folders of games are told as they are set now."""
    kind, colon, file = game.id.partition(":")
    is_path = bool(colon) and Path(file).exists()  # else a name, to be looked for in the folders of games
    options = ["--game", f"{kind}:{Path(file).absolute()}" if is_path else game.id]
    if game.seed:
        options += ["--seed", str(game.seed)]
    if game.path is not None:
        options += ["--memory", str(game.path)]
    entry = _start(options)
    folders = [folder for folder in os.environ.get(GAMES_VARIABLE, "").split(os.pathsep) if folder]
    if folders:
        entry["env"] = {GAMES_VARIABLE: os.pathsep.join(str(Path(folder).absolute()) for folder in folders)}
    return _entry(entry, GAME_SERVER)


def _start(options: Sequence[str]) -> dict[str, object]:
    command = shutil.which("worldthread")
    start = [command] if command else [str(Path(sys.executable).absolute()), "-m", "worldthread"]
    return {"command": start[0], "args": [*start[1:], "mcp", *options]}


def http_configuration(url: str, access: Access, server: str = MEMORY_SERVER) -> str:
    """The entry with which a client reaches the server. A token that was given is not repeated."""
    entry: dict[str, object] = {"type": "http", "url": url}
    if access.token is not None:
        shown = access.token if access.is_generated else f"${{{TOKEN_VARIABLE}}}"
        entry["headers"] = {"Authorization": f"Bearer {shown}"}
    return _entry(entry, server)


def _entry(entry: dict[str, object], server: str = MEMORY_SERVER) -> str:
    return json.dumps({"mcpServers": {server: entry}}, indent=2)
