"""How this copy of worldthread was installed, and so how its extras are."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


def install_command(extras: str | Iterable[str]) -> str:
    """Return the command that adds extras to this installation.

    Args:
        extras: the name of an extra, or several names.

    Returns:
        The command for a shell: with the checkout or the wheel that worldthread was installed from, if it is still
        there, and else with its name in the package index.
    """
    wanted = extras if isinstance(extras, str) else ",".join(dict.fromkeys(extras))
    try:
        distribution: Distribution | None = Distribution.from_name("worldthread")
    except PackageNotFoundError:
        distribution = None
    return f"pip install {_requirement(_origin_of(distribution), wanted)}"


def _origin_of(distribution: Distribution | None) -> dict[str, Any]:
    """Return from where a distribution was installed (PEP 610); of a copy that was not installed, its checkout."""
    told = None if distribution is None else distribution.read_text("direct_url.json")
    if told:
        found: dict[str, Any] = json.loads(told)
        return found
    checkout = Path(__file__).resolve().parents[2]
    if distribution is None and (checkout / "pyproject.toml").is_file():
        return {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    return {}


def _requirement(origin: dict[str, Any], extras: str) -> str:
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return shlex.quote(f"worldthread[{extras}] @ {origin['vcs_info']['vcs']}+{url}")
    place = Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None
    if place is None or not place.exists():
        return shlex.quote(f"worldthread[{extras}]")
    shown = "." if place == Path.cwd() else str(place)
    option = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return option + shlex.quote(f"{shown}[{extras}]")
