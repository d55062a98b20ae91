"""The JSON routes of the runs page; they only read."""

from __future__ import annotations

import bisect
import importlib.util
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worldthread.errors import NotFoundError
from worldthread.graph import GraphView
from worldthread.installation import install_command
from worldthread.types import Statement
from worldthread.web.answers import escape_surrogates, json_response, number_parameter, shown_path
from worldthread.web.app_state import AppState
from worldthread_lab.play.run import PERSON

if TYPE_CHECKING:
    from worldthread.models.recording_file import RecordedCall
    from worldthread_lab.play.run import Run
    from worldthread_lab.web.run_folder import RunFolder

RUN_PREFIX: Final = "run-"
"""What the keys of the memories of runs begin with."""
_STEPS: Final = 100
_MAX_STEPS: Final = 1000
_MAX_HELD: Final = 400  # statements of a memory that are shown with a step
_MAX_POINTS: Final = 60  # of a curve of a sweep
_CURVES: Final = {"turn": "turn", "score": "score", "facts": "facts", "vertices": "vertices"}


def run_key(id_: str) -> str:
    """Return the key of the memory of a run."""
    return RUN_PREFIX + id_


def run_routes(app_state: AppState, runs: Callable[[], RunFolder]) -> list[Route]:
    """Return the routes below ``/api/runs`` and ``/api/sweeps``.

    Args:
        app_state: opens the memories of runs.
        runs: returns the runs; called by requests only.

    Returns:
        The routes.
    """

    def route(path: str, query: Callable[[RunFolder, Request], Any]) -> Route:
        async def endpoint(request: Request) -> Response:
            return json_response(await run_in_threadpool(lambda: query(runs(), request)))

        return Route(path, endpoint)

    async def memory(request: Request) -> Response:
        return json_response(await run_in_threadpool(lambda: _memory(app_state, runs(), request)))

    return [
        route("/api/runs", _runs),
        route("/api/runs/{id}", _run),
        route("/api/runs/{id}/steps", _steps),
        route("/api/runs/{id}/steps/{step:int}/calls", _calls),
        Route("/api/runs/{id}/steps/{step:int}/memory", memory),
        route("/api/runs/{id}/parting/{other}", _parting),
        route("/api/sweeps/{id}", _sweep),
    ]


def _runs(runs: RunFolder, _: Request) -> dict[str, Any]:
    return {"folder": shown_path(runs.root), "runs": runs.runs(), "sweeps": runs.sweeps()}


def _run(runs: RunFolder, request: Request) -> dict[str, Any]:
    """Return a run without its steps: header, summary, and curves over the steps."""
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
    """Return some steps of a run as in its trajectory, each with a label of its action."""
    from worldthread_lab.play.run_page import step_label

    _, trajectory, _ = runs.run(request.path_params["id"])
    offset = number_parameter(request, "offset", 0, 10**9)
    limit = number_parameter(request, "limit", _STEPS, _MAX_STEPS)
    shown = trajectory.steps[offset : offset + limit]
    return {
        "offset": offset,
        "total": len(trajectory.steps),
        "steps": [{**step, "label": step_label({"action": None, **step})} for step in shown],
    }


def _calls(runs: RunFolder, request: Request) -> dict[str, Any]:
    """Return the model calls of a step."""
    calls = runs.calls(request.path_params["id"], request.path_params["step"])
    return {"calls": [_call(call) for call in calls]}


def _parting(runs: RunFolder, request: Request) -> dict[str, Any]:
    """Return where two runs part; ``step`` is ``None`` when they do not."""
    found = runs.parting(request.path_params["id"], request.path_params["other"])
    return found or {"step": None, "by": None}


