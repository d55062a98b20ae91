"""Questions come from walkthroughs alone, and only the exact way between two places counts as an answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.errors import InputError, ModelCallError, ReplayError
from worldthread.models import ChatRequest, FakeChat
from worldthread.models.meter import Meter
from worldthread.models.recording import RecordingChat, ReplayChat
from worldthread_lab.bench.contamination import (
    DISTANCE,
    RouteQuestion,
    Walkthrough,
    explore,
    measure,
    open_game,
    pooled,
    questions_of,
    route_questions,
    sample_questions,
    title_of,
    words_of,
)

HOUSE = Walkthrough(
    {"hall": "Hall", "attic": "Attic", "cellar": "Cellar", "cell 1": "Cell", "cell 2": "Cell"},
    {
        ("hall", "attic"): frozenset({"u", "climb the ladder"}),
        ("attic", "hall"): frozenset({"d"}),
        ("hall", "cellar"): frozenset({"go down"}),
        ("cellar", "cell 1"): frozenset({"ne"}),
        ("cell 1", "cell 2"): frozenset({"e"}),
    },
    9,
)


def by_names(questions: list[RouteQuestion]) -> dict[tuple[str, str], RouteQuestion]:
    return {(question.start, question.goal): question for question in questions}


def perfect(questions: list[RouteQuestion]) -> FakeChat:
    """A model that knows the maps by heart; it finds the question by its two names."""

    def answer(request: ChatRequest) -> str:
        text = request.messages[-1].content
        for question in questions:
            if question.request() == request:
                return "\n".join(" ".join(command) for command in sorted(question.routes)[0])
        raise AssertionError(text)

    return FakeChat(answer, concurrency=3)


# -- questions ---------------------------------------------------------------------------------------------------------


def test_every_pair_within_reach_is_asked_about() -> None:
    questions = by_names(route_questions("The House", HOUSE))
    assert questions.keys() == {
        ("Hall", "Attic"), ("Attic", "Hall"), ("Hall", "Cellar"),
        ("Attic", "Cellar"), ("Cellar", "Cell"), ("Hall", "Cell"),
    }  # fmt: skip
    assert questions["Hall", "Attic"].routes == {(("up",),), (("climb", "the", "ladder"),)}
    assert questions["Attic", "Cellar"].routes == {(("down",), ("down",))}
    # one of the two cells is a step further off, and either is right
    assert questions["Cellar", "Cell"].routes == {(("northeast",),), (("northeast",), ("east",))}
    assert len(route_questions("The House", HOUSE)) == 7
    assert ("Attic", "Cell") in by_names(route_questions("The House", HOUSE, max_distance=3))


def test_a_command_without_words_is_not_a_route() -> None:
    walkthrough = Walkthrough({"menu": "Menu", "hall": "Hall"}, {("menu", "hall"): frozenset({"2"})}, 1)
    assert route_questions("The House", walkthrough) == []


def test_the_question_names_the_game_and_nothing_of_the_route() -> None:
    question = by_names(route_questions("The House", HOUSE))["Hall", "Cell"]
    (message,) = question.request().messages
    assert all(name in message.content for name in ("The House", "Hall", "Cell"))
    assert not {"down", "northeast"} & set(words_of(message.content))


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("down\nnortheast", True),
        ("1. Go down.\n2. Go northeast.", True),
        ("You go DOWN, then NE.", True),
        ("d, ne", True),
        ("north, down, northeast, west", True),
        ("northeast, down", False),
        ("down, north, northeast", False),
        ("go downstairs, then northeast", False),
        ("down the stairs to the northeast", False),
        ("I don't know.", False),
        ("", False),
    ],
)
def test_only_the_exact_commands_one_after_the_other_count(answer: str, is_right: bool) -> None:
    question = by_names(route_questions("The House", HOUSE))["Hall", "Cell"]
    assert question.is_answered_by(answer) is is_right


def test_a_limit_draws_the_same_questions_each_time() -> None:
    questions = route_questions("The House", HOUSE)
    few = sample_questions(questions, 3)
    assert few == sample_questions(questions, 3)
    assert few == [question for question in questions if question in few]
    assert (len(few), sample_questions(questions, None), sample_questions(questions, 99)) == (3, questions, questions)


# -- answers -----------------------------------------------------------------------------------------------------------


def test_who_knows_all_is_right_and_who_knows_nothing_is_wrong() -> None:
    pytest.importorskip("scipy")
    questions = questions_of("tiny")
    assert questions
    known = measure(perfect(questions), "tiny", questions)
    assert (known.right, known.questions) == (len(questions), len(questions))
    nonsense = measure(FakeChat(lambda request: "xyzzy"), "tiny", questions)
    assert (nonsense.right, nonsense.questions) == (0, len(questions))
    figures = pooled([known, nonsense])
    assert figures.to_dict()["accuracy"] == 0.5
    low, high = figures.to_dict()["accuracy_interval"]
    assert 0 < low < 0.5 < high < 1
    assert figures.totals.calls == known.texts + nonsense.texts


def test_places_of_one_name_are_asked_about_once() -> None:
    questions = route_questions("The House", HOUSE)
    model = perfect(questions)
    figures = measure(model, "house", questions)
    assert (figures.questions, figures.texts, len(model.requests)) == (7, 6, 6)
    # "down" leads from the attic to the hall and from there to the cellar; "northeast" from the cellar to the cells
    assert figures.blind == 2


def test_questions_that_cannot_be_asked_are_not_counted() -> None:
    questions = route_questions("The House", HOUSE)
    reported = 0

    def count(more: int) -> None:
        nonlocal reported
        reported += more

    failing = FakeChat(["u", ModelCallError("the server is down"), *["xyzzy"] * 4])
    figures = measure(failing, "house", questions, count)
    assert figures.questions + sum(figures.not_asked.values()) == reported == 7
    assert figures.not_asked.keys() == {"the server is down"}
    assert figures.right == 1


def test_nothing_is_asked_once_the_budget_is_spent() -> None:
    model = FakeChat(lambda request: "xyzzy")
    questions = route_questions("The House", HOUSE)
    figures = measure(Meter(model, max_tokens=1), "house", questions)
    assert len(model.requests) == 1
    assert (figures.questions, sum(figures.not_asked.values())) == (1, 1)


def test_a_run_goes_on_from_its_recording(tmp_path: Path) -> None:
    questions = route_questions("The House", HOUSE)
    path = tmp_path / "answers.jsonl"
    with RecordingChat(perfect(questions), path) as model:
        half = measure(model, "house", questions[:3])
    again = perfect(questions)
    with RecordingChat(again, path, resume=True) as model:
        whole = measure(model, "house", questions)
    assert (half.totals.calls, half.totals.reused) == (3, 0)
    assert (whole.totals.calls, whole.totals.reused, len(again.requests)) == (3, 3, 3)
    assert whole.right == whole.questions == 7
    with pytest.raises(ReplayError):
        measure(ReplayChat(path), "house", route_questions("Another House", HOUSE))


def test_the_command_replays_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    questions = questions_of("tiny")
    path = tmp_path / "answers.jsonl"
    with RecordingChat(perfect(questions), path) as model:
        measure(model, "tiny", questions)
    monkeypatch.setenv("WORLDTHREAD_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("")
    counted = CliRunner().invoke(app, ["bench", "contamination", "tiny", "--model", "none", "--json"])
    assert json.loads(counted.stdout) == {"questions": {"tiny": len(questions)}}
    monkeypatch.setenv("WORLDTHREAD_REPLAY", str(path))
    done = CliRunner().invoke(app, ["bench", "contamination", "tiny", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["model"], found["mean_accuracy"], found["games"][0]["reused"]) == ("fake", 1.0, len(questions))
    shown = CliRunner().invoke(app, ["bench", "contamination", "tiny", "--limit", "2"])
    assert re.search(r"tiny +2 +2 +1\.000", shown.stdout), shown.output


# -- games -------------------------------------------------------------------------------------------------------------


@pytest.mark.games
def test_a_game_without_a_walkthrough_is_refused(textworld_games: Path) -> None:
    with pytest.raises(InputError, match="no walkthrough"):
        questions_of(f"textworld:{textworld_games / 'hunt.z8'}")


@pytest.mark.games
def test_a_game_of_textworld(textworld_games: Path) -> None:
    id = f"textworld:{textworld_games / 'cook_hard.z8'}"
    questions = questions_of(id)
    assert title_of(id) == "cook_hard"
    assert by_names(questions)["Pantry", "Kitchen"].routes == {(("west",),)}
    assert by_names(questions)["Pantry", "Backyard"].routes == {(("west",), ("west",))}
    assert measure(perfect(questions), id, questions).right == len(questions)
    assert len(questions_of(id, max_steps=3)) < len(questions)


@pytest.mark.games
def test_a_game_of_jericho(shared: Path) -> None:
    path = shared / "games" / "jericho" / "detective.z5"
    if not path.is_file():
        pytest.skip(f"needs the game {path}")
    id = f"jericho:{path}"
    with open_game(id) as env:
        walkthrough = explore(env)
    questions = route_questions(title_of(id), walkthrough, DISTANCE)
    # the paper asks 66 questions
    assert (title_of(id), walkthrough.steps, len(questions)) == ("Detective", 51, 69)
    assert {"Chief's office", "Mayor's house", "Doughnut King"} <= set(walkthrough.names.values())
    assert by_names(questions)["Chief's office", "Closet"].routes == {(("west",),)}
    assert not any("(object" in name for name in walkthrough.names.values())
    figures = measure(perfect(questions), id, questions)
    assert figures.right == figures.questions == 69
    assert figures.blind == 17
    assert measure(FakeChat(lambda request: "north"), id, questions).right == 17
