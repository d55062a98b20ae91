"""The plays of people, which count beside those of a sweep: people play in the page or the terminal, not in a sweep."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from worldthread.errors import InputError, WorldthreadError
from worldthread.files.regular_files import open_regular
from worldthread_lab.play.run import PERSON, Run
from worldthread_lab.play.run_files import SUMMARY_FILE, read_summary, run_of
from worldthread_lab.play.run_summary import require_all_figures
from worldthread_lab.play.trajectory import TRAJECTORY_FILE, decode_header

_HEAD: Final = 1 << 16  # bytes of a trajectory that hold its header
_MAX_DEPTH: Final = 4  # of folders below the folder of a sweep


@dataclass(frozen=True)
class PersonPlay:
    """A finished play that a person made.

    Args:
        run: the description of the play.
        summary: its figures.
        folder: its folder.
    """

    run: Run
    summary: dict[str, Any]
    folder: Path


def plays_of_people(folder: Path, games: Collection[str], people: Path | None = None) -> list[PersonPlay]:
    """Return the finished plays of some games that people made and that belong to a sweep.

    Args:
        folder: the folder of the sweep. The plays below it count, and those beside it, where the page and
            ``worldthread play`` put them.
        games: the games, as runs name them.
        people: a folder whose plays count instead, with those below it; ``None``: as said of ``folder``.

    Returns:
        The plays in the order of their folders. Plays without all figures, or of another form, are left out.

    Raises:
        InputError: ``people`` is not a folder.
    """
    if people is not None and not people.is_dir():
        raise InputError(f"{people} is not a folder of plays")
    near = _below(people) if people is not None else [*_below(folder), *_beside(folder)]
    found = []
    for place in dict.fromkeys(near):
        try:
            summary = read_summary(place)
            if summary is None or summary.get("agent") != PERSON or summary.get("game") not in games:
                continue
            path = place / TRAJECTORY_FILE
            with open_regular(path) as file:
                header = decode_header(file.read(_HEAD).split(b"\n", 1)[0], path)
            found.append(PersonPlay(run_of(header, path, games)[0], require_all_figures(summary), place))
        except (OSError, WorldthreadError):
            continue  # a play that cannot be read does not hide the others
    return found


def _below(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the folders of finished plays in a folder and below it; links are not followed."""
    if (folder / SUMMARY_FILE).is_file():
        yield folder
    elif depth < _MAX_DEPTH:
        for one in _folders(folder):
            yield from _below(one, depth + 1)


def _beside(folder: Path) -> Iterator[Path]:
    """Yield the folders of finished plays in the folder that holds a folder."""
    for one in _folders(folder.absolute().parent):
        if (one / SUMMARY_FILE).is_file():
            yield one


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return []
