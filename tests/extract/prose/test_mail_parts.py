"""Quotations, signatures and footers of messages are not what their sender says."""

from __future__ import annotations

import pytest

from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.prose.mail_parts import foreign_lines
from worldthread.types import Fact

OWN = "I live in Rome."


def own_lines(text: str) -> list[str]:
    """Return the lines of a message that are its sender's."""
    foreign = foreign_lines(text)
    found, offset = [], 0
    for line in text.split("\n"):
        if offset not in foreign and line.strip():
            found.append(line)
        offset += len(line) + 1
    return found


@pytest.mark.parametrize(
    "text",
    [
        f"> I live in Oslo,\n> near the port.\n{OWN}",
        f"AB> I live in Oslo.\n{OWN}",
        f"On Tuesday, Ann Lee wrote:\n> I live in Oslo.\n\n{OWN}",
        f"{OWN}\n-- \nAnn Lee\nI live in Oslo.",
        f"{OWN}\n\n-----Original Message-----\nFrom: Ann\n\nI live in Oslo.",
        f"{OWN}\n\nFrom: Ann Lee\nSent: Monday\n\nI live in Oslo.",
        f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\n{OWN}\n-----BEGIN PGP SIGNATURE-----\niD8D",
        f"{OWN}\n_______________________________________\nWalkers mailing list\nI live in Oslo.",
    ],
)
def test_only_the_words_of_the_sender_are_left(text: str) -> None:
    assert own_lines(text) == [OWN]


@pytest.mark.parametrize(
    "text", [OWN, f"{OWN}\nIt is warm -- mostly.", f"Dear Ann,\n\n{OWN}\n\nFrom: here it looks good.", f"3 > 2\n{OWN}"]
)
def test_plain_messages_are_the_sender_s(text: str) -> None:
    assert foreign_lines(text) == frozenset()


def test_what_another_one_wrote_is_not_stated_of_the_sender() -> None:
    text = "Bo: > I live in Oslo.\n> I work as a nurse.\nI live in Rome."
    facts = [f for f in ProseExtractor().extract(text, "Bo").statements if isinstance(f, Fact)]
    assert [f.object for f in facts] == ["Rome"]
