"""Prompts are as long as the context window of the model allows, and say when they leave moves out."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest

from worldthread.graph.temporal import TemporalGraph
from worldthread.models.config import FAKE_MODEL
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents import agent_class
from worldthread_lab.agents.attempts.base import PROMPT_CHARACTERS, prompt_characters_for
from worldthread_lab.agents.attempts.glow import Glow
from worldthread_lab.agents.attempts.trajectories import GAP, AttemptTrajectory, TrajectoryStep, render_trajectories
from worldthread_lab.play.run_model import prompt_length


def trajectories(count: int, moves: int) -> list[AttemptTrajectory]:
    """Return trajectories with observations as long as those of a Z-machine game."""
    chance = random.Random(7)
    return [
        AttemptTrajectory(
            number,
            tuple(
                TrajectoryStep(move, f"action {move}" if move else None, "word " * chance.randint(5, 120), move)
                for move in range(moves + 1)
            ),
        )
        for number in range(1, count + 1)
    ]


def test_five_trajectories_of_200_moves_are_whole_for_the_model_of_the_paper() -> None:
    length = prompt_length(agent_class("glow"), "gpt-4.1-mini")["prompt_characters"]
    agent = Glow(TemporalGraph(), FakeChat([]), prompt_characters=length)
    frontier = trajectories(5, 200)
    for share in (3, 2, 1):  # the analysis, the choice, and the advantages
        rendered = render_trajectories(frontier, agent._share(share), agent.settings)
        assert GAP not in rendered
        assert rendered.count("word") == sum(step.text.count("word") for each in frontier for step in each.steps)
    short = Glow(TemporalGraph(), FakeChat([]))
    assert GAP in render_trajectories(frontier, short._share(2), short.settings)


def test_the_window_can_be_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[model]\nname = "ollama/qwen2.5:7b"\ncontext_tokens = 65536\n')
    monkeypatch.setenv("WORLDTHREAD_CONFIG", str(config))
    assert prompt_length(agent_class("icrl"), None) == {"prompt_characters": prompt_characters_for(65_536)}


def test_what_is_not_known_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prompt_length(agent_class("glow"), FAKE_MODEL) == {}
    assert prompt_length(agent_class("glow"), "ollama/gpt-4o") == {}, "the window of a server of one's own"
    assert prompt_length(agent_class("explorer"), "gpt-4o") == {}


def test_a_prompt_that_leaves_moves_out_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    agent = Glow(TemporalGraph(), FakeChat([]))
    agent._context_text = render_trajectories(trajectories(5, 200), PROMPT_CHARACTERS // 2)
    with caplog.at_level(logging.WARNING, "worldthread"):
        agent._report_gaps(agent._context_text)
        agent._report_gaps(agent._context_text)
    assert len(caplog.records) == 1
    assert "prompt_characters" in caplog.text
