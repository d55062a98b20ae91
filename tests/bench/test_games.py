"""The play loop: what it counts, what it writes, and that no truth gets out."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from worldthread.agents import make_agent
from worldthread.bench.games import Play, TrajectoryWriter
from worldthread.envs import make
from worldthread.graph import TemporalGraph


def tiny(agent: str = "explorer", *, seed: int = 1, max_moves: int | None = None, audit: bool = True) -> Play:
    graph = TemporalGraph()
    return Play(make("tiny", seed=seed), make_agent(agent, graph), graph, seed, max_moves, audit)


def test_a_play_to_the_end() -> None:
    play = tiny()
    records = list(play)
    assert [record.turn for record in records] == list(range(play.moves + 1))
    assert records[0].decision is None
    assert all(record.decision is not None for record in records[1:])
    assert sum(record.reward for record in records) == records[-1].info.score
    summary = play.summary()
    assert summary["won"]
    assert summary["normalized"] == 1
    assert summary["decisions"] == sum(record.decision.is_new for record in records[1:] if record.decision)
    assert summary["memory"]["episodes"] == play.moves + 1
    assert summary["memory"]["facts"] == records[-1].facts == len(play.graph.view().facts())
    assert summary["memory"]["ended"] == sum(len(record.ended) for record in records)
    assert summary["optimal_moves"] <= summary["moves"]
    assert summary["audit"]["steps"] == play.moves + 1


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_limit_of_moves(limit: int) -> None:
    play = tiny(max_moves=limit)
    assert len(list(play)) == limit + 1
    assert play.summary()["moves"] == limit
    assert not play.summary()["won"]


def test_without_an_audit_nothing_privileged_is_asked() -> None:
    play = tiny(audit=False)
    assert all(record.audit is None for record in play)
    summary = play.summary()
    assert (summary["audit"], summary["optimal_moves"]) == (None, None)
    assert summary["won"]


def test_chance_is_repeatable_and_loses_to_the_explorer() -> None:
    actions = [[r.decision.action for r in tiny("random", max_moves=30) if r.decision] for _ in range(2)]
    assert actions[0] == actions[1]
    assert len(set(actions[0])) > 3
    explorer, chance = tiny(), tiny("random")
    assert len(list(explorer)) < len(list(chance))


def test_every_step_is_on_the_disk_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trajectory.jsonl"
    play = tiny()
    with TrajectoryWriter(path, {"game": "tiny-v1"}) as writer:
        for number, record in enumerate(play, 2):
            writer.step(record)
            assert path.read_bytes().count(b"\n") == number
        writer.finish(play.summary())
    header, *steps, last = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert header == {"format": "worldthread-trajectory", "version": 1, "game": "tiny-v1"}
    assert last == {"summary": play.summary()}
    assert steps[0].keys() == steps[-1].keys() == {
        "turn", "action", "reason", "new_decision", "stuck", "observation", "inventory", "score", "reward",
        "valid_actions", "learned", "ended", "facts", "vertices",
    }, "what the player saw and thought; nothing of the truth"  # fmt: skip
