"""Playing one game: the loop between a world and an agent, its trajectory, its audit and its summary.

The loop is the only place that holds both; the agent gets plain values (:class:`~worldthread.agents.base.Percept`) and
never the world. Truth goes to the auditor alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import orjson

from worldthread.agents.base import Agent, Decision, Percept
from worldthread.bench.audit import Auditor, AuditResult
from worldthread.envs.base import Environment, Info
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Statement

TRAJECTORY_FORMAT = "worldthread-trajectory"
TRAJECTORY_VERSION = 1


@dataclass(frozen=True)
class StepRecord:
    """One step of a play, as it is written to the trajectory and shown to people.

    Args:
        turn: moves made so far; 0 for the opening text.
        decision: what the agent chose; ``None`` for the opening text.
        observation: the text that followed.
        info: what the world told beside it.
        reward: points of this step.
        learned: statements that the step opened.
        ended: statements that the step ended, with the reasons.
        facts: facts that hold after the step.
        vertices: distinct names in them.
        perceive_seconds: time for reading the step and adding it to the memory.
        audit: figures so far, pooled over the steps; ``None`` without an audit.
    """

    turn: int
    decision: Decision | None
    observation: str
    info: Info
    reward: float
    learned: tuple[Statement, ...]
    ended: tuple[tuple[Statement, str], ...]
    facts: int
    vertices: int
    perceive_seconds: float
    audit: AuditResult | None

    def as_json(self) -> dict[str, Any]:
        """One line of a trajectory. Never holds the true state."""
        return {
            "turn": self.turn,
            "action": self.decision.action if self.decision else None,
            "reason": self.decision.reason if self.decision else None,
            "new_decision": self.decision.is_new if self.decision else None,
            "stuck": self.decision.stuck if self.decision else None,
            "observation": self.observation,
            "inventory": self.info.inventory,
            "score": self.info.score,
            "reward": self.reward,
            "valid_actions": self.info.valid_actions,
            "learned": [str(statement) for statement in self.learned],
            "ended": [[str(statement), reason] for statement, reason in self.ended],
            "facts": self.facts,
            "vertices": self.vertices,
        }


@dataclass
class Play:
    """One play of a game, step by step: iterate over it, then read :meth:`summary`.

    Args:
        env: the world; it is reset, not closed.
        agent: who plays.
        graph: the graph behind the agent's memory, for what is shown and audited.
        seed: given to ``env.reset``.
        max_moves: stop after so many moves; ``None``: when the world ends.
        audit: whether to compare the memory with the truth after every step.
    """

    env: Environment
    agent: Agent
    graph: TemporalGraph
    seed: int | None = None
    max_moves: int | None = None
    audit: bool = True
    auditor: Auditor = field(default_factory=Auditor, init=False)
    moves: int = field(default=0, init=False)
    decisions: int = field(default=0, init=False)
    stuck: int = field(default=0, init=False)
    info: Info = field(default_factory=Info, init=False)
    seconds: float = field(default=0.0, init=False)
    probes: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[StepRecord]:
        observation, self.info = self.env.reset(self.seed)
        started = time.perf_counter()  # making the game is not part of playing it
        yield self._perceive(None, observation, 0.0, self.info.goal)
        ended = self.info.won or self.info.lost
        while not ended and (self.max_moves is None or self.moves < self.max_moves):
            decision = self.agent.decide()
            observation, reward, terminated, truncated, self.info = self.env.step(decision.action)
            self.moves += 1
            self.decisions += decision.is_new
            self.stuck += decision.stuck
            self.seconds = time.perf_counter() - started
            yield self._perceive(decision, observation, reward, "")
            ended = terminated or truncated or decision.finished
        self.seconds = time.perf_counter() - started

    def _perceive(self, decision: Decision | None, observation: str, reward: float, goal: str) -> StepRecord:
        action = decision.action if decision else None
        step = GameStep(observation, action, self.info.inventory, goal, self.moves)
        self.probes += self.info.valid_actions is not None
        started = time.perf_counter()
        episode = self.agent.perceive(
            Percept(
                step,
                self.info.score,
                self.info.valid_actions,
                moment=self.moves,
                before=self.moves - 1 if self.moves else None,
            )
        )
        perceived = time.perf_counter() - started
        view = self.graph.view()
        if self.audit:
            self.auditor.observe(step, self.env.truth(), view)
        learned, ended = self._changes(episode)
        facts = view.facts()
        vertices = {name for fact in facts for name in (fact.key[0], fact.key[2])}
        return StepRecord(
            self.moves,
            decision,
            observation,
            self.info,
            reward,
            learned,
            ended,
            len(facts),
            len(vertices),
            perceived,
            self.auditor.result() if self.audit else None,
        )

    def _changes(self, episode: Episode) -> tuple[tuple[Statement, ...], tuple[tuple[Statement, str], ...]]:
        """What an episode opened, and what it ended."""
        learned = tuple(
            statement
            for statement in dict.fromkeys(episode.reading.statements)
            if (version := self.graph.versions(statement)[-1]).sources[0] == episode.id and version.interval.is_open
        )
        return learned, self.graph.ended_by(episode.id)

    def summary(self) -> dict[str, Any]:
        """The figures of the play so far, ready for JSON."""
        counts = self.graph.counts()
        best = self.info.max_score
        return {
            "game": self.env.id,
            "agent": self.agent.name,
            "seed": self.seed,
            "score": self.info.score,
            "max_score": best,
            "normalized": round(self.info.score / best, 5) if best else None,
            "won": self.info.won,
            "moves": self.moves,
            "decisions": self.decisions,
            "stuck": self.stuck,
            "probes": self.probes,
            "model_calls": 0,
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "cost_usd": 0.0,
            "seconds": round(self.seconds, 3),
            "memory": {"episodes": counts["episodes"], "facts": counts["current_facts"], "ended": counts["ended"]},
            "audit": self.auditor.result().summary() if self.audit else None,
            "optimal_moves": self.env.truth().optimal_moves if self.audit else None,
        }


class TrajectoryWriter:
    """Writes a play to a JSON Lines file, one line a step, each flushed when it is written.

    The first line is a header; the last, if the play came to its end, is ``{"summary": ...}``.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file: IO[bytes] = path.open("wb")
        self._write({"format": TRAJECTORY_FORMAT, "version": TRAJECTORY_VERSION, **header})

    def step(self, record: StepRecord) -> None:
        """Write one step."""
        self._write(record.as_json())

    def finish(self, summary: dict[str, Any]) -> None:
        """Write the summary."""
        self._write({"summary": summary})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(orjson.dumps(line) + b"\n")
        self._file.flush()

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
