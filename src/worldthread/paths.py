"""Default locations of files."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "WORLDTHREAD_CACHE"
"""The environment variable that sets :func:`default_cache_dir`."""


def default_cache_dir() -> Path:
    """Return ``$WORLDTHREAD_CACHE``, else ``$XDG_CACHE_HOME/worldthread``, else ``~/.cache/worldthread``."""
    own = os.environ.get(CACHE_VARIABLE)
    if own:
        return Path(own).expanduser()
    # the XDG specification says that relative paths must be ignored
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "worldthread"
