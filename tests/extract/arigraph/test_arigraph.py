"""The line formats and the JSON of AriGraph's answers are read by their rules; nothing is lost, nothing raises."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.extract.base import Extractor
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.arigraph.extractor import (
    AriGraphExtractor,
    DeletionOutcome,
    RoomChange,
    deletion_outcome,
    outdated_candidates,
    spatial_facts,
)
from worldthread_lab.arigraph.json_repair import Members, parse_object
from worldthread_lab.arigraph.plan import ParsedSubGoal, WeightedAction, parse_action, parse_plan
from worldthread_lab.arigraph.text import FailureReason, RepairKind, parse_outdated, parse_triplets

PARSERS = (parse_triplets, parse_outdated, parse_plan, parse_action)


def facts(*lines: str) -> list[Fact]:
    return [Fact(*line.split(", ")) for line in lines]


# -- triplets ---------------------------------------------------------------------------------------------------------


def test_triplets_by_the_published_rules() -> None:
    answer = parse_triplets("Triplets: 'Lamp', is on, \"Desk\"; I, contains, Coin; P, carries, coin;\n")
    assert [str(fact) for fact in answer.facts] == [
        "lamp, is on, desk",
        "inventory, contains, coin",
        "player, carries, coin",
    ]
    assert [(repair.text, repair.kind) for repair in answer.repairs] == [("Triplets:", RepairKind.TEXT_BEFORE)]
    assert answer.failures == ()


@pytest.mark.parametrize(
    ("piece", "reason"),
    [
        ("lamp, is on", FailureReason.WRONG_COMMAS),
        ("lamp, is on, desk, floor", FailureReason.WRONG_COMMAS),
        ("lamp, , desk", FailureReason.EMPTY_NAME),
        ("lamp:, is on, desk", FailureReason.EMPTY_NAME),
        ("lamp, is on, de\0sk", FailureReason.NOT_A_NAME),
        ("exit west, Free, room", FailureReason.RELATION_FREE),
    ],
)
def test_a_triplet_that_cannot_be_used_is_reported_and_the_others_are_kept(piece: str, reason: FailureReason) -> None:
    answer = parse_triplets(f"coin, is in, box; {piece}; box, is in, hall")
    assert list(answer.facts) == facts("coin, is in, box", "box, is in, hall")
    assert [(failure.text, failure.reason) for failure in answer.failures] == [(piece, reason)]


@given(st.text(alphabet="ab,;:'\" \n\0", max_size=60))
def test_every_piece_of_a_triplet_text_is_a_fact_or_a_failure(text: str) -> None:
    answer = parse_triplets(text)
    assert len(answer.facts) + len(answer.failures) == sum(bool(piece.strip()) for piece in text.split(";"))


# -- outdated triplets ------------------------------------------------------------------------------------------------

OLD, NEW, OLD2, NEW2 = facts("cup, is in, sink", "cup, is on, shelf", "lid, is, shut", "lid, is, open")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("[[cup, is in, sink -> cup, is on, shelf], [lid, is, shut -> lid, is, open]]", []),
        ('[["Cup, is in, sink" -> "cup, is on, shelf"], ["lid, is, shut" -> "lid, is, open"]]', []),
        ("[['cup, is in, sink -> cup, is on, shelf'],\n ['lid, is, shut -> lid, is, open']]", []),
        (
            "Changes: [[cup, is in, sink -> cup, is on, shelf], [lid, is, shut -> lid, is, open]]",
            [RepairKind.TEXT_BEFORE],
        ),
        ("[[cup, is in, sink -> cup, is on, shelf], [lid, is, shut -> lid, is, open]].", [RepairKind.TEXT_AFTER]),
        (
            "[[['cup, is in, sink' -> 'cup, is on, shelf']], [['lid, is, shut' -> 'lid, is, open']]]",
            [RepairKind.NESTED],
        ),
        ("[[cup, is in, sink -> cup, is on, shelf], [lid, is, shut -> lid, is, open", [RepairKind.UNBALANCED]),
        ("cup, is in, sink -> cup, is on, shelf; lid, is, shut -> lid, is, open", [RepairKind.NO_BRACKETS]),
        ("[cup, is in, sink -> cup, is on, shelf; lid, is, shut -> lid, is, open]", []),
    ],
)
def test_outdated_pairs_in_every_dress(text: str, kinds: list[RepairKind]) -> None:
    answer = parse_outdated(text)
    assert list(answer.pairs) == [(OLD, NEW), (OLD2, NEW2)]
    assert [repair.kind for repair in answer.repairs] == kinds
    assert answer.failures == ()


@pytest.mark.parametrize("text", ["[]", " [[]] ", "[[], [], []]", '[["", ""]]'])
def test_an_empty_list_ends_nothing(text: str) -> None:
    answer = parse_outdated(text)
    assert answer.pairs == answer.failures == answer.repairs == ()


@pytest.mark.parametrize(
    ("piece", "reasons"),
    [
        ("['lid, is, shut']", [FailureReason.NO_ARROW]),
        ("[a, b, c -> d, e, f -> g, h, i]", [FailureReason.SEVERAL_ARROWS]),
        ("[a, b -> d, e, f]", [FailureReason.WRONG_COMMAS]),
        ("[a, b, c -> d, e, f, g]", [FailureReason.WRONG_COMMAS]),
        ("[a, , c -> d, e, f]", [FailureReason.EMPTY_NAME]),
        ("[['a, b, c', 'd, e, f'] -> 'g, h, i']", [FailureReason.NO_ARROW, FailureReason.MISSING_SIDE]),
    ],
)
def test_a_pair_that_cannot_be_used_is_reported_and_the_others_are_kept(
    piece: str, reasons: list[FailureReason]
) -> None:
    answer = parse_outdated(f"[[cup, is in, sink -> cup, is on, shelf], {piece}]")
    assert list(answer.pairs) == [(OLD, NEW)]
    assert [failure.reason for failure in answer.failures] == reasons
    assert all(failure.text in piece for failure in answer.failures)


@pytest.mark.parametrize(("text", "reason"), [("  ", FailureReason.EMPTY), ("Nothing changed.", FailureReason.NO_LIST)])
def test_a_text_without_a_list_is_a_failure(text: str, reason: FailureReason) -> None:
    answer = parse_outdated(text)
    assert [(failure.text, failure.reason) for failure in answer.failures] == [(text, reason)]


def test_an_outdated_name_keeps_its_colon_and_its_full_stop() -> None:
    (old, new), *_ = parse_outdated("[[Tea: a primer, is on, floor. -> tea: a primer, is in, bag]]").pairs
    assert (str(old), str(new)) == ("tea: a primer, is on, floor.", "tea: a primer, is in, bag")


# -- JSON -------------------------------------------------------------------------------------------------------------

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def plain(value: object) -> object:
    if isinstance(value, Members):
        return {name: plain(item) for name, item in value.pairs}
    return [plain(item) for item in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5), st.booleans())
def test_valid_json_is_read_as_it_is(value: dict[str, object], ascii_only: bool) -> None:
    answer = parse_object(json.dumps(value, ensure_ascii=ascii_only))
    assert plain(answer.value) == value
    assert answer.repairs == answer.failures == ()


@given(st.dictionaries(st.text(alphabet="ab 'é\n\\\ud83d\U0001f600", min_size=1), st.text(alphabet="xy,: \\\n")))
def test_the_forgiving_scanner_agrees_with_json_where_only_a_bracket_is_missing(value: dict[str, str]) -> None:
    answer = parse_object(json.dumps(value)[:-1])
    assert plain(answer.value) == value
    assert {repair.kind for repair in answer.repairs} == {RepairKind.MISSING_BRACKET}


PLAN = {
    "main_goal": "Warm the room",
    "plan_steps": [
        {"sub_goal_1": "Find the matches", "reason": "The stove is cold"},
        {"sub_goal_2": 'Light the "big" stove', "reason": "No other fire, as far as seen"},
    ],
    "your_emotion": {"your_current_emotion": "calm", "reason_behind_emotion": "all is well"},
}
SUB_GOALS = (
    ParsedSubGoal("Find the matches", "The stove is cold"),
    ParsedSubGoal('Light the "big" stove', "No other fire, as far as seen"),
)


def test_a_plan_as_asked_for() -> None:
    plan = parse_plan(json.dumps(PLAN, indent=2))
    assert (plan.main_goal, plan.sub_goals) == ("Warm the room", SUB_GOALS)
    assert (plan.emotion, plan.emotion_reason) == ("calm", "all is well")
    assert plan.repairs == plan.failures == ()


TEXT = json.dumps(PLAN, indent=2)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"```json\n{TEXT}\n```", {RepairKind.CODE_FENCE}),
        (f"The plan: {TEXT} Good luck.", {RepairKind.TEXT_BEFORE, RepairKind.TEXT_AFTER}),
        (TEXT.replace('cold"', 'cold",'), {RepairKind.TRAILING_COMMA}),
        (TEXT.replace('matches",', 'matches"'), {RepairKind.MISSING_COMMA}),
        (TEXT.replace('\\"', '"'), {RepairKind.INNER_QUOTE}),
        (TEXT.replace('"', "'").replace("\\'", '"'), {RepairKind.SINGLE_QUOTES}),
        (TEXT.replace('"main_goal"', "main_goal"), {RepairKind.BARE_WORD}),
        (TEXT.replace("The stove is cold", "The stove\\ is cold"), {RepairKind.BAD_ESCAPE}),
        (TEXT[:-1], {RepairKind.MISSING_BRACKET}),
    ],
)
def test_a_damaged_plan_is_repaired_and_each_repair_is_named(text: str, kinds: set[RepairKind]) -> None:
    plan = parse_plan(text)
    assert (plan.main_goal, plan.sub_goals, plan.emotion) == ("Warm the room", SUB_GOALS, "calm")
    assert {repair.kind for repair in plan.repairs} == kinds
    assert plan.failures == ()


def test_a_line_break_inside_a_string_is_kept() -> None:
    plan = parse_plan(TEXT.replace("stove is cold", "stove\nis cold"))
    assert plan.sub_goals[0].reason == "The stove\nis cold"
    assert {repair.kind for repair in plan.repairs} == {RepairKind.RAW_NEWLINE}


def test_sub_goals_in_one_object_with_repeated_reasons_are_all_kept() -> None:
    plan = parse_plan('{"main_goal": "g", "sub_goal_1": "a", "reason": "x", "sub_goal_2": "b", "reason": "y"}')
    assert plan.sub_goals == (ParsedSubGoal("a", "x"), ParsedSubGoal("b", "y"))


@pytest.mark.parametrize("length", range(len(TEXT)))
def test_a_plan_cut_short_invents_nothing_and_says_so(length: int) -> None:
    plan = parse_plan(TEXT[:length])
    assert [goal.goal for goal in plan.sub_goals] == [goal.goal for goal in SUB_GOALS[: len(plan.sub_goals)]]
    assert all(goal.reason in ("", whole.reason) for goal, whole in zip(plan.sub_goals, SUB_GOALS, strict=False))
    assert plan.failures or plan.repairs


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("", [FailureReason.EMPTY]),
        ("I do not know.", [FailureReason.NO_OBJECT]),
        ("{}", [FailureReason.NO_MAIN_GOAL, FailureReason.NO_SUB_GOAL]),
        ('{"main_goal": "g", "plan_steps": "none"}', [FailureReason.WRONG_TYPE, FailureReason.NO_SUB_GOAL]),
        ('{"main_goal": "g", "plan_steps": [{"sub_goal_1": "a"}], "mood": 3}', [FailureReason.UNKNOWN_KEY]),
        (
            '{"main_goal": "g", "plan_steps": [{"sub_goal_1": ["a"]}, 7]}',
            [FailureReason.WRONG_TYPE] * 2 + [FailureReason.NO_SUB_GOAL],
        ),
        ('{"main_goal": "g", "sub_goal_1": "a"} {"main_goal": "h"}', [FailureReason.SEVERAL_OBJECTS]),
        ('{"main_goal": "g", "sub_goal_1": "a", "x" "y"}', [FailureReason.UNREADABLE]),
        (
            '{"main_goal": "g", "sub_goal_1": "a", "x": ' + "[" * 5000,
            [FailureReason.TOO_DEEP, FailureReason.UNKNOWN_KEY],
        ),
    ],
)
def test_what_a_plan_lacks_or_has_too_much_is_named(text: str, reasons: list[FailureReason]) -> None:
    assert [failure.reason for failure in parse_plan(text).failures] == reasons


# -- actions ----------------------------------------------------------------------------------------------------------

OFFERED = ["take Red Cup", "go north", "look"]


@pytest.mark.parametrize(
    ("text", "action", "kinds"),
    [
        ('{"reason_for_action": "thirst", "action_to_take": "take Red Cup"}', "take Red Cup", []),
        ('{"action_to_take": "Take  red cup"}', "take Red Cup", [RepairKind.OTHER_WRITING]),
        ('{"action_to_take": "go to the Attic"}', "go to the Attic", []),
        ('"go north".', "go north", [RepairKind.PLAIN_TEXT]),
        ('{"reason_for_action": "bored"\n "action_to_take": "look"}', "look", [RepairKind.MISSING_COMMA]),
    ],
)
def test_an_action_that_was_offered(text: str, action: str, kinds: list[RepairKind]) -> None:
    answer = parse_action(text, OFFERED, rooms={"attic"})
    assert answer.action == action
    assert [repair.kind for repair in answer.repairs] == kinds
    assert answer.failures == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"action_to_take": "go to cellar"}', FailureReason.NOT_OFFERED),
        ('{"action_to_take": "dance"}', FailureReason.NOT_OFFERED),
        ('{"reason_for_action": "none"}', FailureReason.NO_ACTION),
        ("dance", FailureReason.NO_OBJECT),
        ('{"action_to_take": "go nor', FailureReason.CUT_SHORT),
    ],
)
def test_no_action_takes_the_place_of_one_that_cannot_be_used(text: str, reason: FailureReason) -> None:
    answer = parse_action(text, OFFERED, rooms={"attic"})
    assert answer.action is None
    assert reason in [failure.reason for failure in answer.failures]


def test_weighed_actions() -> None:
    answer = parse_action('{"look": "0.2", "go north": 0.5, "dance": "30%"}', OFFERED)
    assert answer.choices == (WeightedAction("look", 0.2), WeightedAction("go north", 0.5))
    assert answer.action == "go north"
    assert [(failure.text, failure.reason) for failure in answer.failures] == [("dance", FailureReason.NOT_OFFERED)]


# -- any text ---------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ['"', "'", "{", "}", "[", "]", ",", ":", ";", "->", "\\", "\\u12", "\n", "\0", "\ud800", "```", "sub_goal_1",
     "main_goal", "action_to_take", "reason", "plan_steps", "cup, is in, sink", "1e999", "true", "\u201c", " ", "x"]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join))
def test_no_text_raises_and_none_goes_unnoticed(text: str) -> None:
    plan, action = parse_plan(text), parse_action(text)
    assert (plan.main_goal and plan.sub_goals) or plan.failures
    assert action.choices or action.failures
    outdated = parse_outdated(text)
    assert outdated.pairs or outdated.failures or not any(letter.isalnum() for letter in text) or outdated.repairs
    extractor = AriGraphExtractor(lambda _: text, lambda candidates, new: text)
    view = TemporalGraph().view()
    extraction = extractor.outdate("seen", extractor.extract("seen"), view)
    assert TemporalGraph([Episode("seen", 1, extraction=extraction)]).counts()["episodes"] == 1
    for failure in extraction.failures:
        assert "\0" not in failure
        failure.encode()


@settings(max_examples=200)
@given(st.data())
def test_a_randomly_damaged_plan_never_raises(data: st.DataObject) -> None:
    text = TEXT
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(PIECES) + text[place + data.draw(st.integers(0, 3)) :]
    plan = parse_plan(text)
    assert plan.sub_goals or plan.failures


@pytest.mark.parametrize(
    "unit",
    ['"', "'", "{", "[", "[[a,b,c->", "\\", '\\"', '{ "', "```", '"a":', "-> ", ": ", ";", "{   ", "{a ", '"  ', "],["],
)
@pytest.mark.slow
def test_time_grows_with_the_length_only(unit: str, time_growth: Callable[..., float]) -> None:
    for parse in PARSERS:
        assert time_growth(lambda size, parse=parse: parse('{"a": ' + unit * (size // len(unit))), 1_600) < 16


@pytest.mark.parametrize("parse", PARSERS)
def test_something_else_than_a_text_is_refused(parse: object) -> None:
    with pytest.raises(InputError, match="must be a string, not NoneType"):
        parse(None)  # type: ignore[operator]


# -- the extractor ----------------------------------------------------------------------------------------------------


def graph_of(*lines: str) -> TemporalGraph:
    return TemporalGraph([Episode("before", 1, extraction=Extraction("by hand", tuple(facts(*lines))))])


def held(graph: TemporalGraph) -> list[str]:
    return sorted(str(fact) for fact in graph.view().facts())


def reader_of(triplets: str, outdated: str) -> AriGraphExtractor:
    return AriGraphExtractor(lambda text: triplets, lambda candidates, new: outdated)


def test_a_step_from_answers_to_graph() -> None:
    graph = graph_of("cup, is in, sink", "hall, has exit, north", "sink, is in, hall")
    extractor = reader_of(
        "cup, is in, inventory; hall, has exit, north", "[[cup, is in, sink -> cup, is in, inventory]]"
    )
    assert isinstance(extractor, Extractor)
    read = extractor.extract("You take the cup and go north.")
    extraction = extractor.outdate(
        "You take the cup.", read, graph.view(), rooms={"Hall", "Yard"}, move=RoomChange("Hall", "Yard", "go north")
    )
    assert [str(ending.statement) for ending in extraction.endings] == ["cup, is in, sink"]
    assert extraction.endings[0].reason == "replaced by: cup, is in, inventory"
    graph.add(Episode("You take the cup.", 2, extraction=extraction))
    assert held(graph) == [
        "cup, is in, inventory", "hall, has exit, north", "hall, is south of, yard", "sink, is in, hall",
        "yard, is north of, hall",
    ]  # fmt: skip
    assert graph.view(1).holds(Fact("cup", "is in", "sink"))


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (RoomChange("Hall", "Yard", "go West"), ["yard, is west of, hall", "hall, is east of, yard"]),
        (RoomChange("Hall", "Yard", "go to Yard"), []),
        (RoomChange("Hall", "Hall", "go west"), []),
        (RoomChange("Hall", "Yard", "climb"), []),
    ],
)
def test_how_rooms_lie_comes_from_steps_with_a_direction_only(move: RoomChange, expected: list[str]) -> None:
    assert [str(fact) for fact in spatial_facts(move)] == expected


def test_what_becomes_of_an_outdated_fact() -> None:
    view = graph_of("cup, is in, sink", "yard, is north of, hall", "lid, is, the shut").view()
    stated = facts("cup, is in, sink")
    fates = {str(old): deletion_outcome(old, view, stated, {"yard", "hall"}) for old in facts(
        "cup, is in, sink", "yard, is north of, hall", "lid, is, shut", "lid, is, the shut"
    )}  # fmt: skip
    assert list(fates.values()) == [
        DeletionOutcome.RESTATED,
        DeletionOutcome.ROOMS,
        DeletionOutcome.UNKNOWN,
        DeletionOutcome.ENDED,
    ]


def test_a_link_to_a_room_that_was_not_visited_can_end() -> None:
    graph = graph_of("yard, is north of, hall")
    extractor = reader_of("", "[[yard, is north of, hall -> pond, is north of, hall]]")
    extraction = extractor.outdate("", extractor.extract(""), graph.view(), rooms={"hall"})
    assert [str(ending.statement) for ending in extraction.endings] == ["yard, is north of, hall"]


def test_a_fact_deleted_and_extracted_again_in_one_step_holds_on() -> None:
    graph = graph_of("cup, is in, sink")
    extractor = reader_of("cup, is in, sink", "[[cup, is in, sink -> cup, rests in, sink]]")
    graph.add(Episode("look", 2, extraction=extractor.outdate("look", extractor.extract("look"), graph.view())))
    assert held(graph) == ["cup, is in, sink"]


def test_candidates_share_an_entity_by_exact_name_and_say_nothing_lasting() -> None:
    view = graph_of(
        "cup, is in, sink", "sink, is in, hall", "hall, has exit, west", "cup, used for, tea", "cups, are in, hall",
        "soup, to be, served in cup", "a cup, is, blue",
    ).view()  # fmt: skip
    found = [str(fact) for fact in outdated_candidates(view, facts("cup, is in, inventory"))]
    assert found == ["cup, is in, sink"]


def test_the_second_answer_is_asked_for_with_candidates_and_what_is_new() -> None:
    asked: list[tuple[list[str], list[str]]] = []

    def ask(candidates: Sequence[Fact], new: Sequence[Fact]) -> str:
        asked.append(([str(fact) for fact in candidates], [str(fact) for fact in new]))
        return "[]"

    extractor = AriGraphExtractor(lambda text: "cup, is in, bag; cup, is, red", ask, concurrency=3)
    extractor.outdate("", extractor.extract(""), graph_of("cup, is, red", "cup, is in, sink").view())
    assert asked == [(["cup, is, red", "cup, is in, sink"], ["cup, is in, bag"])]
    assert extractor.concurrency == 3


def test_failures_of_both_answers_are_in_the_reading_and_no_fact_has_an_aspect() -> None:
    extractor = reader_of("cup is red; cup, is, red", "[[cup, is -> cup, is, red]]")
    extraction = extractor.outdate("", extractor.extract(""), TemporalGraph().view())
    assert extraction.failures == ("cup is red", "cup, is -> cup, is, red")
    assert [statement.aspect for statement in extraction.statements] == [None]
    assert extraction.extractor == "arigraph/1"
