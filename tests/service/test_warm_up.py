"""What the first requests would wait for is loaded before the service answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread.models.fake import FakeEmbedder

pytestmark = pytest.mark.serve


class CountingEmbedder(FakeEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return super().embed(texts)


@pytest.mark.parametrize("is_on_server", [False, True])
@pytest.mark.parametrize("readonly", [False, True])
def test_warming_up_uses_the_embedder_and_no_memory(tmp_path: Path, is_on_server: bool, readonly: bool) -> None:
    from worldthread.service.memories import ServiceMemories

    embedder: Any = CountingEmbedder()
    if is_on_server:
        embedder.meter = object()
    ServiceMemories(tmp_path / "m", model="none", embedder=embedder, first="anna").close()
    with ServiceMemories(tmp_path / "m", model="none", embedder=embedder, first="anna", readonly=readonly) as memories:
        memories.warm_up()
        assert (embedder.texts == 0) is is_on_server, "one on a server costs money"
        with memories.using("anna") as memory:
            assert memory.stats()["episodes"] == memory.stats()["vectors"] == 0
