"""The HTML report of a run: one self-contained file, made from the trajectory and the memory of the run."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path
from typing import Any, Final

from worldthread.errors import InputError, MissingExtraError
from worldthread.files.paths import write_private_file
from worldthread.graph import GraphView
from worldthread.memory.memory import Memory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.map_layout import MapLayout, lay_out, room_names
from worldthread_lab.play.run_files import read_summary, require_own_files
from worldthread_lab.play.trajectory import TRAJECTORY_FILE, read_trajectory

_ROOM_WIDTH, _ROOM_HEIGHT, _GAP, _MARGIN = 150, 64, 36, 24  # pixels
_TOWARDS: Final = {
    "north": (0.0, -1.0), "south": (0.0, 1.0), "east": (1.0, 0.0), "west": (-1.0, 0.0), "northeast": (1.0, -1.0),
    "northwest": (-1.0, -1.0), "southeast": (1.0, 1.0), "southwest": (-1.0, 1.0),
}  # fmt: skip


_NO_STEP: Final[dict[str, Any]] = {
    "turn": 0, "action": None, "reason": None, "observation": "", "score": 0, "learned": (), "ended": (), "facts": 0,
    "vertices": 0,
}  # fmt: skip
"""What a step of an older release may lack."""

_NO_SUMMARY: Final[dict[str, Any]] = {
    "won": False, "score": 0, "best_score": 0, "max_score": None, "moves": 0, "decisions": 0, "optimal_moves": None,
    "model_calls": 0, "audit": None,
}  # fmt: skip
_NO_FIGURES: Final[dict[str, Any]] = dict.fromkeys(("facts", "ended", "precision", "recall", "stale_steps"), 0)


def write_report(run: Path, *, memory: Path | None = None) -> Path:
    """Write ``report.html`` into the folder of a run.

    Args:
        run: the folder.
        memory: the memory of the play, if it is not in the folder. The folder may come from somebody else, so no file
            outside of it is opened because the folder names it.

    Returns:
        The path of the report.

    Raises:
        InputError: the folder holds no run.
        FormatError: a file of the run is damaged, or is a link.
        MissingExtraError: the packages for reports are not installed.
    """
    for package in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the HTML report", extra="report", package=package)
    import jinja2

    if not run.is_dir():
        raise InputError(f"{run} is not the folder of a run")
    require_own_files(run)
    trajectory = read_trajectory(run / TRAJECTORY_FILE)
    header = {"game": "", "agent": "", "seed": "", **trajectory.header}
    steps = [
        {**_NO_STEP, **{name: value for name, value in step.items() if value is not None}} for step in trajectory.steps
    ]
    drawing = None
    memory_file = memory or memory_in(run, header)
    if memory_file is not None and memory_file.is_file():
        namespace = header.get("namespace") or DEFAULT_NAMESPACE
        with (
            Memory(memory_file, namespace=namespace, readonly=True, model="none") as opened,
            opened.record.read_lock() as graph,
        ):
            drawing = map_drawing(graph.view())
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("worldthread_lab.play"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    page = environment.get_template("run.html").render(
        header=header,
        steps=steps,
        # dollars and seconds are not part of a trajectory
        summary=trajectory.summary and _summary({**trajectory.summary, **(read_summary(run) or {})}),
        drawing=drawing,
        growth=growth_plot(steps),
        label=step_label,
    )
    target = run / "report.html"
    write_private_file(target, page)
    return target


def memory_in(run: Path, header: dict[str, Any]) -> Path | None:
    """Return the memory file in the folder of a run; ``None`` if the header names a file elsewhere.

    Args:
        run: the folder.
        header: the header of the trajectory.
    """
    name = header.get("memory", "memory.worldthread")
    return run / name if isinstance(name, str) and name and name == Path(name).name else None


def _summary(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run with values for those that an older release did not write."""
    complete = {**_NO_SUMMARY, **figures}
    complete["memory"] = {**_NO_FIGURES, **(figures.get("memory") or {})}
    if complete["audit"]:
        complete["audit"] = {**_NO_FIGURES, **complete["audit"]}
    return complete


def step_label(step: dict[str, Any]) -> str:
    """Return the action of a step of a trajectory in a form for display, such as ``"(start)"``."""
    if step.get("problem"):
        return "(nothing)"
    if step.get("return_to") is not None:
        return f"(back to moment {step['return_to']})"
    return step["action"] or "(start)"


