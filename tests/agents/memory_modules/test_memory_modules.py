"""What each memory module reminds an agent of, and that a moment that was taken back leaves no trace."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake import FakeEmbedder
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Episode
from worldthread_lab.agents.ariadne import Ariadne
from worldthread_lab.agents.base import Percept
from worldthread_lab.agents.memory_modules import MEMORY_MODULES, MemoryModule, Situation
from worldthread_lab.agents.memory_modules.base import render_steps
from worldthread_lab.agents.memory_modules.history import FullHistoryModule
from worldthread_lab.agents.memory_modules.oracle import OracleModule
from worldthread_lab.agents.memory_modules.rag import DECAY, RagModule
from worldthread_lab.agents.memory_modules.reflexion import ReflexionModule
from worldthread_lab.agents.memory_modules.simulacra import SimulacraModule
from worldthread_lab.agents.memory_modules.worldthread import WorldthreadModule
from worldthread_lab.play.fake_player import FakePlayer

OPENING = """\
-= Kitchen =-
You are in the Kitchen.

You see a table. On the table you see a note.

There is an exit to the east."""
HALL = """\
-= Hall =-
You are in the Hall.

You see a locked oak chest.

There is an exit to the west. There is an exit to the north."""
CELLAR = "-= Cellar =-\nYou are in the Cellar.\n\nThere is an exit to the south.\n\nThere is an iron key on the floor."
GOAL = "Open the oak chest."
WAY = [(OPENING, None), (HALL, "go east"), (CELLAR, "go north"), ("You pick up the iron key.", "take iron key")]


def text_of(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def percepts(way: Sequence[tuple[str, str | None]] = WAY) -> list[Percept]:
    carried = ["You are carrying nothing."] * 3 + ["You are carrying: an iron key."] * len(way)
    return [
        Percept(
            GameStep(text, action, carried[turn], GOAL if turn == 0 else "", turn),
            moment=turn,
            before=turn - 1 if turn else None,
        )
        for turn, (text, action) in enumerate(way)
    ]


def agent(memory_module: Any, answer: Callable[[ChatRequest], str] | None = None, memory: Any = None) -> Ariadne:
    model = FakePlayer(0) if answer is None else FakeChat(answer)
    return Ariadne(TemporalGraph() if memory is None else memory, model, memory_module=memory_module, embedder="fake")


def recalled(player: Ariadne, *, plan: str = "find the iron key", shown: int = 1) -> str:
    """What the player's memory module says when the last ``shown`` moments are shown besides."""
    way = [seen.episode for seen in player.memory_module.path]
    assert player.percept is not None
    step = player.percept.step
    return player.memory_module.recall(Situation(GOAL, step.text, step.inventory or "", plan, tuple(way[-shown:])))


def through(player: Ariadne, given: Sequence[Percept], *, shown: int = 1) -> str:
    """What is recalled at the end, after it was asked for at every moment."""
    text = ""
    for percept in given:
        player.perceive(percept)
        text = recalled(player, shown=shown)
    return text


# -- taken back -------------------------------------------------------------------------------------------------------

SIDEWAYS = "-= Hall =-\nYou are in the Hall.\n\nYou see a marble bust.\n\nThere is an exit to the west."


@pytest.mark.parametrize("name", [name for name in MEMORY_MODULES if name not in ("oracle", "reflexion", "graphiti")])
def test_what_was_taken_back_leaves_no_trace(name: str) -> None:
    straight, astray = agent(name), agent(name)
    given = percepts()
    expected = through(straight, given)
    through(astray, [given[0], Percept(GameStep(SIDEWAYS, "dance", turn=1), moment=1, before=0)])
    back = Percept(given[0].step, moment=0, returned=True)
    later = [Percept(p.step, moment=p.moment + 1, before=max(p.moment, 2) if p.moment > 1 else 0) for p in given[1:]]
    assert through(astray, [back, *later]) == expected
    assert [seen.percept.moment for seen in astray.memory_module.path] == [0, 2, 3, 4]
    assert bool(expected) == (name not in ("none", "arigraph")), "arigraph cannot make sense of nonsense"


