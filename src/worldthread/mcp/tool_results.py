"""Results and errors of tools, in the form of the SDK."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from worldthread.errors import WorldthreadError

P = ParamSpec("P")
R = TypeVar("R")


def tool_result(text: str, data: BaseModel) -> CallToolResult:
    """Return a result as text and as structured data."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=data.model_dump(mode="json")
    )


def render_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Pass the messages of our own errors on to the client; the SDK hides the messages of all others."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except WorldthreadError as error:
            raise ToolError(str(error)) from error

    return call
