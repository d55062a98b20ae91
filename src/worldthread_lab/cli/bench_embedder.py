"""The embedder of the benchmarks, which keeps its vectors for later runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldthread.models import Embedder


def bench_embedder(name: str | None, *, cache: bool) -> Embedder:
    """Return the embedder of a name.

    Args:
        name: the name of an embedder; ``None`` for the default.
        cache: whether its vectors are stored in the cache folder of the user, for later runs.

    Returns:
        The embedder.
    """
    from worldthread.memory import Memory
    from worldthread.models import CachedEmbedder
    from worldthread.models import embedder as embedder_named
    from worldthread.paths import default_cache_dir, make_private_folder

    model = embedder_named(name)
    if not cache:
        return model
    folder = default_cache_dir()
    make_private_folder(folder)
    return CachedEmbedder(model, Memory(folder / "bench.worldthread", wait=math.inf, model="none").record.vectors)
