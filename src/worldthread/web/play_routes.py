"""What the page of plays asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final, Literal

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from worldthread.errors import InputError
from worldthread.web.answers import answer, sent
from worldthread.web.app_state import AppState
from worldthread.web.plays import LivePlay, PlayRequest

_STREAM: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}  # proxies shall not keep it back


class ControlRequest(msgspec.Struct, forbid_unknown_fields=True):
    """How a person turns the wheel of a play."""

    do: Literal["hold", "go_on", "step", "slow", "take", "give_back", "type", "undo", "finish", "stop"]
    text: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    delay: Annotated[float, msgspec.Meta(ge=0, le=60)] = 0.5


def play_routes(desk: AppState) -> list[Route]:
    """The routes below ``/api/plays``."""

    async def choices(_: Request) -> Response:
        return answer(await run_in_threadpool(desk.plays.choices))

    async def listed(_: Request) -> Response:
        return answer({"plays": desk.plays.listed()})

    async def begin(request: Request) -> Response:
        wanted = await sent(request, PlayRequest)
        play = await run_in_threadpool(desk.plays.begin, wanted)
        return answer(_told(desk, play), 201)

    async def one(request: Request) -> Response:
        return answer(await run_in_threadpool(_told, desk, desk.plays.play(request.path_params["id"])))

    async def turn(request: Request) -> Response:
        play = desk.plays.play(request.path_params["id"])
        _turn(play, await sent(request, ControlRequest))
        return answer(play.told())

    async def events(request: Request) -> Response:
        play = desk.plays.play(request.path_params["id"])
        seen = request.headers.get("last-event-id", "0")
        after = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 12 else 0
        stream: AsyncIterator[bytes] = play.feed.follow(after)
        return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAM)

    return [
        Route("/api/choices", choices),
        Route("/api/plays", listed),
        Route("/api/plays", begin, methods=["POST"]),
        Route("/api/plays/{id}", one),
        Route("/api/plays/{id}/turn", turn, methods=["POST"]),
        Route("/api/plays/{id}/events", events),
    ]


def _told(desk: AppState, play: LivePlay) -> dict[str, Any]:
    return {**play.told(), "run": desk.runs.id_of(play.folder)}


def _turn(play: LivePlay, turn: ControlRequest) -> None:
    if play.is_over:
        raise InputError("this play is over")
    wheel = play.wheel
    if turn.do == "type":
        wheel.type(turn.text)
    elif turn.do == "undo":
        if not play.told()["can_undo"]:
            raise InputError("an agent's play cannot be taken back")
        wheel.type("undo")
    elif turn.do == "finish":
        wheel.type(None)
    elif turn.do == "slow":
        wheel.slow(turn.delay)
    elif turn.do == "stop":
        wheel.stop()
    elif turn.do in ("take", "give_back") and play.run.agent == "human":
        raise InputError("a person plays this one from the beginning")
    else:
        getattr(wheel, turn.do)()
