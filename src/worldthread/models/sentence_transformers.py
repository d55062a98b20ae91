"""Any model of the library ``sentence-transformers`` (extra of the same name), from a folder or Hugging Face."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError, MissingExtraError, ModelConfigError, ModelError
from worldthread.models.base import require_texts, unit
from worldthread.models.prefixes import prefixes_of

PREFIX: Final = "sentence-transformers"
VERSION: Final = 1


class SentenceTransformerEmbedder:
    """A model of the library ``sentence-transformers``. Thread-safe; the model is loaded when it is first needed.

    The library downloads a model that it does not find on this machine, from Hugging Face. Code that comes with a model
    is never run. How much of a text is read depends on the model. The prompts that the model brings for questions and
    for documents are used, else those that its model card asks for.

    Args:
        model: name of the model as the library knows it, such as ``"all-mpnet-base-v2"`` or
            ``"intfloat/multilingual-e5-base"``, or a folder.
        batch: texts that run together, 1 or more.

    Raises:
        InputError: the name is empty, or ``batch`` is less than 1.
    """

    def __init__(self, model: str, *, batch: int = 64) -> None:
        if not model.strip():
            raise InputError(f"the embedder {PREFIX + '/'!r} names a library and no model; write {PREFIX}/NAME")
        if batch < 1:
            raise InputError(f"an embedder needs batch >= 1, not {batch!r}")
        self._name = model
        self._batch = batch
        self._model: Any = None  # sentence_transformers.SentenceTransformer
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[type[SentenceTransformerEmbedder], tuple[str], dict[str, int]]:
        return type(self), (self._name,), {"_batch": self._batch}

    @property
    def name(self) -> str:
        """Model, its revision where the library knows it, its prompt for passages, dimensions and version.

        Raises:
            ModelError: the model cannot be loaded.
        """
        loaded = self._loaded()
        revision = getattr(getattr(getattr(loaded[0], "auto_model", None), "config", None), "_commit_hash", None)
        prompt = self._prompts()[1]
        digest = f"+{hashlib.blake2b(prompt.encode(), digest_size=3).hexdigest()}" if prompt else ""
        return f"{PREFIX}/{self._name}{f'@{revision[:8]}' if revision else ''}{digest}-{self.dimensions}/{VERSION}"

    @property
    def dimensions(self) -> int:
        """Length of every vector.

        Raises:
            ModelError: the model cannot be loaded.
        """
        loaded = self._loaded()
        ask = getattr(loaded, "get_embedding_dimension", None) or loaded.get_sentence_embedding_dimension
        found = ask()
        if not isinstance(found, int) or found < 1:
            raise ModelError(f"the model {self._name!r} does not say how long its vectors are; use another model")
        return found

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see :meth:`worldthread.models.Embedder.embed`."""
        return self._embed(texts, 1)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions; see :meth:`worldthread.models.base.QueryEmbedder.embed_queries`."""
        return self._embed(texts, 0)

    def _embed(self, texts: Sequence[str], kind: int) -> NDArray[np.float32]:
        checked = require_texts(texts)
        rows = [row for row, text in enumerate(checked) if text.strip()]
        if not rows:
            return np.zeros((len(checked), self.dimensions), dtype=np.float32)
        with self._lock:
            vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
            found = self._loaded().encode(
                [checked[row] for row in rows],
                prompt=self._prompts()[kind],
                batch_size=self._batch,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        for row, vector in zip(rows, np.asarray(found, dtype=np.float32), strict=True):
            vectors[row] = unit(vector)
        return vectors

    def _prompts(self) -> tuple[str, str]:
        """Return what is written before questions and before passages."""
        own = {name: prompt for name, prompt in (self._loaded().prompts or {}).items() if prompt}
        if not own:
            return prefixes_of(self._name)
        return own.get("query", ""), own.get("document") or own.get("passage", "")

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                try:
                    from sentence_transformers import SentenceTransformer
                except ImportError as error:
                    raise MissingExtraError(
                        "An embedder of sentence-transformers", extra=PREFIX, package=error.name or PREFIX
                    ) from error
                try:
                    self._model = SentenceTransformer(self._name)
                except Exception as error:  # the kinds differ between the libraries below this one
                    raise ModelConfigError(
                        f"sentence-transformers cannot load the model {self._name!r}: {str(error)[:300]}\n"
                        "Give the name of a model on huggingface.co, or a folder that holds one."
                    ) from error
            return self._model
