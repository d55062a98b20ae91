"""Playing one game: the loop between a world and an agent, with its audit and its figures.

The loop is the only place that holds both; the agent gets plain values (:class:`~worldthread.agents.base.Percept`) and
never the world. Truth goes to the auditor alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Final

from worldthread.agents.base import Agent, Decision, Percept
from worldthread.agents.model_agent import ModelAgent
from worldthread.envs.base import Environment, Info
from worldthread.errors import BudgetError, InputError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.meter import UsageTotals
from worldthread.play.audit import Auditor, AuditResult, Expectation, can_be_audited
from worldthread.play.run_model import RunModel
from worldthread.play.saved_states import SavedStates, returned
from worldthread.text import one_line
from worldthread.types import Episode, Statement

ENDS: Final = {
    "won": "the world says that the task is done",
    "lost": "the world says that the task cannot be done any more",
    "over": "the world ended",
    "moves": "the moves were used up",
    "agent": "the agent stopped",
    "budget": "the budget of the model was spent",
}
"""Why a play can end."""


@dataclass(frozen=True)
class StepRecord:
    """One step of a play, as it is written to the trajectory and shown to people.

    Args:
        turn: moves made so far; 0 for the opening text.
        decision: what the agent chose; ``None`` for the opening text.
        percept: what it was told then.
        observation: the text that followed.
        info: what the world told beside it.
        reward: points of this step.
        learned: statements that the step opened; none when no new moment was reached.
        ended: statements that the step ended, with the reasons.
        facts: facts that hold after the step.
        vertices: distinct names in them.
        audit: figures so far, pooled over the steps; ``None`` without an audit.
        valid: whether the action was on the list of valid actions; ``None`` without an action or a list.
        usage: what the model was asked between the step before and the next decision.
    """

    turn: int
    decision: Decision | None
    percept: Percept
    observation: str
    info: Info
    reward: float
    learned: tuple[Statement, ...]
    ended: tuple[tuple[Statement, str], ...]
    facts: int
    vertices: int
    audit: AuditResult | None
    valid: bool | None = None
    usage: UsageTotals = field(default_factory=UsageTotals)

    @property
    def label(self) -> str:
        """What was done, for people."""
        if self.decision is None:
            return "(start)"
        if self.percept.problem:
            return "(nothing)"
        if self.decision.return_to is not None:
            return f"(back to moment {self.decision.return_to})"
        return self.decision.action

    def as_json(self) -> dict[str, Any]:
        """One line of a trajectory. Never holds the true state, nor how long anything took."""
        decision, percept = self.decision, self.percept
        return {
            "turn": self.turn,
            "moment": percept.moment,
            "before": percept.before,
            "action": _writable(decision.action) if decision else None,
            "return_to": decision.return_to if decision else None,
            "problem": _writable(percept.problem),
            "valid": self.valid,
            "reason": _writable(decision.reason) if decision else None,
            "new_decision": decision.is_new if decision else None,
            "stuck": decision.stuck if decision else None,
            "finished": decision.finished if decision else None,
            "recalled": [
                {"text": _writable(one.text), "path": [_writable(name) for name in one.path]}
                for one in (decision.recalled if decision else ())
            ],
            "observation": self.observation,
            "inventory": self.info.inventory,
            "score": self.info.score,
            "reward": self.reward,
            "over": percept.ended,
            "state": self.info.state,
            "valid_actions": self.info.valid_actions,
            "learned": [str(statement) for statement in self.learned],
            "ended": [[str(statement), reason] for statement, reason in self.ended],
            "facts": self.facts,
            "vertices": self.vertices,
            "model_calls": self.usage.calls + self.usage.reused,
            "prompt_tokens": self.usage.usage.prompt_tokens,
            "completion_tokens": self.usage.usage.completion_tokens,
        }


def _writable(text: str) -> str:
    """``text`` with escapes for what UTF-8 cannot write: a model may answer with half a character."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass
class PlayTimes:
    """Where the time of a play goes, in seconds.

    Args:
        world: in the engine, its look-aheads (valid actions) included.
        agent: in the agent, without what its model was waited for; one figure for each time that it was asked to
            decide, with the perceiving of what came of it.
    """

    world: float = 0.0
    agent: list[float] = field(default_factory=list)


