"""Counts what the calls of a model use, by purpose, and stops them at a budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil, isfinite
from typing import Final

from worldthread.errors import BudgetError, InputError, ModelCallError, ModelConfigError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Usage, WrappedChat
from worldthread.models.prices import Price, PriceTable, load_prices
from worldthread.models.request_key import to_json

CHARACTERS_PER_TOKEN: Final = 4
"""Estimates the tokens of a prompt before it is sent."""

FIRST_COMPLETION_TOKENS: Final = 500
"""Estimate of an answer's tokens until the first answer is counted."""


@dataclass(frozen=True)
class BudgetOptions:
    """Where a user sets the budgets, in the words of errors.

    Args:
        tokens: the options of the budget in tokens.
        dollars: the options of the budget in US dollars.
    """

    tokens: str
    dollars: str


CHAT_BUDGET: Final = BudgetOptions(
    "`tokens` under [budget] of the configuration, budget_tokens of chat_model, max_tokens of Meter",
    "`dollars` under [budget] of the configuration, budget_dollars of chat_model, max_dollars of Meter",
)
EMBEDDER_BUDGET: Final = BudgetOptions(
    "`budget_tokens` under [embedder] of the configuration, budget_tokens of embedder",
    "`budget_dollars` under [embedder] of the configuration, budget_dollars of embedder",
)


@dataclass(frozen=True)
class UsageTotals:
    """What a number of requests used.

    Args:
        calls: requests that were sent to a server, failed ones included; one that was sent again after a failure
            counts once.
        failures: those of ``calls`` that ended in an error; their tokens are not known and count as 0.
        reused: requests that were answered without a call, from a cache or a recording.
        usage: tokens of all answers.
        dollars: price of ``usage`` in US dollars; ``None`` if the price of the model is not known.
        seconds: sum of the durations of the calls; with several calls at once, more than the time that passed.
    """

    calls: int = 0
    failures: int = 0
    reused: int = 0
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: UsageTotals) -> UsageTotals:
        dollars = None if self.dollars is None or other.dollars is None else self.dollars + other.dollars
        return UsageTotals(
            self.calls + other.calls,
            self.failures + other.failures,
            self.reused + other.reused,
            self.usage + other.usage,
            dollars,
            self.seconds + other.seconds,
        )


class UsageMeter:
    """Counts calls and makes room for them in a budget. Thread-safe.

    A call is made while less than the budget is spent. With calls at the same time, the estimates of the running calls
    count as spent: a call that would exceed the budget together with them waits, and is made as soon as there is room
    for it or no other call is running. So the budget is exceeded by no more than the last call, plus what the running
    calls used beyond their estimates.

    Args:
        model: name of the model, as the table of prices knows it.
        max_tokens: budget of tokens read and written, above 0; ``None`` for no limit.
        max_dollars: budget in US dollars, above 0; ``None`` for no limit.
        prices: the table of prices; ``None`` for the one of the package.
        local: whether the model runs on a machine of the user, and is free unless the user gave its price; see
            :meth:`worldthread.models.prices.PriceTable.find`.
        options: where a user sets the budgets.

    Raises:
        InputError: a budget is not a number above 0.
        ModelConfigError: there is a budget in dollars, and the price of the model is not known.
    """

    def __init__(
        self,
        model: str,
        *,
        max_tokens: int | None = None,
        max_dollars: float | None = None,
        prices: PriceTable | None = None,
        local: bool = False,
        options: BudgetOptions = CHAT_BUDGET,
    ) -> None:
        for name, limit in (("max_tokens", max_tokens), ("max_dollars", max_dollars)):
            if limit is not None and not (_is_number(limit) and limit > 0):
                raise InputError(f"{name} must be a number above 0, or None for no limit, not {limit!r}")
        table = load_prices() if prices is None else prices
        self._price = table.find(model, local=local)
        if max_dollars is not None and self._price is None:
            raise ModelConfigError(_price_wanted(model, table))
        self._max_tokens = max_tokens
        self._max_dollars = max_dollars
        self._options = options
        self._changed = threading.Condition()
        self._totals: dict[str, UsageTotals] = {}
        self._overall = self._priced(UsageTotals())
        self._running: dict[object, Usage] = {}

    @property
    def price(self) -> Price | None:
        """The price of the model; ``None`` if it is not known."""
        return self._price

    def totals(self) -> Mapping[str, UsageTotals]:
        """Return the totals of each purpose so far, in the order in which the purposes first occurred."""
        with self._changed:
            return dict(self._totals)

    def overall(self) -> UsageTotals:
        """Return the totals of all requests so far."""
        with self._changed:
            return self._overall

    def count(self, purpose: str, used: UsageTotals) -> None:
        """Add what a request used; its price is computed here."""
        used = self._priced(used)
        with self._changed:
            self._overall += used
            before = self._totals.get(purpose)
            self._totals[purpose] = used if before is None else before + used

    def _priced(self, used: UsageTotals) -> UsageTotals:
        """Return ``used`` with the price of its usage."""
        return replace(used, dollars=None if self._price is None else self._price.dollars(used.usage))

    @contextmanager
    def room_for(self, purpose: str, estimate: Callable[[UsageTotals], Usage]) -> Iterator[None]:
        """Wait until the budget has room for a call, and reserve that room while the block runs.

        Args:
            purpose: what the call is for.
            estimate: estimates what the call will use, from the totals so far.

        Yields:
            Nothing.

        Raises:
            BudgetError: the budget is spent.
        """
        call = object()
        with self._changed:
            while True:
                self._require_budget(purpose)
                usage = estimate(self._overall)
                if not self._running or self._has_room(usage):
                    break
                self._changed.wait()
            self._running[call] = usage
        try:
            yield
        finally:
            with self._changed:
                del self._running[call]
                self._changed.notify_all()

    def _require_budget(self, purpose: str) -> None:
        spent = self._overall
        tokens = spent.usage.total_tokens
        if self._max_tokens is not None and tokens >= self._max_tokens:
            raise BudgetError(
                _spent(f"{self._max_tokens:,} tokens", f"{tokens:,} tokens", spent, purpose, self._options.tokens)
            )
        if self._max_dollars is not None and spent.dollars is not None and spent.dollars >= self._max_dollars:
            raise BudgetError(
                _spent(f"${self._max_dollars:,.4f}", f"${spent.dollars:,.4f}", spent, purpose, self._options.dollars)
            )

    def _has_room(self, estimate: Usage) -> bool:
        usage = sum(self._running.values(), self._overall.usage + estimate)
        if self._max_tokens is not None and usage.total_tokens > self._max_tokens:
            return False
        return self._max_dollars is None or self._price is None or self._price.dollars(usage) <= self._max_dollars


