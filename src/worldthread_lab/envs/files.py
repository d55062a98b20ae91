"""Search for game files by name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from worldthread.errors import UnknownGameError

GAMES_VARIABLE = "WORLDTHREAD_GAMES"
"""Environment variable that names the folders with game files, separated as in ``PATH``."""


def find_game_file(name: str, *, subfolder: str, suffixes: Sequence[str]) -> Path:
    """Return the file of a game.

    A path is returned unchanged, without checking that the file exists. A bare name (no folder, no suffix) is searched
    for as ``name + suffix`` in the folders of ``$WORLDTHREAD_GAMES``, in each folder before its ``subfolder``.

    Args:
        name: a path, or a bare name.
        subfolder: name of the subfolder for this kind of game, such as ``textworld``.
        suffixes: suffixes of such files, with their dots, in order of preference.

    Returns:
        The path.

    Raises:
        UnknownGameError: no file has this bare name; the message lists similar names.
    """
    path = Path(name).expanduser()
    if not _is_bare(name):
        return path
    folders = _named_folders()
    places = [place for folder in folders for place in (folder, folder / subfolder)]
    for place in places:
        for suffix in suffixes:
            candidate = place / f"{name}{suffix}"
            if candidate.is_file():
                return candidate
    if not folders:
        raise UnknownGameError(
            f"no game file is called {name!r}: give the path of a {' or '.join(suffixes)} file, or name the folder "
            f"with your game files in ${GAMES_VARIABLE}, which is not set."
        )
    known = {file.stem for file in game_files(subfolder=subfolder, suffixes=suffixes)}
    raise UnknownGameError(f"no game file is called {name!r} in ${GAMES_VARIABLE}.{near_names(name, sorted(known))}")


def is_in_game_folder(name: str) -> bool:
    """Return whether a bare name, or the path of a file below a folder of ``$WORLDTHREAD_GAMES``, is given.

    Args:
        name: as in :func:`find_game_file`.
    """
    if _is_bare(name):
        return True
    try:
        path = Path(name).expanduser().resolve()
        return any(path.is_relative_to(folder.resolve()) for folder in _named_folders())
    except (OSError, RuntimeError, ValueError):  # no such user, a circle of links, a zero byte
        return False


def _is_bare(name: str) -> bool:
    """Return whether a name has no folder and no suffix."""
    return bool(name) and Path(name).name == name and not Path(name).suffix


def game_files(*, subfolder: str, suffixes: Sequence[str]) -> list[Path]:
    """Return the game files of a kind in the folders of ``$WORLDTHREAD_GAMES``, the first of each name.

    Args:
        subfolder: as in :func:`find_game_file`.
        suffixes: as in :func:`find_game_file`.

    Returns:
        The paths, in the order of the search.
    """
    found: dict[str, Path] = {}
    for folder in _named_folders():
        for place in (folder, folder / subfolder):
            for suffix in suffixes:
                for file in sorted(place.glob(f"*{suffix}")):
                    found.setdefault(file.stem, file)
    return list(found.values())


def near_names(name: str, known: Sequence[str]) -> str:
    """Return the end of an error message: the known names that are similar to ``name``, else all of them."""
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.5)
    if near:
        return f" Did you mean {' or '.join(near)}?"
    return f" Known: {', '.join(known) or 'none'}."


def _named_folders() -> list[Path]:
    return [Path(entry).expanduser() for entry in os.environ.get(GAMES_VARIABLE, "").split(os.pathsep) if entry]