@dataclass
class Play:
    """One play of a game, step by step: iterate over it, then read :meth:`summary`.

    A decision without an action (:attr:`Decision.problem`), an action that the world cannot take in (not one line of
    text), and the second of two returns in a row do nothing in the world and count as moves, so that every play with a
    limit ends.

    Args:
        env: the world; it is reset, not closed. When the agent returns to earlier moments it should have no limit of
            moves of its own.
        agent: who plays.
        graph: the graph behind the agent's memory, for what is shown and audited.
        seed: given to ``env.reset``.
        max_moves: stop after so many moves; ``None``: when the world ends.
        audit: whether to compare the memory with the truth after every step; without effect in a world that does not
            tell enough of it (:func:`~worldthread.play.audit.can_be_audited`).
        model: the agent's model, for what it used; ``None`` when it has none.
    """

    env: Environment
    agent: Agent
    graph: TemporalGraph
    seed: int | None = None
    max_moves: int | None = None
    audit: bool = True
    model: RunModel | None = None
    auditor: Auditor = field(default_factory=Auditor, init=False)
    moves: int = field(default=0, init=False)
    decisions: int = field(default=0, init=False)
    stuck: int = field(default=0, init=False)
    probes: int = field(default=0, init=False)
    returns: int = field(default=0, init=False)
    unparsable: int = field(default=0, init=False)
    listed: int = field(default=0, init=False)
    invalid: int = field(default=0, init=False)
    info: Info = field(default_factory=Info, init=False)
    won: bool = field(default=False, init=False)
    curve: list[tuple[int, float]] = field(default_factory=list, init=False)
    curve_seconds: list[float] = field(default_factory=list, init=False)
    ended_by: str | None = field(default=None, init=False)
    clock: PlayTimes = field(default_factory=PlayTimes, init=False)

    def __post_init__(self) -> None:
        self._moments = SavedStates(self.env, self.seed, keep=self.agent.returns)
        self._marks: list[Expectation] = []  # of the audit before each moment
        self._percept: Percept | None = None
        self._counted = UsageTotals()
        self._optimal: int | None = None

    def __iter__(self) -> Iterator[StepRecord]:
        observation, self.info = self.env.reset(self.seed)  # making the game is not part of playing it
        if self.audit:
            truth = self.env.truth()
            self.audit, self._optimal = can_be_audited(truth), truth.optimal_moves
        try:
            self.clock.agent.append(0.0)
            yield self._arrive(None, None, observation, 0.0, ended=self.info.won or self.info.lost)
            while (end := self._end()) is None:
                decision = self._decide()
                if self._stops(decision):
                    end = self._outcome() or "agent"
                    break
                yield self._carry_out(decision)
                if decision.finished and self._end() is None:
                    end = "agent"
                    break
        except BudgetError:
            end = "budget"
        self.ended_by = end

    # -- how it ends --------------------------------------------------------------------------------------------------

    def _outcome(self) -> str | None:
        """How the world ended; ``None`` while it goes on."""
        assert self._percept is not None
        if not self._percept.ended:
            return None
        return "won" if self.info.won else "lost" if self.info.lost else "over"

    def _end(self) -> str | None:
        """Why there is no further decision; ``None``: there is one."""
        outcome = self._outcome()
        if outcome is not None and not self.agent.returns:
            return outcome
        if self.max_moves is not None and self.moves >= self.max_moves:
            return outcome or "moves"
        return None

    def _stops(self, decision: Decision) -> bool:
        """Whether a decision ends the play without doing anything."""
        assert self._percept is not None
        if decision.problem or decision.return_to is not None:
            return False
        return self._percept.ended or (decision.finished and not decision.action)

    # -- one decision -------------------------------------------------------------------------------------------------

    def _decide(self) -> Decision:
        self.clock.agent.append(0.0)
        with self._agent_at_work():
            return self.agent.decide()

    def _carry_out(self, decision: Decision) -> StepRecord:
        self.decisions += decision.is_new
        self.stuck += decision.stuck
        if decision.problem:
            return self._do_nothing(decision, decision.problem)
        if decision.return_to is not None:
            return self._go_back(decision, decision.return_to)
        assert self._percept is not None
        offered = self._percept.valid_actions
        try:
            with self._world_at_work():
                observation, reward, terminated, truncated, self.info = self.env.step(decision.action)
        except InputError as error:
            return self._do_nothing(decision, str(error))
        self.moves += 1
        valid = None if offered is None else _plain(decision.action) in map(_plain, offered)
        self.listed += valid is not None
        self.invalid += valid is False
        return self._arrive(decision, valid, observation, reward, ended=terminated or truncated)

    def _do_nothing(self, decision: Decision, problem: str) -> StepRecord:
        assert self._percept is not None
        self.moves += 1
        self.unparsable += 1
        percept = replace(self._percept, returned=False, problem=problem, moves_left=self._moves_left())
        self._tell(percept)
        return self._record(decision, percept)

    def _go_back(self, decision: Decision, moment: int) -> StepRecord:
        assert self._percept is not None
        self.moves += self._percept.returned
        self.returns += 1
        with self._world_at_work():
            there = self._moments.go_back(moment)
        self.info = there.info
        percept = returned(there.percept, self._moves_left())
        self._tell(percept)
        if self.audit:
            self.auditor.go_back(self._marks[moment])
            self.auditor.observe(percept.step, self.env.truth(), self.graph.view())
        return self._record(decision, percept)

    def _arrive(
        self, decision: Decision | None, valid: bool | None, observation: str, reward: float, *, ended: bool
    ) -> StepRecord:
        """Tell the agent of a moment that is new."""
        before = None if self._percept is None else self._moments.here
        depth = 0 if before is None else self._moments[before].depth + 1
        action = decision.action if decision else None
        goal = self.info.goal if before is None else ""
        info = self.info
        percept = Percept(
            GameStep(observation, action, info.inventory, goal, depth),
            info.score,
            info.valid_actions,
            moment=len(self._moments),
            before=before,
            ended=ended,
            state=info.state,
            moves_left=self._moves_left(),
        )
        with self._world_at_work():
            self._moments.add(percept, info)
        self.probes += info.valid_actions is not None
        self.won = self.won or info.won
        if not self.curve or info.score > self.curve[-1][1]:
            self.curve.append((self.moves, info.score))
            self.curve_seconds.append(self.clock.world + sum(self.clock.agent))
        episode = self._tell(percept)
        if self.audit:
            if self.agent.returns:
                self._marks.append(self.auditor.mark())
            self.auditor.observe(percept.step, self.env.truth(), self.graph.view())
        return self._record(decision, percept, episode, reward, valid)

    def _tell(self, percept: Percept) -> Episode:
        self._percept = percept
        with self._agent_at_work():
            return self.agent.perceive(percept)

    def _moves_left(self) -> int | None:
        return None if self.max_moves is None else max(self.max_moves - self.moves, 0)

    # -- what is told of it -------------------------------------------------------------------------------------------

    def _record(
        self,
        decision: Decision | None,
        percept: Percept,
        episode: Episode | None = None,
        reward: float = 0.0,
        valid: bool | None = None,
    ) -> StepRecord:
        facts = self.graph.view().facts()
        vertices = {name for fact in facts for name in (fact.key[0], fact.key[2])}
        learned, ended = self._changes(episode) if episode is not None else ((), ())
        return StepRecord(
            self.moves,
            decision,
            percept,
            percept.step.text,
            self.info,
            reward,
            learned,
            ended,
            len(facts),
            len(vertices),
            self.auditor.result() if self.audit else None,
            valid,
            self._used(),
        )

    def _used(self) -> UsageTotals:
        """What the model was asked since this was called last."""
        if self.model is None:
            return UsageTotals()
        now, before = self.model.meter.overall(), self._counted
        self._counted = now
        usage = replace(
            now.usage,
            prompt_tokens=now.usage.prompt_tokens - before.usage.prompt_tokens,
            completion_tokens=now.usage.completion_tokens - before.usage.completion_tokens,
        )
        return UsageTotals(calls=now.calls - before.calls, reused=now.reused - before.reused, usage=usage)

    def _changes(self, episode: Episode) -> tuple[tuple[Statement, ...], tuple[tuple[Statement, str], ...]]:
        """What an episode opened, and what it ended."""
        learned = tuple(
            statement
            for statement in dict.fromkeys(episode.extraction.statements)
            if (version := self.graph.versions(statement)[-1]).sources[0] == episode.id and version.interval.is_open
        )
        return learned, self.graph.ended_by(episode.id)

    def summary(self) -> dict[str, Any]:
        """The figures of the play so far, ready for JSON: the same for the same play, whatever it cost."""
        counts = self.graph.counts()
        highest = self.info.max_score
        best = self.curve[-1][1] if self.curve else 0
        used = self.model.meter.overall() if self.model else UsageTotals()
        purposes = self.model.meter.totals() if self.model else {}
        return {
            "game": self.env.id,
            "agent": self.agent.name,
            "seed": self.seed,
            "score": self.info.score,
            "best_score": best,
            "max_score": highest,
            "normalized": round(self.info.score / highest, 5) if highest else None,
            "best_normalized": round(best / highest, 5) if highest else None,
            "won": self.won,
            "ended_by": self.ended_by,
            "moves": self.moves,
            "decisions": self.decisions,
            "stuck": self.stuck,
            "probes": self.probes,
            "returns": self.returns,
            "replayed_moves": self._moments.replayed_moves,
            "unparsable": self.unparsable,
            "invalid": self.invalid,
            "valid_share": round(1 - self.invalid / self.listed, 5) if self.listed else None,
            "model": self.model.name if self.model else None,
            "model_calls": used.calls + used.reused,
            "prompt_tokens": used.usage.prompt_tokens,
            "completion_tokens": used.usage.completion_tokens,
            "by_purpose": {
                purpose: {
                    "calls": tally.calls + tally.reused,
                    "prompt_tokens": tally.usage.prompt_tokens,
                    "completion_tokens": tally.usage.completion_tokens,
                }
                for purpose, tally in sorted(purposes.items())
            },
            "failures": dict(sorted(self.agent.failures.items())) if isinstance(self.agent, ModelAgent) else {},
            "curve": [list(point) for point in self.curve],
            "memory": {"episodes": counts["episodes"], "facts": counts["current_facts"], "ended": counts["ended"]},
            "audit": self.auditor.result().summary() if self.audit else None,
            "optimal_moves": self._optimal,
        }

    def costs(self) -> dict[str, Any]:
        """What it took so far in dollars and seconds, ready for JSON.

        ``cost_usd`` is ``None`` when the model's price is not known. ``seconds`` is all but what was spent on showing,
        writing and auditing; ``model_seconds`` is as long as the calls took when they were made, also in a replay;
        ``overhead_ms`` is the agent alone, without its model, for each time that it was asked to decide (and once for
        the opening text); ``curve_seconds`` tells of each score of the summary's ``curve`` when it was reached, as
        seconds of agent and engine, without the model.
        """
        used = self.model.meter.overall() if self.model else UsageTotals()
        agent = sum(self.clock.agent)
        return {
            "cost_usd": None if used.dollars is None else round(used.dollars, 6),
            "seconds": round(agent + used.seconds + self.clock.world, 3),
            "seconds_without_model": round(agent + self.clock.world, 3),
            "world_seconds": round(self.clock.world, 3),
            "model_seconds": round(used.seconds, 3),
            "overhead_ms": {
                "p50": round(1000 * _percentile(self.clock.agent, 0.50), 3),
                "p95": round(1000 * _percentile(self.clock.agent, 0.95), 3),
            },
            "curve_seconds": [round(seconds, 3) for seconds in self.curve_seconds],
        }

    @contextmanager
    def _world_at_work(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.clock.world += time.perf_counter() - started

    @contextmanager
    def _agent_at_work(self) -> Iterator[None]:
        waited = self.model.waited if self.model else 0.0
        started = time.perf_counter()
        try:
            yield
        finally:
            waited = (self.model.waited if self.model else 0.0) - waited
            self.clock.agent[-1] += max(time.perf_counter() - started - waited, 0.0)


def _plain(action: str) -> str:
    """An action without what makes no difference to a game: case, and spaces around and between words."""
    return one_line(action.casefold())


def _percentile(values: list[float], share: float) -> float:
    """The smallest of the values that at least ``share`` of them do not exceed; 0 of none (nearest rank)."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]
