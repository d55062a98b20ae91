"""What every agent and every memory module does, whatever it decides and recalls."""

from __future__ import annotations

import ast
import dataclasses
import gc
import types
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import worldthread
from worldthread.errors import AgentError, InputError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph, fold, state_hash
from worldthread.models.chat import ChatRequest
from worldthread.types import Episode
from worldthread_lab.agents import AGENTS, Agent, Decision, Percept, agent_class, agent_options, make_agent
from worldthread_lab.agents.ariadne import Ariadne
from worldthread_lab.agents.attempts.settings import AttemptSettings
from worldthread_lab.agents.base import PerceivingAgent, walk_back
from worldthread_lab.agents.explorer.settings import ExplorerSettings, TidyingSettings
from worldthread_lab.agents.go_explore.settings import GoExploreSettings
from worldthread_lab.agents.memory_modules import MEMORY_MODULES, Situation
from worldthread_lab.agents.reflact.settings import ReflActSettings
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment, Info, Truth
from worldthread_lab.envs.fake import ScriptedWorld, tiny_house
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.loop import Play, StepRecord

MODULES = [name for name in MEMORY_MODULES if name != "graphiti"]  # needs a database: tests/servers/test_graphiti.py
PLAYERS = [name for name in AGENTS if name != "ariadne"] + [f"ariadne+{module}" for module in MODULES]
"""Every agent; ariadne once with each memory module."""
UNPRIVILEGED = [name for name in PLAYERS if name != "ariadne+oracle"]
MOVES = 24


class Asked(FakePlayer):
    """A player that keeps what it was asked."""

    def __init__(self, seed: int, **options: Any) -> None:
        super().__init__(seed, **options)
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> Any:
        self.requests.append(request)
        return super().complete(request)


class Typist:
    """A person who types a few lines and then ends the input."""

    def __init__(self) -> None:
        self._lines = iter(["?", "look", "go north", "undo", "go south", "look", "look", "", "undo", "look"])

    def __call__(self, prompt: str) -> str:
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        return line


class Unlisted(Environment):
    """A world that lists no valid action: an empty list, or none at all."""

    def __init__(self, env: Environment, actions: tuple[str, ...] | None) -> None:
        self._env = env
        self._actions = actions
        self.id = env.id

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        text, info = self._env.reset(seed)
        return text, replace(info, valid_actions=self._actions)

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        text, reward, terminated, truncated, info = self._env.step(action)
        return text, reward, terminated, truncated, replace(info, valid_actions=self._actions)

    def truth(self) -> Truth:
        return self._env.truth()


