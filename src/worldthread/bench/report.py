"""The page of a run: one HTML file that needs nothing else, made from the run's trajectory and memory."""

from __future__ import annotations

import importlib.util
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from worldthread.agents.worldmap import WorldMap
from worldthread.bench.games import TRAJECTORY_FORMAT, TRAJECTORY_VERSION
from worldthread.errors import FormatError, InputError, MissingExtraError
from worldthread.extract import vocabulary as v
from worldthread.graph import GraphView
from worldthread.memory import Memory

_ROOM_WIDTH, _ROOM_HEIGHT, _GAP = 150, 64, 36


@dataclass(frozen=True)
class Trajectory:
    """A trajectory file, read.

    Args:
        header: its first line.
        steps: its steps, in order.
        summary: its summary; empty when the play was cut off.
    """

    header: dict[str, Any]
    steps: list[dict[str, Any]]
    summary: dict[str, Any]


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory; a last line that was cut off is left out.

    Raises:
        FormatError: the file is no trajectory, or a line other than the last is damaged.
        InputError: the file cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    parsed: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if number == len(lines):  # no newline after it: the write was cut off
                break
            raise FormatError(str(error), path=path, line=number) from error
        if not isinstance(value, dict):
            raise FormatError("not an object", path=path, line=number)
        parsed.append(value)
    if not parsed or parsed[0].get("format") != TRAJECTORY_FORMAT:
        raise FormatError("this is no trajectory", path=path, line=1)
    if parsed[0].get("version") != TRAJECTORY_VERSION:
        raise FormatError(f"a trajectory of version {parsed[0].get('version')}", path=path, line=1)
    steps = [line for line in parsed[1:] if "summary" not in line]
    summary: dict[str, Any] = next((line["summary"] for line in parsed if "summary" in line), {})
    return Trajectory(parsed[0], steps, summary)


def write_report(run: Path) -> Path:
    """Write ``report.html`` into the folder of a run.

    Raises:
        InputError: the folder holds no run.
        MissingExtraError: the packages for reports are not installed.
    """
    for package in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the HTML report", extra="report", package=package)
    import jinja2

    if not run.is_dir():
        raise InputError(f"{run} is not the folder of a run")
    trajectory = read_trajectory(run / "trajectory.jsonl")
    with Memory(run / "memory.worldthread", readonly=True) as memory:
        view = memory.view()
        drawing = map_drawing(view)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("worldthread.bench"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    page = environment.get_template("run.html").render(
        header=trajectory.header,
        steps=trajectory.steps,
        summary=trajectory.summary,
        drawing=drawing,
        growth=growth_plot(trajectory.steps),
    )
    target = run / "report.html"
    target.write_text(page, "utf-8")
    return target


def map_drawing(view: GraphView) -> dict[str, Any]:
    """Boxes and lines of the map in pixels: ``width``, ``height``, ``rooms``, ``ways`` and ``exits``."""
    world = WorldMap(view)
    positions = {room: (x, -y) for room, (x, y, z) in world.positions.items() if z == 0}
    if not positions:
        return {"width": 0, "height": 0, "rooms": [], "ways": [], "exits": []}
    left, top = min(x for x, _ in positions.values()), min(y for _, y in positions.values())

    def corner(room: str) -> tuple[int, int]:
        x, y = positions[room]
        return 20 + (x - left) * (_ROOM_WIDTH + _GAP), 20 + (y - top) * (_ROOM_HEIGHT + _GAP)

    def centre(room: str) -> tuple[int, int]:
        x, y = corner(room)
        return x + _ROOM_WIDTH // 2, y + _ROOM_HEIGHT // 2

    offsets = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
    rooms = []
    for room in positions:
        held = [f.subject for f in view.facts(relation=v.IS_IN, object=room) if f.key[0] != v.PLAYER]
        x, y = corner(room)
        rooms.append({"name": room, "x": x, "y": y, "here": room == world.here, "things": held})
    ways = [
        {"from": centre(room), "to": centre(there)}
        for room, ways in world.ways.items()
        for there in ways.values()
        if room < there and room in positions and there in positions
    ]
    exits = []
    for exit_ in world.unexplored:
        if exit_.room in positions and exit_.direction in offsets:
            dx, dy = offsets[exit_.direction]
            x, y = centre(exit_.room)
            reach_x, reach_y = _ROOM_WIDTH // 2, _ROOM_HEIGHT // 2
            exits.append({"x": x + dx * (reach_x + 10), "y": y + dy * (reach_y + 10) + 5})
    return {
        "width": max(corner(room)[0] for room in positions) + _ROOM_WIDTH + 20,
        "height": max(corner(room)[1] for room in positions) + _ROOM_HEIGHT + 20,
        "box": (_ROOM_WIDTH, _ROOM_HEIGHT),
        "rooms": rooms,
        "ways": ways,
        "exits": exits,
    }


def growth_plot(steps: list[dict[str, Any]]) -> str:
    """Size of the graph and statements ended per move (compare the AriGraph paper, figure 5), as SVG.

    The text in it is ours and numbers; no text of a game gets in.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    turns = [step["turn"] for step in steps]
    axes.plot(turns, [step["facts"] for step in steps], label="facts that hold")
    axes.plot(turns, [step["vertices"] for step in steps], label="names")
    axes.bar(turns, [len(step["ended"]) for step in steps], label="statements ended", color="tab:red", alpha=0.6)
    axes.set_xlabel("move")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=False, metadata={"Date": None})
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :]