class Meter(WrappedChat, UsageMeter):
    """Counts what the calls of a chat model use, and makes no more calls when the budget is spent. Thread-safe.

    The estimate of a call is one token for every 4 characters of prompt and schema, plus the answer's limit
    ``max_tokens``; without a limit, the mean of all answers so far (500 tokens before the first).

    Args:
        model: answers the requests.
        max_tokens: see :class:`UsageMeter`.
        max_dollars: see :class:`UsageMeter`.
        prices: see :class:`UsageMeter`.
        local: see :class:`UsageMeter`.

    Raises:
        InputError: a budget is not a number above 0.
        ModelConfigError: there is a budget in dollars, and the price of the model is not known.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        max_tokens: int | None = None,
        max_dollars: float | None = None,
        prices: PriceTable | None = None,
        local: bool = False,
    ) -> None:
        WrappedChat.__init__(self, model)
        UsageMeter.__init__(
            self, model.name, max_tokens=max_tokens, max_dollars=max_dollars, prices=prices, local=local
        )

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request and count it; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Args:
            request: the request.

        Returns:
            The answer of the wrapped model.

        Raises:
            BudgetError: the budget is spent; the call was not made.
            ModelCallError: the call failed; it is counted.
        """
        with self.room_for(request.purpose, lambda spent: _estimate(request, spent)):
            start = time.perf_counter()
            try:
                answer = self._model.complete(request)
            except ModelCallError:
                self.count(request.purpose, UsageTotals(calls=1, failures=1, seconds=time.perf_counter() - start))
                raise
            if answer.attempts:
                self.count(request.purpose, UsageTotals(calls=1, usage=answer.usage, seconds=answer.seconds))
            else:
                self.count(request.purpose, UsageTotals(reused=1, usage=answer.usage, seconds=answer.seconds))
        return answer


def _estimate(request: ChatRequest, spent: UsageTotals) -> Usage:
    characters = sum(len(message.content) for message in request.messages)
    if request.schema is not None:
        characters += len(to_json(request.schema))
    answers = spent.calls - spent.failures
    if request.max_tokens is not None:
        written = request.max_tokens
    elif answers:
        written = ceil(spent.usage.completion_tokens / answers)
    else:
        written = FIRST_COMPLETION_TOKENS
    return Usage(ceil(characters / CHARACTERS_PER_TOKEN), written)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _spent(budget: str, used: str, spent: UsageTotals, purpose: str, argument: str) -> str:
    return (
        f"the budget of {budget} is spent: {used} were used (calls made: {spent.calls:,}). The call for "
        f"{purpose!r} was not made. Raise the budget to go on: {argument}"
    )


def _price_wanted(model: str, table: PriceTable) -> str:
    return (
        f"a budget in dollars needs the price of the model {model!r}, which the price table of {table.date} does not "
        f"hold. Give it in the configuration, in dollars per million tokens:\n"
        f'    [prices."{model}"]\n    input = 1.25\n    output = 10.00\n'
        f"or give a budget in tokens (max_tokens)"
    )
