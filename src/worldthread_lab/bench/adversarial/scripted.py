"""What a chat model that understands the sentences of the checks would answer: their statements, and what they end.

Systems that ask a model at every write are given these answers, so that a broken promise is not a model's mistake.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_SENTENCE: Final = re.compile(
    r"(?P<subject>[^.\n\"]+?) (?P<relation>lives in|likes|has|works for|speaks|knows|wrote|is) (?P<object>[^.\n\"]+)\."
)
_SINGLE_VALUED: Final = ("lives in", "is")


@dataclass(frozen=True)
class Said:
    """A statement of a sentence.

    Args:
        subject: what it is about.
        relation: as written, such as ``"lives in"``.
        object: what it is related to.
        sentence: the sentence as written.
    """

    subject: str
    relation: str
    object: str
    sentence: str

    def contradicts(self, other: Said) -> bool:
        """Return whether both cannot be true at one time."""
        same = (self.subject, self.relation) == (other.subject, other.relation)
        return same and self.relation in _SINGLE_VALUED and self.object != other.object


def statements_of(text: str) -> list[Said]:
    """Return the statements of the sentences in a text, in order."""
    found = []
    for sentence in _SENTENCE.finditer(text):
        subject, relation, object_ = (" ".join(sentence[name].split()) for name in ("subject", "relation", "object"))
        found.append(Said(subject, relation, object_, sentence[0].strip()))
    return found
