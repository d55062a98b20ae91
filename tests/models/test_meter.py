from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from worldthread.errors import BudgetError, InputError, ModelCallError, ModelConfigError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage
from worldthread.models.meter import FIRST_COMPLETION_TOKENS, Meter, UsageTotals
from worldthread.models.prices import Price, PriceTable

PRICES = PriceTable("2026-01", "made up", {"toy": Price(input=1, output=10, cached_input=0.1)})


class Toy:
    """Answers what a function makes of the request."""

    name = "toy"
    concurrency = 8

    def __init__(self, answer: Callable[[ChatRequest], ChatAnswer]) -> None:
        self._answer = answer

    def complete(self, request: ChatRequest) -> ChatAnswer:
        return self._answer(request)


def answering(prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0, **fields: Any) -> Toy:
    usage = Usage(prompt_tokens, completion_tokens, cached_tokens)
    return Toy(lambda request: ChatAnswer("yes", usage=usage, **fields))


def asking(text: str = "a key", purpose: str = "extract", **fields: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), purpose, **fields)


def failing(request: ChatRequest) -> ChatAnswer:
    raise ModelCallError("the server is down", status=503, attempts=3)


def test_a_meter_is_a_model() -> None:
    meter = Meter(answering(1, 1))
    assert isinstance(meter, ChatModel)
    assert (meter.name, meter.concurrency) == ("toy", 8)


def test_calls_are_counted_by_purpose() -> None:
    meter = Meter(answering(100, 10, 40, seconds=0.5), prices=PRICES)
    for purpose in ("extract", "plan", "extract"):
        assert meter.complete(asking(purpose=purpose)).text == "yes"
    dollars = (60 * 1 + 40 * 0.1 + 10 * 10) / 1e6
    totals = meter.totals()
    assert list(totals) == ["extract", "plan"]
    assert totals["plan"] == UsageTotals(1, 0, 0, Usage(100, 10, 40), pytest.approx(dollars), 0.5)
    assert totals["extract"] == UsageTotals(2, 0, 0, Usage(200, 20, 80), pytest.approx(2 * dollars), 1.0)
    assert meter.overall() == UsageTotals(3, 0, 0, Usage(300, 30, 120), pytest.approx(3 * dollars), 1.5)


def test_failed_calls_are_counted() -> None:
    meter = Meter(Toy(failing), prices=PRICES)
    with pytest.raises(ModelCallError):
        meter.complete(asking())
    tally = meter.overall()
    assert (tally.calls, tally.failures, tally.usage, tally.dollars) == (1, 1, Usage(), 0)
    assert 0 < tally.seconds < 1
    assert meter.totals()["extract"] == tally


def test_answers_without_a_call_are_counted_apart() -> None:
    meter = Meter(answering(0, 0, attempts=0), prices=PRICES)
    meter.complete(asking())
    assert meter.overall() == UsageTotals(reused=1)


def test_without_a_price_the_dollars_are_not_known() -> None:
    meter = Meter(answering(100, 10), prices=PriceTable("2026-01", "made up", {}))
    assert meter.price is None
    meter.complete(asking())
    assert meter.overall().dollars is None
    assert (UsageTotals(dollars=1.0) + meter.overall()).dollars is None
    assert meter.overall().usage == Usage(100, 10)


def test_a_budget_of_dollars_needs_a_price() -> None:
    empty = PriceTable("2026-01", "made up", {})
    with pytest.raises(ModelConfigError) as caught:
        Meter(answering(1, 1), max_dollars=1, prices=empty)
    assert '[prices."toy"]' in str(caught.value)
    assert "2026-01" in str(caught.value)
    Meter(answering(1, 1), max_dollars=1, prices=empty, local=True)
    Meter(answering(1, 1), max_dollars=1, prices=empty.with_own({"toy": {"input": 1, "output": 1}}))


@pytest.mark.parametrize("limit", [0, -1, math.nan, math.inf, True, "5"])
@pytest.mark.parametrize("name", ["max_tokens", "max_dollars"])
def test_a_budget_is_a_number_above_zero(name: str, limit: Any) -> None:
    with pytest.raises(InputError, match=name):
        Meter(answering(1, 1), prices=PRICES, **{name: limit})


