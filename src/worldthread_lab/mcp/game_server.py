"""The server of a game, as the memory finds it by its entry point, and its configuration for clients."""

from __future__ import annotations

import os
from pathlib import Path

from worldthread.mcp.configuration import configuration_of, start_entry
from worldthread.mcp.prepared import PreparedServer
from worldthread_lab.envs.files import GAMES_VARIABLE
from worldthread_lab.mcp.game import ListOfActions, SharedGame
from worldthread_lab.mcp.game_tools import GAME_SERVER, create_game_server


def prepare_game(id: str, *, seed: int, path: Path | None, valid_actions: ListOfActions | None) -> PreparedServer:
    """Return the server of a game.

    Args:
        id: the id of the game; see :func:`worldthread_lab.envs.make`.
        seed: the seed of the game.
        path: the file that stores the plays; ``None`` keeps them in RAM.
        valid_actions: whose list of valid actions is told; ``None`` for the default of the game.

    Returns:
        The server, ready to run.

    Raises:
        InputError, GameError, StoreError: the game or the file cannot be opened.
    """
    game = SharedGame(id, seed=seed, path=path, valid_actions=valid_actions)
    return PreparedServer(
        create_game_server(game), game.close, f"the game {game.id}", GAME_SERVER, lambda: game_configuration(game)
    )


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
    entry = start_entry(options)
    folders = [folder for folder in os.environ.get(GAMES_VARIABLE, "").split(os.pathsep) if folder]
    if folders:
        entry["env"] = {GAMES_VARIABLE: os.pathsep.join(str(Path(folder).absolute()) for folder in folders)}
    return configuration_of(entry, GAME_SERVER)
