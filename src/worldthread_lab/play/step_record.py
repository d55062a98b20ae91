"""One step of a play: the values that the trajectory holds and that people see."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from worldthread.models.meter import UsageTotals
from worldthread.types import Statement
from worldthread_lab.agents.base import Decision, Percept
from worldthread_lab.envs.base import Info
from worldthread_lab.play.audit import AuditResult


@dataclass(frozen=True)
class ModuleRecord:
    """What the graph of a memory module holds, and what changed in it since the step before.

    Args:
        facts: the number of facts that hold.
        vertices: the number of distinct names in these facts.
        learned: facts that were added.
        ended: statements that ended, with the reasons.
    """

    facts: int
    vertices: int
    learned: tuple[Statement, ...]
    ended: tuple[tuple[Statement, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the record as data for JSON."""
        return {
            "facts": self.facts,
            "vertices": self.vertices,
            "learned": [_writable(str(statement)) for statement in self.learned],
            "ended": [[_writable(str(statement)), _writable(reason)] for statement, reason in self.ended],
        }


@dataclass(frozen=True)
class StepRecord:
    """One step of a play, for the trajectory and for display.

    Args:
        turn: the number of moves so far; 0 for the opening text.
        decision: the agent's decision; ``None`` for the opening text, and for the further moves of a return that chance
            led elsewhere.
        percept: the percept that the agent got after the step.
        observation: the text of the world after the step.
        info: the world's structured information after the step.
        reward: points gained in this step.
        learned: statements that the step added to the memory; empty when the step reached no new state.
        ended: statements that the step ended, with the reasons.
        facts: the number of facts that hold after the step.
        vertices: the number of distinct names in these facts.
        audit: audit figures so far, pooled over the steps; ``None`` without an audit.
        valid: whether the action was on the list of valid actions or had an effect all the same; ``None`` without an
            action or a list.
        usage: requests to the model, and their tokens, since the previous record.
        module: what the graph of the agent's memory module holds; ``None`` when it builds none.
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
    module: ModuleRecord | None = None

    @property
    def label(self) -> str:
        """The action in a form for display, such as ``"(start)"``."""
        if self.decision is None:
            return self.percept.step.action or "(start)"
        if self.percept.problem:
            return "(nothing)"
        if self.decision.return_to is not None:
            return f"(back to moment {self.decision.return_to})"
        return self.decision.action

    def as_json(self) -> dict[str, Any]:
        """Return one line of a trajectory. It never holds the true state of the world, nor any duration."""
        decision, percept = self.decision, self.percept
        action = decision.action if decision is not None and not percept.rerouted else percept.step.action
        return {
            "turn": self.turn,
            "moment": percept.moment,
            "before": percept.before,
            "action": _writable(action) if action is not None else None,
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
            **({"rerouted": True} if percept.rerouted else {}),
            **({} if self.module is None else {"module": self.module.as_json()}),
        }


def _writable(text: str) -> str:
    """Return ``text`` with escapes for lone surrogates: a model may answer with half a character."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
