"""The fake player: whatever it is asked for, its answers fit, and they are the same again."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from worldthread.errors import AnswerError, InputError
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.structured import complete_structured, schema_of
from worldthread_lab.agents.valid_actions import valid_actions_in, valid_actions_text
from worldthread_lab.play.fake_player import COMMANDS, FakePlayer

ACTIONS = ("go north", "take brass key from tin box", "drop lantern, slowly")


class Leaf(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["red", "blue"]
    weight: Annotated[float, Meta(ge=-1, lt=0.5)]


class Tree(msgspec.Struct, forbid_unknown_fields=True):
    leaves: Annotated[list[Leaf], Meta(min_length=2, max_length=4)]
    below: Tree | None
    name: Annotated[str, Meta(min_length=3, max_length=6)]
    grade: Annotated[int, Meta(ge=1, le=10)]
    by_name: dict[str, bool]
    either: int | str | None
    tags: tuple[str, int]


class Move(msgspec.Struct, forbid_unknown_fields=True):
    thought: str
    action: str
    index: int


def request(text: str, into: type | None = None) -> ChatRequest:
    schema = None if into is None else schema_of(into)
    return ChatRequest((Message("system", "You play."), Message("user", text)), "act", schema)


@pytest.mark.parametrize("seed", range(20))
def test_any_schema_is_fitted_the_same_way_again(seed: int) -> None:
    asked = request("There is a lantern in the kitchen.", Tree)
    answer = FakePlayer(seed).complete(asked)
    tree = msgspec.json.decode(answer.text, type=Tree)
    assert 2 <= len(tree.leaves) <= 4
    assert answer.text == FakePlayer(seed).complete(asked).text
    assert answer.usage.prompt_tokens == 9


def test_seed_and_request_decide() -> None:
    asked = request("There is a lantern in the kitchen.", Tree)
    assert len({FakePlayer(seed).complete(asked).text for seed in range(8)}) == 8
    others = {FakePlayer(1).complete(request(f"Turn {turn}.", Tree)).text for turn in range(8)}
    assert len(others) == 8


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"const": 7}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"allOf": [{"type": "integer"}, {"minimum": 7, "maximum": 7}]}},
         "required": ["a"]},
        {"type": "object", "properties": {"a": {"oneOf": [{"enum": [7]}, {"type": "integer", "exclusiveMinimum": 6,
         "exclusiveMaximum": 8}]}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#/definitions/seven"}}, "required": ["a"],
         "definitions": {"seven": {"type": ["integer"], "minimum": 7, "maximum": 7}}},
    ],
)  # fmt: skip
def test_other_words_of_json_schema(schema: dict[str, object]) -> None:
    asked = ChatRequest((Message("user", "?"),), "act", schema)
    assert {FakePlayer(seed).complete(asked).text for seed in range(10)} == {'{"a": 7}'}


def test_what_cannot_be_fitted_is_said() -> None:
    for part in ({"type": "strange"}, {"$ref": "#/nowhere"}):
        asked = ChatRequest(
            (Message("user", "?"),), "act", {"type": "object", "properties": {"a": part}, "required": ["a"]}
        )
        with pytest.raises(InputError, match=r"does not support|does not define"):
            FakePlayer().complete(asked)
    with pytest.raises(InputError, match="share"):
        FakePlayer(damaged=1.5)


@pytest.mark.parametrize("listed", [valid_actions_text(ACTIONS[:2]), "Valid actions: " + ", ".join(ACTIONS[:2])])
def test_an_action_is_one_of_the_last_list(listed: str) -> None:
    text = f"{valid_actions_text(['swim'])}\n\nLater.\n\n{listed}\n\nChoose."
    chosen = {json.loads(FakePlayer(seed).complete(request(text, Move)).text)["action"] for seed in range(30)}
    assert chosen == set(ACTIONS[:2])


def test_without_a_list_it_tries_what_text_games_understand() -> None:
    text = f"A dark place.\n\n{valid_actions_text(None)}"
    chosen = {json.loads(FakePlayer(seed).complete(request(text, Move)).text)["action"] for seed in range(60)}
    assert chosen == set(COMMANDS)


def test_an_index_is_one_that_is_shown_last() -> None:
    text = "Rules:\n1. Be brief.\n2. Be kind.\n\nStates:\n[0] Kitchen\n    as it was\n[3] Hall\n[4] Attic\nWhich?"
    chosen = {json.loads(FakePlayer(seed).complete(request(text, Move)).text)["index"] for seed in range(40)}
    assert chosen == {0, 3, 4}


def test_prose_is_a_short_sentence() -> None:
    text = FakePlayer(3).complete(request("The lantern stands in the kitchen.")).text
    assert text == FakePlayer(3).complete(request("The lantern stands in the kitchen.")).text
    assert text.endswith(".")
    assert len(text.split()) == 3


def test_a_share_of_answers_is_damaged() -> None:
    asked = [request(f"Turn {turn}.\n{valid_actions_text(ACTIONS)}", Move) for turn in range(200)]
    model: ChatModel = FakePlayer(damaged=0.5)
    failed = 0
    for one in asked:
        try:
            complete_structured(model, one, Move)
        except AnswerError:
            failed += 1
    assert 25 <= failed <= 80, "a quarter, since each is mended once"
    for one in asked:
        complete_structured(FakePlayer(), one, Move)


def test_lists_of_valid_actions_are_read_back() -> None:
    for actions in (ACTIONS, ("look",)):
        assert valid_actions_in(f"Here.\n{valid_actions_text(actions)}\n\nGo on.") == actions
    for nothing in ("Here.", valid_actions_text(None), valid_actions_text([]), "Valid actions:"):
        assert valid_actions_in(f"Here.\n{nothing}\n\nGo on.") is None
