"""The pages of runs and plays, as the memory finds them by their entry point."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.routing import Route

from worldthread.web.app_state import AppState
from worldthread.web.memories import MemoryLocation, OpenMemory
from worldthread.web.memory_routes import memory_route, page_time, reading
from worldthread_lab.web.play_routes import play_routes
from worldthread_lab.web.run_routes import RUN_PREFIX, run_key, run_routes

if TYPE_CHECKING:
    from worldthread_lab.web.plays import Plays
    from worldthread_lab.web.run_folder import RunFolder


class PlayPages:
    """The runs in a folder, and the plays that people begin.

    Agents and games are imported when they are first used: the first page needs none of them, and they take longer
    than it.

    Args:
        app_state: the memories of the server, with the folder of runs and the name of the model.
    """

    paths: Final = ("/runs", "/play")

    def __init__(self, app_state: AppState) -> None:
        self._app_state = app_state
        self._making = threading.Lock()
        self._runs: RunFolder | None = None
        self._plays: Plays | None = None
        self._is_stopping = False

    @property
    def runs(self) -> RunFolder:
        """The runs."""
        from worldthread_lab.web.run_folder import RunFolder

        with self._making:
            if self._runs is None:
                self._runs = RunFolder(self._app_state.runs)
            return self._runs

    @property
    def plays(self) -> Plays:
        """The plays."""
        from worldthread_lab.web.plays import Plays

        runs = self.runs
        with self._making:
            if self._plays is None:
                self._plays = Plays(runs.root, runs.id_of, self._app_state.chosen_model)
                if self._is_stopping:
                    self._plays.stop()
            return self._plays

    def routes(self) -> list[Route]:
        """Return the routes below ``/api/runs``, ``/api/sweeps``, ``/api/choices`` and ``/api/plays``."""
        return [*run_routes(self._app_state, lambda: self.runs), *play_routes(lambda: self.runs, lambda: self.plays)]

    def memory_routes(self) -> list[Route]:
        """Return the route of the map of a game."""
        return [memory_route(self._app_state, "/map", _map)]

    def memories(self) -> list[dict[str, Any]]:
        """Return the memories of the runs."""
        return [
            {"key": run_key(run["id"]), "label": run["name"], "exists": True}
            for run in self.runs.runs()
            if run.get("has_memory")
        ]

    def location_of(self, key: str) -> MemoryLocation | None:
        """Return where the memory of a run is; ``None`` when the key is none of a run."""
        return self.runs.memory_of(key.removeprefix(RUN_PREFIX)) if key.startswith(RUN_PREFIX) else None

    def stop(self) -> None:
        """Let plays and their watchers end, without waiting for them."""
        with self._making:
            self._is_stopping = True
            plays = self._plays
        if plays is not None:
            plays.stop()

    def close(self) -> None:
        """Stop the plays. May be called again."""
        self.stop()
        if self._plays is not None:
            self._plays.close()


def _map(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return the map of a game, now or at a given time; see :func:`worldthread_lab.play.run_page.map_drawing`."""
    from worldthread_lab.play.run_page import map_drawing

    at = request.query_params.get("at")
    with reading(opened, request) as (graph, _):
        return map_drawing(graph.view(page_time(at) if at else None))
