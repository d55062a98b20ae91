"""The JSON routes and the event stream of the play page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from worldthread.errors import InputError
from worldthread.web.answers import json_response, read_json, text_parameter

if TYPE_CHECKING:
    from worldthread_lab.web.plays import LivePlay, Plays
    from worldthread_lab.web.run_folder import RunFolder

_STREAM: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}  # proxies must not buffer it


class ControlRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to control a play."""

    do: Literal["hold", "go_on", "step", "slow", "take", "give_back", "type", "undo", "finish", "stop"]
    text: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    delay: Annotated[float, msgspec.Meta(ge=0, le=60)] = 0.5


def play_routes(runs: Callable[[], RunFolder], plays: Callable[[], Plays]) -> list[Route]:
    """Return the routes ``/api/choices`` and those below ``/api/plays``.

    Args:
        runs: returns the runs, among which the plays are; called by requests only.
        plays: returns the plays; called by requests only.

    Returns:
        The routes.
    """

    async def all_plays() -> Plays:
        return await run_in_threadpool(plays)  # the first time, agents and games are imported

    async def choices(_: Request) -> Response:
        return json_response(await run_in_threadpool((await all_plays()).choices))

    async def settings(request: Request) -> Response:
        game, agent = text_parameter(request, "game"), text_parameter(request, "agent")
        module = request.query_params.get("module", "")
        return json_response(await run_in_threadpool((await all_plays()).settings, game, agent, module))

    async def listed(_: Request) -> Response:
        return json_response({"plays": (await all_plays()).listed()})

    async def begin(request: Request) -> Response:
        begun = (await all_plays()).begin
        from worldthread_lab.web.plays import PlayRequest

        play = await run_in_threadpool(begun, await read_json(request, PlayRequest))
        return json_response(_fields(runs(), play), 201)

    async def show(request: Request) -> Response:
        play = (await all_plays()).play(request.path_params["id"])
        return json_response(await run_in_threadpool(lambda: _fields(runs(), play)))

    async def control(request: Request) -> Response:
        play = (await all_plays()).play(request.path_params["id"])
        _control(play, await read_json(request, ControlRequest))
        return json_response(play.as_json())

    async def events(request: Request) -> Response:
        play = (await all_plays()).play(request.path_params["id"])
        # a browser sends the header when it connects again by itself, and a page that does so the parameter
        seen = (request.headers.get("last-event-id", "0"), request.query_params.get("after", "0"))
        after = max(int(one) if one.isascii() and one.isdigit() and len(one) < 12 else 0 for one in seen)
        if not play.events.watchers.has_room:
            raise HTTPException(503, "too many streams are open and not read: try again later")
        stream: AsyncIterator[bytes] = play.events.follow(after)
        return StreamingResponse(stream, media_type="text/event-stream", headers=_STREAM)

    return [
        Route("/api/choices", choices),
        Route("/api/choices/settings", settings),
        Route("/api/plays", listed),
        Route("/api/plays", begin, methods=["POST"]),
        Route("/api/plays/{id}", show),
        Route("/api/plays/{id}/turn", control, methods=["POST"]),
        Route("/api/plays/{id}/events", events),
    ]


def _fields(runs: RunFolder, play: LivePlay) -> dict[str, Any]:
    return {**play.as_json(), "run": runs.id_of(play.folder)}


def _control(play: LivePlay, request: ControlRequest) -> None:
    if play.is_over:
        raise InputError("this play is over")
    if request.do in ("take", "give_back") and play.is_human:
        raise InputError("there is no agent in this play: a person makes all moves")
    if request.do == "undo" and not play.is_human:
        raise InputError("moves of an agent cannot be taken back")
    control = play.control
    actions: dict[str, Callable[[], None]] = {
        "hold": control.pause,
        "go_on": control.resume,
        "step": control.step,
        "slow": lambda: control.set_delay(request.delay),
        "take": control.take_over,
        "give_back": control.hand_back,
        "type": lambda: control.type_line(request.text),
        "undo": lambda: control.type_line("undo"),
        "finish": lambda: control.type_line(None),
        "stop": control.stop,
    }
    actions[request.do]()
