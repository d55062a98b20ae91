"""The MCP server of a memory, with the tools, prompts and resources that the conformance suite calls by name.

    python tests/mcp/conformance_server.py MEMORY

Everything else is as `worldthread mcp --http` serves it: the same application, access and transport. The suite asks for
these names (`conformance list`), because a server of its own kind would give it nothing to call.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolResult,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    MissingRequiredClientCapabilityErrorData,
    SamplingCapability,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)

from worldthread.mcp import Access, SharedMemory, create_server, serve_http
from worldthread.support.server_access import listening_socket, port_of


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_HEADER = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)  # one red pixel
_PNG = b"\x89PNG\r\n\x1a\n" + b"".join(
    _chunk(kind, data) for kind, data in ((b"IHDR", _HEADER), (b"IDAT", zlib.compress(b"\0\xff\0\0")), (b"IEND", b""))
)
_WAV = b"RIFF" + struct.pack("<I", 38) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
_WAV += b"data" + struct.pack("<I", 2) + b"\0\0"
IMAGE = ImageContent(type="image", data=base64.b64encode(_PNG).decode(), mime_type="image/png")
AUDIO = AudioContent(type="audio", data=base64.b64encode(_WAV).decode(), mime_type="audio/wav")


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def _form(message: str, **properties: str) -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sampling(text: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=_text(text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def _given(context: Context[Any, Any], key: str) -> dict[str, Any] | None:
    """Return what the client sent for a request, if it did; the SDK knows an answer by its fields alone."""
    response = (context.input_responses or {}).get(key)
    return None if response is None else response.model_dump(by_alias=True, mode="json")


def _content(context: Context[Any, Any], key: str, field: str) -> Any:
    given = _given(context, key)
    return ((given or {}).get("content") or {}).get(field) if given else None


def add_contents(server: MCPServer[None]) -> None:
    """Add the tools that answer with every kind of content, and those that fail, log and report progress."""

    @server.tool()
    def test_simple_text() -> CallToolResult:
        """Answer with text."""
        return CallToolResult(content=[_text("This is a simple text response for testing.")])

    @server.tool()
    def test_image_content() -> CallToolResult:
        """Answer with an image."""
        return CallToolResult(content=[IMAGE])

    @server.tool()
    def test_audio_content() -> CallToolResult:
        """Answer with a sound."""
        return CallToolResult(content=[AUDIO])

    @server.tool()
    def test_embedded_resource() -> CallToolResult:
        """Answer with a resource."""
        uri = "test://embedded-resource"
        return CallToolResult(content=[_embedded(uri, "text/plain", "This is an embedded resource content.")])

    @server.tool()
    def test_multiple_content_types() -> CallToolResult:
        """Answer with text, an image and a resource."""
        data = json.dumps({"test": "data", "value": 123})
        resource = _embedded("test://mixed-content-resource", "application/json", data)
        return CallToolResult(content=[_text("Multiple content types test:"), IMAGE, resource])

    @server.tool()
    def test_error_handling() -> str:
        """Fail."""
        raise ValueError("This tool intentionally returns an error for testing")

    @server.tool()
    async def test_tool_with_logging(ctx: Context[Any, Any]) -> str:
        """Log three messages."""
        for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(message)
            await anyio.sleep(0.05)
        return "done"

    @server.tool()
    async def test_logging_tool(ctx: Context[Any, Any]) -> str:
        """Log a message."""
        await ctx.info("a message of a tool")
        return "done"

    @server.tool()
    async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
        """Report progress."""
        for progress in (0, 50, 100):
            await ctx.report_progress(progress, 100)
            await anyio.sleep(0.05)
        return "done"

    @server.tool()
    async def test_missing_capability(ctx: Context[Any, Any]) -> str:
        """Need a client that samples."""
        _require_sampling(ctx)
        return "the client samples"


def _require_sampling(context: Context[Any, Any]) -> None:
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        wanted = ClientCapabilities(sampling=SamplingCapability())
        data = MissingRequiredClientCapabilityErrorData(required_capabilities=wanted)
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this tool needs a client that samples",
            data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )


def add_input_required(server: MCPServer[None]) -> None:
    """Add the tools and the prompt that ask the client for more, and are called again with it."""

    @server.tool()
    async def test_input_required_result_elicitation(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Greet by name."""
        name = _content(ctx, "user_name", "name")
        if not isinstance(name, str):
            return InputRequiredResult(input_requests={"user_name": _form("What is your name?", name="string")})
        return CallToolResult(content=[_text(f"Hello, {name}!")])

    @server.tool()
    async def test_streaming_elicitation(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Greet by name."""
        return await test_input_required_result_elicitation(ctx)

    @server.tool()
    async def test_input_required_result_sampling(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Ask the model of the client."""
        given = _given(ctx, "capital_question")
        if given is None:
            question = _sampling("What is the capital of France?", 100)
            return InputRequiredResult(input_requests={"capital_question": question})
        return CallToolResult(content=[_text(str(given["content"]))])

    @server.tool()
    async def test_input_required_result_list_roots(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """List the roots of the client."""
        given = _given(ctx, "client_roots")
        if given is None:
            return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
        return CallToolResult(content=[_text(str(given["roots"]))])

    @server.tool()
    async def test_input_required_result_request_state(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Ask for a confirmation, with a state."""
        if ctx.request_state != "asked" or _given(ctx, "confirm") is None:
            return InputRequiredResult(
                input_requests={"confirm": _form("Please confirm", ok="boolean")}, request_state="asked"
            )
        return CallToolResult(content=[_text("state-ok")])

    @server.tool()
    async def test_input_required_result_tampered_state(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Ask for a confirmation, with a state that nobody may change."""
        return await test_input_required_result_request_state(ctx)

    @server.tool()
    async def test_input_required_result_multiple_inputs(
        ctx: Context[Any, Any],
    ) -> CallToolResult | InputRequiredResult:
        """Ask for three things at once."""
        requests = {
            "user_name": _form("What is your name?", name="string"),
            "greeting": _sampling("Generate a greeting", 50),
            "client_roots": ListRootsRequest(),
        }
        if any(_given(ctx, key) is None for key in requests):
            return InputRequiredResult(input_requests=requests, request_state="asked")
        return CallToolResult(content=[_text("all given")])

    @server.tool()
    async def test_input_required_result_multi_round(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Ask for one thing after the other."""
        if _given(ctx, "step1") is not None and ctx.request_state == "1":
            step2 = _form("Step 2: What is your favorite color?", color="string")
            return InputRequiredResult(input_requests={"step2": step2}, request_state="2")
        if _given(ctx, "step2") is not None and ctx.request_state == "2":
            return CallToolResult(content=[_text("both given")])
        step1 = _form("Step 1: What is your name?", name="string")
        return InputRequiredResult(input_requests={"step1": step1}, request_state="1")

    @server.tool()
    async def test_input_required_result_capabilities(ctx: Context[Any, Any]) -> CallToolResult | InputRequiredResult:
        """Ask only for what the client can give."""
        capabilities = ctx.client_capabilities or ClientCapabilities()
        requests: dict[str, Any] = {}
        if capabilities.sampling is not None:
            requests["greeting"] = _sampling("Generate a greeting", 50)
        if capabilities.elicitation is not None:
            requests["user_name"] = _form("What is your name?", name="string")
        return InputRequiredResult(input_requests=requests) if requests else CallToolResult(content=[_text("nothing")])

    async def test_input_required_result_prompt(ctx: Context[Any, Any]) -> Any:
        """Ask for what the prompt needs."""
        given = _content(ctx, "user_context", "context")
        if given is None:
            question = _form("What context should the prompt use?", context="string")
            return InputRequiredResult(input_requests={"user_context": question})
        return UserMessage(f"Use this context: {given}")

    server.add_prompt(Prompt.from_function(test_input_required_result_prompt))


def add_resources_and_prompts(server: MCPServer[None]) -> None:
    """Add resources and prompts of every kind."""

    @server.resource("test://static-text", mime_type="text/plain", description="A text")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png", description="An image")
    def static_binary() -> bytes:
        return _PNG

    @server.resource("test://template/{id}/data", mime_type="application/json", description="Data by id")
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    def test_simple_prompt() -> str:
        """Say something."""
        return "This is a simple prompt for testing."

    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """Say something with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
        """Show a resource."""
        resource = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]

    def test_prompt_with_image() -> list[Any]:
        """Show an image."""
        return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]

    for prompt in (
        test_simple_prompt, test_prompt_with_arguments, test_prompt_with_embedded_resource, test_prompt_with_image
    ):  # fmt: skip
        server.add_prompt(Prompt.from_function(prompt))


def main() -> None:
    """Serve a memory on a free port, whose URL is printed."""
    shared = SharedMemory(Path(sys.argv[1]), model="none")
    server = create_server(shared)
    add_contents(server)
    add_input_required(server)
    add_resources_and_prompts(server)
    access = Access.for_mcp("127.0.0.1", 0, no_token=True)
    with listening_socket(access.host, access.port) as listening:
        print(access.url(port_of(listening), "/mcp"), flush=True)
        serve_http(server, access, listening, shared.end_changes)


if __name__ == "__main__":
    main()