def test_a_problem_is_no_moment() -> None:
    player = agent("full_history")
    for percept in percepts()[:2]:
        player.perceive(percept)
    player.perceive(Percept(GameStep(HALL, "go east", turn=1), moment=1, before=0, problem="no action"))
    assert len(player.memory_module.path) == 2


# -- plain ------------------------------------------------------------------------------------------------------------


def test_the_full_history_has_every_word_that_is_not_shown_besides() -> None:
    player = agent("full_history")
    text = through(player, percepts(), shown=2)
    assert text == (
        f"[move 0] {OPENING}\n\nYou are carrying nothing.\n\n[move 1] > go east\n{HALL}\n\nYou are carrying nothing."
    )
    short = agent(lambda context: FullHistoryModule(context, max_characters=400))
    assert through(short, percepts()).startswith("(1 earlier moves are left out)\n\n[move 1]")


def test_a_list_of_moments_that_is_too_long_loses_its_beginning() -> None:
    episodes = [Episode(f"moment {number}", number) for number in range(100)]
    text = render_steps(episodes, max_characters=200)
    assert len(text) < 250
    assert text.startswith("(91 earlier moves are left out)\n\n[move 91]")
    assert render_steps(episodes).count("moment") == 100


def test_the_summary_is_rewritten_from_the_one_before_and_what_is_new() -> None:
    asked: list[str] = []

    def answer(request: ChatRequest) -> str:
        asked.append(text_of(request))
        return "" if len(asked) == 3 else f"summary {len(asked)}"

    player = agent("summary", answer)
    given = percepts()
    assert through(player, given[:1]) == "summary 1"
    assert "(none so far)" in asked[0]
    assert recalled(player) == "summary 1"
    assert len(asked) == 1, "nothing new happened"
    assert through(player, given[1:2]) == "summary 2"
    assert "summary 1" in asked[1]
    assert HALL in asked[1]
    assert OPENING not in asked[1]
    assert through(player, given[2:3]) == "summary 2", "an empty answer"
    assert player.failures == Counter(summarise=1)
    assert through(player, given[3:]) == "summary 4"
    assert CELLAR in asked[3], "what the empty answer did not tell"
    assert "You pick up" in asked[3]


# -- rag and simulacra ------------------------------------------------------------------------------------------------


def test_rag_adds_recency_importance_and_relevance() -> None:
    ratings = {OPENING: 2, HALL: 9, CELLAR: 4, "You pick up": 8}

    def answer(request: ChatRequest) -> str:
        moment = request.messages[-1].content.partition("The moment:\n")[2]
        return json.dumps({"importance": next(rating for text, rating in ratings.items() if text in moment)})

    player = agent(lambda context: RagModule(context, count=2), answer)
    text = through(player, percepts(), shown=1)
    episodes = [seen.episode for seen in player.memory_module.path[:-1]]
    embed = FakeEmbedder().embed
    query = embed(["You pick up the iron key.\n\nfind the iron key"])[0]
    parts = [
        np.array([DECAY ** (3 - episode.at) for episode in episodes]),
        np.array([2.0, 9.0, 4.0]),
        embed([episode.text for episode in episodes]) @ query,
    ]
    scores = sum((part - part.min()) / (part.max() - part.min()) for part in parts)
    best = sorted(np.argsort(-np.asarray(scores))[:2].tolist())
    assert best == [1, 2]
    shown = [f"- [move {number}] {episodes[number].text}".replace("\n", "\n  ") for number in best]
    assert text == "\n".join(["Moments from the past:", *shown])


@pytest.mark.parametrize("version", [1, 2])
def test_a_rating_sees_the_plan(version: int) -> None:
    asked: list[str] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request.messages[-1].content)
        return '{"importance": 5}'

    player = agent(lambda context: RagModule(context, version=version), answer)
    through(player, percepts()[:1])
    assert ("find the iron key" in asked[0]) is (version == 2)
    assert GOAL in asked[0]


def test_a_rating_that_cannot_be_used_counts_least() -> None:
    player = agent("rag", lambda request: '{"importance": 11}')
    assert "Kitchen" in through(player, percepts()[:2])
    assert player.failures == Counter(importance=2)


