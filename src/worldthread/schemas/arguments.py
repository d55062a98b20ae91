"""The types of arguments, with the descriptions and limits that clients see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Strict

from worldthread.memory.filters import Filter
from worldthread.types import Kind

MAX_TEXT: Final = 2_000_000
"""The most characters of a text in one call."""
MAX_ITEMS: Final = 1000
"""The most messages or triples in one call."""
MAX_NAME: Final = 1000
"""The most characters of a name."""

Time: TypeAlias = Annotated[float, Strict()] | str | None
"""A world time; strict, because ``true`` is not the time 1."""


class ChatMessage(BaseModel):
    """One turn of a conversation, as agents keep it: what is said is remembered, further fields stay with it."""

    model_config = ConfigDict(extra="allow")  # nothing of a message is dropped

    role: str | None = Field(
        default=None, max_length=MAX_NAME, description="Who speaks: user, assistant, or a name", examples=["Anna"]
    )
    content: str | list[Any] | dict[str, Any] | None = Field(
        default=None,
        description="What was said, as text or as parts; a turn without text, such as a call of a tool, is skipped",
        examples=["I moved to Paris."],
    )
    at: Time = Field(
        default=None, description="When it was said, in the form of the argument at", examples=["2024-05-01T10:30"]
    )


class Triple(BaseModel):
    """A fact as subject, relation and object."""

    subject: str = Field(min_length=1, max_length=MAX_NAME, examples=["Anna"])
    relation: str = Field(min_length=1, max_length=MAX_NAME, examples=["works for"])
    object: str = Field(min_length=1, max_length=MAX_NAME, examples=["Acme"])


Labels: TypeAlias = str | Sequence[str] | None
"""One label, or several of which any will do."""


class WhereArguments(BaseModel):
    """A part of the memory: everything that is given must fit; of a list, one value must."""

    model_config = ConfigDict(extra="forbid")

    user: Labels = Field(default=None, description="Whose text it is")
    agent: Labels = Field(default=None, description="The agent that remembers it")
    session: Labels = Field(default=None, description="The session in which it came up")
    source: Labels = Field(default=None, description="Where it comes from")
    speaker: Labels = Field(default=None, description="Who says it")
    kind: Kind | Sequence[Kind] | None = Field(default=None, description="What is found")
    relation: Labels = Field(default=None, description="Facts with this relation", examples=["lives in"])
    metadata: dict[str, Any] | None = Field(default=None, description="Values by key, or lists of values")
    since: Time = Field(default=None, description="The first time of which it may speak, in the form of as_of")
    until: Time = Field(default=None, description="The first time after it")
    recorded_since: Time = Field(default=None, description="The first time at which it may have been stored")
    recorded_until: Time = Field(default=None, description="The first time after it")


Where: TypeAlias = Annotated[
    WhereArguments | None,
    Field(
        description="Look only at this part of the memory. Leave it out for everything.", examples=[{"user": "anna"}]
    ),
]


def filter_of(where: WhereArguments | None) -> Filter | None:
    """Return the filter of an argument; ``None`` for everything."""
    return None if where is None else Filter(**where.model_dump())


Question: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=20_000,
        description="A question or a topic in plain words",
        examples=["Where does Anna live?"],
    ),
]
MinScore: TypeAlias = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="Leave out what is less likely than this to be evidence: 0 keeps everything, 0.1 leaves out what "
        "is beside the point, more than 0.6 is rare",
    ),
]
"""The least relevance of a hit, see :mod:`worldthread.retrieve.relevance`."""

AsOf: TypeAlias = Annotated[
    Time,
    Field(
        description="The time to look at: only what held then is used. A date, a date and time (ISO 8601), or the "
        "number of a turn. Leave it out for the present.",
        examples=["2024-05-01", "2024-05-01T10:30:00+02:00", 42],
    ),
]
Entity: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_NAME,
        description="The name of a person, place or thing, in upper or lower case",
        examples=["Anna", "kitchen door"],
    ),
]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=500, description="The most statements to return")]
