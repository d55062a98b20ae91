from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import AnswerError, InputError, ModelCallError
from worldthread.models.chat import ChatAnswer, ChatRequest, Message
from worldthread.models.fake_chat import FakeChat
from worldthread.models.structured import complete_structured, parse_answer, read_meant, schema_of


class Fact(msgspec.Struct, forbid_unknown_fields=True):
    subject: str
    object: str
    certainty: float | None


class Facts(msgspec.Struct, forbid_unknown_fields=True):
    facts: list[Fact]


class Loose(msgspec.Struct):
    count: int = 0


class Tree(msgspec.Struct, forbid_unknown_fields=True):
    children: list[Tree]


GOOD = '{"facts": [{"subject": "key", "object": "red } chest {", "certainty": 1}]}'
FACTS = Facts([Fact("key", "red } chest {", 1.0)])
REQUEST = ChatRequest((Message("user", "Where is the key?"),), "extract", max_tokens=50)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\ufeff \n{GOOD}\n",
        f"Here you are:\n```json\n{GOOD}\n```\nI hope it helps {{really}}.",
        f"In the form {{facts}} that you want: {GOOD}}}",
        f"<think>{{'a': 1}} or {{\"facts\": []}}?</think>\n{GOOD}",
        f'I could write {{"facts": []}}.</think>{GOOD}',
        f"<THINKING>hm</THINKING>{GOOD}",
        f"{GOOD} and once more: {GOOD}",
        GOOD.replace("}]}", "}\n  ]\t}").replace("1}", "1.0}"),
    ],
)
def test_the_object_is_found(text: str) -> None:
    assert parse_answer(text, Facts) == FACTS


def test_a_value_may_hold_anything() -> None:
    value = '</think> ``` {"facts": []} \\ \u0000 $x'
    text = json.dumps({"facts": [{"subject": value, "object": "😀", "certainty": None}]})
    assert parse_answer(text, Facts).facts[0] == Fact(value, "😀", None)
    for start in ("<think>so</think>\n", "Here: "):
        opening = text.replace("</think>", "<think>")
        assert parse_answer(start + opening, Facts).facts[0].object == "😀"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no JSON object"),
        ("I know nothing.", "holds no JSON object"),
        ("[]", "holds no JSON object"),
        ("<think>It may be " + GOOD, "holds no JSON object"),
        (GOOD[:-1], "damaged"),
        (GOOD.replace('"key"', '"key'), "damaged"),
        ('{"facts": [], }', "damaged"),
        ("{'facts': []}", "holds no JSON object"),
        ('{"facts": []} or {"facts": [{"subject": "a", "object": "b", "certainty": null}]}', "several"),
        ('{"facts": [], "note": "x"}', "unknown field `note`"),
        ('{"facts": {}}', "Expected `array`"),
        ("{}", "missing required field `facts`"),
        (GOOD.replace('"key"', "5"), "Expected `str`, got `int`"),
        (GOOD.replace("1}", '"1"}'), "certainty"),
        (GOOD.replace("1}", "NaN}"), "does not fit"),
        (GOOD.replace("1}", "1e999}"), "out of range"),
        (GOOD.replace("1}", "9" * 5000 + "}"), "damaged"),
        (GOOD.replace("key", "\ud800"), "surrogates"),
        (GOOD.replace("key", "\\ud800"), "does not fit"),
        ('{"facts": [{"subject": "a", "object": "b", "certainty": null}, {"subject": "c"', "damaged"),
        ('{"a":' * 200_000, "damaged"),
        ('{"facts":' + "[" * 200_000, "damaged"),
        ('{"x": 1} ' * 100, "more than 64"),
    ],
)
def test_what_cannot_be_used(text: str, says: str) -> None:
    with pytest.raises(AnswerError, match=says) as caught:
        parse_answer(text, Facts)
    assert caught.value.text is text
    assert caught.value.repair is None
    assert len(str(caught.value)) < 1000


def test_a_part_of_a_damaged_object_is_not_taken_for_the_whole() -> None:
    with pytest.raises(AnswerError):
        parse_answer('{"plans": {}, "facts": [{"count": 1}', Loose)


def test_a_type_of_msgspecs_own_that_nests_deep() -> None:
    deep = '{"children":[' * 50_000 + "]}" * 50_000
    with pytest.raises(AnswerError):
        parse_answer(deep, Tree)
    assert parse_answer('{"children":[{"children":[]}]}', Tree) == Tree([Tree([])])


@pytest.mark.parametrize(
    "unit", ["{", '{"', "{ ", "{}", "<think>", "</think>", "a", '{"a":[', "\ud800", "[", "```json\n"]
)
def test_the_time_for_a_long_answer_grows_with_its_length_only(unit: str, time_growth: Callable[..., float]) -> None:
    def parse(size: int) -> None:
        with pytest.raises(AnswerError):
            parse_answer(unit * (size // len(unit)), Facts)

    assert time_growth(parse, 20_000) < 16


damaged = st.one_of(
    st.text(),
    st.text(alphabet='{}[]",:\\ \n1e-.tfn<>/hik\ud800'),
    st.builds(
        lambda before, start, end, middle, after: before + GOOD[:start] + middle + GOOD[end:] + after,
        st.text(max_size=5),
        st.integers(0, len(GOOD)),
        st.integers(0, len(GOOD)),
        st.text(alphabet='{}[]",:\\0\u0000\ud800a', max_size=4),
        st.text(max_size=5),
    ),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["facts", "subject", "object", "x"]), inner),
        max_leaves=8,
    ).map(json.dumps),
)


