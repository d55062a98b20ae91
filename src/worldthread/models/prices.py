"""Prices of chat models: a dated table that ships with the package, and prices that the user gives."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, TypeAlias

import msgspec

from worldthread.errors import InputError
from worldthread.files.decoding import convert
from worldthread.models.chat import Usage

Dollars: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e6)]

_SNAPSHOT: Final = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3}|latest)")
"""Ending of a model's name that names a snapshot: -2024-07-18, -20250929, -0613, -001, -latest."""

_TOKENS: Final = 1_000_000


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Price of the tokens of one model, in US dollars per million tokens.

    Args:
        input: price of tokens read, 0 or more.
        output: price of tokens written, reasoning included, 0 or more.
        cached_input: price of tokens read from the server's prompt cache; ``None`` if it is that of all tokens read.
    """

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None

    def dollars(self, usage: Usage) -> float:
        """Return the price of ``usage`` in US dollars."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cached_input = self.input if self.cached_input is None else self.cached_input
        total = (usage.prompt_tokens - cached) * self.input + cached * cached_input
        return (total + usage.completion_tokens * self.output) / _TOKENS


FREE: Final = Price(input=0.0, output=0.0)
"""The price of a model on a machine of the user."""


class PriceTable:
    """Prices by the names of models.

    Args:
        date: the month of the prices in ``listed``, ``"YYYY-MM"``.
        source: where they are from.
        listed: prices of hosted models.
        own: prices that the user gave; they override those in ``listed``.
    """

    def __init__(
        self, date: str, source: str, listed: Mapping[str, Price], own: Mapping[str, Price] | None = None
    ) -> None:
        self.date = date
        self.source = source
        self.listed = dict(listed)
        self.own = dict(own or {})

    def find(self, model: str, *, local: bool = False) -> Price | None:
        """Find the price of a model: by its exact name, else by its name without the ending of a snapshot.

        A name that only begins like another one (``"gpt-4o-audio"``) is another model, whose price is not known.

        Args:
            model: name of the model, as it is sent to the server.
            local: whether it runs on a machine of the user. Such a model is free, whatever its name, unless the user
                gave its price.

        Returns:
            The price; ``None`` if it is not known.
        """
        own = _find(self.own, model)
        if own is not None or not local:
            return own or _find(self.listed, model)
        return FREE

    def with_own(self, prices: Mapping[str, object]) -> PriceTable:
        """Make a table in which some prices override all others.

        Args:
            prices: by name of the model, each a :class:`Price` or a mapping like the table ``[prices."NAME"]`` of the
                configuration file: ``{"input": 0.15, "output": 0.6}``.

        Returns:
            The new table.

        Raises:
            InputError: a price is not valid; the message says which.
        """
        return PriceTable(self.date, self.source, self.listed, self.own | _own_prices(prices))


@cache
def load_prices() -> PriceTable:
    """Load the table that ships with the package, ``prices.toml``; the comments in that file explain the figures."""
    text = files("worldthread.models").joinpath("prices.toml").read_text(encoding="utf-8")
    content = convert(tomllib.loads(text), _PriceFile)
    return PriceTable(content.date, content.source, content.prices)


class _PriceFile(msgspec.Struct, forbid_unknown_fields=True):
    date: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]
    source: str
    prices: dict[str, Price]


def without_snapshot(model: str) -> Iterator[str]:
    """Yield the names under which a model may be listed: its own, then those without the ending of a snapshot.

    Args:
        model: the name of the model.

    Yields:
        The names, the longest first.
    """
    yield model
    head, _, _ = model.rpartition("-")
    while head:
        if _SNAPSHOT.fullmatch(model, len(head)):
            yield head
        head, _, _ = head.rpartition("-")


def _find(prices: Mapping[str, Price], model: str) -> Price | None:
    return next((prices[name] for name in without_snapshot(model) if name in prices), None)


def _own_prices(prices: Mapping[str, object]) -> dict[str, Price]:
    own: dict[str, Price] = {}
    for name, price in prices.items():
        try:
            # a Price that was made in Python is not checked yet
            given = msgspec.structs.asdict(price) if isinstance(price, Price) else price
            own[name] = convert(given, Price)
        except msgspec.ValidationError as error:
            raise InputError(
                f'the price of the model {name!r} is not usable: {error}. Give [prices."{name}"] with input, output '
                f"and, if you like, cached_input, in dollars per million tokens"
            ) from error
    return own
