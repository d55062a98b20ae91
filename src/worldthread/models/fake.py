"""An embedder without a model, for tests: exact and instant; similar texts get similar vectors, as from a real one."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.models.base import require_texts
from worldthread.names import stream_safe

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD_WEIGHT = 3
_PIECE_WEIGHT = 1


class FakeEmbedder:
    """Random projection of words and their three-letter pieces: texts that share them have similar vectors.

    Every word has weight 3 and every piece of three letters weight 1; each stands for a fixed vector of signs from a
    hash. Case and word order do not count. The cosine of unrelated texts is 0 give or take about .06. Vectors have the
    same bits on every machine. Thread-safe.
    """

    name: Final = "fake-256/1"
    dimensions: Final = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; see :meth:`worldthread.models.Embedder.embed`."""
        checked = require_texts(texts)
        vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
        for row, text in enumerate(checked):
            features = _features(text)
            if features:
                weights = np.fromiter(features.values(), dtype=np.int64, count=len(features))
                total = weights @ _signs(list(features))
                vectors[row] = total / np.sqrt(total @ total)  # exact: integers up to here
        return vectors


def _features(text: str) -> Counter[str]:
    features: Counter[str] = Counter()
    for word in _TOKEN.findall(unicodedata.normalize("NFKC", stream_safe(text)).casefold()):
        features[f"word {word}"] += _WORD_WEIGHT
        marked = f"<{word}>"
        for start in range(len(marked) - 2):
            features[f"piece {marked[start : start + 3]}"] += _PIECE_WEIGHT
    return features


def _signs(features: list[str]) -> NDArray[np.int64]:
    """Return -1 or 1 for each of the 256 bits of a hash of each feature, shape ``(len(features), dimensions)``."""
    digests = b"".join(
        hashlib.blake2b(feature.encode("utf-8"), digest_size=FakeEmbedder.dimensions // 8).digest()
        for feature in features
    )
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(len(features), FakeEmbedder.dimensions)
    return bits.astype(np.int64) * 2 - 1
