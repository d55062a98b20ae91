"""Replay the published logs of AriGraph's agent, or the recorded calls of a strong model, without a model.

    python benchmarks/replay_ariadne.py [DATA] [--json]
    python benchmarks/replay_ariadne.py --calls [FILE] [--show N]
    python benchmarks/replay_ariadne.py --games GAME...

The first form replays the logs with the faithful extractor and our graph. It prints how many steps our graph
reproduces, the causes of all differences, and how the texts of the model are parsed. DATA is a folder with ariadne_logs
and optionally musique_logs; by default data in $WORLDTHREAD_SHARED, else in ../shared.

The second form reads the calls with which a strong model played the cleaning game of the paper as Ariadne with three
calls, plays the game again with the recorded actions, once with three calls and once with one, and compares the tokens
of prompts and answers. A token is counted as four characters, as the recorded figures are. With three calls every
prompt must be the recorded one. With one call the answers are written from the recorded ones: the thought and the
action; the plan, where a new one is wanted, without reasons; as reached, the sub-goals that the recorded plan lacks.
The third form plays generated games (seed 1) to their end with three calls and with one, with a scripted model that
gives the commands of the shortest known solution and a plan of two sub-goals, and compares the tokens in the same way.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage
from worldthread_lab.agents.ariadne import Ariadne
from worldthread_lab.bench.arigraph.logs import format_report, replay
from worldthread_lab.envs import make
from worldthread_lab.play.loop import Play

_STARTS = {"plan": "You are the planner", "act": "You choose the next", "explore": "You are given the plan"}
_CHARACTERS_PER_TOKEN = 4


@dataclass
class RecordedDecision:
    """The recorded answers of one decision, by purpose, and the texts of their prompts."""

    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    characters: int = 0


def recorded_decisions(file: Path) -> list[RecordedDecision]:
    """Return the decisions of the first game that Ariadne played in a file of recorded calls."""
    found = [RecordedDecision()]
    task = ""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for call in map(json.loads, lines):
            prompts = [message["content"] for message in call["messages"]]
            purpose = next((name for name, start in _STARTS.items() if prompts[0].startswith(start)), None)
            if purpose is None:
                continue
            if purpose == "plan":
                stated = prompts[1].split("\n\n")[0]
                if task and stated != task:
                    break
                task = stated
            one = found[-1]
            one.answers[purpose] = json.loads(call["answer"])
            one.prompts[purpose] = "\n".join(prompts)
            one.characters += sum(map(len, prompts)) + len(call["answer"])
            if purpose == "act":
                found.append(RecordedDecision())
    return found[:-1]


class RecordedPlayer:
    """Answers Ariadne's requests from recorded decisions; the answer with one call is composed from three."""

    name = "recorded"
    concurrency = 1

    def __init__(self, decisions: list[RecordedDecision]) -> None:
        self._decisions = decisions
        self._given = 0
        self._plan: list[str] = []
        self.characters: list[int] = []  # of each decision
        self.texts: list[str] = []
        self.calls = 0
        self.plans = 0
        self.same = Counter[bool]()

    def complete(self, request: ChatRequest) -> ChatAnswer:
        prompt = "\n".join(message.content for message in request.messages)
        decision = self._decisions[self._given]
        with_one_call = request.schema is not None and "done" in request.schema["properties"]
        answer = self._composed(prompt) if with_one_call else decision.answers[request.purpose]
        if not with_one_call:
            self.same[prompt == decision.prompts[request.purpose]] += 1
        text = json.dumps(answer)
        if len(self.characters) <= self._given:
            self.characters.append(0)
            self.texts.append("")
        self.characters[self._given] += sum(len(m.content) for m in request.messages) + len(text)
        self.texts[self._given] += f"{prompt}\n==> {text}\n"
        self.calls += 1
        self._given += request.purpose == "act"
        return ChatAnswer(text, model=self.name, usage=Usage(0, 0))

    def _composed(self, prompt: str) -> dict[str, Any]:
        decision = self._decisions[self._given]
        goals = [step["goal"] for step in decision.answers["plan"]["sub_goals"]]
        done = [number for number, goal in enumerate(self._plan, 1) if goal not in goals]
        plan = None
        if "A new plan is wanted" in prompt:
            self.plans += 1
            later = self._decisions[self._given + 1 : self._given + 2]
            explore = all(one.answers.get("explore", {"explore": False})["explore"] for one in later)
            self._plan, plan = goals, {"sub_goals": goals, "explore": explore}
        else:
            self._plan = [goal for goal in self._plan if goal in goals]
        act = decision.answers["act"]
        return {"thought": act["thought"], "done": done, "plan": plan, "action": act["action"]}


