from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.models.chat import Usage
from worldthread.models.prices import FREE, Price, PriceTable, load_prices

TABLE = PriceTable(
    "2026-01",
    "made up",
    {
        "big": Price(input=2, output=8, cached_input=0.5),
        "big-mini": Price(input=1, output=4),
        "big-2024-05-13": Price(input=5, output=9),
    },
)


def test_the_table_of_the_package_says_its_month_and_its_source() -> None:
    table = load_prices()
    assert table.date[:2] == "20"
    assert len(table.date) == 7
    assert "OpenAI" in table.source
    assert load_prices() is table


def test_every_price_of_the_package_is_plausible() -> None:
    for name, price in load_prices().listed.items():
        written = 0 if name.startswith("text-embedding") else price.input  # embedders write nothing
        assert price.input > 0, name
        assert written <= price.output, name
        assert price.cached_input is None or 0 < price.cached_input < price.input, name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("big", 2),
        ("big-mini", 1),
        ("big-2024-05-13", 5),  # a snapshot with a line of its own
        ("big-2024-08-06", 2),
        ("big-mini-2024-07-18", 1),
        ("big-20250929", 2),
        ("big-0613", 2),
        ("big-001", 2),
        ("big-latest", 2),
    ],
)
def test_a_snapshot_costs_what_its_model_costs(name: str, expected: float) -> None:
    price = TABLE.find(name)
    assert price is not None
    assert price.input == expected


@pytest.mark.parametrize(
    "name", ["big-audio", "big-maxi", "bigger", "big.1", "big-7", "big-", "-0613", "", "maker/big", "big-2024-07"]
)
def test_a_name_that_only_begins_alike_has_no_price(name: str) -> None:
    assert TABLE.find(name) is None


def test_own_prices_come_first_and_do_not_change_the_table() -> None:
    own = TABLE.with_own({"big": {"input": 1, "output": 1.5}, "mine": Price(input=3, output=4)})
    assert own.find("big-2024-08-06") == Price(input=1.0, output=1.5)
    assert own.find("mine") == Price(input=3.0, output=4.0)
    assert own.find("big-mini") == TABLE.find("big-mini")
    assert own.date == "2026-01"
    assert TABLE.find("mine") is None
    again = own.with_own({"mine": {"input": 9, "output": 9}})
    assert again.find("mine") == Price(input=9.0, output=9.0)
    assert again.find("big") == own.find("big")


def test_a_local_model_is_free_unless_the_user_says_otherwise() -> None:
    assert TABLE.find("big", local=True) == FREE
    assert TABLE.find("unheard-of", local=True) == FREE
    assert TABLE.with_own({"big": {"input": 0.1, "output": 0.2}}).find("big", local=True) == Price(0.1, 0.2)


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ({"input": -1, "output": 2}, r"\$.input"),
        ({"input": 1}, "output"),
        ({"input": 1, "output": math.nan}, r"\$.output"),
        ({"input": 1, "output": math.inf}, r"\$.output"),
        ({"input": "1", "output": 2}, "got `str`"),
        ({"input": True, "output": 2}, "got `bool`"),
        ({"input": 1, "output": 2, "cached": 1}, "unknown field `cached`"),
        (3, "got `int`"),
        (None, "got `null`"),
        (Price(input=-3, output=1), r"\$.input"),
    ],
)
def test_a_price_that_is_none_is_refused(price: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        TABLE.with_own({"mine": price})
    assert '[prices."mine"]' in str(caught.value)


def test_cached_tokens_cost_their_own_price() -> None:
    price = Price(input=2, output=8, cached_input=0.5)
    assert price.dollars(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 4)
    assert Price(input=2, output=8).dollars(Usage(1_000_000, 0, 400_000)) == pytest.approx(2)
    # a server that counts cached tokens beside those of the prompt
    assert price.dollars(Usage(100, 0, 1_000_000)) == pytest.approx(100 * 0.5 / 1e6)


tokens = st.integers(0, 10**9)


@given(a=st.tuples(tokens, tokens), b=st.tuples(tokens, tokens))
def test_dollars_add_up(a: tuple[int, int], b: tuple[int, int]) -> None:
    price = Price(input=2.5, output=10)
    assert price.dollars(Usage(*a)) + price.dollars(Usage(*b)) == pytest.approx(price.dollars(Usage(*a) + Usage(*b)))
