"""A cache of generated games on disk: each is built once, written atomically, and shared by processes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from worldthread.errors import GenerationError
from worldthread.files.paths import CACHE_VARIABLE, default_cache_dir


def cached_game(
    id: str,
    seed: int,
    *,
    generator: str,
    build: Callable[[Path], None],
    cache_dir: Path | None = None,
) -> Path:
    """Return the ``.z8`` file of a generated game, with its ``.json`` beside it; build both on first use.

    The files are ``games/<id>/<seed>-<generator>.z8`` and ``.json`` under the cache. They are built in a temporary
    folder and moved into place, so that a reader never sees half a game; a lock keeps two processes from building the
    same one.

    Args:
        id: versioned id of the game.
        seed: seed of the generator.
        generator: version of everything that decides the content besides the seed.
        build: writes the game to the given path (ending in ``.z8``), and the ``.json`` beside it.
        cache_dir: root of the cache; default :func:`default_cache_dir`.

    Returns:
        The path of the ``.z8`` file.

    Raises:
        GenerationError: the folder cannot be written, or ``build`` wrote no game.
    """
    folder = (cache_dir or default_cache_dir()) / "games" / id
    stem = f"{seed}-{generator}"
    game, metadata = folder / f"{stem}.z8", folder / f"{stem}.json"
    if game.is_file() and metadata.is_file():
        return game
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{stem}.lock"):
            if not (game.is_file() and metadata.is_file()):
                _build_into_place(build, folder, game, metadata)
    except OSError as error:
        raise GenerationError(
            f"cannot keep generated games in {folder}: {error}; name another folder in ${CACHE_VARIABLE}"
        ) from error
    return game


def _build_into_place(build: Callable[[Path], None], folder: Path, game: Path, metadata: Path) -> None:
    workshop = Path(tempfile.mkdtemp(prefix=f".{game.stem}-", dir=folder))
    try:
        draft = workshop / "game.z8"
        build(draft)
        if not draft.is_file() or not draft.with_suffix(".json").is_file():
            raise GenerationError(f"the generator of {folder.name} wrote no game for {game.stem}")
        # the game file last: its presence implies that of its metadata
        draft.with_suffix(".json").replace(metadata)
        draft.replace(game)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
