"""The memory tool of Claude for the tool runner of the ``anthropic`` package."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from worldthread.adapters.memory_files import MemoryFiles
from worldthread.errors import InputError, MissingExtraError

try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        ToolError,
    )
except ImportError as error:
    raise MissingExtraError("the memory tool for Claude", extra="claude", package="anthropic") from error


class ClaudeMemoryTool(BetaAbstractMemoryTool):  # type: ignore[misc]
    """The memory tool for ``client.beta.messages.tool_runner``. Its commands go to :class:`MemoryFiles`.

    Args:
        files: the folder ``/memories``.
        cache_control: see the base class.

    Examples:
        ::

            tool = ClaudeMemoryTool(MemoryFiles(Memory("claude.worldthread")))
            client.beta.messages.tool_runner(model=..., messages=..., max_tokens=1024, tools=[tool])
    """

    def __init__(self, files: MemoryFiles, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self.files = files

    def call(self, input: object) -> str:
        return _run(self.files, input)

    def view(self, command: Any) -> str:
        return _run(self.files, command)

    def create(self, command: Any) -> str:
        return _run(self.files, command)

    def str_replace(self, command: Any) -> str:
        return _run(self.files, command)

    def insert(self, command: Any) -> str:
        return _run(self.files, command)

    def delete(self, command: Any) -> str:
        return _run(self.files, command)

    def rename(self, command: Any) -> str:
        return _run(self.files, command)

    def clear_all_memory(self) -> str:
        """Forget every file, with all versions.

        Returns:
            A sentence that says so.
        """
        self.files.forget()
        return "All memory cleared"


class ClaudeAsyncMemoryTool(BetaAsyncAbstractMemoryTool):  # type: ignore[misc]
    """:class:`ClaudeMemoryTool` for the asynchronous client; commands run on a thread.

    Args:
        files: the folder ``/memories``.
        cache_control: see the base class.
    """

    def __init__(self, files: MemoryFiles, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self.files = files

    async def call(self, input: object) -> str:
        return await asyncio.to_thread(_run, self.files, input)

    async def view(self, command: Any) -> str:
        return await self.call(command)

    async def create(self, command: Any) -> str:
        return await self.call(command)

    async def str_replace(self, command: Any) -> str:
        return await self.call(command)

    async def insert(self, command: Any) -> str:
        return await self.call(command)

    async def delete(self, command: Any) -> str:
        return await self.call(command)

    async def rename(self, command: Any) -> str:
        return await self.call(command)

    async def clear_all_memory(self) -> str:
        """Forget every file, with all versions.

        Returns:
            A sentence that says so.
        """
        await asyncio.to_thread(self.files.forget)
        return "All memory cleared"


def _run(files: MemoryFiles, command: Any) -> str:
    """Carry out a command, given as a mapping or as the object that the package makes of it."""
    given: Mapping[str, Any] = command if isinstance(command, Mapping) else command.model_dump()
    try:
        return files.run(given)
    except InputError as error:
        raise ToolError(str(error)) from error