def test_simulacra_draws_insights_when_enough_has_happened() -> None:
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request)
        if request.purpose == "importance":
            return '{"importance": 5}'
        if request.purpose == "questions":
            return '{"questions": ["Where is the key?", "What is locked?"]}'
        return '{"insights": [{"insight": "The chest wants\\nthe iron key.", "importance": 9}]}'

    player = agent(lambda context: SimulacraModule(context, threshold=10), answer)
    text = through(player, percepts())
    purposes = [request.purpose for request in asked]
    assert purposes == ["importance"] * 2 + ["questions", "insights"] + ["importance"] * 2 + ["questions", "insights"]
    assert text.count("- [insight] The chest wants the iron key.") == 2
    assert "- Where is the key?\n- What is locked?" in text_of(asked[3])
    assert "[move 0]" in text_of(asked[3])
    assert "[insight] The chest" in text_of(asked[6]), "insights lead to further ones"


def test_insights_that_cannot_be_used_are_not_asked_for_at_every_move() -> None:
    def answer(request: ChatRequest) -> str:
        return '{"importance": 10}' if request.purpose == "importance" else "none"

    player = agent(lambda context: SimulacraModule(context, threshold=20), answer)
    assert "insight" not in through(player, percepts())
    assert player.failures == Counter(questions=2)


# -- reflexion --------------------------------------------------------------------------------------------------------


def test_lessons_are_drawn_from_attempts_that_were_given_up_and_outlive_them() -> None:
    asked: list[str] = []

    def answer(request: ChatRequest) -> str:
        asked.append(text_of(request))
        return f"Lesson\nnumber {len(asked)}."

    player = agent(lambda context: ReflexionModule(context, period=10, lessons=2), answer)
    given = percepts()
    through(player, [given[0], Percept(GameStep("You fall.", "jump", turn=1), 3, moment=1, before=0, ended=True)])
    assert not asked
    text = through(player, [Percept(given[0].step, moment=0, returned=True)])
    assert len(asked) == 1
    assert "> jump\nYou fall." in asked[0]
    assert "Points: 3. The game was over." in asked[0]
    assert text == "Lessons drawn so far:\n- Lesson number 1."
    for moment in range(2, 24):
        before = 0 if moment == 2 else moment - 1
        player.perceive(Percept(GameStep("Nothing.", "wait", turn=moment), moment=moment, before=before))
        text = recalled(player)
    assert len(asked) == 3, "after every ten moves"
    assert "Lesson number 1." in asked[1]
    assert "You fall" not in asked[1]
    assert text.startswith("Lessons drawn so far:\n- Lesson number 2.\n- Lesson number 3.\n\n[move 0]")
    assert "You fall" not in text


def test_an_empty_lesson_is_a_failure() -> None:
    player = agent(lambda context: ReflexionModule(context, period=1), lambda request: " ")
    assert "Lessons" not in through(player, percepts()[:2])
    assert player.failures == Counter(reflect=1)


