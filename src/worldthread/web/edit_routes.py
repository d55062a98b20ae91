"""The JSON routes that change the memories of the file which the server was started for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worldthread.errors import InputError
from worldthread.web.answers import MAX_UPLOAD, json_response, read_json
from worldthread.web.app_state import AppState
from worldthread.web.edits import Edits, Upload, loss, shown_texts

_MAX_FORGOTTEN: Final = 10_000  # episodes in one request
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Words = Annotated[str, msgspec.Meta(max_length=2000)]
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class RememberRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to remember a text or a file; see :class:`~worldthread.web.edits.Upload`."""

    text: Annotated[str, msgspec.Meta(max_length=MAX_UPLOAD)]
    at: Annotated[str, msgspec.Meta(max_length=64)] = ""
    source: Annotated[str, msgspec.Meta(max_length=300)] = ""
    user: Annotated[str, msgspec.Meta(max_length=300)] = ""
    is_file: bool = False


class NothingRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request without parameters."""


class CorrectRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to correct a statement."""

    statement: _Id
    replacement: tuple[_Name, _Name, _Name] | None = None
    reason: _Words = ""
    has_changed: bool = False


class MergeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to merge two names."""

    name: _Name
    into: _Name
    reason: _Words = ""


class ForgetRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to forget the episodes that a person was shown."""

    ids: Annotated[list[_Id], msgspec.Meta(min_length=1, max_length=_MAX_FORGOTTEN)]


class UndoRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to take a change back."""

    key: _Id


def edit_routes(app_state: AppState) -> list[Route]:
    """Return the routes below ``/api/memories`` that change one; all but ``forgetting`` are POST requests."""

    def change(path: str, type_: type[Any], work: Callable[[Edits, Any], Any], limit: int | None = None) -> Route:
        async def endpoint(request: Request) -> Response:
            app_state.require_editable()
            body = await read_json(request, type_, limit)
            key = request.path_params["key"]
            return json_response(await run_in_threadpool(lambda: work(app_state.edits(key), body)))

        return Route(f"/api/memories/{{key}}{path}", endpoint, methods=["POST"])

    async def forgetting(request: Request) -> Response:
        app_state.require_editable()
        return json_response(await run_in_threadpool(_forgetting, app_state, request))

    return [
        change("/remember", RememberRequest, _remember, MAX_UPLOAD),
        change("/sample", NothingRequest, lambda edits, _: edits.remember_sample()),
        change("/correct", CorrectRequest, _correct),
        change("/merge", MergeRequest, lambda edits, body: edits.merge(body.name, body.into, body.reason)),
        change("/forget", ForgetRequest, lambda edits, body: edits.forget(list(dict.fromkeys(body.ids)))),
        change("/undo", UndoRequest, _undo),
        Route("/api/memories/{key}/forgetting", forgetting),
    ]


def _remember(edits: Edits, body: RememberRequest) -> dict[str, Any]:
    return edits.remember(Upload(body.text, body.at.strip(), body.source.strip(), body.is_file, body.user.strip()))


def _correct(edits: Edits, body: CorrectRequest) -> dict[str, Any]:
    return edits.correct(body.statement, body.replacement, body.reason, has_changed=body.has_changed)


def _undo(edits: Edits, body: UndoRequest) -> dict[str, Any]:
    edits.undo(body.key)
    return {}


def _forgetting(app_state: AppState, request: Request) -> dict[str, Any]:
    """Return what would go if a name, a statement or an episode were forgotten."""
    given = {
        key: request.query_params[key] for key in ("entity", "statement", "episode") if key in request.query_params
    }
    if len(given) != 1:
        raise InputError("give one of the parameters entity, statement and episode")
    ((kind, value),) = given.items()
    with app_state.memory(request.path_params["key"]) as opened:
        memory = opened.memory
        if kind == "entity":
            ids = memory.record.episodes_about(value)
        elif kind == "episode":
            ids = [memory.episode(value).id]
        else:
            with opened.read_lock() as (graph, _):
                ids = [id_ for number in graph.numbers_of(value) for id_ in graph.asserting(number)]
        with opened.read_lock() as (graph, _):
            known = set(graph.episodes())
            ids = [id_ for id_ in ids if id_ in known]
            if len(ids) > _MAX_FORGOTTEN:
                raise InputError(f"more than {_MAX_FORGOTTEN:,} texts would go: use `worldthread forget`")
            return {**loss(graph, ids), "texts": shown_texts([memory.episode(id_) for id_ in ids[:50]])}
