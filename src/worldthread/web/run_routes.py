"""What the page of runs asks for."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worldthread.models.chat import ChatAnswer
from worldthread.models.recording_file import RecordedCall
from worldthread.play.run_page import step_label
from worldthread.play.runs import Run
from worldthread.web.answers import answer, number_of, shown_path
from worldthread.web.app_state import AppState, run_key
from worldthread.web.run_folder import RunFolder

_STEPS: Final = 100
_MOST_STEPS: Final = 1000
_CURVES: Final = {"turn": "turn", "score": "score", "facts": "facts", "vertices": "vertices"}


def run_routes(desk: AppState) -> list[Route]:
    """The routes below ``/api/runs`` and ``/api/sweeps``."""

    def route(path: str, ask: Callable[[RunFolder, Request], Any]) -> Route:
        async def endpoint(request: Request) -> Response:
            return answer(await run_in_threadpool(ask, desk.runs, request))

        return Route(path, endpoint)

    return [
        route("/api/runs", _runs),
        route("/api/runs/{id}", _run),
        route("/api/runs/{id}/steps", _steps),
        route("/api/runs/{id}/steps/{step:int}/calls", _calls),
        route("/api/sweeps/{id}", _sweep),
    ]


def _runs(runs: RunFolder, _: Request) -> dict[str, Any]:
    return {"folder": shown_path(runs.root), "runs": runs.runs(), "sweeps": runs.sweeps()}


def _run(runs: RunFolder, request: Request) -> dict[str, Any]:
    """A run without its steps: header, summary, and figures over the steps."""
    found, trajectory, summary = runs.run(request.path_params["id"])
    steps = trajectory.steps
    curves = {name: [step.get(field) or 0 for step in steps] for name, field in _CURVES.items()}
    curves["learned"] = [len(step.get("learned") or ()) for step in steps]
    curves["ended"] = [len(step.get("ended") or ()) for step in steps]
    curves["tokens"] = [(step.get("prompt_tokens") or 0) + (step.get("completion_tokens") or 0) for step in steps]
    return {
        "id": found.id,
        "name": found.name,
        "memory": run_key(found.id) if runs.has_memory(found) else None,
        "header": trajectory.header,
        "summary": summary,
        "steps": len(steps),
        "curves": curves,
    }


def _steps(runs: RunFolder, request: Request) -> dict[str, Any]:
    """Some steps of a run, as its trajectory has them, each with what was done in words."""
    _, trajectory, _ = runs.run(request.path_params["id"])
    offset = number_of(request, "offset", 0, 10**9)
    limit = number_of(request, "limit", _STEPS, _MOST_STEPS)
    shown = trajectory.steps[offset : offset + limit]
    return {
        "offset": offset,
        "total": len(trajectory.steps),
        "steps": [{**step, "label": step_label({"action": None, **step})} for step in shown],
    }


def _calls(runs: RunFolder, request: Request) -> dict[str, Any]:
    """What the model was asked for a step, and what it answered."""
    calls = runs.calls(request.path_params["id"], request.path_params["step"])
    return {"calls": [_call(call) for call in calls]}


def _call(call: RecordedCall) -> dict[str, Any]:
    asked, outcome = call.request, call.outcome
    told: dict[str, Any] = {
        "purpose": asked.purpose,
        "messages": [{"role": message.role, "content": message.content} for message in asked.messages],
    }
    if isinstance(outcome, ChatAnswer):
        usage = outcome.usage
        tokens = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        return {**told, "answer": outcome.text, "was_cut_off": outcome.finish_reason == "length", **tokens}
    return {**told, "error": str(outcome)}


def _sweep(runs: RunFolder, request: Request) -> dict[str, Any]:
    """The figures of a sweep by game, player and memory module, and its runs."""
    found, done = runs.sweep(request.path_params["id"])
    below = f"{found.name}/" if found.path.parent != runs.root else ""
    return {
        "id": found.id,
        "name": found.name,
        "groups": _figures(done),
        "has_intervals": importlib.util.find_spec("scipy") is not None,
        "runs": [run for run in runs.runs() if run["name"].startswith(below)],
    }


def _figures(done: list[tuple[Run, dict[str, Any]]]) -> list[dict[str, Any]]:
    if importlib.util.find_spec("scipy") is None:  # it makes the intervals
        return []
    from worldthread.play.sweep_figures import aggregate, groups_of

    return [aggregate(group) for group in groups_of(done)]
