from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from worldthread.errors import InputError, ModelCallError, ReplayError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage
from worldthread.models.fake_chat import FakeChat


def ask(text: str, purpose: str = "test") -> ChatRequest:
    return ChatRequest((Message("system", "a key"), Message("user", text)), purpose)


def test_answers_in_order_then_a_clear_error() -> None:
    whole = ChatAnswer("cut", finish_reason="length")
    model = FakeChat(["one or two", whole])
    assert isinstance(model, ChatModel)
    assert (model.name, model.concurrency, model.left) == ("fake", 1, 2)
    first = model.complete(ask("hello there"))
    assert (first.text, first.model, first.usage) == ("one or two", "fake", Usage(4, 3))
    assert model.complete(ask("again")) is whole
    assert model.left == 0
    with pytest.raises(
        ReplayError, match="gave all its 2 answers, and has none to the request for 'plan' that ends in"
    ):
        model.complete(ask("once more", "plan"))
    assert [request.messages[-1].content for request in model.requests] == ["hello there", "again", "once more"]


def test_a_mapping_is_searched_in_order() -> None:
    model = FakeChat({"red key": "chest", "key": "door"})
    assert model.complete(ask("where is the red key?")).text == "chest"
    assert model.complete(ask("where is the key?")).text == "door"
    with pytest.raises(ReplayError, match="none of its keys occurs there"):
        model.complete(ask("where is the lamp?"))


def test_a_function_is_given_the_request() -> None:
    model = FakeChat(lambda request: request.purpose.upper())
    assert model.complete(ask("x", "plan")).text == "PLAN"


@pytest.mark.parametrize("shape", ["list", "mapping", "function"])
def test_errors_are_raised(shape: str) -> None:
    error = ModelCallError("down", status=503)
    answers = {"list": [error, "up"], "mapping": {"x": error}, "function": lambda request: error}[shape]
    with pytest.raises(ModelCallError) as caught:
        FakeChat(answers).complete(ask("x"))
    assert caught.value is error


def test_one_text_is_no_list_of_answers() -> None:
    with pytest.raises(InputError, match="a list, a mapping or a function"):
        FakeChat("yes")


def test_the_list_is_copied() -> None:
    answers = ["one"]
    model = FakeChat(answers)
    answers.append("two")
    assert model.left == 1


def test_threads_get_one_answer_each_and_functions_run_at_once() -> None:
    model = FakeChat([str(number) for number in range(200)], concurrency=8)
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: model.complete(ask("x")).text, range(200)))
    assert sorted(map(int, texts)) == list(range(200))
    together = Barrier(4, timeout=600)
    waiting = FakeChat(lambda request: str(together.wait()), concurrency=4)
    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(lambda _: waiting.complete(ask("x")).text, range(4))}) == 4
