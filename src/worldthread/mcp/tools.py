"""Registers the tools of a server, with their titles and annotations."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, get_args, get_origin

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BeforeValidator, Field

from worldthread.mcp.reading import ReadingTools
from worldthread.mcp.reference_tools import ReferenceTools
from worldthread.mcp.shared import SharedMemory
from worldthread.mcp.writing import WritingTools
from worldthread.memory.served_memory import ServedMemory, choosing_namespace
from worldthread.schemas.arguments import MAX_NAME

_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDITIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_DESTRUCTIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


Tool = Callable[..., CallToolResult | Awaitable[CallToolResult]]


def add_tools(server: MCPServer[None], shared: ServedMemory) -> None:
    """Add the tools of a memory to a server; those that write only if the memory is not read-only."""
    reading = ReadingTools(shared)
    tools: list[tuple[Tool, str, ToolAnnotations]] = [
        (reading.recall, "Recall", _READ_ONLY),
        (reading.ask, "Ask the memory", _READ_ONLY),
        (reading.about, "List what holds about something", _READ_ONLY),
        (reading.timeline, "Show the history of something", _READ_ONLY),
        (reading.list_statements, "List statements", _READ_ONLY),
        (reading.stats, "Show the size of the memory", _READ_ONLY),
    ]
    if not shared.readonly:
        writing = WritingTools(shared)
        tools += [
            (writing.remember, "Remember", _ADDITIVE),
            (writing.update, "Update", _ADDITIVE),
            (writing.correct, "Correct", _ADDITIVE),
            (writing.merge, "Merge two names", _ADDITIVE),
            (writing.forget, "Forget for good", _DESTRUCTIVE),
        ]
    _add_all(server, shared, tools)


def add_reference_tools(server: MCPServer[None], shared: SharedMemory) -> None:
    """Add the nine tools of the reference memory server; those that write only if the memory is not read-only."""
    graph = ReferenceTools(shared)
    tools: list[tuple[Tool, str, ToolAnnotations]] = [
        (graph.read_graph, "Read Graph", _READ_ONLY),
        (graph.search_nodes, "Search Nodes", _READ_ONLY),
        (graph.open_nodes, "Open Nodes", _READ_ONLY),
    ]
    if not shared.readonly:
        tools = [
            (graph.create_entities, "Create Entities", _ADDITIVE),
            (graph.create_relations, "Create Relations", _ADDITIVE),
            (graph.add_observations, "Add Observations", _ADDITIVE),
            (graph.delete_entities, "Delete Entities", _DESTRUCTIVE),
            (graph.delete_observations, "Delete Observations", _DESTRUCTIVE),
            (graph.delete_relations, "Delete Relations", _DESTRUCTIVE),
            *tools,
        ]
    _add_all(server, shared, tools)


def _add_all(server: MCPServer[None], shared: ServedMemory, tools: list[tuple[Tool, str, ToolAnnotations]]) -> None:
    for tool, title, hints in tools:
        add_tool(server, _with_namespace(tool, shared) if shared.offers_choice else tool, title, hints)


def _with_namespace(tool: Tool, shared: ServedMemory) -> Tool:
    """Return a tool with one argument more: which memory it uses."""
    which = "of yours that the resource worldthread://state lists" if shared.is_per_client else "of the file"
    names = "" if shared.is_per_client else f": {', '.join(shared.namespaces)}"
    argument = inspect.Parameter(
        "namespace",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            str | None,
            Field(max_length=MAX_NAME, description=f"One of the memories {which}{names}. null: the first of them"),
        ],
    )
    signature = inspect.signature(tool, eval_str=True)

    @functools.wraps(tool)
    def call(*args: Any, namespace: str | None = None, **kwargs: Any) -> CallToolResult | Awaitable[CallToolResult]:
        with choosing_namespace(namespace):
            return tool(*args, **kwargs)

    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), argument]
    )
    call.__annotations__ = {  # where the SDK looks too
        **{name: parameter.annotation for name, parameter in signature.parameters.items()},
        "namespace": argument.annotation,
        "return": signature.return_annotation,
    }
    return call


def _with_null(tool: Tool) -> Tool:
    """Return a tool that takes null for every argument that may be left out: clients send it for what is not given."""
    signature = inspect.signature(tool, eval_str=True)
    parameters = [_nullable(parameter) for parameter in signature.parameters.values()]

    def given(arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            name: signature.parameters[name].default if value is None and name in signature.parameters else value
            for name, value in arguments.items()
        }

    if inspect.iscoroutinefunction(tool):

        @functools.wraps(tool)
        async def call(*args: Any, **kwargs: Any) -> CallToolResult:
            result: CallToolResult = await tool(*args, **given(kwargs))
            return result

    else:

        @functools.wraps(tool)
        def call(*args: Any, **kwargs: Any) -> CallToolResult | Awaitable[CallToolResult]:
            return tool(*args, **given(kwargs))

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {  # where the SDK looks too
        **{parameter.name: parameter.annotation for parameter in parameters},
        "return": signature.return_annotation,
    }
    return call


def _nullable(parameter: inspect.Parameter) -> inspect.Parameter:
    if parameter.default in (None, inspect.Parameter.empty):
        return parameter
    annotation = parameter.annotation
    if get_origin(annotation) is Annotated:
        kind, *rest = get_args(annotation)
        if kind is str:  # it stays one: the SDK reads JSON out of the text of every other kind
            nullable = BeforeValidator(
                lambda value: parameter.default if value is None else value,
                json_schema_input_type=Annotated[(str | None, *rest)],
            )
            return parameter.replace(annotation=Annotated[(str, *rest, nullable)])
        return parameter.replace(annotation=Annotated[(kind | None, *rest)])
    return parameter.replace(annotation=annotation | None)


def add_tool(server: MCPServer[None], tool: Tool, title: str, annotations: ToolAnnotations) -> None:
    """Add a tool to a server; the tool has the name of the function, and its docstring as the description."""
    tool = _with_null(tool)
    description = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(tool) or "")
    server.add_tool(tool, title=title, description=description, annotations=annotations)
