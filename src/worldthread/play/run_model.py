"""The chat model of one run: what it uses and how long it is waited for."""

from __future__ import annotations

import threading
import time

from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.meter import Meter
from worldthread.models.prices import PriceTable


class RunModel:
    """Counts all requests of a run and holds its budget.

    It stands around the recording, whose answers bear what they cost when they were asked for: a run that goes on, or
    is replayed, comes to the same figures, and ends at the same place when its budget is spent.

    Args:
        model: answers.
        max_tokens, max_dollars, prices, local: see :class:`~worldthread.models.meter.Meter`.

    Attributes:
        meter: what the requests used, by purpose.

    Raises:
        InputError, ModelConfigError: see :class:`~worldthread.models.meter.Meter`.
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
        self.meter = Meter(model, max_tokens=max_tokens, max_dollars=max_dollars, prices=prices, local=local)
        self._guard = threading.Lock()
        self._under_way = 0
        self._since = 0.0
        self._waited = 0.0

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self.meter.name

    @property
    def concurrency(self) -> int:
        """That of the model behind."""
        return self.meter.concurrency

    @property
    def waited(self) -> float:
        """Seconds during which at least one request was under way."""
        with self._guard:
            return self._waited

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """See :meth:`worldthread.models.chat.ChatModel.complete`.

        Raises:
            BudgetError: the budget of the run is spent; the call was not made.
        """
        with self._guard:
            if not self._under_way:
                self._since = time.perf_counter()
            self._under_way += 1
        try:
            return self.meter.complete(request)
        finally:
            with self._guard:
                self._under_way -= 1
                if not self._under_way:
                    self._waited += time.perf_counter() - self._since
