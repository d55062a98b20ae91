"""The live picture, drawn for terminals of several sizes from a real play."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from worldthread.graph import TemporalGraph
from worldthread_lab.agents import make_agent
from worldthread_lab.cli.showing import LineDisplay, LiveFrame, printable_line, summary_table
from worldthread_lab.envs import make
from worldthread_lab.play.loop import Play
from worldthread_lab.play.step_record import StepRecord


@pytest.fixture(scope="module")
def played() -> tuple[Play, list[StepRecord]]:
    graph = TemporalGraph()
    play = Play(make("tiny", seed=1), make_agent("explorer", graph), graph, 1)
    return play, list(play)


def picture(frame: LiveFrame, width: int, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(frame)
    return capture.get().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 14), (200, 70)])
def test_the_picture_fits_the_terminal(width: int, height: int, played: tuple[Play, list[StepRecord]]) -> None:
    play, records = played
    frame = LiveFrame("tiny  explorer", 50)
    assert picture(frame, width, height) == ["Starting tiny explorer ..."]
    for record in records:
        frame.take(record, play.graph.view())
        lines = picture(frame, width, height)
        assert len(lines) <= height - 1
        assert max(len(line) for line in lines) <= width
    text = "\n".join(lines)
    last = records[-1]
    assert last.decision is not None
    for part in (
        "map: 4 rooms",
        "WON",
        "carried",
        f"> {last.decision.action}",
        f"why: {last.decision.reason}",
        "goal:",
    ):
        assert part in text
    assert f"move {last.turn}" in text
    if height >= 24:
        assert "precision 1.000" in text
        assert str(last.learned[0]) in text


def test_the_picture_survives_hostile_and_long_text(played: tuple[Play, list[StepRecord]]) -> None:
    play, records = played
    hostile = "[bold]\x1b[2J\x07[/nonsense]\r\n" * 200
    decision = records[-1].decision
    assert decision is not None
    frame = LiveFrame(hostile, None)
    frame.take(
        replace(records[-1], observation=hostile, decision=replace(decision, action=hostile, reason=hostile)),
        play.graph.view(),
    )
    lines = picture(frame, 80, 24)
    assert len(lines) <= 23
    assert "\x07" not in "".join(lines)
    assert "[2J" not in "".join(lines).replace(" [2J", ""), "shown, not obeyed"


def test_lines(played: tuple[Play, list[StepRecord]]) -> None:
    play, records = played
    stream = io.StringIO()
    with LineDisplay(stream) as lines:
        for record in records:
            lines.show(record, play.graph.view())
    written = stream.getvalue().splitlines()
    assert len(written) == len(records)
    assert written[0].split()[:2] == ["0", "(start)"]
    assert all(line.isprintable() for line in written)


def test_printable_line() -> None:
    assert printable_line(" a\n\n b\x1b[31m\tc ") == "a b [31m c"


def test_summary(played: tuple[Play, list[StepRecord]]) -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(summary_table(played[0].summary() | played[0].costs()))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "won" in text
    assert f"{played[0].moves} in {played[0].decisions} decisions" in text
