from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray


class DictCache:
    """The smallest vector cache; remembers what it was asked."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], NDArray[np.float32]] = {}
        self.asked: list[list[str]] = []

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        self.asked.append(list(texts))
        return {text: self.kept[model, text] for text in texts if (model, text) in self.kept}

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        assert len(set(texts)) == len(texts) == len(vectors)
        for text, vector in zip(texts, vectors, strict=True):
            self.kept[model, text] = vector.copy()


@pytest.fixture(scope="session")
def dict_cache() -> type[DictCache]:
    """The class, so that a test can make as many caches as it likes."""
    return DictCache
