"""The mark on the two lines around a passage in a prompt, which says where untrusted text begins and ends.

A passage that contained its own mark could pretend to end, and what follows would read like the prompt. The mark that
is sent is therefore random, new for every prompt, and absent from all texts in it. Where requests are compared or kept
(the key of a request, recordings, caches), a second mark stands in its place that depends on the passage alone. So
equal requests stay equal in every process, and recordings and caches answer them.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass


@dataclass(frozen=True)
class BoundaryMark:
    """The two forms of a mark.

    Args:
        sent: what the model sees: random digits that no text of the prompt contains.
        recorded: what stands in its place in keys, recordings and caches; a passage may contain it.
    """

    sent: str
    recorded: str

    def as_recorded(self, text: str) -> str:
        """Return ``text``, from a prompt or an answer, with the recorded form of the mark in place of the sent one."""
        return text.replace(self.sent, self.recorded)


def boundary_mark(passage: str, *others: str) -> BoundaryMark:
    """Draw the mark for one prompt.

    Args:
        passage: the text between the two lines.
        others: the other texts that the prompt is filled with.

    Returns:
        A mark whose sent form has 64 random bits and occurs in none of the texts. The recorded form is a digest of the
        passage.
    """
    recorded = hashlib.blake2b(passage.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    while True:
        sent = secrets.token_hex(8)
        if not any(sent in text for text in (passage, *others)):
            return BoundaryMark(sent, recorded)
