"""The extractor of games, sentence by sentence."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import worldthread
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact, Thesis
from worldthread_lab.game.extractor import GameExtractor

EXTRACTOR = GameExtractor()


def extract(text: str, action: str | None = None, *, graph: TemporalGraph | None = None, **rest: object) -> Extraction:
    view = (graph or TemporalGraph()).view()
    return EXTRACTOR.extract(GameStep(text, action, **rest), view)  # type: ignore[arg-type]


def facts(extraction: Extraction) -> set[str]:
    return {str(s) for s in extraction.statements if isinstance(s, Fact)}


def facts_of_hall(sentence: str) -> set[str]:
    """The facts of one sentence in the description of a hall."""
    frame = {"player, is in, Hall", "Hall, is a, room"}
    return facts(extract(f"-= Hall =-\n{sentence}", "look")) - frame


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("You can see a chest.", {"chest, is in, Hall"}),
        ("You see a gleam over in a corner, where you can see an iron safe.", {"iron safe, is in, Hall"}),
        ("You smell an awful smell, and follow it to an organ.", {"organ, is in, Hall"}),
        ("You rest your hand against a wall, but you miss the wall and fall onto a bench.", {"bench, is in, Hall"}),
        ("Look out! It's a- oh, never mind, it's just a harp.", {"harp, is in, Hall"}),
        ("Hey, want to see a globe? Look over there, a globe.", {"globe, is in, Hall"}),
        ("The wall opens up to reveal a cabinet. The cabinet is massive.", {"cabinet, is in, Hall"}),
        ("Well, here we are in the Hall. You can barely contain your excitement.", set()),
        ("You check the price tag on the harp. Ninety big ones?! I'm sure my friend could get you one.", set()),
        (
            "You can make out a locked normal looking Cyan chest nearby.",
            {"Cyan chest, is in, Hall", "Cyan chest, is, locked", "Cyan chest, is a, container"},
        ),
        (
            "An opened safe is in the corner. The safe contains a ruby, a salt and pepper set and some string.",
            {
                "safe, is in, Hall",
                "safe, is, open",
                "safe, is a, container",
                "ruby, is in, safe",
                "salt and pepper set, is in, safe",
                "string, is in, safe",
            },
        ),
        (
            "You see a desk. On the desk you can make out a lamp and an old pen. Huh, weird.",
            {"desk, is in, Hall", "desk, is a, supporter", "lamp, is on, desk", "old pen, is on, desk"},
        ),
        (
            "You see a stand. But oh no! there's nothing on this piece of junk. Oh well You make out a vase.",
            {"stand, is in, Hall", "stand, is a, supporter", "vase, is in, Hall"},
        ),
        ("You see a doll on the oak shelf, so there's that.", {"doll, is on, oak shelf", "oak shelf, is a, supporter"}),
        ("There is a Key 1 and a hat on the floor.", {"Key 1, is in, Hall", "hat, is in, Hall"}),
        ("There is an exit to the north. Don't worry, it is unguarded.", {"Hall, has exit, north"}),
        ("You need an unblocked exit? You should try going west.", {"Hall, has exit, west"}),
        ("You don't like doors? Why not try going up, that entranceway is unguarded.", {"Hall, has exit, up"}),
        ("I never took you for the sort who would show up in a place like this.", set()),
        ("The door to the north is boarded and you can't go that way.", set()),
        (
            "There is a closed oak door leading east.",
            {"Hall, has exit, east", "oak door, leads east from, Hall", "oak door, is a, door", "oak door, is, closed"},
        ),
        ("There is an unblocked exit to the east.", {"Hall, has exit, east"}),
    ],
)
def test_sentences_of_a_room(sentence: str, expected: set[str]) -> None:
    assert facts_of_hall(sentence) == expected


def graph_of(*steps: GameStep) -> TemporalGraph:
    graph = TemporalGraph()
    for turn, step in enumerate(steps):
        graph.add(Episode(step.text, turn, extraction=EXTRACTOR.extract(step, graph.view())))
    return graph


HALL = "Hall\nThis is a large hall with pictures of kings and queens on all of its walls."


def test_a_way_that_was_walked_is_known_and_the_way_back_presumed() -> None:
    graph = graph_of(GameStep("-= Attic =-\nAn attic."), GameStep("-= Cellar =-\nA cellar.", "go down"))
    view = graph.view()
    assert view.holds(Fact("cellar", "is down of", "attic"))
    assert view.holds(Fact("attic", "may be up of", "cellar"))
    assert not view.holds(Fact("attic", "is up of", "cellar"))
    assert view.facts("player", "is in") == [Fact("player", "is in", "cellar")]


def test_a_marked_room_that_lists_the_way_back_makes_it_known() -> None:
    graph = graph_of(GameStep("-= Hall =-\nA hall."), GameStep("-= Den =-\nThere is an exit to the south.", "go north"))
    assert graph.view().holds(Fact("hall", "is south of", "den"))


def test_a_presumed_way_ends_when_it_fails_and_is_known_when_it_was_walked() -> None:
    steps = [GameStep(HALL), GameStep("Den\nThis is a small den with rugs all over its floor.", "north")]
    failed = graph_of(*steps, GameStep("The rocks are in the way.", "south")).view()
    assert not failed.facts(relation="may be south of")
    assert not failed.facts(relation="is south of")
    assert failed.holds(Fact("den", "is north of", "hall"))
    again = graph_of(
        *steps, GameStep("The rocks are in the way.", "south"), GameStep("Hall", "out"), GameStep("Den", "north")
    )
    assert not again.view().facts(relation="may be south of"), "it was refused once"
    walked = graph_of(*steps, GameStep("Hall", "south")).view()
    assert walked.holds(Fact("hall", "is south of", "den"))
    assert not walked.facts(relation="may be south of")


def test_a_text_that_denies_a_way_back_presumes_none() -> None:
    text = "Ledge\nThis is a narrow ledge. It is unlikely you could get back up from here."
    view = graph_of(GameStep(HALL), GameStep(text, "down")).view()
    assert view.holds(Fact("ledge", "is down of", "hall"))
    assert not view.facts(relation="may be up of")
    assert not view.facts("ledge", "has exit", "up")


def test_a_way_that_leads_to_different_rooms_leads_to_none_for_sure() -> None:
    den, pit = (
        "Den\nThis is a small den with rugs all over its floor.",
        "Pit\nThis is a deep pit with rocks all over it.",
    )
    steps = [GameStep(HALL), GameStep(den, "north"), GameStep("Hall", "south"), GameStep(pit, "north")]
    view = graph_of(*steps).view()
    assert not view.facts(relation="is north of", object="hall")
    assert view.holds(Fact("hall", "leads differently", "north"))


def test_rooms_of_a_maze_are_told_apart_by_their_descriptions() -> None:
    maze = "Maze\nThis is part of a maze of little passages, all alike."
    graph = graph_of(
        GameStep(HALL),
        GameStep(maze, "north"),
        GameStep("Hall", "south"),
        GameStep("Maze", "north"),
        GameStep(maze, "west"),
        GameStep(maze, "east"),
        GameStep("Maze", "west"),
    )
    view = graph.view()
    assert {fact.key[0] for fact in view.facts(relation="is a", object="room")} == {
        "hall",
        "maze",
        "maze (2)",
        "maze (3)",
    }
    assert view.holds(Fact("maze (2)", "is west of", "maze"))
    assert view.holds(Fact("maze (3)", "is east of", "maze (2)"))
    assert view.value("player", "is in") is None, "ways back twist here: it may be any of the others"


def test_a_known_room_that_is_described_again_after_a_change_is_the_same() -> None:
    graph = graph_of(
        GameStep(HALL),
        GameStep("Dam\nYou are standing on the top of a dam. The gates are closed and a path leads south.", "north"),
        GameStep("Hall", "south"),
        GameStep("Dam\nYou are standing on the top of a dam. The gates are open and a path leads south.", "north"),
    )
    assert graph.view().value("player", "is in") == "Dam"


def test_short_openings_tell_no_rooms_apart_and_a_refusal_leads_nowhere() -> None:
    yard = "<< Outside >>\nYou are outside. It is cold, and a lane leads north."
    view = graph_of(
        GameStep(yard),
        GameStep("<< Outside >>\nYou are outside. A dead end; only the way back to the south is open.", "north"),
        GameStep(yard, "south"),
        GameStep(f"You can't go west from here!\n\n{yard}", "west"),
    ).view()
    assert view.value("player", "is in") == "Outside"
    assert view.value("Outside (2)", "is north of") == "Outside"
    assert not view.facts(relation="is west of")


def test_a_title_may_begin_with_an_article() -> None:
    hall = "A Dark Hall\nThe walls of this hall are covered with carvings that nobody has ever understood."
    view = graph_of(
        GameStep(HALL),
        GameStep(f"You squeeze through the crack.\n\n{hall}", "north"),
        GameStep("Library\nThis is a library, and the hall is back to the south.", "north"),
        GameStep("A Dark Hall", "south"),
    ).view()
    assert view.value("player", "is in") == "A Dark Hall"


def test_a_direction_that_names_a_part_of_something_is_no_exit() -> None:
    text = "Gate\nA narrow passage to the east leads to the foot of the northeast tower, which looms to the west."
    view = graph_of(GameStep(text)).view()
    assert {fact.object for fact in view.facts("Gate", "has exit")} == {"east"}


def test_where_nothing_tells_alike_rooms_apart_the_place_of_the_player_is_not_known() -> None:
    first, second = "Store\nThis is a store with a way south.", "Store\nThis is another store with a way north."
    graph = graph_of(
        GameStep(HALL),
        GameStep(f"{first} It is full of boxes.", "north"),
        GameStep("Hall", "south"),
        GameStep(f"{second} It is full of jars.", "south"),
        GameStep("You suddenly find yourself elsewhere!", "wave wand"),
        GameStep("Store", "east"),
    )
    assert graph.view().value("player", "is in") is None


def test_a_refused_move_is_remembered_and_moves_nobody() -> None:
    graph = graph_of(GameStep("-= Attic =-\nAn attic."), GameStep("You can't go that way.", "go north"))
    assert graph.view().holds(Fact("attic", "has no exit", "north"))
    assert graph.view().value("player", "is in") == "Attic"


def test_a_thing_is_in_one_place_and_its_past_is_kept() -> None:
    graph = graph_of(
        GameStep("-= Attic =-\nThere is a key on the floor. You see a box."),
        GameStep("You pick up the key from the ground.", "take key", "You are carrying: a key."),
        GameStep("You put the key into the box.", "insert key into box", "You are carrying nothing."),
    )
    places = [(str(v.statement), v.interval.valid_from) for v in graph.view().timeline("key")]
    assert places == [("key, is in, Attic", 0), ("key, is in, inventory", 1), ("key, is in, box", 2)]
    assert [str(f) for f in graph.view().facts("key")] == ["key, is in, box"]


def test_locks() -> None:
    graph = graph_of(
        GameStep("-= Attic =-\nYou see a locked red chest."),
        GameStep("You unlock the red chest.", "unlock red chest with old key"),
        GameStep("You open the red chest, revealing a pearl and a note.", "open red chest"),
    )
    view = graph.view()
    assert view.value("red chest", "is") == "open"
    assert view.holds(Fact("old key", "unlocks", "red chest"))
    assert {f.subject for f in view.facts(relation="is in", object="red chest")} == {"pearl", "note"}
    states = [str(v.statement) for v in graph.view().timeline("red chest") if "is," in str(v.statement)]
    assert states == ["red chest, is, locked", "red chest, is, closed", "red chest, is, open"]


def test_reading_closed_does_not_unlock() -> None:
    graph = graph_of(GameStep("-= Attic =-\nYou see a locked chest."), GameStep("It is closed.", "examine chest"))
    assert graph.view().value("chest", "is") == "locked"


def test_what_is_eaten_is_nowhere() -> None:
    graph = graph_of(
        GameStep("-= Attic =-\nAn attic.", inventory="You are carrying: a pie."),
        GameStep("You eat the pie. Not bad.", "eat pie", "You are carrying nothing."),
    )
    assert graph.view().about("pie") == []
    assert graph.view().timeline("pie")[0].reason in ("eaten", "no longer carried")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The key 2 unlocks Red locker.", {"key 2, unlocks, Red locker"}),
        ("The chest can be opened with the silver key.", {"silver key, unlocks, chest"}),
        (
            "It is hidden in the iron safe. You need a small key to unlock it.",
            {"small key, unlocks, iron safe"},
        ),
        ("Take Key 7, which lies here: it opens the grey box.", {"Key 7, unlocks, grey box"}),
        ("The key is hidden in one of the other chests. Some key opens some box.", set()),
    ],
)
def test_what_texts_say_of_keys(text: str, expected: set[str]) -> None:
    said = extract(text, "examine note")
    assert facts(said) == expected
    if expected:
        thesis = next(s for s in said.statements if isinstance(s, Thesis))
        assert "note" in thesis.objects


def test_states_of_food_are_read_where_food_is_prepared_and_are_names_elsewhere() -> None:
    text = "-= Larder =-\nThere is a chopped raw leek on the floor."
    cooking = extract(text, goal="Cook the dish of the recipe.")
    assert {"leek, is in, Larder", "leek, is, chopped", "leek, is, raw"} <= facts(cooking)
    assert "chopped raw leek, is in, Larder" in facts(extract(text, goal="Tidy up."))


def test_recipes() -> None:
    text = "Recipe #1\n---\nIngredients:\n  leek\n  blue cheese\n\nDirections:\n  dice the leek\n  fry the leek\n  mix"
    assert facts(extract(text, "examine book")) == {
        "recipe, needs, leek",
        "recipe, needs, blue cheese",
        "leek, must be, diced",
        "leek, must be, fried",
        "recipe, asks to, mix",
    }


@pytest.mark.parametrize(
    "text",
    [
        "You are likely to be eaten by a grue.",
        "It is pitch dark.",
        "I beg your pardon?",
        "\n\n   \n",
        "-=  =-",
        "-= <script>alert(1)</script> =-\nYou see a {{ 7*7 }}, a ${x} and a `rm`.",
        "You see a " + "very " * 5000 + "long name.",
        "A\n" * 3000,
        "you see an ... , and, a , the.",
    ],
)
def test_any_text_is_survived(text: str) -> None:
    for action in (None, "look", "go north", "take x", "unlock a with b", "open", "?"):
        extraction = extract(text, action, inventory="You are carrying: , and a .", goal="it opens it")
        TemporalGraph([Episode("x", 0, extraction=extraction)])


def test_no_rule_names_a_thing_of_a_game(textworld_games: Path) -> None:
    """Strings in the extractors and agents (patterns, word lists) hold no name of a thing from a published game."""
    names = set()
    for file in textworld_games.glob("*.json"):
        game = json.loads(file.read_text("utf-8"))
        names |= {info["name"].casefold() for _, info in game.get("infos", []) if info.get("name")}
    assert len(names) > 100
    package = Path(worldthread.__file__).parent
    found = []
    for file in (*package.glob("extract/**/*.py"), *package.glob("agents/**/*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                text = re.sub(r"\\[a-z]", " ", node.value.casefold())
                words = set(re.findall(r"[a-z]+", text))
                found += [
                    (file.name, n)
                    for n in names
                    if (re.search(rf"\b{re.escape(n)}\b", text) if " " in n else n in words)
                ]
    assert found == []


@pytest.mark.games
def test_other_games_are_read_politely(shared: Path) -> None:
    """Games of other makers: no error, rooms and ways are learned, and what is carried is known."""
    import jericho

    files = sorted((shared / "games" / "jericho").glob("*.z*"))
    assert files
    rooms_known = {}
    for file in files:
        engine = jericho.FrotzEnv(str(file), seed=1)
        text, _ = engine.reset()
        graph = TemporalGraph()
        # walking a little, the same for every game: nothing is known of any of them
        actions = [
            "look",
            "inventory",
            "north",
            "take all",
            "inventory",
            "south",
            "east",
            "west",
            "south",
            "up",
            "look",
        ]
        step = GameStep(text)
        for turn, action in enumerate(actions, 1):
            graph.add(Episode(step.text, turn, extraction=EXTRACTOR.extract(step, graph.view())))
            text, *_ = engine.step(action)
            step = GameStep(text, action, turn=turn)
        engine.close()
        rooms_known[file.stem] = len(graph.view().facts(relation="is a", object="room"))
        assert len(graph.view().facts("player", "is in")) <= 1, "in one place, or nowhere known"
    assert sum(count >= 2 for count in rooms_known.values()) >= len(files) // 2, rooms_known


@pytest.mark.parametrize("title", ['At "X9"', "N/S Gallery", "Bread & Butter", "On the North Side of the Old Mill"])
def test_titles_may_hold_slashes_quotes_and_many_words(title: str) -> None:
    graph = graph_of(GameStep(HALL), GameStep(f"{title}\nYou are in a place with a way back to the south.", "north"))
    assert graph.view().value("player", "is in") == title


def test_a_line_without_a_stop_is_no_title() -> None:
    graph = graph_of(GameStep(HALL), GameStep('You sit down.\nThe red lever reads "Off"', "enter cart"))
    assert graph.view().value("player", "is in") == "Hall"


def test_who_finds_himself_thinking_is_where_he_was() -> None:
    graph = graph_of(GameStep(HALL), GameStep("You find yourself thinking of lunch.", "wait"))
    assert graph.view().value("player", "is in") == "Hall"


def test_what_the_game_puts_away_and_what_an_aside_contains_is_inside() -> None:
    view = graph_of(
        GameStep(HALL),
        GameStep("You can see a tin churn (which is closed and contains some milk and a spoon) here.", "look"),
        GameStep("(putting the wool cap into the linen bag to make room)\nTaken.", "take churn"),
    ).view()
    assert view.holds(Fact("milk", "is in", "tin churn"))
    assert view.holds(Fact("spoon", "is in", "tin churn"))
    assert view.holds(Fact("wool cap", "is in", "linen bag"))