def replayed(decisions: list[RecordedDecision], calls: str) -> tuple[RecordedPlayer, Play]:
    """Play the cleaning game with the recorded actions."""
    player, graph = RecordedPlayer(decisions), TemporalGraph()
    with make("textworld:clean") as env:
        play = Play(env, Ariadne(graph, player, calls=calls), graph, 0, max_decisions=len(decisions), audit=False)
        for _ in play:
            pass
    return player, play


class ScriptedPlayer:
    """Answers Ariadne's requests with the commands of a solution."""

    name = "scripted"
    concurrency = 1

    def __init__(self, commands: list[str]) -> None:
        self._left = iter(commands)
        self.calls = 0
        self.characters = 0
        self.plans = 0

    def complete(self, request: ChatRequest) -> ChatAnswer:
        answer = self._answer(request)
        text = json.dumps(answer)
        self.calls += 1
        self.characters += sum(len(message.content) for message in request.messages) + len(text)
        return ChatAnswer(text, model=self.name, usage=Usage(0, 0))

    def _answer(self, request: ChatRequest) -> dict[str, Any]:
        goals = ["do what the task says first", "do what the task says then"]
        if request.purpose == "explore":
            return {"explore": True}
        if request.purpose == "plan":
            self.plans += 1
            steps = [{"goal": goal, "reason": "The task asks for it."} for goal in goals]
            rest = {
                "changes": "Nothing.",
                "main_goal": "the task",
                "emotion": "calm",
                "emotion_reason": "It goes well.",
            }
            return {**rest, "sub_goals": steps}
        chosen = {"thought": "The plan asks for it.", "action": next(self._left)}
        if request.schema is None or "done" not in request.schema["properties"]:
            return chosen
        wanted = "A new plan is wanted" in request.messages[-1].content
        self.plans += wanted
        return {**chosen, "done": [], "plan": {"sub_goals": goals, "explore": True} if wanted else None}


def report_of_games(games: list[str]) -> Iterator[str]:
    """Yield a line for each game and number of calls."""
    for game in games:
        for calls in ("three", "one"):
            graph = TemporalGraph()
            with make(game, seed=1) as env:
                env.reset(1)
                player = ScriptedPlayer(list(env.truth().walkthrough))
                play = Play(env, Ariadne(graph, player, calls=calls), graph, 1, audit=False)
                for _ in play:
                    pass
            count = play.decisions
            yield (
                f"{game}, {calls} call(s): {play.info.score:g} of {play.info.max_score:g}, {count} decisions, "
                f"{player.calls / count:.2f} calls, {player.characters / 4 / count:,.0f} tokens a decision, "
                f"{player.characters / 4:,.0f} in all, {player.plans} plans"
            )


def report_of_calls(file: Path, shown: int | None) -> Iterator[str]:
    """Yield the lines of the report about recorded calls."""
    decisions = recorded_decisions(file)
    calls = sum(len(one.answers) for one in decisions)
    yield f"recorded: {_figures(calls, [one.characters for one in decisions])}"
    for kind in ("three", "one"):
        player, play = replayed(decisions, kind)
        same = f"; {player.same[True]} of {player.same.total()} prompts as recorded" if player.same else ""
        plans = f"; {player.plans} new plans" if player.plans else ""
        score = f"{play.info.score:g} of {play.info.max_score:g} points, {play.moves} moves"
        yield f"{kind} call(s): {_figures(player.calls, player.characters)}; {score}{same}{plans}"
        if kind == "one" and shown is not None:
            yield player.texts[shown]


def _figures(calls: int, characters: list[int]) -> str:
    count = len(characters)
    tokens = [number / _CHARACTERS_PER_TOKEN for number in characters]
    return (
        f"{count} decisions, {calls / count:.2f} calls and {sum(tokens) / count:,.0f} tokens a decision "
        f"(at most {max(tokens):,.0f})"
    )


def main() -> None:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=shared / "data", help="folder of the logs")
    parser.add_argument("--json", action="store_true", help="print JSON")
    recorded = shared / "data" / "strong_model" / "calls.jsonl.gz"
    parser.add_argument("--calls", type=Path, nargs="?", const=recorded, help="compare tokens with recorded calls")
    parser.add_argument("--show", type=int, metavar="N", help="print the prompts of decision N with one call, from 0")
    parser.add_argument("--games", nargs="+", metavar="GAME", help="compare tokens on generated games")
    options = parser.parse_args()
    if options.games:
        for line in report_of_games(options.games):
            print(line)
        return
    if options.calls is not None:
        for line in report_of_calls(options.calls, options.show):
            print(line)
        return
    questions = options.data / "musique_logs"
    with Console(stderr=True).status("reading the logs") as status:
        report = replay(
            options.data / "ariadne_logs",
            questions if questions.is_dir() else None,
            watch=lambda phase: status.update(f"replaying: {phase}"),
        )
    print(json.dumps(report.to_dict(), indent=1) if options.json else format_report(report))


if __name__ == "__main__":
    main()