@pytest.mark.parametrize(
    "make",
    [lambda m: ReflexionModule(m, period=0), lambda m: RagModule(m, count=0), lambda m: SimulacraModule(m, count=0)],
)
def test_numbers_that_make_no_sense_are_refused(make: Callable[[Any], MemoryModule]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        agent(make)


# -- worldthread ------------------------------------------------------------------------------------------------------

HERE_AND_THERE = """\
Known of this place:
- ways: south to hall

Carried:
- iron key

Known of what the task and the plan name:
- oak chest (locked): in hall (1 move away)
- iron key: carried"""


@pytest.mark.parametrize("kind", ["graph", "memory"])
def test_worldthread_tells_here_carried_wanted_and_found(kind: str) -> None:
    memory: Any = TemporalGraph() if kind == "graph" else Memory(embedder="fake", model="none").record
    player = agent("worldthread", memory=memory)
    text = through(player, percepts(), shown=2)
    assert text.startswith(HERE_AND_THERE)
    assert "Also known:\n- table is in Kitchen\n- note is on table\n\n" in text
    assert "Moments from the past:\n- [move 0] -= Kitchen =-\n  You are in the Kitchen." in text
    assert "[move 2]" not in text, "that is shown besides"
    assert "iron key is in" not in text.partition("Also known:")[2], "that is told already"
    found = {one.text: one.path for one in player.memory_module.recalled}
    assert found.pop("table is in Kitchen") == (), "it does not hang together with what the goal names"
    assert ("oak chest",) in found.values(), "that moment tells of the chest"
    assert [one for one in found if one.startswith("[move 0] -= Kitchen =-\nYou are in the Kitchen.")]
    assert all(one.replace("\n", "\n  ") in text for one in found)
    assert player.memory_module.unexplored() == []
    assert player.places() == ["hall", "kitchen"]
    assert not player.failures


def test_worldthread_knows_of_ways_that_nobody_took() -> None:
    player = agent("worldthread")
    through(player, percepts()[:2])
    assert player.memory_module.unexplored() == [("hall", "north")]
    through(player, [Percept(GameStep(OPENING, "go west", turn=2), moment=2, before=1)])
    assert player.memory_module.unexplored() == [("hall", "north")]
    text = recalled(player, plan="go back to the hall; where is the gem?")
    assert "- hall: 1 move away" in text
    assert "- ways: east to hall" in text
    assert "- table, with note" in text


def test_worldthread_tells_what_only_a_text_told() -> None:
    given = percepts([*WAY[:1], ("The note says: The iron key unlocks the oak chest.", "examine note")])
    text = through(agent("worldthread"), given)
    assert "- iron key unlocks oak chest" in text
    hidden = percepts([*WAY[:1], ("The note says: The gem is in the blue box.", "examine note")])
    player = agent("worldthread")
    through(player, hidden)
    assert "- gem: in blue box (not seen so far)" in recalled(player, plan="get the gem")


def test_worldthread_settings() -> None:
    few = agent(lambda context: WorldthreadModule(context, statements=1, moments=0))
    text = through(few, percepts(), shown=2)
    assert len(text.partition("Also known:\n")[2].splitlines()) == 1
    assert len(few.memory_module.recalled) == 1
    assert "Moments" not in text


# -- oracle -----------------------------------------------------------------------------------------------------------


def test_the_oracle_tells_the_truth_and_walks_by_it() -> None:
    truth = {
        ("at", "P", "Hall"), ("in", "iron key", "I"), ("locked", "oak door"), ("north_of", "Cellar", "Hall"),
        ("south_of", "Hall", "Cellar"), ("east_of", "Attic", "Hall"), ("link", "Hall", "oak door", "Cellar"),
        ("west_of", "Hall", "Attic"), ("link", "Hall", "red door", "Attic"), ("closed", "red door"),
    }  # fmt: skip
    player = Ariadne(TemporalGraph(), FakePlayer(), memory_module=OracleModule, truth=lambda: truth)
    player.perceive(percepts()[0])
    text = recalled(player)
    assert text.splitlines()[0] == "All that is true now:"
    assert "- iron key in inventory" in text
    assert "- link: Hall, oak door, Cellar" in text
    assert "- oak door is locked" in text
    assert player.places() == ["attic"], "the way to the cellar is locked"
    first = player.act("go to Attic", "why not")
    assert first.action == "open red door"
    truth.remove(("closed", "red door"))
    player.perceive(Percept(GameStep("You open the red door.", "open red door", turn=1), moment=1, before=0))
    assert player.decide().action == "go east"


def test_answers_are_asked_with_prompts_of_their_own() -> None:
    digests: dict[str, set[str]] = {}

    def answer(request: ChatRequest) -> str:
        system = next(message.content for message in request.messages if message.role == "system")
        digests.setdefault(request.purpose, set()).add(hashlib.sha256(system.encode()).hexdigest())
        return FakePlayer(1).complete(request).text

    for name in MEMORY_MODULES:
        if name not in ("oracle", "graphiti"):  # Graphiti's are its own
            through(agent(name, answer), percepts())
    assert {len(found) for found in digests.values()} == {1}
    assert len(set.union(*digests.values())) == len(digests)
