"""Ariadne: it plays with every memory module, plans, explores when its plan says so, walks, and sees no truth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents import make_agent
from worldthread_lab.agents.ariadne import Ariadne
from worldthread_lab.agents.base import Percept
from worldthread_lab.agents.memory_modules import MEMORY_MODULES, ModuleContext, make_memory_module
from worldthread_lab.agents.memory_modules.arigraph import AriGraphModule
from worldthread_lab.agents.valid_actions import valid_actions_in
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.loop import Play

MODULES = [name for name in MEMORY_MODULES if name != "graphiti"]  # needs a database: tests/servers/test_graphiti.py
UNPRIVILEGED = [name for name in MODULES if name != "oracle"]


class Asked:
    """A model that keeps what it was asked."""

    concurrency = 1

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self.requests: list[ChatRequest] = []
        self._model = model

    def complete(self, request: ChatRequest) -> ChatAnswer:
        self.requests.append(request)
        return self._model.complete(request)


def text_of(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def play(
    env: Environment, memory_module: str, *, moves: int = 30, seed: int = 1, damaged: float = 0.0, calls: str = "one"
) -> Any:
    graph = TemporalGraph()
    model = Asked(FakePlayer(seed, damaged=damaged))
    truth = (lambda: env.truth().propositions) if memory_module == "oracle" else None
    agent = Ariadne(graph, model, memory_module=memory_module, embedder="fake", truth=truth, calls=calls)
    game = Play(env, agent, graph, seed, max_moves=moves, audit=False)
    decisions = [record.decision for record in game if record.decision is not None]
    return agent, model.requests, decisions


@pytest.mark.parametrize("calls", ["one", "three"])
@pytest.mark.parametrize("memory_module", MODULES)
def test_plays_the_small_world_with_every_recollection_and_the_same_again(memory_module: str, calls: str) -> None:
    played = []
    for _ in range(2):
        with make("tiny-v1", seed=1) as env:
            agent, requests, decisions = play(env, memory_module, calls=calls)
        assert len(decisions) == 30
        assert not any(decision.problem for decision in decisions)
        played.append((requests, decisions))
    assert played[0] == played[1]
    asked = Counter(request.purpose for request in requests)
    fresh = sum(decision.is_new for decision in decisions)
    assert asked["act"] == fresh
    assert asked["plan"] == (fresh if calls == "three" else 0)
    own = {"summary": {"summarise"}, "rag": {"importance"}, "simulacra": {"importance", "questions", "insights"},
           "reflexion": {"reflect"}, "arigraph": {"items", "extract", "outdated"}}  # fmt: skip
    assert asked.keys() - {"act", "plan", "explore"} <= own.get(memory_module, set())
    explores = calls == "three" and memory_module == "worldthread"
    assert ("explore" in asked) == explores, "the other modules know no unexplored exits"
    assert set(agent.failures) <= {"outdated"}, "a sentence is no list of what is replaced"


@pytest.mark.games
@pytest.mark.parametrize(
    "memory_module",
    [pytest.param(name, marks=() if name in ("worldthread", "arigraph") else pytest.mark.slow) for name in MODULES],
)
def test_plays_a_treasure_hunt_with_every_memory_module(memory_module: str, game_cache: Path) -> None:
    with make("treasure-hunt", seed=101, cache_dir=game_cache) as env:
        agent, requests, decisions = play(env, memory_module)
    assert len(decisions) == 30
    acts = [text_of(request) for request in requests if request.purpose == "act"]
    assert len(acts) == sum(decision.is_new for decision in decisions)
    chosen = [decision.action for decision in decisions]
    assert len(set(chosen)) >= 5
    walks = any(action.startswith("go to ") for text in acts for action in valid_actions_in(text) or ())
    assert walks == (memory_module in ("worldthread", "arigraph", "oracle"))
    assert set(agent.failures) <= {"outdated"}


@pytest.mark.parametrize("calls", ["one", "three"])
@pytest.mark.parametrize("memory_module", ["worldthread", "simulacra", "arigraph"])
def test_goes_on_when_half_of_the_answers_are_damaged(memory_module: str, calls: str) -> None:
    with make("tiny-v1", seed=1) as env:
        agent, _, decisions = play(env, memory_module, damaged=0.5, calls=calls)
    assert len(decisions) == 30
    assert agent.failures["act"] == sum(bool(decision.problem) for decision in decisions) > 2
    assert (agent.failures["plan"] > 2) == (calls == "three")


# -- a model that knows what it does ----------------------------------------------------------------------------------


def a_plan(*goals: str) -> str:
    steps = [{"goal": goal, "reason": "it helps"} for goal in goals]
    plan = {"changes": "nothing", "main_goal": "the gem", "sub_goals": steps, "emotion": "calm", "emotion_reason": "-"}
    return json.dumps(plan)


def scripted(actions: Iterable[str], **answers: Callable[[ChatRequest], str]) -> FakeChat:
    left = iter(actions)

    def answer(request: ChatRequest) -> str:
        if request.purpose in answers:
            return answers[request.purpose](request)
        if request.purpose == "plan":
            return a_plan("find the iron key", "open the cherry chest")
        if request.purpose == "explore":
            return '{"explore": true}'
        return json.dumps({"thought": "the plan says so", "action": next(left)})

    return FakeChat(answer)


WINNING = [
    "go west", "go to kitchen", "go south", "open tin box", "take iron key from tin box", "GO TO  Parlour",
    "unlock cherry chest with iron key", "open cherry chest", "take gem from cherry chest",
]  # fmt: skip


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("memory_module", ["worldthread", "oracle"])
def test_wins_the_small_world_and_walks(memory_module: str, listed: bool) -> None:
    with make("tiny-v1", seed=10) as env:
        env.reset(10)
        start, chest = rooms_of(env)
        actions = [action.replace("kitchen", start).replace("Parlour", chest) for action in WINNING]
        graph, model = TemporalGraph(), scripted(actions)
        agent = make_agent(
            "ariadne", graph, model=model, memory_module=memory_module, use_valid_actions=listed, embedder="fake",
            truth=lambda: env.truth().propositions, calls="three",
        )  # fmt: skip
        game = Play(env, agent, graph, 10, max_moves=40, audit=False)
        decisions = [record.decision for record in game if record.decision is not None]
        assert game.info.won
    assert [decision.action for decision in decisions if not decision.is_new] == ["go west"]
    assert (game.moves, game.decisions) == (10, 9)
    acts = [text_of(request) for request in model.requests if request.purpose == "act"]
    assert f"go to {chest}" in acts[5]
    assert ("Valid actions:\n- " in acts[5]) == listed
    assert agent.failures == Counter()
    walked = acts[6].split("The last moves:")[1]
    assert f"-= {start.title()} =-" not in walked.split("[move 5]")[1], "the steps of a walk are not shown"


def rooms_of(env: Environment) -> tuple[str, str]:
    """Normalised names of the first room and of that of the chest of world 10."""
    at = {name: room.lower() for _, name, room in (p for p in env.truth().propositions if p[0] == "at")}
    return at["P"], at["cherry chest"]


def test_what_the_prompts_hold() -> None:
    with make("tiny-v1", seed=10) as env:
        graph, model = TemporalGraph(), scripted(["go west", "look", "go east", "look"])
        agent = Ariadne(graph, model, embedder="fake", calls="three", temperature=0.3, seed=7, max_tokens=99)
        game = Play(env, agent, graph, 10, max_moves=4, audit=False)
        records = list(game)
    assert [request.purpose for request in model.requests[:5]] == ["plan", "act", "explore", "plan", "act"]
    assert {(request.temperature, request.seed, request.max_tokens) for request in model.requests} == {(0.3, 7, 99)}
    first = text_of(model.requests[0])
    assert "The plan before:\n(none so far)" in first
    assert "Ways that were seen and never taken:" in first, "without a plan everything has to be explored"
    last = text_of(model.requests[-1])
    goal = records[0].info.goal
    assert f"The task:\n{goal}" in last
    assert "Now:\n[move 3] > go east" in last
    assert records[2].observation in last.split("The last moves:")[1], "the moves before"
    assert "1. find the iron key (it helps)\n2. open the cherry chest (it helps)\nMood: calm (-)" in last
    assert valid_actions_in(last) == (*(records[3].info.valid_actions or ()), f"go to {room_of(records[2])}")
    explore = text_of(model.requests[2])
    assert "1. find the iron key" in explore


def room_of(record: Any) -> str:
    return str(record.observation.partition("-= ")[2].partition(" =-")[0].lower())


@pytest.mark.parametrize("explores", [True, False])
def test_unexplored_exits_are_shown_only_when_the_plan_asks_for_exploring(explores: bool) -> None:
    with make("tiny-v1", seed=10) as env:
        graph = TemporalGraph()
        model = scripted(["look", "look"], explore=lambda request: json.dumps({"explore": explores}))
        for _ in Play(env, Ariadne(graph, model, embedder="fake", calls="three"), graph, 10, max_moves=2, audit=False):
            pass
    later = [text_of(r) for r in model.requests if r.purpose in ("plan", "act")][2:]
    assert len(later) == 2
    assert all(("Ways that were seen and never taken:" in text) == explores for text in later)


def test_without_exploration_nothing_is_asked_about_it() -> None:
    with make("tiny-v1", seed=10) as env:
        graph, model = TemporalGraph(), scripted(["look", "look"])
        for _ in Play(
            env,
            Ariadne(graph, model, embedder="fake", calls="three", explore=False),
            graph,
            10,
            max_moves=2,
            audit=False,
        ):
            pass
    assert {request.purpose for request in model.requests} == {"plan", "act"}
    assert not any("never taken:" in text_of(request) for request in model.requests)


@pytest.mark.parametrize("bad", ["I have no plan.", '{"main_goal": "the gem"}', a_plan()])
def test_a_plan_that_cannot_be_used_leaves_the_old_one(bad: str) -> None:
    good = [a_plan("first of all, look")]
    model = scripted(["look", "look"], plan=lambda request: good.pop() if good else bad)
    with make("tiny-v1", seed=10) as env:
        graph = TemporalGraph()
        agent = Ariadne(graph, model, embedder="fake", calls="three")
        records = list(Play(env, agent, graph, 10, max_moves=2, audit=False))
    assert agent.failures == Counter(plan=1)
    assert agent.plan is not None
    assert agent.plan.sub_goals[0].goal == "first of all, look"
    assert "first of all, look" in text_of(model.requests[-1])
    assert records[2].decision is not None
    assert records[2].decision.action == "look"
    assert "'plan'" in records[2].decision.reason


def test_a_choice_that_cannot_be_used_does_nothing_and_is_told() -> None:
    bad = ["hm"] * 6
    answers = {"act": lambda request: bad.pop() if bad else '{"thought": "well", "action": "look"}'}
    model = scripted([], **answers)
    with make("tiny-v1", seed=10) as env:
        graph = TemporalGraph()
        agent = Ariadne(graph, model, embedder="fake", calls="three")
        records = list(Play(env, agent, graph, 10, max_moves=5, audit=False))
    decisions = [record.decision for record in records if record.decision is not None]
    assert [decision.action for decision in decisions] == ["", "", "", "look", "look"]
    assert decisions[0].problem
    assert agent.failures == Counter(act=3)
    asked = [text_of(r) for r in model.requests if r.purpose == "act"]
    counts = [sum(f"used, {n} so far" in text for n in range(1, 9)) for text in asked]
    assert counts == [0, 0, 1, 1, 1, 1, 1, 0], "asked, mended, and so on; told of the problems, gone on"
    assert "used, 3 so far, of late:" in asked[6]
    assert asked[6].count("\n- fake gave no usable answer") == 2


def test_a_go_to_that_leads_nowhere_known_is_given_to_the_world() -> None:
    with make("tiny-v1", seed=10) as env:
        graph, model = TemporalGraph(), scripted(["go to the moon"])
        records = list(
            Play(env, Ariadne(graph, model, embedder="fake", calls="three"), graph, 10, max_moves=1, audit=False)
        )
    assert records[1].decision is not None
    assert records[1].decision.action == "go to the moon"


# -- truth ------------------------------------------------------------------------------------------------------------

QUIRKS = ScriptedHouse(
    exits={"Brollex": {"east": "Vundery"}, "Vundery": {"west": "Brollex", "north": "Quaspal"},
           "Quaspal": {"south": "Vundery", "east": "Zimthor"}, "Zimthor": {"west": "Quaspal"}},
    start="Brollex",
    containers={"drangle": "Quaspal", "fippet": "Brollex", "kolbox": "Zimthor"},
    supporters={"umbrack": "Vundery"},
    things={"gorpine": "drangle", "yelvik": "fippet", "hastrum": "umbrack", "sprodge": "Quaspal", "trobkey": "kolbox"},
    locks={"drangle": "locked", "fippet": "closed", "kolbox": "closed"},
    keys={"drangle": "trobkey"},
    texts={"hastrum": "It reads: wexalot."},
    prize="gorpine",
    goal="Take what is precious.",
)  # fmt: skip
SECRETS = {
    *(name.lower() for name in (*QUIRKS.exits, *QUIRKS.containers, *QUIRKS.supporters, *QUIRKS.things)), "wexalot",
}  # fmt: skip


def named_too_early(memory_module: str, seed: int) -> set[str]:
    """Names that a prompt held before the agent perceived them."""
    early: set[str] = set()
    perceived = ""

    class Watched(FakePlayer):
        def complete(self, request: ChatRequest) -> ChatAnswer:
            early.update(name for name in SECRETS if name in text_of(request).lower() and name not in perceived)
            return super().complete(request)

    with ScriptedWorld(lambda seed: QUIRKS) as env:
        graph = TemporalGraph()
        truth = (lambda: env.truth().propositions) if memory_module == "oracle" else None
        agent = Ariadne(graph, Watched(seed), memory_module=memory_module, embedder="fake", truth=truth)
        original = agent.perceive

        def perceive(percept: Percept) -> Any:
            nonlocal perceived
            step = percept.step
            texts = (step.text, step.inventory or "", step.goal, *(percept.valid_actions or ()))
            perceived += " ".join(texts).lower()
            return original(percept)

        agent.perceive = perceive  # type: ignore[method-assign]
        for _ in Play(env, agent, graph, max_moves=30, audit=False):
            pass
    assert len([name for name in SECRETS if name in perceived]) > 5, "it got around"
    return early


@pytest.mark.parametrize("memory_module", UNPRIVILEGED)
def test_no_prompt_holds_what_was_not_perceived(memory_module: str) -> None:
    assert not named_too_early(memory_module, 3)


def test_the_oracle_is_privileged() -> None:
    assert {"zimthor", "trobkey", "gorpine"} <= named_too_early("oracle", 3)


# -- making one -------------------------------------------------------------------------------------------------------


def test_what_cannot_be_made_is_said() -> None:
    graph, model = TemporalGraph(), FakeChat([])
    with pytest.raises(InputError, match=r"did you mean 'arigraph'\?.*worldthread"):
        Ariadne(graph, model, memory_module="argraph")
    with pytest.raises(InputError, match="needs the true state"):
        Ariadne(graph, model, memory_module="oracle")
    with pytest.raises(InputError, match="recent"):
        Ariadne(graph, model, recent=-1)
    with pytest.raises(InputError, match="a TemporalGraph"):
        make_memory_module("worldthread", ModuleContext(object(), Ariadne(graph, model, memory_module="none")))  # type: ignore[arg-type]


def test_a_recollection_with_settings_of_its_own_and_a_memory_in_the_graphs_place() -> None:
    with make("tiny-v1", seed=1) as env, Memory(embedder="fake", model="none") as memory:
        agent = Ariadne(memory.record, FakePlayer(1), memory_module="worldthread")
        plans = [agent.plan for _ in Play(env, agent, memory.record.graph, 1, max_moves=8, audit=False)]
        assert any(plans), "one whose goals are all reached is gone"
        made = Ariadne(
            memory.record,
            FakePlayer(1),
            memory_module=lambda context: AriGraphModule(context, width=2),
            embedder="fake",
        )
        assert isinstance(made.memory_module, AriGraphModule)


def test_perceives_a_world_that_says_nothing() -> None:
    agent = Ariadne(TemporalGraph(), scripted(["look"]), embedder="fake", calls="three")
    agent.perceive(Percept(GameStep("")))
    assert agent.decide().action == "look"


# -- one call ---------------------------------------------------------------------------------------------------------


def chosen(action: str, *goals: str, done: Iterable[int] = (), explore: bool = False) -> str:
    plan = {"sub_goals": list(goals), "explore": explore} if goals else None
    return json.dumps({"thought": "so", "done": list(done), "plan": plan, "action": action})


def with_one_call(
    answers: Iterable[str], moves: int, *, goal: str | None = None, **options: Any
) -> tuple[Ariadne, FakeChat, list[Any]]:
    left = iter(answers)
    graph, model = TemporalGraph(), FakeChat(lambda request: next(left))
    with make("tiny-v1", seed=10, goal=goal) as env:
        agent = Ariadne(graph, model, embedder="fake", **options)
        records = list(Play(env, agent, graph, 10, max_moves=moves, audit=False))
    return agent, model, records


def planning(request: ChatRequest) -> str:
    line = next(line for line in text_of(request).splitlines() if line.startswith(("A new plan", "Keep the plan")))
    return line.removeprefix("A new plan is wanted: ").rstrip(".")


def test_a_new_plan_is_wanted_where_something_is_new_failed_or_was_reached() -> None:
    answers = [
        chosen("look", "find the key", "open the chest"),
        chosen("go west"),
        chosen("go east"),
        chosen("take moon"),
        chosen("look"),
        chosen("look", done=[1]),
        chosen("look"),
        chosen("look", done=[1, 2, 9]),
        chosen("look"),
    ]
    agent, model, _ = with_one_call(answers, 9)
    assert [planning(request) for request in model.requests] == [
        "there is none",
        "Keep the plan, unless it cannot be kept",
        "this place is new",
        "Keep the plan, unless it cannot be kept",
        "the last command failed",
        "Keep the plan, unless it cannot be kept",
        "a sub-goal was reached",
        "Keep the plan, unless it cannot be kept",
        "there is none",
    ]
    assert "Your plan:\n1. find the key\n2. open the chest" in text_of(model.requests[5])
    assert "Your plan:\n1. open the chest\n" in text_of(model.requests[6])
    assert "Your plan" not in text_of(model.requests[8])
    assert agent.plan is None
    assert agent.failures == Counter()
    schema = model.requests[0].schema
    assert schema is not None
    # SmolLM2 wrote -1 until it was cut off
    assert schema["properties"]["done"]["maxItems"] == 8, "a plan has no more sub-goals"
    assert {request.purpose for request in model.requests} == {"act"}


def test_what_the_prompt_of_one_call_holds() -> None:
    answers = [
        chosen("go west", "find the key"),
        chosen("go east"),
        chosen("look", "look", explore=True),
        chosen("look"),
    ]
    _, model, records = with_one_call(answers, 4)
    texts = [text_of(request).split("# user")[-1] for request in model.requests]
    goal = records[0].info.goal
    assert [text.count(goal) for text in texts] == [1, 1, 1, 1], "the first observation ends with the task"
    assert ["Ways that nobody took yet:" in text for text in texts] == [True, False, False, True]
    rooms = [room_of(record).title() for record in records[:3]]
    assert f"> go west: ({rooms[1]})" in texts[2]
    assert records[1].observation.strip() not in texts[2], "what the memory lists is not repeated"
    assert f"- {rooms[1].lower()} (1 move away)" in texts[2]
    assert records[3].observation.strip() in texts[3], "the present one is whole"
    assert "Score: 0 of 2" in texts[0]
    assert "Valid actions:\n- " in texts[0]


def test_a_goal_of_one_word_is_not_cut_out_of_what_is_seen() -> None:
    _, model, records = with_one_call([chosen("look")] * 2, 2, goal="exit")
    assert "exit" in records[1].observation
    assert records[1].observation.strip() in text_of(model.requests[1])


def test_the_score_tells_what_the_last_choice_did_to_it() -> None:
    with make("tiny-v1", seed=10) as env:
        env.reset(10)
        start, chest = rooms_of(env)
    actions = [action.replace("kitchen", start).replace("Parlour", chest) for action in WINNING]
    _, model, records = with_one_call([chosen(action) for action in actions], 40)
    assert records[-1].info.won
    scores = [text_of(request).partition("Score: ")[2].partition("\n")[0] for request in model.requests]
    assert "1 of 2 (your last choice: +1)" in scores
    assert scores[0] == "0 of 2"
    assert any("[+1 points]" in text_of(request) for request in model.requests)


def test_an_unusable_answer_with_one_call_keeps_the_plan_and_is_told() -> None:
    answers = [chosen("look", "find the key"), "hm", "hm", chosen("look")]
    agent, model, records = with_one_call(answers, 3)
    assert [record.decision.action for record in records if record.decision] == ["look", "", "look"]
    assert agent.failures == Counter(act=1)
    last = text_of(model.requests[-1])
    assert "Your plan:\n1. find the key" in last
    assert "used, 1 so far" in last
    assert planning(model.requests[-1]) == "the last command failed"


@pytest.mark.parametrize("bad", [{"calls": "two"}, {"text_limit": 5}, {"recent": -1}])
def test_arguments_that_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        Ariadne(TemporalGraph(), scripted([]), **bad)
