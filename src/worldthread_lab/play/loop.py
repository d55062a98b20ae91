"""The loop between a world and an agent, with the audit and the figures of the play.

Only the loop holds both. The agent gets plain values (:class:`~worldthread_lab.agents.base.Percept`) and never the
world; only the auditor gets the true state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Final

from worldthread.errors import BudgetError, InputError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.meter import UsageTotals
from worldthread.support.text import one_line
from worldthread.types import Episode, Statement
from worldthread_lab.agents.base import Agent, Decision, Percept
from worldthread_lab.agents.model_agent import ModelAgent
from worldthread_lab.envs.base import Environment, Info
from worldthread_lab.play.audit import Auditor, Expectation
from worldthread_lab.play.audit_mapping import can_be_audited
from worldthread_lab.play.effects import had_effect
from worldthread_lab.play.run import RULES
from worldthread_lab.play.run_model import RunModel
from worldthread_lab.play.saved_states import SavedState, SavedStates, returned
from worldthread_lab.play.step_record import ModuleRecord, StepRecord

ENDS: Final = {
    "won": "the world reports that the task is done",
    "lost": "the world reports that the task can no longer be done",
    "over": "the world ended",
    "moves": "the limit of moves was reached",
    "decisions": "the limit of decisions was reached",
    "agent": "the agent stopped",
    "budget": "the budget for the model was spent",
}
"""The reasons for which a play can end, by the value of ``ended_by``."""


@dataclass
class PlayTimes:
    """The time that a play takes, in seconds.

    Args:
        world: time in the engine, including the computation of valid actions.
        agent: time in the agent without waiting for its model; one entry for each call of ``decide`` together with the
            ``perceive`` that follows it, after a first entry for the opening text.
    """

    world: float = 0.0
    agent: list[float] = field(default_factory=list)


@dataclass
class Play:
    """One play of a game, step by step: iterate over it, then read :meth:`summary`.

    Three kinds of decision change nothing in the world and still count as a move, so that every play with a limit ends:
    a decision without an action (:attr:`Decision.problem`), an action that the world does not accept (not one line of
    text), and the second of two returns in a row.

    Args:
        env: the world; the play resets it and does not close it. It should have no limit of moves of its own when the
            agent returns to earlier states.
        agent: the agent that plays.
        graph: the graph of the agent's memory, which is displayed and audited.
        seed: passed to ``env.reset``.
        max_moves: the play stops after this many moves; ``None``: when the world ends.
        audit: whether to compare the memory with the true state after every step; without effect in a world whose true
            state holds too little (:func:`~worldthread_lab.play.audit_mapping.can_be_audited`).
        model: the agent's model, whose usage is counted; ``None`` when the agent has none.
        max_decisions: the play stops after this many new decisions, at the end of the walk that the last one began;
            ``None``: no limit.
        rules: the rules of play; see :data:`~worldthread_lab.play.run.RULES`.

    Attributes:
        auditor: the audit of the memory.
        module_auditor: the audit of the graph that the agent's memory module builds, before every decision.
        moves: moves so far.
        decisions: new decisions so far.
        stuck: decisions for which the agent reported that it had nothing useful left to do.
        probes: steps for which the world computed its valid actions.
        returns: returns to earlier states.
        unparsable: decisions that could not be used.
        listed: actions that were chosen while the world listed its valid actions.
        invalid: those of them that were not on the list and had no effect (:mod:`worldthread_lab.play.effects`).
        info: the world's information after the last step.
        won: whether the play was won at some step.
        curve: (moves, score) whenever the score rose above the highest before.
        curve_seconds: seconds of world and agent, without the model, for each point of ``curve``.
        ended_by: a key of :data:`ENDS`; ``None`` while the play goes on.
        times: the time that the play takes.
    """

    env: Environment
    agent: Agent
    graph: TemporalGraph
    seed: int | None = None
    max_moves: int | None = None
    audit: bool = True
    model: RunModel | None = None
    max_decisions: int | None = None
    rules: int = RULES
    auditor: Auditor = field(default_factory=Auditor, init=False)
    module_auditor: Auditor = field(default_factory=Auditor, init=False)
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
    times: PlayTimes = field(default_factory=PlayTimes, init=False)

    def __post_init__(self) -> None:
        self._states = SavedStates(self.env, self.seed, keep=self.agent.returns)
        self._expectations: list[Expectation] = []  # of the audit, before each state
        self._percept: Percept | None = None
        self._goal = ""
        self._counted = UsageTotals()
        self._optimal: int | None = None
        self._module_graph = self.agent.module_graph if self.rules > 1 else None
        self._module_episodes: set[str] = set()  # those that the records named

    def __iter__(self) -> Iterator[StepRecord]:
        """Play to the end and yield every step, beginning with the opening text."""
        observation, self.info = self.env.reset(self.seed)  # not timed: making the game is not part of playing it
        if self.audit:
            truth = self.env.truth()
            self.audit, self._optimal = can_be_audited(truth), truth.optimal_moves
        try:
            self.times.agent.append(0.0)
            yield self._reach_new_state(None, None, observation, 0.0, ended=self.info.won or self.info.lost)
            while (end := self._end()) is None:
                decision = self._decide()
                if self._stops(decision):
                    end = self._outcome() or "agent"
                    break
                if decision.is_new and self._decisions_are_spent():  # the walk before it ended early
                    end = "decisions"
                    break
                yield from self._perform(decision)
                if decision.finished and self._end() is None:
                    end = "agent"
                    break
        except BudgetError:
            end = "budget"
        self.ended_by = end

    # -- the end of the play -------------------------------------------------------------------------------------------

    def _outcome(self) -> str | None:
        """Return how the world ended; ``None`` while it goes on."""
        assert self._percept is not None
        if not self._percept.ended:
            return None
        return "won" if self.info.won else "lost" if self.info.lost else "over"

    def _end(self) -> str | None:
        """Return why the play ends before another decision; ``None`` when it goes on."""
        outcome = self._outcome()
        if outcome is not None and (not self.agent.returns or self._nothing_is_left_to_win()):
            return outcome
        if self.max_moves is not None and self.moves >= self.max_moves:
            return outcome or "moves"
        if self._decisions_are_spent() and not self.agent.is_walking:
            return outcome or "decisions"
        return None

    def _decisions_are_spent(self) -> bool:
        return self.max_decisions is not None and self.decisions >= self.max_decisions

    def _nothing_is_left_to_win(self) -> bool:
        """Return whether an agent that could return, and would pay for more calls, has won with the highest score."""
        highest = self.info.max_score
        has_all = self.info.won and (highest is None or self.info.score >= highest)
        return self.rules > 1 and self.agent.asks_model and has_all

    def _stops(self, decision: Decision) -> bool:
        """Return whether a decision ends the play without an action."""
        assert self._percept is not None
        if decision.problem or decision.return_to is not None:
            return False
        return self._percept.ended or (decision.finished and not decision.action)

    # -- one decision --------------------------------------------------------------------------------------------------

    def _decide(self) -> Decision:
        self.times.agent.append(0.0)
        with self._agent_timed():
            decision = self.agent.decide()
        if self.audit and self._module_graph is not None:
            assert self._percept is not None
            self.module_auditor.observe(self._percept.step, self.env.truth(), self._module_graph.view())
        return decision

    def _perform(self, decision: Decision) -> Iterator[StepRecord]:
        self.decisions += decision.is_new
        self.stuck += decision.stuck
        if decision.problem:
            yield self._do_nothing(decision, decision.problem)
        elif decision.return_to is None:
            yield self._act(decision)
        elif self.env.is_stochastic and decision.return_to != self._states.here:
            yield from self._go_back_by_chance(decision, decision.return_to)
        else:
            yield self._go_back(decision, decision.return_to)

    def _act(self, decision: Decision) -> StepRecord:
        assert self._percept is not None
        offered, before = self._percept.valid_actions, self.info
        try:
            with self._world_timed():
                observation, reward, terminated, truncated, self.info = self.env.step(decision.action)
        except InputError as error:
            return self._do_nothing(decision, str(error))
        self.moves += 1
        valid = None if offered is None else _plain(decision.action) in map(_plain, offered)
        if valid is False and self.rules > 1:
            valid = had_effect(before, self.info, observation)
        self.listed += valid is not None
        self.invalid += valid is False
        return self._reach_new_state(decision, valid, observation, reward, ended=terminated or truncated)

    def _do_nothing(self, decision: Decision, problem: str) -> StepRecord:
        assert self._percept is not None
        self.moves += 1
        self.unparsable += 1
        percept = replace(self._percept, returned=False, rerouted=False, problem=problem, moves_left=self._moves_left())
        self._perceive(percept)
        return self._record(decision, percept)

    def _go_back(self, decision: Decision, number: int) -> StepRecord:
        assert self._percept is not None
        self.moves += self._percept.returned
        self.returns += 1
        with self._world_timed():
            saved = self._states.go_back(number)
        return self._arrive_again(decision, saved)

    def _arrive_again(self, decision: Decision, saved: SavedState) -> StepRecord:
        self.info = saved.info
        percept = returned(saved.percept, self._moves_left())
        self._perceive(percept)
        if self.audit:
            self.auditor.go_back(self._expectations[percept.moment])
            self.auditor.observe(percept.step, self.env.truth(), self.graph.view())
        return self._record(decision, percept)

    def _go_back_by_chance(self, decision: Decision, number: int) -> Iterator[StepRecord]:
        """Play the path to a state again in a world of chance; from the first difference on, the states are new ones.

        The path guides the play there too, until the game ends or the moves are spent: a later state may be the wanted
        one again. Moves to known states are free as any return; those to new states count.

        Yields:
            A record for each new state, or one for the return when there is no difference.
        """
        assert self._percept is not None
        self.moves += self._percept.returned
        self.returns += 1
        steps = self._states.retrace(number)
        told: Decision | None = decision  # the first record holds it
        before: int | None = None
        while True:
            with self._world_timed():
                step = next(steps, None)
            if step is None:
                break
            if step.is_same:
                before = step.number
                continue
            if self.audit and told is not None:
                self.auditor.go_back(Expectation() if before is None else self._expectations[before])
            self.moves += step.action is not None
            self.info = step.info
            yield self._reach_new_state(
                told, None, step.observation, step.reward, ended=step.ended, rerouted=(before, step.action)
            )
            told, before = None, self._states.here
            if self.max_moves is not None and self.moves >= self.max_moves:
                break
        if told is not None:
            yield self._arrive_again(decision, self._states[number])

    def _reach_new_state(
        self,
        decision: Decision | None,
        valid: bool | None,
        observation: str,
        reward: float,
        *,
        ended: bool,
        rerouted: tuple[int | None, str | None] | None = None,
    ) -> StepRecord:
        """Pass a new state to the agent; on the way back, ``rerouted`` holds the number before it and the action."""
        before = None if self._percept is None else self._states.here
        action = decision.action if decision else None
        if rerouted is not None:
            before, action = rerouted
        depth = 0 if before is None else self._states[before].depth + 1
        info = self.info
        goal = info.goal if before is None or (self.rules > 1 and info.goal != self._goal) else ""
        self._goal = info.goal
        percept = Percept(
            GameStep(observation, action, info.inventory, goal, depth),
            info.score,
            info.valid_actions,
            moment=len(self._states),
            before=before,
            ended=ended,
            state=info.state,
            moves_left=self._moves_left(),
            lists_all=self.rules == 1 or self.env.lists_all_actions,
            max_score=info.max_score,
            returned=rerouted is not None,
            rerouted=rerouted is not None,
        )
        with self._world_timed():
            self._states.add(percept, info)
        self.probes += info.valid_actions is not None
        self.won = self.won or info.won
        if not self.curve or info.score > self.curve[-1][1]:
            self.curve.append((self.moves, info.score))
            self.curve_seconds.append(self.times.world + sum(self.times.agent))
        episode = self._perceive(percept)
        if self.audit:
            if self.agent.returns:
                self._expectations.append(self.auditor.expectation())
            self.auditor.observe(percept.step, self.env.truth(), self.graph.view())
        return self._record(decision, percept, episode, reward, valid)

    def _perceive(self, percept: Percept) -> Episode:
        self._percept = percept
        with self._agent_timed():
            return self.agent.perceive(percept)

    def _moves_left(self) -> int | None:
        return None if self.max_moves is None else max(self.max_moves - self.moves, 0)

    # -- records and figures -------------------------------------------------------------------------------------------

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
            self._usage_since_last_record(),
            self._module_changes(),
        )

    def _usage_since_last_record(self) -> UsageTotals:
        """Return what the model used since the last call."""
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

    def _module_changes(self) -> ModuleRecord | None:
        """Return what the graph of the memory module holds, and what changed in it since the last call."""
        graph = self._module_graph
        if graph is None:
            return None
        fresh = [id_ for id_ in graph.episodes() if id_ not in self._module_episodes]
        self._module_episodes = set(graph.episodes())
        facts = graph.view().facts()
        learned = tuple(fact for fact in facts if graph.versions(fact)[-1].sources[0] in fresh)
        ended = tuple(change for id_ in fresh for change in graph.ended_by(id_))
        return ModuleRecord(len(facts), len({name for f in facts for name in (f.key[0], f.key[2])}), learned, ended)

    def _changes(self, episode: Episode) -> tuple[tuple[Statement, ...], tuple[tuple[Statement, str], ...]]:
        """Return the statements that an episode opened, and those that it ended with the reasons."""
        learned = tuple(
            statement
            for statement in dict.fromkeys(episode.extraction.statements)
            if (version := self.graph.versions(statement)[-1]).sources[0] == episode.id and version.interval.is_open
        )
        return learned, self.graph.ended_by(episode.id)

    def summary(self) -> dict[str, Any]:
        """Return the figures of the play so far, ready for JSON; they do not depend on time or prices."""
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
            "replayed_moves": self._states.replayed_moves,
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
            **self._module_summary(),
        }

    def _module_summary(self) -> dict[str, Any]:
        """Return the figures of the graph that the memory module builds; nothing when it builds none."""
        if self._module_graph is None:
            return {}
        counts = self._module_graph.counts()
        return {
            "module_memory": {
                "episodes": counts["episodes"], "facts": counts["current_facts"], "ended": counts["ended"],
            },
            "module_audit": self.module_auditor.result().summary() if self.audit else None,
        }  # fmt: skip

    def costs(self) -> dict[str, Any]:
        """Return the dollars and seconds of the play so far, ready for JSON.

        Returns:
            ``cost_usd`` is ``None`` when the model's price is unknown. ``seconds`` leaves out display, writing and the
            audit. ``model_seconds`` is the duration of the calls when they were first made, also in a replay.
            ``overhead_ms`` is the time of the agent without its model, for each decision (and once for the opening
            text). ``curve_seconds`` holds, for each point of the summary's ``curve``, the seconds of agent and engine
            until then, without the model.
        """
        used = self.model.meter.overall() if self.model else UsageTotals()
        agent = sum(self.times.agent)
        return {
            "cost_usd": None if used.dollars is None else round(used.dollars, 6),
            "seconds": round(agent + used.seconds + self.times.world, 3),
            "seconds_without_model": round(agent + self.times.world, 3),
            "world_seconds": round(self.times.world, 3),
            "model_seconds": round(used.seconds, 3),
            "overhead_ms": {
                "p50": round(1000 * _percentile(self.times.agent, 0.50), 3),
                "p95": round(1000 * _percentile(self.times.agent, 0.95), 3),
            },
            "curve_seconds": [round(seconds, 3) for seconds in self.curve_seconds],
        }

    @contextmanager
    def _world_timed(self) -> Iterator[None]:
        """Add the time of the block to that of the world."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.times.world += time.perf_counter() - started

    @contextmanager
    def _agent_timed(self) -> Iterator[None]:
        """Add the time of the block, without that of the model, to that of the agent."""
        waited = self.model.waited if self.model else 0.0
        started = time.perf_counter()
        try:
            yield
        finally:
            waited = (self.model.waited if self.model else 0.0) - waited
            self.times.agent[-1] += max(time.perf_counter() - started - waited, 0.0)


def _plain(action: str) -> str:
    """Return an action without differences that no game heeds: case, and spaces around and between words."""
    return one_line(action.casefold())


def _percentile(values: list[float], share: float) -> float:
    """Return the percentile by the nearest-rank method; 0 when there are no values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]
