"""Graphiti as the memory of an agent beside ours: what is stale, what is missing, and what a step costs.

    .venv-peers/bin/python benchmarks/bench_graphiti.py [--games treasure-hunt,cooking] [--seeds 1,2] [--moves 60]

The explorer plays, and both memories take the same observations. After every step the facts that each says hold now are
compared with the true state of the engine (:mod:`worldthread_lab.play.audit`). Both are given the same reading:
Graphiti's scripted model answers its prompts with the statements that our reader for games took from the text, under
their names, and calls those facts contradicted that the new one replaces by our reading. So what differs is the memory
alone.

plain   a fact is a sentence such as "key is in chest."
dated   its sentence names the move, so that a fact that ended and holds again is another sentence; and where something
        ends without anything in its place ("eaten"), that is stated too. Nothing in Graphiti asks a model for either.

The model takes no time, so the seconds are those of the memories alone; Graphiti's are spent in Python, in FalkorDB and
in the embedder. Tokens are estimated from the characters of its prompts and of the answers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.chat import Message
from worldthread.models.minilm import MiniLMEmbedder
from worldthread.retrieve.text import estimated_tokens
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.explorer.agent import Explorer
from worldthread_lab.agents.memory_modules.graphiti_client import FalkorDBProcess, GraphitiClient
from worldthread_lab.bench.adversarial.graphiti import between, facts_of
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Truth
from worldthread_lab.play.audit import NOTHING_AUDITED, Auditor, AuditResult
from worldthread_lab.play.loop import Play

BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
ENDED = "is no longer true of"


@dataclass
class Memory:
    """The figures of one memory."""

    audit: AuditResult = NOTHING_AUDITED
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    steps: int = 0


@dataclass
class Script:
    """The model of Graphiti, for one play.

    Args:
        dated: see the docstring of the module.
    """

    dated: bool
    calls: Counter[str] = field(default_factory=Counter)
    tokens: int = 0

    def __post_init__(self) -> None:
        self._facts: list[tuple[Fact, str]] = []  # with their sentences
        self._said: dict[str, Fact] = {}  # of every sentence that was stated
        self._holds: set[tuple[str, str, str]] = set()
        self._contradicted: set[str] = set()
        self._at = BEGIN

    def take(self, turn: int, extraction: Extraction, graph: TemporalGraph) -> datetime:
        """Be ready to be asked about a step, after which ``graph`` holds what is so; return its time."""
        self._at = BEGIN + turn * timedelta(minutes=1)
        before, self._holds = self._holds, {fact.key for fact in graph.view().facts()}
        facts = list(dict.fromkeys(one for one in extraction.statements if isinstance(one, Fact)))
        if self.dated:
            subjects = {fact.key[0] for fact in facts}
            gone = [key for key in sorted(before - self._holds) if key[0] not in subjects and key[0] != key[2]]
            facts += [Fact(subject, f"{ENDED} {relation}", object_) for subject, relation, object_ in gone]
        at = f" (move {turn})" if self.dated else ""
        self._facts = [(fact, f"{fact.subject} {fact.relation} {fact.object}{at}.") for fact in facts]
        self._said |= {sentence: fact for fact, sentence in self._facts}
        return self._at

    def ask(self, name: str, messages: tuple[Message, ...], into: type[Any]) -> dict[str, Any]:
        """Answer a prompt."""
        answer = self._answer(name, messages[-1].content)
        self.calls[name] += 1
        self.tokens += sum(estimated_tokens(one.content) for one in messages) + estimated_tokens(json.dumps(answer))
        return answer

    def _answer(self, name: str, prompt: str) -> dict[str, Any]:
        if name == "ExtractedEntities":
            names = dict.fromkeys(name for fact, _ in self._facts for name in (fact.subject, fact.object))
            return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}
        if name == "ExtractedEdges":
            return {
                "edges": [
                    {"source_entity_name": fact.subject, "target_entity_name": fact.object,
                     "relation_type": fact.relation.upper().replace(" ", "_"), "fact": sentence,
                     "valid_at": self._at.isoformat(), "invalid_at": None}
                    for fact, sentence in self._facts
                ]
            }  # fmt: skip
        if name == "EdgeDuplicate":
            known, others = (
                facts_of(between(prompt, tag)) for tag in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES")
            )
            new = self._said[between(prompt, "NEW FACT").strip()]
            ended = [number for number, fact in (known | others).items() if self._replaces(new, self._said[fact])]
            same = [
                number
                for number, fact in known.items()
                if self._said[fact].key == new.key and fact not in self._contradicted
            ]
            self._contradicted |= {(known | others)[number] for number in ended}
            return {"duplicate_facts": same, "contradicted_facts": ended}
        if name == "NodeResolutions":
            new_rows, old_rows = (json.loads(between(prompt, tag)) for tag in ("ENTITIES", "EXISTING ENTITIES"))
            ids = {str(row["name"]): row["candidate_id"] for row in old_rows}
            return {
                "entity_resolutions": [
                    {"id": row["id"], "name": row["name"], "duplicate_candidate_id": ids.get(str(row["name"]), -1)}
                    for row in new_rows
                ]
            }
        return {"summaries": [], "summary": "", "timestamps": []}

    def _replaces(self, new: Fact, old: Fact) -> bool:
        """Return whether a fact says that another one is no longer so."""
        gone, again = ((a.key[0], f"{ENDED} {a.key[1]}", a.key[2]) for a in (old, new))
        if new.key == gone or old.key == again:
            return True
        return new.aspect is not None and new.aspect == old.aspect and new.key != old.key and old.key not in self._holds


def play(game: str, seed: int, moves: int) -> Iterator[tuple[GameStep, Truth, Episode]]:
    """Yield what the explorer perceives, the true state, and the episode as our reader read it."""
    graph = TemporalGraph()
    with make(game, seed=seed) as env:
        agent = Explorer(graph)
        for record in Play(env, agent, graph, seed, max_moves=moves, audit=False):
            yield record.percept.step, env.truth(), agent.episodes_to(record.percept.moment)[-1]


def measured(game: str, seed: int, moves: int, database: str) -> dict[str, Memory]:
    """Play once, and return the figures of every memory."""
    steps = list(play(game, seed, moves))
    found = {}
    ours, auditor, graph = Memory(steps=len(steps)), Auditor(), TemporalGraph()
    for step, truth, episode in steps:
        start = time.perf_counter()
        graph.add(episode)
        view = graph.view()
        ours.seconds += time.perf_counter() - start
        auditor.observe(step, truth, view)
    ours.audit = auditor.result()
    found["worldthread"] = ours
    embedder = MiniLMEmbedder()
    for kind in ("plain", "dated"):
        script, auditor, graph = Script(kind == "dated"), Auditor(), TemporalGraph()
        theirs = Memory(steps=len(steps))
        client = GraphitiClient(script.ask, embedder, database, f"{game}_{seed}_{kind}".replace("-", "_"))
        for step, truth, episode in steps:
            graph.add(episode)
            at = script.take(step.turn, episode.extraction, graph)
            start = time.perf_counter()
            client.add(episode.text, at)
            theirs.seconds += time.perf_counter() - start
            now = [one for one in client.facts() if one.holds]
            facts = tuple(
                {fact.key: fact for one in now for fact in [Fact(one.subject, one.relation, one.object)]}.values()
            )
            view = TemporalGraph([Episode("now", 0, extraction=Extraction("graphiti", facts))]).view()
            auditor.observe(step, truth, view)
        theirs.audit, theirs.calls, theirs.tokens = auditor.result(), script.calls.total(), script.tokens
        client.close()
        found[f"Graphiti, {kind}"] = theirs
        print(f"{game} {seed} {kind}: {theirs.audit.summary()} {dict(script.calls)}", flush=True)
        for mistake in auditor.mistakes[:8]:
            print("   ", mistake, flush=True)
    return found


def table(rows: dict[str, Memory]) -> str:
    """Return the figures as a table of Markdown."""
    lines = [
        "| memory | precision | recall | stale, of what is held | wrong | calls a step | tokens a step | ms a step |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, one in rows.items():
        audit, steps = one.audit, one.steps
        lines.append(
            f"| {name} | {audit.precision:.3f} | {audit.recall:.3f} | {audit.stale_steps / max(audit.held, 1):.3f} | "
            f"{audit.wrong_steps / max(audit.held, 1):.3f} | {one.calls / steps:.1f} | {one.tokens / steps:,.0f} | "
            f"{one.seconds / steps * 1000:,.1f} |"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default="treasure-hunt,cooking", help="separated by commas")
    parser.add_argument("--seeds", default="1", help="separated by commas")
    parser.add_argument("--moves", type=int, default=60, help="the most moves of a play")
    given = parser.parse_args(argv)
    database = FalkorDBProcess()
    for game in given.games.split(","):
        pooled: dict[str, Memory] = {}
        for seed in map(int, given.seeds.split(",")):
            for name, one in measured(game, seed, given.moves, database.address).items():
                sum_ = pooled.setdefault(name, Memory())
                sum_.audit += one.audit
                for number in ("calls", "tokens", "seconds", "steps"):
                    setattr(sum_, number, getattr(sum_, number) + getattr(one, number))
        print(f"\n{game}, seeds {given.seeds}, {next(iter(pooled.values())).steps} steps\n\n{table(pooled)}\n")


if __name__ == "__main__":
    main()
