"""What is no fact, thesis, reading or episode is refused when it is made, so that nothing unreadable is recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from worldthread.errors import InputError
from worldthread.types import Ending, Episode, Extraction, Fact, Thesis

FACT = Fact("key", "is in", "room")

REFUSED: dict[str, Callable[[], object]] = {
    "subject must not be empty": lambda: Fact(" ", "is", "x"),
    "relation must be a string, not int": lambda: Fact("x", 5, "y"),  # type: ignore[arg-type]
    "object must not contain control characters": lambda: Fact("x", "is", "\x1b[2J"),
    "aspect must not be empty": lambda: Fact("x", "is", "y", ""),
    "text of a thesis must not contain the character NUL": lambda: Thesis("a\0b"),
    "objects of a thesis must be a tuple, not str": lambda: Thesis("Anna is ill.", "Anna"),  # type: ignore[arg-type]
    "objects of a thesis must hold str only, not int": lambda: Thesis("Anna is ill.", (5,)),  # type: ignore[arg-type]
    "the statement of an ending must be a Fact or a Thesis, not str": lambda: Ending("key", "it was taken"),  # type: ignore[arg-type]
    "reason of an ending must not be empty": lambda: Ending(FACT, ""),
    "statements of an extraction must be a tuple, not NoneType": lambda: Extraction("x", None),  # type: ignore[arg-type]
    "statements of an extraction must hold Fact or Thesis only, not str": lambda: Extraction("x", ("a",)),  # type: ignore[arg-type]
    "endings of an extraction must hold Ending only, not Fact": lambda: Extraction("x", endings=(FACT,)),  # type: ignore[arg-type]
    "failures of an extraction must hold str only, not int": lambda: Extraction("x", failures=(5,)),  # type: ignore[arg-type]
    "text of an episode must not be empty": lambda: Episode("\n", 1),
    "source must be a string, not NoneType": lambda: Episode("x", 1, None),  # type: ignore[arg-type]
    "source must not contain the character NUL": lambda: Episode("x", 1, "\0"),
    "at must be a number, not bool": lambda: Episode("x", True),
    "at must be finite, not inf": lambda: Episode("x", 10**400),
    "recorded_at must be finite, not nan": lambda: Episode("x", 1, recorded_at=float("nan")),
    "the extraction of an episode must be an Extraction, not str": lambda: Episode("x", 1, "", "y"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_recorded_cannot_be_made(message: str) -> None:
    with pytest.raises(InputError, match=message):
        REFUSED[message]()


def test_lists_are_taken_as_tuples() -> None:
    made = Extraction("x", [Thesis("a", ["b"])], [Ending(FACT, "gone")], ["?"])  # type: ignore[arg-type]
    assert made == Extraction("x", (Thesis("a", ("b",)),), (Ending(FACT, "gone"),), ("?",))
    assert hash(made) == hash(Extraction("x", (Thesis("a", ("b",)),), (Ending(FACT, "gone"),), ("?",)))


def test_both_zeros_are_one_moment() -> None:
    assert Episode("x", -0.0).id == Episode("x", 0).id
