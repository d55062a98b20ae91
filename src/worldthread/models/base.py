"""The contract of an embedder, and what all embedders share."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import DamagedModelError, InputError


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors; the inner product of two rows is their cosine similarity.

    Implementations are thread-safe. A vector depends on its text alone: not on the other texts of the call, their
    order, the number of threads, or the process. On another kind of processor it may differ by float rounding, and on a
    server, or where texts run in padded batches, between calls too.

    An embedder that embeds questions otherwise than what they are to find is a :class:`QueryEmbedder`.
    """

    @property
    def name(self) -> str:
        """Name with a version, such as ``"all-minilm-l6-v2-int8/1"``.

        Vectors are stored under this name, so it must change whenever the vector of any text may change.
        """

    @property
    def dimensions(self) -> int:
        """Length of every vector, 1 or more."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: the texts, in any number; each may be empty.

        Returns:
            One row for each text, in order, with dtype float32 and shape ``(len(texts), dimensions)``. Rows have
            Euclidean length 1, but a text without tokens (empty, or only white space) gives a row of zeros, which has
            similarity 0 to everything. The array belongs to the caller.

        Raises:
            InputError: ``texts`` is a single string, or an element is not a string of valid Unicode.
            MissingExtraError: the package that holds the model is not installed.
            DamagedModelError: the model's file is not the expected one.
        """


@runtime_checkable
class QueryEmbedder(Embedder, Protocol):
    """An embedder that embeds questions otherwise than texts, for example with another prefix."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, to be compared with the vectors of :meth:`embed`.

        Args:
            texts: the questions, in any number; each may be empty.

        Returns:
            One row for each question, as from :meth:`embed`.

        Raises:
            InputError: see :meth:`embed`.
            MissingExtraError: see :meth:`embed`.
            DamagedModelError: see :meth:`embed`.
        """


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed questions with any embedder, as questions where it makes a difference.

    Args:
        embedder: the embedder.
        texts: the questions.

    Returns:
        One row for each question; see :meth:`Embedder.embed`.
    """
    return embedder.embed_queries(texts) if isinstance(embedder, QueryEmbedder) else embedder.embed(texts)


_processors: int | None = None


def limit_processors(count: int | None) -> None:
    """Let this process compute on so many processors at most; ``None`` for all that it may use."""
    global _processors
    _processors = count


def processors() -> int:
    """Return the number of processors that this process may use."""
    if _processors is not None:
        return _processors
    if hasattr(os, "sched_getaffinity"):  # only on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_texts(texts: Sequence[str]) -> list[str]:
    """Check the texts to embed.

    Args:
        texts: the texts.

    Returns:
        The texts as a list.

    Raises:
        InputError: ``texts`` is a single string, or an element is not a string of valid Unicode.
    """
    if isinstance(texts, str):
        raise InputError("embed takes a sequence of texts, not one string: wrap it in a list")
    checked = list(texts)
    for position, text in enumerate(checked):
        if not isinstance(text, str):
            raise InputError(f"text {position} must be a string, not {type(text).__name__}")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(f"text {position} is not valid Unicode: {error.reason} at {error.start}") from None
    return checked


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``vector``, of shape ``(dimensions,)``, scaled to Euclidean length 1; zeros stay zeros."""
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


def read_verified(path: Path, sha256: str) -> bytes:
    """Read a model's file and check it.

    Args:
        path: the file.
        sha256: the expected SHA-256, in hexadecimal digits.

    Returns:
        The content of the file.

    Raises:
        DamagedModelError: the file cannot be read, or its SHA-256 is not ``sha256``.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DamagedModelError(f"{path}: the model's file cannot be read ({error.strerror})") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise DamagedModelError(
            f"{path}: the model's file is damaged or of another release: SHA-256 {found}, expected {sha256}.\n"
            f"Its vectors would not fit those already stored. Reinstall the package that holds it."
        )
    return data
