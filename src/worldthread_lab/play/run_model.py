"""The chat model of one run: its name, its recording, its usage, and the time spent waiting for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import ModelConfigError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.config import FAKE_MODEL, model_name
from worldthread.models.meter import Meter
from worldthread.models.prices import PriceTable
from worldthread_lab.play.run import Run

if TYPE_CHECKING:
    from worldthread.models.config import ChatConfig
    from worldthread_lab.agents.base import Agent

RECORDING_FILE: Final = "recording.jsonl"
"""The name of the file with the calls of the model, in the folder of a run."""


class RunModel:
    """A chat model that counts all requests of a run, enforces its budget, and measures the waiting time.

    It wraps the recording, whose answers carry the cost of the original calls. A run that is resumed or replayed
    therefore has the same figures, and ends at the same step when its budget is spent.

    Args:
        model: the model that answers.
        max_tokens: see :class:`~worldthread.models.meter.Meter`.
        max_dollars: see :class:`~worldthread.models.meter.Meter`.
        prices: see :class:`~worldthread.models.meter.Meter`.
        local: see :class:`~worldthread.models.meter.Meter`.

    Attributes:
        meter: the usage of the requests, by purpose.

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
        self._in_progress = 0
        self._since = 0.0
        self._waited = 0.0

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self.meter.name

    @property
    def concurrency(self) -> int:
        """The concurrency of the wrapped model."""
        return self.meter.concurrency

    @property
    def waited(self) -> float:
        """The seconds during which at least one request was in progress."""
        with self._guard:
            return self._waited

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Args:
            request: the request.

        Returns:
            The answer of the wrapped model.

        Raises:
            BudgetError: the budget of the run is spent; the call was not made.
        """
        with self._guard:
            if not self._in_progress:
                self._since = time.perf_counter()
            self._in_progress += 1
        try:
            return self.meter.complete(request)
        finally:
            with self._guard:
                self._in_progress -= 1
                if not self._in_progress:
                    self._waited += time.perf_counter() - self._since


def prompt_length(kind: type[Agent], argument: str | None) -> dict[str, int]:
    """Return the option that lets the prompts of an agent be as long as the context window of its model allows.

    It is a setting of the run, so that a run is played again with prompts of the same length.

    Args:
        kind: the class of the agent.
        argument: see :func:`model_name`.

    Returns:
        The option ``prompt_characters``; nothing if the agent has none, or if the window is not known.

    Raises:
        FormatError, InputError, ModelConfigError: see :func:`worldthread.models.config.load_config`.
    """
    from worldthread.models.config import load_config
    from worldthread_lab.agents.attempts.base import AttemptAgent, prompt_characters_for
    from worldthread_lab.play.context_windows import context_window

    if argument == FAKE_MODEL or not issubclass(kind, AttemptAgent):
        return {}
    config = load_config(argument)
    tokens = config.context_tokens
    if tokens is None and not config.local:  # a server of the user's own often runs a model with a smaller window
        tokens = context_window(model_name(argument))
    return {} if tokens is None else {"prompt_characters": prompt_characters_for(tokens)}


@contextmanager
def recorded_model(run: Run, argument: str | None, folder: Path) -> Iterator[RunModel]:
    """Open the model of a run, with a recording in the folder of the run that answers the requests it holds.

    The cache of answers is off: with it, tokens and seconds of a run would mean nothing.

    Args:
        run: the run, which names the model and its budget.
        argument: the name given by the caller; ``None``: use the environment and the configuration file.
        folder: the folder of the run.

    Yields:
        The model.

    Raises:
        ModelConfigError: the model cannot be reached as configured.
        InputError: the recording holds calls of another model, or a budget is not above 0.
        StoreLockedError: another process plays in the folder.
    """
    from worldthread.models.recording import RecordingChat

    with ExitStack() as stack:
        inner, settings = configured_model(run, argument, stack)
        path = folder / RECORDING_FILE
        recording = stack.enter_context(RecordingChat(inner, path, resume=True, with_costs=True))
        yield RunModel(recording, max_tokens=run.budget_tokens, max_dollars=run.budget_dollars, **settings)


def replayed_model(run: Run, folder: Path) -> RunModel:
    """Return the model for the replay of a run: its recording answers every request, and no call is made.

    Args:
        run: the run.
        folder: the folder of the run.

    Returns:
        The model.

    Raises:
        FormatError, StoreError: the recording cannot be read.
    """
    from worldthread.models.config import load_config
    from worldthread.models.recording import ReplayChat

    chat = ReplayChat(folder / RECORDING_FILE, with_costs=True)
    settings = {"local": True} if run.model == FAKE_MODEL else _prices(load_config())
    return RunModel(chat, max_tokens=run.budget_tokens, max_dollars=run.budget_dollars, **settings)


def configured_model(run: Run, argument: str | None, stack: ExitStack) -> tuple[ChatModel, dict[str, Any]]:
    """Return the model without a recording, and the arguments of :class:`RunModel` for its prices."""
    if argument == FAKE_MODEL:
        from worldthread_lab.play.fake_player import FakePlayer

        return FakePlayer(run.attempt), {"local": True}
    from worldthread.models.config import load_config
    from worldthread.models.configured import ConfiguredChat

    config = load_config(argument, cache=False)
    if config.model is None and config.replay is None:
        raise ModelConfigError(
            f"the run needs the model {run.model!r}, and no model is configured; give its name (--model)"
        )
    chat = ConfiguredChat(replace(config, record=None, budget_tokens=None, budget_dollars=None))
    stack.callback(chat.close)
    return chat, _prices(config)


def _prices(config: ChatConfig) -> dict[str, Any]:
    from worldthread.models.prices import load_prices

    return {"prices": load_prices().with_own(config.prices), "local": config.local}
