"""Starts Firefox for playwright, and answers the commands of WebDriver BiDi that this Firefox does not have yet.

    python tests/web/firefox_bridge.py FIREFOX [argument ...]

Playwright drives a Firefox of a distribution through WebDriver BiDi, and asks for colour schemes by a command that a
release with extended support may lack: then no page would open. Here that command is said to have succeeded, and
everything else goes through unchanged. The colour scheme of Firefox is set by a preference instead.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from contextlib import suppress

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

_ANSWERED = {"emulation.setMediaFeaturesOverride"}
_LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


async def main(command: list[str]) -> int:
    firefox = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, firefox.terminate)
    assert firefox.stderr is not None
    address = None
    while address is None:
        line = await firefox.stderr.readline()
        if not line:
            return await firefox.wait()
        found = _LISTENING.search(line)
        address = found[1].decode() if found else None

    async def relay(browser: ServerConnection) -> None:
        async with connect(f"{address}{browser.request.path}", max_size=None) as session:
            back = asyncio.create_task(_copy(session, browser))
            with suppress(ConnectionClosed):
                async for message in browser:
                    asked = json.loads(message)
                    if asked.get("method") in _ANSWERED:
                        await browser.send(json.dumps({"type": "success", "id": asked["id"], "result": {}}))
                    else:
                        await session.send(message)
            back.cancel()

    async with serve(relay, "127.0.0.1", 0, max_size=None) as server:
        port = server.sockets[0].getsockname()[1]
        print(f"WebDriver BiDi listening on ws://127.0.0.1:{port}", file=sys.stderr, flush=True)
        while await firefox.stderr.readline():
            pass
        return await firefox.wait()


async def _copy(session: object, browser: ServerConnection) -> None:
    with suppress(ConnectionClosed):
        async for message in session:  # type: ignore[attr-defined]
            await browser.send(message)
    await browser.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
