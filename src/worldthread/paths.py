"""Where files lie that no caller named."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "WORLDTHREAD_CACHE"
"""Environment variable: the folder of :func:`default_cache_dir`."""


def default_cache_dir() -> Path:
    """``$WORLDTHREAD_CACHE``, else ``$XDG_CACHE_HOME/worldthread``, else ``~/.cache/worldthread``."""
    own = os.environ.get(CACHE_VARIABLE)
    if own:
        return Path(own).expanduser()
    # the XDG specification says that a relative path is to be ignored
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "worldthread"
