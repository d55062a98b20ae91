"""What a chat model costs: a dated table of prices that ships with the package, and prices of one's own beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, TypeAlias

import msgspec

from worldthread.errors import InputError
from worldthread.models.chat import Usage

Dollars: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e6)]

_SNAPSHOT: Final = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3}|latest)")
"""What makers put behind the name of a model to name one state of it: -2024-07-18, -20250929, -0613, -001, -latest."""

_TOKENS: Final = 1_000_000


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What tokens of one model cost, in US dollars for a million of them.

    Args:
        input: tokens read, 0 or more.
        output: tokens written, 0 or more; reasoning counts among them.
        cached_input: tokens read that the server had at hand; ``None`` when they cost what all others do.
    """

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None

    def dollars(self, usage: Usage) -> float:
        """What ``usage`` costs."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cached_input = self.input if self.cached_input is None else self.cached_input
        total = (usage.prompt_tokens - cached) * self.input + cached * cached_input
        return (total + usage.completion_tokens * self.output) / _TOKENS


FREE: Final = Price(input=0.0, output=0.0)
"""What a model on one's own machine costs."""


class PriceTable:
    """Prices by the names of models.

    Args:
        date: the month that the prices of ``listed`` are of, ``"YYYY-MM"``.
        source: where they are from.
        listed: prices of hosted models.
        own: prices that the user gave; they come before those of ``listed``.
    """

    def __init__(
        self, date: str, source: str, listed: Mapping[str, Price], own: Mapping[str, Price] | None = None
    ) -> None:
        self.date = date
        self.source = source
        self.listed = dict(listed)
        self.own = dict(own or {})

    def find(self, model: str, *, local: bool = False) -> Price | None:
        """The price of ``model``: that of its exact name, else that of the name without the date of a snapshot.

        A name that merely begins like another (``"gpt-4o-audio"``) is another model, whose price is not known.

        Args:
            model: name of the model, as it is sent to the server.
            local: whether it runs on a machine of the user. Such a model is free, whatever it is called, unless the
                user gave its price.

        Returns:
            ``None`` when the price is not known.
        """
        own = _find(self.own, model)
        if own is not None or not local:
            return own or _find(self.listed, model)
        return FREE

    def with_own(self, prices: Mapping[str, object]) -> PriceTable:
        """A table in which ``prices`` come before all others.

        Args:
            prices: by name of the model, each a :class:`Price` or a mapping such as the table ``[prices."NAME"]`` of a
                TOML file gives: ``{"input": 0.15, "output": 0.6}``.

        Raises:
            InputError: a price is not what it should be; the message says which.
        """
        return PriceTable(self.date, self.source, self.listed, self.own | _own_prices(prices))


@cache
def load_prices() -> PriceTable:
    """The table that ships with the package, ``prices.toml``; its head says what the figures are."""
    text = files("worldthread.models").joinpath("prices.toml").read_bytes()
    content = msgspec.toml.decode(text, type=_PriceFile)
    return PriceTable(content.date, content.source, content.prices)


class _PriceFile(msgspec.Struct, forbid_unknown_fields=True):
    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]
    source: str
    prices: dict[str, Price]


def _find(prices: Mapping[str, Price], model: str) -> Price | None:
    if model in prices:
        return prices[model]
    head, _, _ = model.rpartition("-")
    while head:
        if _SNAPSHOT.fullmatch(model, len(head)) and head in prices:
            return prices[head]
        head, _, _ = head.rpartition("-")
    return None


def _own_prices(prices: Mapping[str, object]) -> dict[str, Price]:
    own: dict[str, Price] = {}
    for name, price in prices.items():
        try:
            # a Price made in Python was not checked by anyone
            given = msgspec.structs.asdict(price) if isinstance(price, Price) else price
            own[name] = msgspec.convert(given, Price)
        except msgspec.ValidationError as error:
            raise InputError(
                f'the price of the model {name!r} is not usable: {error}. It is given as [prices."{name}"] with input, '
                f"output and, at will, cached_input, in dollars for a million tokens"
            ) from error
    return own