class Sealed(Environment):
    """A world whose truth cannot be looked at."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.id = env.id

    def reset(self, seed: int | None = None) -> tuple[str, Any]:
        return self._env.reset(seed)

    def step(self, action: str) -> tuple[str, float, bool, bool, Any]:
        return self._env.step(action)

    def truth(self) -> Truth:
        raise AssertionError("the truth was looked at")


def everything_reachable(root: object) -> list[object]:
    """Everything that can be reached from ``root`` through references, short of modules, classes and code."""
    seen: dict[int, object] = {}
    queue = [root]
    while queue:
        item = queue.pop()
        if id(item) in seen or isinstance(item, types.ModuleType | type | types.CodeType):
            continue
        seen[id(item)] = item
        if isinstance(item, types.FunctionType):
            queue.extend(item.__closure__ or ())
        else:
            queue.extend(gc.get_referents(item))
    return list(seen.values())


@dataclass
class Game:
    """A play of an agent, and what its model was asked."""

    agent: Any
    graph: TemporalGraph
    play: Play
    model: Asked

    def __iter__(self) -> Iterator[StepRecord]:
        return iter(self.play)


def game(name: str, env: Environment | None = None, *, moves: int = MOVES, seed: int = 3, damaged: float = 0.0) -> Game:
    """A game of an agent in a small world; a model answers at random."""
    world = env or make("tiny-v1", seed=1)
    agent_name, _, module = name.partition("+")
    if module == "oracle":
        world.reset(1)  # the truth can be asked for from the beginning
    graph, model = TemporalGraph(), Asked(seed, damaged=damaged)
    kind = agent_class(agent_name)
    wanted: dict[str, Any] = {
        "seed": seed,
        "attempt_moves": 5,
        "read": Typist(),
        "show": lambda text: None,
        "embedder": "fake",
        "memory_module": module,
        "truth": (lambda: world.truth().propositions) if module == "oracle" else None,
    }
    options = {option: value for option, value in wanted.items() if option in agent_options(kind)}
    if kind.asks_model:
        options["model"] = model
    agent = make_agent(agent_name, graph, **options)
    return Game(agent, graph, Play(world, agent, graph, 1, max_moves=moves, audit=False), model)


def decisions_of(records: Collection[StepRecord]) -> list[Decision]:
    return [record.decision for record in records if record.decision is not None]


# -- agents -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAYERS)
def test_an_agent_must_perceive_before_it_decides(name: str) -> None:
    with pytest.raises(AgentError, match="before it perceived"):
        game(name).agent.decide()


@pytest.mark.parametrize("damaged", [0.0, 0.4])
@pytest.mark.parametrize("name", PLAYERS)
def test_a_decision_is_an_action_a_return_or_a_problem(name: str, damaged: float) -> None:
    played = game(name, damaged=damaged)
    reached: set[int] = set()
    problems = 0
    for record in played:
        decision = record.decision
        if decision is not None:
            given = [bool(decision.action), decision.return_to is not None, bool(decision.problem)]
            problems += given[2]
            assert sum(given) == 1 or (decision.finished and not any(given)), decision
            assert isinstance(decision.reason, str)
            assert decision.reason or decision.problem
            assert decision.action.isprintable()
            assert decision.action == decision.action.strip()
            if decision.return_to is not None:
                assert played.agent.returns
                assert decision.return_to in reached
        reached.add(record.percept.moment)
    assert len(reached) > 3
    assert played.play.unparsable == problems, "the world took every action"
    assert bool(problems) <= bool(damaged)
    assert played.play.moves <= MOVES


@pytest.mark.parametrize("name", PLAYERS)
def test_the_same_arguments_and_answers_play_the_same_again(name: str) -> None:
    first, second = game(name), game(name)
    records = [[record.as_json() for record in played] for played in (first, second)]
    assert records[0] == records[1]
    assert first.model.requests == second.model.requests
    assert first.graph.state_hash() == second.graph.state_hash()


@pytest.mark.parametrize("name", PLAYERS)
def test_the_memory_is_the_fold_of_the_episodes_on_the_path(name: str) -> None:
    played = game(name)
    for record in played:
        path = played.agent.episodes_to(record.percept.moment)
        assert set(played.graph.episodes()) == {episode.id for episode in path}
        assert len(path) == record.percept.step.turn + 1
    assert played.graph.state_hash() == state_hash(fold(path).rows())


@pytest.mark.parametrize("name", PLAYERS)
def test_a_problem_leaves_the_state_as_it_was(name: str) -> None:
    agent = game(name).agent
    first = Percept(GameStep("-= Hall =-\nA hall.\n\nThere is an exit to the east.", None), 0, ("go east", "look"))
    episode = agent.perceive(first)
    before = agent.memory.view()
    assert agent.perceive(replace(first, problem="no action")) == episode
    assert {fact.key for fact in agent.memory.view().facts()} == {fact.key for fact in before.facts()}
    assert agent.path_to(0) == [0]
    agent.decide()


@pytest.mark.parametrize("actions", [(), None])
@pytest.mark.parametrize("name", PLAYERS)
def test_a_world_that_lists_no_valid_action_is_no_hindrance(name: str, actions: tuple[str, ...] | None) -> None:
    played = game(name, Unlisted(make("tiny-v1", seed=1), actions))
    records = list(played)
    assert len(decisions_of(records)) > 4
    assert played.play.ended_by in ("moves", "agent", "won")


@pytest.mark.parametrize("name", PLAYERS)
def test_nothing_is_done_after_the_world_is_over(name: str) -> None:
    played = game(name, ScriptedWorld(tiny_house, seed=1, max_moves=4))
    records = list(played)
    ended = [number for number, record in enumerate(records) if record.percept.ended]
    assert ended
    for number in ended:
        for record in records[number + 1 : number + 2]:
            assert played.agent.returns, "the play ends"
            assert record.decision is not None
            assert not record.decision.action
    if not played.agent.returns:
        assert ended == [len(records) - 1]
        assert played.play.ended_by in ("over", "lost", "won")


@pytest.mark.parametrize("name", UNPRIVILEGED)
def test_an_agent_never_gets_hold_of_the_world(name: str) -> None:
    played = game(name, Sealed(make("tiny-v1", seed=1)), moves=60 if name == "explorer" else 8)
    for _ in played:
        held = everything_reachable(played.agent)
        assert played.agent in held
        assert not any(isinstance(item, Environment | Truth) for item in held)
    if name == "explorer":
        assert played.play.info.won, "it needs no truth"
    if name.startswith("ariadne"):
        assert played.agent.memory_module in held


def test_agents_and_extractors_do_not_import_worlds_or_measurements() -> None:
    package = Path(worldthread.__file__).parent
    files = [*package.glob("agents/**/*.py"), *package.glob("extract/**/*.py")]
    assert len(files) > 40
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            modules = []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                assert not module.startswith(
                    ("worldthread_lab.envs", "worldthread_lab.bench", "textworld", "jericho")
                ), file


def test_names_that_are_none() -> None:
    with pytest.raises(InputError, match=r"no agent named 'explore'; did you mean 'explorer'\? \(agents are: ariadne"):
        agent_class("explore")
    with pytest.raises(InputError, match="'json:JSONDecoder' is not an agent"):
        agent_class("json:JSONDecoder", ["json"])
    with pytest.raises(InputError, match="'nowhere:Agent' cannot be imported"):
        agent_class("nowhere:Agent", ["nowhere"])
    with pytest.raises(InputError, match="add --allow-code nowhere"):
        agent_class("nowhere:Agent")


@pytest.mark.parametrize("name", AGENTS)
def test_a_class_says_what_it_is(name: str) -> None:
    kind = agent_class(name)
    assert issubclass(kind, Agent)
    assert kind.name == name
    assert ("model" in agent_options(kind)) == kind.asks_model
    assert agent_class(AGENTS[name], [AGENTS[name].partition(":")[0]]) is kind


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [AttemptSettings, ExplorerSettings, GoExploreSettings, ReflActSettings, TidyingSettings]
)
def test_settings_are_frozen_and_every_number_is_explained(settings: Any) -> None:
    text = settings.__doc__
    for field in dataclasses.fields(settings):
        assert f"\n        {field.name}: " in text
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(settings(), dataclasses.fields(settings)[0].name, 0)


@pytest.mark.parametrize("name", AGENTS)
def test_settings_are_no_option_of_the_command_line(name: str) -> None:
    assert "settings" not in agent_options(agent_class(name))


def test_settings_decide_how_an_agent_plays() -> None:
    def actions(**options: Any) -> list[str]:
        graph = TemporalGraph()
        agent = make_agent("go_explore", graph, **options)
        records = list(Play(make("tiny-v1", seed=1), agent, graph, 1, max_moves=40, audit=False))
        return [decision.action for decision in decisions_of(records)]

    assert actions() == actions(settings=GoExploreSettings())
    assert actions() != actions(settings=GoExploreSettings(low_promise=100, max_walk_share=1))


# -- the path to a state ----------------------------------------------------------------------------------------------


def test_the_walk_back_ends_at_the_beginning() -> None:
    parents = {0: None, 1: 0, 2: 1, 3: 0}
    assert [*walk_back(2, parents.__getitem__)] == [2, 1, 0]
    assert [*walk_back(3, parents.__getitem__)] == [3, 0]
    assert [*walk_back(0, parents.__getitem__)] == [0]


def test_the_path_to_a_state_leaves_out_other_branches() -> None:
    class Silent(PerceivingAgent):
        name = "silent"

        def decide(self) -> Decision:
            return Decision("look", "-")

    agent = Silent(TemporalGraph())
    for moment, before in enumerate((None, 0, 1, 0)):
        agent.perceive(Percept(GameStep(f"Text {moment}.", turn=moment), moment=moment, before=before))
    assert agent.path_to(2) == [0, 1, 2]
    assert agent.path_to(3) == [0, 3]
    assert [episode.text for episode in agent.episodes_to(3)] == ["Text 0.", "Text 3."]


# -- memory modules ---------------------------------------------------------------------------------------------------


def situation(agent: Ariadne) -> Situation:
    """What the agent knows now; the present episode is shown."""
    assert agent.percept is not None
    step = agent.percept.step
    path = tuple(observed.episode for observed in agent.memory_module.path)
    return Situation("Find the gem.", step.text, step.inventory or "", "Look everywhere.", path[-1:])


@pytest.mark.parametrize("module", MODULES)
def test_a_memory_module_recalls_text_and_a_map(module: str) -> None:
    played = game(f"ariadne+{module}", moves=10)
    for record in played:
        found = played.agent.memory_module
        assert found.name == module
        assert [observed.percept.moment for observed in found.path] == played.agent.path_to(record.percept.moment)
        if found.world_map() is None:
            assert found.unexplored() == []
        for room, direction in found.unexplored():
            assert room == room.lower()
            assert direction
    text = found.recall(situation(played.agent))
    assert isinstance(text, str)
    for item in found.recalled:
        assert item.text.replace("\n", "\n  ") in text
    assert isinstance(played.agent.failures, dict)


@pytest.mark.parametrize("module", MODULES)
def test_a_memory_module_ignores_a_problem_and_follows_a_return(module: str) -> None:
    agent = game(f"ariadne+{module}").agent
    rooms = ["-= Hall =-\nThere is an exit to the east.", "-= Cave =-\nThere is an exit to the west."]
    first = Percept(GameStep(rooms[0], None), 0, ("go east",))
    second = Percept(GameStep(rooms[1], "go east", turn=1), 0, ("go west",), moment=1, before=0)
    found = agent.memory_module
    for percept in (first, second):
        agent.perceive(percept)
        found.recall(situation(agent))
    agent.perceive(replace(second, problem="no action"))
    assert [observed.percept.moment for observed in found.path] == [0, 1]
    agent.perceive(replace(first, returned=True))
    assert [observed.percept.moment for observed in found.path] == [0]
    assert all(isinstance(observed.episode, Episode) for observed in found.path)
    found.recall(situation(agent))
