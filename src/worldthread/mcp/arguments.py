"""What the tools take, with the descriptions and limits that a client sees, and how they fail."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Final, ParamSpec, TypeAlias, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from worldthread.errors import WorldthreadError

MAX_TEXT: Final = 2_000_000
"""Characters that one call may bring."""
MAX_ITEMS: Final = 1000
MAX_NAME: Final = 1000

P = ParamSpec("P")
R = TypeVar("R")


class ChatMessage(BaseModel):
    """One turn of a conversation."""

    role: str = Field(max_length=MAX_NAME, description="Who speaks: user, assistant, or a name", examples=["Anna"])
    content: str = Field(max_length=MAX_TEXT, description="What was said")
    at: float | str | None = Field(default=None, description="When; as the argument at", examples=["2024-05-01T10:30"])


class Triple(BaseModel):
    """A plain fact."""

    subject: str = Field(min_length=1, max_length=MAX_NAME, examples=["Anna"])
    relation: str = Field(min_length=1, max_length=MAX_NAME, examples=["works for"])
    object: str = Field(min_length=1, max_length=MAX_NAME, examples=["Acme"])


Question: TypeAlias = Annotated[
    str,
    Field(min_length=1, max_length=20_000, description="In plain words", examples=["Where does Anna live?"]),
]
AsOf: TypeAlias = Annotated[
    float | str | None,
    Field(
        description="A moment of the past: what held then. A date, a date and time (ISO 8601), or the number of a "
        "turn. Leave out for now.",
        examples=["2024-05-01", "2024-05-01T10:30:00+02:00", 42],
    ),
]
Entity: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_NAME,
        description="Name of a person, place or thing; upper and lower case are the same",
        examples=["Anna", "kitchen door"],
    ),
]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=500, description="How many statements at most")]


def render_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Let our own errors reach the client in their own words; of all others the SDK tells only that there was one."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except WorldthreadError as error:
            raise ToolError(str(error)) from error

    return call
