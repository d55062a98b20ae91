"""What browsers load: read from the package once, so that no path of a request ever meets the disk."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from worldthread.errors import InputError

PAGES: Final = {"/": "memory.html", "/runs": "runs.html", "/play": "play.html"}
"""Paths of the pages, and the files that they are."""


@dataclass(frozen=True)
class Asset:
    """A file for browsers."""

    data: bytes
    media_type: str
    tag: str


def read_assets() -> Mapping[str, Asset]:
    """The files by name.

    Raises:
        InputError: they were not built.
    """
    folder = Path(str(files("worldthread.web").joinpath("static")))
    found = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            data = path.read_bytes()
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            found[path.name] = Asset(data, kind, f'"{hashlib.blake2b(data, digest_size=12).hexdigest()}"')
    if not found.keys() >= set(PAGES.values()):
        raise InputError(_how_to_build(folder))
    return found


def _how_to_build(folder: Path) -> str:
    """What to do about missing pages: a checkout needs a build, and an installed copy must be installed again too."""
    needs = "it needs node and npm; on Debian or Ubuntu: apt-get install nodejs npm"
    checkout = folder.parents[3]
    if (checkout / "frontend" / "build.mjs").is_file():
        return f"the pages for browsers are not built. Run `make web` in {checkout} ({needs})"
    return (
        "this installation has no pages for browsers, because they were not built when it was installed. In the "
        f"checkout, run `make web` ({needs}), and then again: pip install '.[web]'"
    )


def served(asset: Asset, request: Request) -> Response:
    """A file, or that the browser has it already."""
    headers = {"etag": asset.tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.data, media_type=asset.media_type, headers=headers)
