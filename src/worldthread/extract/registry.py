"""The extractors by their names."""

from __future__ import annotations

import os
from pkgutil import resolve_name
from typing import Final

from worldthread.errors import InputError
from worldthread.extract.base import Extractor

EXTRACTORS: Final[dict[str, str]] = {
    "reader": "worldthread.extract.reader.extractor:ReaderExtractor",
    "reader-precise": "worldthread.extract.reader.extractor:precise_reader",
    "prose": "worldthread.extract.prose.extractor:ProseExtractor",
}
"""What makes every extractor that needs no chat model, by its short name; it is imported on first use."""

ENVIRONMENT_VARIABLE: Final = "WORLDTHREAD_EXTRACTOR"


def extractor(name: str | None = None) -> Extractor | None:
    """Make the extractor of a name; what it reads with is loaded on first use.

    Args:
        name: a key of :data:`EXTRACTORS`; ``None`` takes the environment variable ``WORLDTHREAD_EXTRACTOR``.

    Returns:
        A new extractor; ``None`` where none is named.

    Raises:
        InputError: no extractor has that name.
    """
    chosen = name if name is not None else os.environ.get(ENVIRONMENT_VARIABLE)
    if not chosen and name is None:
        return None
    if chosen not in EXTRACTORS:
        raise InputError(f"no extractor is called {chosen!r}; extractors are: {', '.join(sorted(EXTRACTORS))}")
    made: Extractor = resolve_name(EXTRACTORS[chosen])()
    return made