def map_drawing(view: GraphView) -> dict[str, Any]:
    """Compute the boxes and lines of the map of a memory.

    Args:
        view: the memory.

    Returns:
        ``width``, ``height``, ``box``, ``rooms``, ``ways`` and ``exits``, in pixels; storeys are drawn below each
        other, the highest at the top.
    """
    layout = lay_out(WorldMap(view), room_names(view))
    corners = _corners(layout)
    contents = _contents(view)

    def centre(room: str) -> tuple[int, int]:
        x, y = corners[room]
        return x + _ROOM_WIDTH // 2, y + _ROOM_HEIGHT // 2

    rooms = [
        {"name": layout.names[room], "x": x, "y": y, "here": room == layout.here, "things": contents.get(room, [])}
        for room, (x, y) in corners.items()
    ]
    ways = [{"from": centre(link.start), "to": centre(link.end), "presumed": link.is_presumed} for link in layout.links]
    exits = []
    for exit_ in layout.loose:
        x, y = centre(exit_.room)
        across, down = _TOWARDS.get(exit_.direction, (0.6, -1.0))
        place = {"x": round(x + across * (_ROOM_WIDTH / 2 + 10)), "y": round(y + down * (_ROOM_HEIGHT / 2 + 10) + 5)}
        exits.append({**place, "direction": exit_.direction})
    return {
        "width": max((x for x, _ in corners.values()), default=0) + _ROOM_WIDTH + _MARGIN,
        "height": max((y for _, y in corners.values()), default=0) + _ROOM_HEIGHT + _MARGIN,
        "box": (_ROOM_WIDTH, _ROOM_HEIGHT),
        "rooms": rooms,
        "ways": ways,
        "exits": exits,
    }


def _corners(layout: MapLayout) -> dict[str, tuple[int, int]]:
    """Return the upper left corner of every room, in pixels."""
    corners: dict[str, tuple[int, int]] = {}
    first_row = 0
    for storey in sorted({cell[2] for cell in layout.cells.values()}, reverse=True):
        cells = {room: cell for room, cell in layout.cells.items() if cell[2] == storey}
        top = min(row for _, row, _ in cells.values())
        for room, (column, row, _) in cells.items():
            x, y = column * (_ROOM_WIDTH + _GAP), (first_row + row - top) * (_ROOM_HEIGHT + _GAP)
            corners[room] = (_MARGIN + x, _MARGIN + y)
        first_row += max(row for _, row, _ in cells.values()) - top + 1
    return corners


def _contents(view: GraphView) -> dict[str, list[str]]:
    """Return the things in each room, by normalised name of the room, with their container or surface if any."""
    held: dict[str, list[tuple[str, str, str]]] = {}
    for relation, word in ((v.IS_IN, "in"), (v.IS_ON, "on")):
        for fact in view.facts(relation=relation):
            if fact.key[0] != v.PLAYER:
                held.setdefault(fact.key[2], []).append((fact.key[0], fact.subject, f"{word} {fact.object}"))
    contents: dict[str, list[str]] = {}
    for room in (fact.key[0] for fact in view.facts(relation=v.IS_A, object="room")):
        seen = {room}
        queue = [(name, shown, "") for name, shown, _ in held.get(room, [])]
        for name, shown, where in queue:  # the loop appends to the queue
            if name not in seen:
                seen.add(name)
                contents.setdefault(room, []).append(f"{shown} ({where})" if where else shown)
                queue += held.get(name, [])
    return contents


def growth_plot(steps: list[dict[str, Any]]) -> str:
    """Plot the size of the graph and its changes over the moves, as figure 5 of the AriGraph paper does.

    Args:
        steps: the steps of a trajectory.

    Returns:
        An SVG element. It holds no text of a game, so it needs no escaping. Lines and letters have the text colour of
        the page.
    """
    import matplotlib
    from matplotlib.figure import Figure

    ink = "#010203"  # replaced below by the text colour of the page
    settings = {"svg.fonttype": "none", "svg.hashsalt": "worldthread", "font.size": 11, "font.family": "sans-serif"}
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), ink)
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        sizes, changes = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        turns = [step["turn"] for step in steps]
        sizes.plot(turns, [step["facts"] for step in steps], label="facts that hold", color="#2f81f7", linewidth=2)
        sizes.plot(turns, [step["vertices"] for step in steps], label="vertices (names)", color="#b8860b", linewidth=2)
        changes.bar(turns, [len(step["learned"]) for step in steps], label="learned", color="#2da44e")
        changes.bar(turns, [-len(step["ended"]) for step in steps], label="ended", color="#e5534b")
        changes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        changes.axhline(0, color=ink, linewidth=0.8)
        changes.set_xlabel("move")
        for axes in (sizes, changes):
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, ncols=2)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :].replace(ink, "currentColor")