def test_a_budget_of_tokens_stops_the_calls() -> None:
    meter = Meter(answering(80, 20), max_tokens=250, prices=PRICES)
    for _ in range(3):
        meter.complete(asking())
    with pytest.raises(BudgetError, match=r"budget of 250 tokens.*300 tokens.*calls made: 3.*'plan'.*max_tokens"):
        meter.complete(asking(purpose="plan"))
    assert meter.overall().calls == 3
    assert "plan" not in meter.totals()


def test_a_budget_of_dollars_stops_the_calls() -> None:
    meter = Meter(answering(0, 100_000), max_dollars=1.5, prices=PRICES)
    meter.complete(asking())
    meter.complete(asking())
    with pytest.raises(BudgetError, match=r"\$1\.5000.*\$2\.0000.*max_dollars"):
        meter.complete(asking())


def test_a_local_model_never_spends_dollars() -> None:
    meter = Meter(answering(10**6, 10**6), max_dollars=0.01, prices=PRICES, local=True)
    for _ in range(5):
        meter.complete(asking())
    assert meter.overall().dollars == 0


def test_a_budget_error_from_behind_is_no_call() -> None:
    meter = Meter(Meter(answering(80, 20), max_tokens=50, prices=PRICES), prices=PRICES)
    meter.complete(asking())
    with pytest.raises(BudgetError):
        meter.complete(asking())
    assert meter.overall().calls == 1
    assert meter.overall().failures == 0


class Gauge:
    """Answers after a moment, and remembers how many calls were under way at once."""

    name = "toy"
    concurrency = 16

    def __init__(self, completion_tokens: int) -> None:
        self._tokens = completion_tokens
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def complete(self, request: ChatRequest) -> ChatAnswer:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.02)
        with self._lock:
            self._now -= 1
        return ChatAnswer("yes", usage=Usage(1, self._tokens))


def run(meter: Meter, requests: int, **fields: Any) -> list[ChatAnswer | BudgetError]:
    def one(_: int) -> ChatAnswer | BudgetError:
        try:
            return meter.complete(asking("four", **fields))
        except BudgetError as error:
            return error

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, range(requests)))


def test_parallel_calls_stay_within_a_budget_when_the_estimate_is_right() -> None:
    model = Gauge(99)
    meter = Meter(model, max_tokens=1000, prices=PRICES)
    results = run(meter, 40, max_tokens=99)
    assert meter.overall().usage.total_tokens == 1000
    assert sum(isinstance(result, ChatAnswer) for result in results) == 10
    assert 1 < model.most <= 10


def test_calls_that_need_less_than_their_estimate_spend_the_whole_budget() -> None:
    model = Gauge(9)
    meter = Meter(model, max_tokens=1000, prices=PRICES)
    run(meter, 120, max_tokens=499)
    # at most two fit in by their estimates, and in the end one by one
    assert model.most <= 2
    assert meter.overall().usage.total_tokens == 1000


def test_without_a_limit_the_mean_of_the_answers_is_the_estimate() -> None:
    model = Gauge(99)
    meter = Meter(model, max_tokens=FIRST_COMPLETION_TOKENS + 1, prices=PRICES)
    run(meter, 40)
    # nothing is known at first, so the first call has the budget to itself; then they are taken for what they were
    assert meter.overall().usage.total_tokens <= FIRST_COMPLETION_TOKENS + 100
    assert model.most > 1


def test_unbounded_answers_overshoot_by_the_calls_under_way_at_most() -> None:
    model = Gauge(5000)
    meter = Meter(model, max_tokens=1100, prices=PRICES)
    run(meter, 40)
    # two by the first estimate of 501 tokens, none after
    assert meter.overall().calls <= 2


def test_a_budget_of_dollars_holds_for_parallel_calls() -> None:
    meter = Meter(Gauge(100_000), max_dollars=4.5, prices=PRICES)
    run(meter, 16, max_tokens=100_000)
    assert meter.overall().calls == 5


def test_a_failure_gives_back_its_room() -> None:
    meter = Meter(Toy(failing), max_tokens=1000, prices=PRICES)

    def one(_: int) -> bool:
        with pytest.raises(ModelCallError):
            meter.complete(asking(max_tokens=900))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(50)))
    assert meter.overall().failures == 50
