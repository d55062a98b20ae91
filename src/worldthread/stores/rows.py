"""What every store of episodes checks and packs alike: arguments, digests, and vectors as bytes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.stores.codec import decode_episode
from worldthread.support.arguments import require_unicode
from worldthread.types import Episode, Fact

TOKEN_BYTES: Final = 8
_DIGEST_BYTES: Final = 16
_CHECKSUM_BYTES: Final = 4

_Item = TypeVar("_Item")


def require_name(name: object, what: str) -> None:
    """Raise InputError unless a name is a string with something in it."""
    if not require_unicode(name, what):
        raise InputError(f"{what} must not be empty")


def require_episode(episode: object) -> None:
    """Raise InputError unless this is an episode."""
    if not isinstance(episode, Episode):
        raise InputError(f"an Episode is needed, not {type(episode).__name__}")


def require_id(episode_id: object) -> str:
    """Return the id of an episode, or raise InputError unless it is a string."""
    if not isinstance(episode_id, str):
        raise InputError(f"the id of an episode must be a string, not {type(episode_id).__name__}")
    return episode_id


def batched(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    """Yield parts of a sequence, in its order, each of at most ``size`` items."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def texts_of(episode: Episode) -> set[str]:
    """Return all texts of an episode that may have been embedded: its text, statements, names and reasons."""
    extraction = episode.extraction
    texts = {episode.text, episode.source, *(ending.reason for ending in extraction.endings)}
    for statement in (*extraction.statements, *(ending.statement for ending in extraction.endings)):
        names = (statement.subject, statement.relation, statement.object) if isinstance(statement, Fact) else ()
        texts.update((str(statement), *names, *getattr(statement, "objects", ())))
    return texts


def digest_of(content: bytes) -> bytes:
    """Return the digest of some bytes: 16 bytes."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def text_digest(text: str) -> bytes:
    """Return the digest of a text, under which its vectors are kept; raise InputError unless it is a string."""
    if not isinstance(text, str):
        raise InputError(f"a text must be a string, not {type(text).__name__}")
    return digest_of(text.encode("utf-8", "surrogatepass"))


def checksum_of(content: bytes) -> bytes:
    """Return the CRC-32 of some bytes: 4 bytes."""
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "big")


def decoded_episode(episode_id: str, digest: object, content: object, *, with_extraction: bool = True) -> Episode:
    """Return the episode of a row.

    Args:
        episode_id: the id that the row states.
        digest: the digest of the content that the row states.
        content: the document of the episode.
        with_extraction: whether its extraction is wanted too; most of the time is spent on it.

    Returns:
        The episode.

    Raises:
        ValueError: the row is not what was written.
    """
    if not isinstance(content, bytes) or digest_of(content) != digest:
        raise ValueError("its bytes have changed")
    episode = decode_episode(content, with_extraction=with_extraction)
    if episode.id != episode_id:
        raise ValueError("another episode is in its place")
    return episode


def vector_matrix(count: int, vectors: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return vectors in half precision.

    Args:
        count: how many there must be.
        vectors: shape (count, dimensions).

    Returns:
        Shape (count, dimensions), little-endian.

    Raises:
        InputError: the shape does not fit, or a number is not finite.
    """
    matrix = np.ascontiguousarray(vectors, "<f2")
    if matrix.ndim != 2 or matrix.shape[0] != count or not matrix.shape[1]:
        raise InputError(f"{count} texts need vectors of shape ({count}, dimensions), not {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError("a vector holds a number that is not finite")
    return matrix


def packed_vector(key: bytes, vector: NDArray[np.float16]) -> bytes:
    """Return the bytes of a vector, with a checksum of it and of the digest of its text."""
    numbers = vector.tobytes()
    return checksum_of(key + numbers) + numbers


def unpacked_vector(key: bytes, packed: object) -> NDArray[np.float32] | None:
    """Return the vector of a row; ``None`` when it is not that of the text. Older releases left the key out."""
    if not isinstance(packed, bytes):
        return None
    checksum, numbers = packed[:_CHECKSUM_BYTES], packed[_CHECKSUM_BYTES:]
    if len(numbers) % 2 or checksum not in (checksum_of(key + numbers), checksum_of(numbers)):
        return None
    return np.frombuffer(numbers, "<f2").astype(np.float32)


def text_digests(texts: Sequence[str]) -> dict[bytes, str]:
    """Return texts by their digests; raise InputError unless they are strings."""
    return {text_digest(text): text for text in texts}
