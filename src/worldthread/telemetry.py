"""Spans and metrics of OpenTelemetry, by its conventions for generative AI. Nothing is measured until it is asked for.

Switch it on with :func:`enable`, or with ``WORLDTHREAD_TELEMETRY=on`` before the first use. Both need the extra
``otel``, which installs the interface alone: where spans and metrics go is up to the program, which sets up
OpenTelemetry's SDK. Names are those of the GenAI conventions 0.1, where they have one; others begin with
``worldthread.``.

What is remembered, asked and answered is left out unless it is asked for (``enable(content=True)``,
``WORLDTHREAD_TELEMETRY=content``). The names of memories, models and servers, numbers, times, and the classes of errors
are always in.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

VARIABLE: Final = "WORLDTHREAD_TELEMETRY"
"""The environment variable that switches telemetry on."""
OPERATION: Final = "gen_ai.operation.name"
MODEL: Final = "gen_ai.request.model"
PROVIDER: Final = "gen_ai.provider.name"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
_ERROR: Final = "error.type"
_OF_METRICS: Final = (OPERATION, PROVIDER, MODEL, "gen_ai.response.model", "server.address", "server.port", _ERROR)
# the boundaries that the conventions recommend
_SECONDS: Final = [0.01 * 2**power for power in range(14)]
_TOKENS: Final = [4**power for power in range(14)]

P = ParamSpec("P")
R = TypeVar("R")
Attribute: TypeAlias = str | int | float | bool
Kind: TypeAlias = Literal["internal", "client"]


class Operation:
    """One operation that is being measured.

    Args:
        span: its span.
        content: whether what is remembered, asked and answered may be recorded.
        attributes: what is known when it begins.
    """

    def __init__(self, span: Span, content: bool, attributes: Mapping[str, Attribute]) -> None:
        self._span = span
        self._content = content
        self.attributes: dict[str, Attribute] = {}
        self.record(attributes)

    def record(self, attributes: Mapping[str, Attribute | None]) -> None:
        """Add attributes; those that are ``None`` are left out.

        Args:
            attributes: the values by the names of the conventions.
        """
        given = {name: value for name, value in attributes.items() if value is not None}
        self.attributes |= given
        self._span.set_attributes(given)

    def record_finish(self, reason: str) -> None:
        """Add why a model stopped.

        Args:
            reason: the word of its server.
        """
        self._span.set_attribute("gen_ai.response.finish_reasons", [reason])

    def record_content(self, content: Callable[[], Mapping[str, Any]]) -> None:
        """Add what is remembered, asked or answered, if it was asked for.

        Args:
            content: makes the attributes; values other than strings become JSON.
        """
        if self._content:
            for name, value in content().items():
                self._span.set_attribute(
                    name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                )


@dataclass(frozen=True)
class _Instruments:
    """What measures, while telemetry is on."""

    content: bool
    tracer: Tracer
    seconds: Histogram
    tokens: Histogram


class _Switch:
    """Whether telemetry is on. The environment is asked at the first use."""

    def __init__(self) -> None:
        self.instruments: _Instruments | None = None
        self.is_decided = False

    def current(self) -> _Instruments | None:
        """Return what measures; ``None`` while telemetry is off."""
        if not self.is_decided:
            wanted = os.environ.get(VARIABLE, "").strip().lower()
            if wanted in ("on", "content"):
                enable(content=wanted == "content")
            elif wanted not in ("", "off"):
                raise InputError(f"${VARIABLE} must be on, content or off, not {wanted!r}")
            self.is_decided = True
        return self.instruments


_SWITCH: Final = _Switch()


def enable(
    *,
    content: bool = False,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> None:
    """Measure the operations of all memories of this process, and the calls of models, from now on.

    Args:
        content: record what is remembered, asked and answered too.
        tracer_provider: takes the spans; ``None`` for the one that the program has set.
        meter_provider: takes the metrics; ``None`` for the one that the program has set.

    Raises:
        MissingExtraError: the package ``opentelemetry-api`` is not installed.

    Examples:
        ::

            trace.set_tracer_provider(provider)
            worldthread.telemetry.enable()
    """
    try:
        from opentelemetry.metrics import get_meter
        from opentelemetry.trace import get_tracer
    except ImportError as error:
        raise MissingExtraError("telemetry", extra="otel", package="opentelemetry-api") from error
    version = getattr(sys.modules["worldthread"], "__version__", "")  # an import would lead upward
    meter = get_meter("worldthread", version, meter_provider)
    _SWITCH.instruments = _Instruments(
        content,
        get_tracer("worldthread", version, tracer_provider),
        meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        ),
        meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        ),
    )
    _SWITCH.is_decided = True


def disable() -> None:
    """Measure nothing from now on."""
    _SWITCH.instruments = None
    _SWITCH.is_decided = True


@contextmanager
def operation(
    name: str, attributes: Mapping[str, Attribute] | None = None, *, kind: Kind = "internal"
) -> Iterator[Operation | None]:
    """Measure the block as one operation of the conventions.

    Args:
        name: its name, such as ``"chat"``.
        attributes: what is known when it begins.
        kind: ``"client"`` for a call to another process.

    Yields:
        The operation, to add what is known later; ``None`` while telemetry is off.
    """
    with _span(name, {OPERATION: name, **(attributes or {})}, kind) as found:
        yield found


@contextmanager
def step(name: str) -> Iterator[None]:
    """Show the block as a span that holds those within it. It is no operation of the conventions.

    Args:
        name: the name of the span.

    Yields:
        Nothing.
    """
    with _span(name, {}, "internal"):
        yield


@contextmanager
def _span(name: str, attributes: Mapping[str, Attribute], kind: Kind) -> Iterator[Operation | None]:
    instruments = _SWITCH.current()
    if instruments is None:
        yield None
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode

    model = attributes.get(MODEL)
    with instruments.tracer.start_as_current_span(
        f"{name} {model}" if model else name,
        kind=SpanKind.CLIENT if kind == "client" else SpanKind.INTERNAL,
        record_exception=False,  # messages of errors may quote what is remembered
        set_status_on_exception=False,
    ) as span:
        current = Operation(span, instruments.content, attributes)
        begin = time.perf_counter()
        try:
            yield current
        except BaseException as error:
            current.record({_ERROR: type(error).__name__})
            span.set_status(Status(StatusCode.ERROR))
            raise
        finally:
            if OPERATION in current.attributes:
                _measure(instruments, current.attributes, time.perf_counter() - begin)


def _measure(instruments: _Instruments, attributes: Mapping[str, Attribute], seconds: float) -> None:
    described = {name: attributes[name] for name in _OF_METRICS if name in attributes}
    instruments.seconds.record(seconds, described)
    for kind, name in (("input", INPUT_TOKENS), ("output", OUTPUT_TOKENS)):
        count = attributes.get(name)
        if isinstance(count, int):
            instruments.tokens.record(count, {**described, "gen_ai.token.type": kind})


class Traced(Generic[R]):
    """A decorator that measures a method as one operation of the conventions.

    Args:
        name: the name of the operation.
        describe: adds what is known of the object of the method, and of its result.
    """

    def __init__(self, name: str, describe: Callable[[Operation, Any, R], None]) -> None:
        self._name = name
        self._describe = describe

    def __call__(self, method: Callable[P, R]) -> Callable[P, R]:
        """Return the method that is measured."""

        @functools.wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with operation(self._name) as current:
                result = method(*args, **kwargs)
                if current is not None:
                    self._describe(current, args[0], result)
                return result

        return call


def in_this_context(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose spans belong to the present span, when another thread calls it.

    Args:
        function: the function.

    Returns:
        The function itself while telemetry is off.
    """
    if _SWITCH.current() is None:
        return function
    context = copy_context()

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return context.copy().run(function, *args, **kwargs)  # a context serves one thread at a time

    return call