@given(damaged)
@settings(max_examples=500, deadline=None)
def test_damaged_answers_raise_nothing_but_answer_errors(text: str) -> None:
    for into in (Facts, Loose, Tree, dict[str, int]):
        try:
            value: Any = parse_answer(text, into)
        except AnswerError as error:
            assert error.text is text  # noqa: PT017 (most texts raise, some fit)
        else:
            assert isinstance(value, (Facts, Loose, Tree, dict))


def test_the_schema_has_an_object_at_its_root() -> None:
    schema = schema_of(Facts)
    assert schema["type"] == "object"
    assert schema["required"] == ["facts"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["facts"]["items"] == {"$ref": "#/$defs/Fact"}
    assert set(schema["$defs"]) == {"Fact"}
    assert json.loads(json.dumps(schema)) == schema
    assert "$defs" not in schema_of(Loose)
    assert set(schema_of(Tree)["$defs"]) == {"Tree"}, "it refers to itself"


@pytest.mark.parametrize("into", [list[Fact], int, Fact | None, object, complex])
def test_a_type_whose_values_are_no_objects(into: Any) -> None:
    with pytest.raises(InputError):
        schema_of(into)


def test_a_good_answer_needs_one_call() -> None:
    model = FakeChat([GOOD])
    assert complete_structured(model, REQUEST, Facts) == FACTS
    assert [request.schema for request in model.requests] == [schema_of(Facts)]
    assert model.requests[0].messages == REQUEST.messages


def test_a_bad_answer_is_repaired_once() -> None:
    model = FakeChat(['{"facts": 5}', GOOD])
    assert complete_structured(model, REQUEST, Facts) == FACTS
    asked, bad, repair = model.requests[1].messages
    assert (asked, bad) == (REQUEST.messages[0], Message("assistant", '{"facts": 5}'))
    assert repair.role == "user"
    assert "Expected `array`, got `int`" in repair.content
    assert json.dumps(schema_of(Facts)) in repair.content
    assert "cut off" not in repair.content
    assert (model.requests[1].purpose, model.requests[1].max_tokens) == ("extract", 50)


def test_two_bad_answers_are_an_error_with_both() -> None:
    model = FakeChat(["no", ChatAnswer('{"facts": [', finish_reason="length")])
    with pytest.raises(
        AnswerError, match=r"fake gave no usable answer for 'extract'.*no JSON object.*cut off"
    ) as caught:
        complete_structured(model, REQUEST, Facts)
    assert (caught.value.text, caught.value.repair) == ("no", '{"facts": [')
    assert len(model.requests) == 2


def test_the_repair_of_an_answer_that_was_cut_off_asks_for_a_shorter_one() -> None:
    model = FakeChat([ChatAnswer(GOOD[:20], finish_reason="length"), GOOD])
    complete_structured(model, REQUEST, Facts)
    assert "answer more briefly" in model.requests[1].messages[-1].content
    assert model.requests[1].messages[1].content == GOOD[:20]


def test_an_answer_that_repeats_itself_until_it_is_cut_off_is_quoted_in_brief() -> None:
    """With all of it before its eyes SmolLM2 went on with the same sentence, with its beginning it answered."""
    model = FakeChat([ChatAnswer('{"facts": ["' + "The lantern. " * 400, finish_reason="length"), GOOD])
    assert complete_structured(model, REQUEST, Facts) == FACTS
    quoted = model.requests[1].messages[1].content
    assert quoted.startswith('{"facts": ["The lantern. The lantern.')
    assert quoted.endswith(" …")
    assert len(quoted) == 152


@pytest.mark.parametrize(
    ("first", "quoted"), [("", "(no answer)"), (" \n", "(no answer)"), ("x" * 10**6, "x" * 20_000)]
)
def test_what_of_a_bad_answer_is_sent_back(first: str, quoted: str) -> None:
    model = FakeChat([first, GOOD])
    complete_structured(model, REQUEST, Facts)
    assert model.requests[1].messages[1].content == quoted


def test_a_schema_that_was_given_is_kept_and_errors_of_the_model_pass() -> None:
    own = ChatRequest(REQUEST.messages, "extract", schema={"type": "object"})
    model = FakeChat([GOOD])
    complete_structured(model, own, Facts)
    assert model.requests[0].schema == {"type": "object"}
    with pytest.raises(ModelCallError, match="down"):
        complete_structured(FakeChat(["bad", ModelCallError("down")]), REQUEST, Facts)


class _Thing(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    size: int
    note: str | None


class _Things(msgspec.Struct, forbid_unknown_fields=True):
    things: list[_Thing]
    others: list[str]


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ('{"things": [{"name": 30, "size": "4", "note": null}], "others": []}', _Things([_Thing("30", 4, None)], [])),
        (
            '{"things": [{"name": "a, ]", "size": 4, "note": "x"},], "others": ["b",]}',
            _Things([_Thing("a, ]", 4, "x")], ["b"]),
        ),
        ('{"things": [{"name": true, "size": 1}]}', _Things([_Thing("true", 1, None)], [])),
        ('{"others": [1.5]}', _Things([], ["1.5"])),
        ("{}", None),
        ('{"things": [{"name": null, "size": 1}]}', None),
        ('{"things": [{"name": "a", "size": "four"}]}', None),
        ('{"things": [], "error": "quota"}', None),
        ('{"things": {"name": "a"}}', None),
        ('{"others": ["a"]} {"others": ["b"]}', None),
        ('{"others": ["a"', None),
        ("no", None),
    ],
)
def test_what_is_certainly_meant_is_read_and_nothing_is_guessed(answer: str, meant: _Things | None) -> None:
    assert read_meant(answer, _Things) == meant
    if meant is not None:
        request = ChatRequest((Message("user", "Things?"),), "test")
        assert complete_structured(FakeChat([answer, answer]), request, _Things) == meant
