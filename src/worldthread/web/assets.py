"""The files for browsers, read from the package once, so that no path of a request reaches the disk."""

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
from worldthread.installation import install_command

PAGES: Final = {"/": "memory.html", "/runs": "runs.html", "/play": "play.html"}
"""The file of each page by its path."""


@dataclass(frozen=True)
class Asset:
    """A file for browsers.

    Args:
        data: the content.
        media_type: the content type.
        tag: the entity tag (ETag), which changes with the content.
    """

    data: bytes
    media_type: str
    tag: str


def read_assets() -> Mapping[str, Asset]:
    """Read the files for browsers.

    Returns:
        The files by name.

    Raises:
        InputError: the files were not built.
    """
    folder = Path(str(files("worldthread.web").joinpath("static")))
    found = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            data = path.read_bytes()
            media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            found[path.name] = Asset(data, media_type, f'"{hashlib.blake2b(data, digest_size=12).hexdigest()}"')
    if not found.keys() >= set(PAGES.values()):
        raise InputError(_how_to_build(folder))
    return found


def _how_to_build(folder: Path) -> str:
    """Return how to build the pages: in a checkout, or for an installed copy, which must be installed again."""
    needs = "it needs node and npm; on Debian or Ubuntu: apt-get install nodejs npm"
    checkout = folder.parents[3]
    if (checkout / "frontend" / "build.mjs").is_file():
        return f"the pages for browsers are not built. Run `make web` in {checkout} ({needs})"
    return (
        "this installation has no pages for browsers, because they were not built when it was installed. In the "
        f"checkout, run `make web` ({needs}), and then again: {install_command('web')}"
    )


def asset_response(asset: Asset, request: Request) -> Response:
    """Return a file, or status 304 if the browser has it already."""
    # a browser asks for the icon again with every new address in the page, unless it may keep it
    kept = "private, max-age=3600" if asset.media_type.startswith("image/") else "no-cache"
    headers = {"etag": asset.tag, "cache-control": kept}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.data, media_type=asset.media_type, headers=headers)