def _memory(app_state: AppState, runs: RunFolder, request: Request) -> dict[str, Any]:
    """Return what the memory of a run held before and after a step, what changed first."""
    id_, number = request.path_params["id"], request.path_params["step"]
    steps = runs.run(id_)[1].steps
    if number >= len(steps):
        raise NotFoundError("this run has no such step")
    turns = [step.get("turn") or 0 for step in steps[max(number - 1, 0) : number + 1]]
    with app_state.memory(run_key(id_)) as opened, opened.read_lock() as (graph, _):
        after = _held(graph.view(float(turns[-1])))
        before = _held(graph.view(float(turns[0]))) if number else {}
    changed = [{"text": text, "change": "began"} for id_, text in after.items() if id_ not in before]
    changed += [{"text": text, "change": "ended"} for id_, text in before.items() if id_ not in after]
    same = [{"text": text, "change": ""} for id_, text in after.items() if id_ in before]
    statements = [*changed, *same]
    return {
        "before": len(before),
        "after": len(after),
        "statements": statements[:_MAX_HELD],
        "left_out": max(len(statements) - _MAX_HELD, 0),
    }


def _held(view: GraphView) -> dict[str, str]:
    """Return the statements that hold in a view, by id."""
    statements: list[Statement] = [*view.facts(), *view.theses()]
    return {statement.id: str(statement) for statement in statements}


def _call(call: RecordedCall) -> dict[str, Any]:
    from worldthread.models.chat import ChatAnswer

    request, outcome = call.request, call.outcome
    fields: dict[str, Any] = {
        "purpose": escape_surrogates(request.purpose),
        "messages": [
            {"role": message.role, "content": escape_surrogates(message.content)} for message in request.messages
        ],
    }
    if isinstance(outcome, ChatAnswer):
        usage = outcome.usage
        tokens = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
        return {
            **fields,
            "answer": escape_surrogates(outcome.text),
            "was_cut_off": outcome.finish_reason == "length",
            **tokens,
        }
    return {**fields, "error": escape_surrogates(str(outcome))}


def _sweep(runs: RunFolder, request: Request) -> dict[str, Any]:
    """Return the figures of a sweep by game, player and memory module, the curves of their scores, and its runs.

    Plays of the same games by people, which lie in the same folder, count as one more player.
    """
    found, finished = runs.sweep(request.path_params["id"])
    prefix = f"{found.name}/" if found.path.parent != runs.root else ""
    people = runs.people({run.game for run, _ in finished} - {run.game for run, _ in finished if run.agent == PERSON})
    return {
        "id": found.id,
        "name": found.name,
        "groups": _figures([*finished, *people]),
        "people": len(people),
        "has_intervals": importlib.util.find_spec("scipy") is not None,
        "install": install_command("report"),
        "runs": [run for run in runs.runs() if run["name"].startswith(prefix)],
    }


def _figures(finished: list[tuple[Run, dict[str, Any]]]) -> list[dict[str, Any]]:
    if importlib.util.find_spec("scipy") is None:  # it computes the confidence intervals
        return []
    from worldthread_lab.play.sweep_figures import aggregate, groups_of

    return [{**aggregate(group), "curve": _curve(group)} for group in groups_of(finished)]


def _curve(summaries: list[dict[str, Any]]) -> dict[str, list[float]] | None:
    """Return the mean score of runs after so many moves, with its interval; ``None`` when they made no move.

    A run that has ended keeps its last score.
    """
    from worldthread_lab.play.statistics import bootstrap_band

    curves = [summary.get("curve") or [] for summary in summaries]
    last = max((moves for curve in curves for moves, _ in curve), default=0)
    if not last:
        return None
    grid = sorted({round(last * point / _MAX_POINTS) for point in range(_MAX_POINTS + 1)})
    rows = [[_score_at(curve, moves) for curve in curves] for moves in grid]
    intervals = bootstrap_band(rows)
    return {
        "moves": [float(moves) for moves in grid],
        "mean": [math.fsum(row) / len(row) for row in rows],
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
    }


def _score_at(curve: list[tuple[int, float]], moves: int) -> float:
    """Return the score of a run after so many moves."""
    place = bisect.bisect_right(curve, moves, key=lambda point: point[0])
    return float(curve[place - 1][1]) if place else 0.0
