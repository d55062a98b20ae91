"""Spans and metrics of OpenTelemetry: off by default, by the conventions' names, and without content unless asked."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from worldthread import Episode, Filter, InputError, Memory, MissingExtraError, NotFoundError, telemetry
from worldthread.installation import install_command

ADAPTER = "OpenTelemetry"
PACKAGES = (
    "opentelemetry-api", "opentelemetry-sdk", "opentelemetry-semantic-conventions", "pytest-genai-semconv",
)  # fmt: skip

SECRET = ("Anna", "Rome", "Paris", "lives")


def load(name: str) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("models") / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(autouse=True)
def _off_afterwards() -> Iterator[None]:
    yield
    telemetry.disable()


class Measured:
    """What was measured, in this process alone."""

    def __init__(self) -> None:
        pytest.importorskip("opentelemetry.sdk")
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers, self.meters = TracerProvider(), MeterProvider([self._reader])
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))

    def enable(self, **options: Any) -> None:
        telemetry.enable(tracer_provider=self.tracers, meter_provider=self.meters, **options)

    @property
    def spans(self) -> list[Any]:
        return list(self._spans.get_finished_spans())

    def one(self, name: str) -> Any:
        [found] = [span for span in self.spans if span.name == name]
        return found

    def as_text(self) -> str:
        return "".join(span.to_json() for span in self.spans) + self._reader.get_metrics_data().to_json()

    def metrics(self) -> dict[str, list[Any]]:
        data = self._reader.get_metrics_data()
        found = data.resource_metrics[0].scope_metrics[0].metrics if data else []
        return {metric.name: list(metric.data.data_points) for metric in found}


@pytest.fixture
def measured() -> Measured:
    return Measured()


def use(memory: Memory) -> None:
    memory.remember("Anna lives in Rome.", at=1)
    memory.remember("Anna lives in Paris.", at=2)
    memory.ask("Where does Anna live?")
    memory.correct(("Anna", "lives in", "Rome"))
    memory.merge("Anna", "Anna Rossi")
    memory.forget(entity="Anna")
    with pytest.raises(InputError):
        memory.recall("Anna", min_score=7)


def test_nothing_is_measured_until_it_is_switched_on(measured: Measured) -> None:
    with Memory(model="none", embedder="fake") as memory:
        use(memory)
        assert not measured.spans
        measured.enable()
        memory.recall("Anna?")
        assert [span.name for span in measured.spans] == ["retrieval", "search_memory"]
        telemetry.disable()
        memory.recall("Anna?")
        assert len(measured.spans) == 2


def test_the_operations_of_a_memory_are_spans_without_content(measured: Measured) -> None:
    measured.enable()
    with Memory(model="none", embedder="fake") as memory:
        use(memory)
    names = [span.name for span in measured.spans if span.parent is None]
    assert [name for name in names if name != "ask"] == [
        *["upsert_memory"] * 2, *["update_memory"] * 2, "delete_memory", "search_memory"
    ]  # fmt: skip
    asked = measured.one("ask")
    within = [span for span in measured.spans if span.parent and span.parent.span_id == asked.context.span_id]
    assert {span.name for span in within} == {"search_memory"}
    retrieval = next(span for span in measured.spans if span.name == "retrieval")
    assert retrieval.parent.span_id in {span.context.span_id for span in within}
    assert retrieval.attributes["worldthread.retrieval.method"] == "thread"
    first = next(span for span in measured.spans if span.name == "upsert_memory")
    assert first.attributes["gen_ai.memory.store.id"] == "default"
    assert first.attributes["gen_ai.memory.record.count"] == 1
    [failed] = [span for span in measured.spans if not span.status.is_ok and span.status.status_code.name == "ERROR"]
    assert (failed.name, failed.attributes["error.type"]) == ("search_memory", "InputError")
    assert not failed.events
    assert not failed.status.description
    durations = measured.metrics()["gen_ai.client.operation.duration"]
    [deleted] = [p for p in durations if p.attributes["gen_ai.operation.name"] == "delete_memory"]
    assert deleted.count == 1
    assert {point.attributes.get("error.type") for point in durations} == {None, "InputError"}
    text = measured.as_text()
    assert not any(word in text for word in SECRET)


def test_content_is_recorded_where_it_is_asked_for(measured: Measured) -> None:
    measured.enable(content=True)
    with Memory(model="none", embedder="fake") as memory:
        use(memory)
    searched = next(span for span in measured.spans if span.name == "search_memory")
    assert "live" in searched.attributes["gen_ai.memory.query.text"]
    records = json.loads(searched.attributes["gen_ai.memory.records"])
    assert any("Paris" in record["content"] for record in records)
    assert all(set(record) == {"id", "content", "score"} for record in records)


@pytest.mark.model
def test_what_others_forget_meanwhile_is_left_out(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    measured.enable(content=True)
    with Memory(embedder="fake") as memory:
        lost = memory.remember("Anna lives in Rome.", at=1).episodes[0]
        original = memory.episode

        def episode(id_: str) -> Episode:
            if id_ == lost:
                raise NotFoundError("it was forgotten")
            return original(id_)

        monkeypatch.setattr(memory, "episode", episode)
        assert memory.remember_many(["Anna lives in Rome.", "Anna has a cat."], at=1).added == 1
    records = json.loads(measured.spans[-1].attributes["gen_ai.memory.records"])
    assert [record["content"] for record in records] == ["Anna has a cat."]


def test_calls_of_models_are_spans_with_tokens_below_what_needed_them(measured: Measured) -> None:
    from worldthread.models.openai_chat import OpenAIChat

    chat_server = load("chat_server")
    measured.enable()
    reply = chat_server.Reply('{"facts": [], "statements": []}')
    with chat_server.ChatServer(default=lambda _: reply) as server:
        model = OpenAIChat("gpt-test", base_url=server.url, api_key="sk-secret-0123456789", concurrency=2)
        with Memory(model=model, embedder="fake") as memory:
            memory.remember_many([f"Anna met person {number} in Rome." for number in range(3)], at=1, progress=False)
    calls = [span for span in measured.spans if span.name == "chat gpt-test"]
    assert calls
    remembered = measured.one("upsert_memory")
    assert {span.parent.span_id for span in calls} == {remembered.context.span_id}
    attributes = calls[0].attributes
    assert calls[0].kind.name == "CLIENT"
    assert attributes["gen_ai.usage.input_tokens"] > 0
    assert (attributes["server.address"], attributes["gen_ai.output.type"]) == ("127.0.0.1", "json")
    tokens = measured.metrics()["gen_ai.client.token.usage"]
    assert {point.attributes["gen_ai.token.type"] for point in tokens} == {"input", "output"}
    assert sum(p.sum for p in tokens if p.attributes["gen_ai.token.type"] == "input") == sum(
        span.attributes["gen_ai.usage.input_tokens"] for span in calls
    )
    text = measured.as_text()
    assert not any(word in text for word in (*SECRET, "sk-secret"))


@pytest.mark.model
def test_content_of_a_chat_and_of_embeddings(measured: Measured) -> None:
    from worldthread.models.chat import ChatRequest, Message
    from worldthread.models.config import EmbedderConfig
    from worldthread.models.openai_chat import OpenAIChat
    from worldthread.models.openai_embedder import OpenAIEmbedder

    chat_server, embedding_server = load("chat_server"), load("embedding_server")
    measured.enable(content=True)
    with chat_server.ChatServer(default=lambda _: chat_server.Reply("Rome.")) as server:
        OpenAIChat("gpt-test", base_url=server.url, api_key="k").complete(
            ChatRequest((Message("system", "Be brief."), Message("user", "Where is Anna?")), "answer", seed=3)
        )
    attributes = measured.one("chat gpt-test").attributes
    assert [message["role"] for message in json.loads(attributes["gen_ai.input.messages"])] == ["system", "user"]
    assert json.loads(attributes["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Rome."}], "finish_reason": "stop"}
    ]
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
    with embedding_server.EmbeddingServer() as server:
        config = EmbedderConfig(name="openai/embed-test", base_url=server.url, api_key="k")
        OpenAIEmbedder(config, known_dimensions={}).embed(["Anna", "Rome"])
    spans = [span for span in measured.spans if span.name == "embeddings embed-test"]
    assert spans[-1].attributes["gen_ai.embeddings.dimension.count"] == server.dimensions


def test_names_are_those_of_the_conventions(measured: Measured) -> None:
    compliant = pytest.importorskip("pytest_genai_semconv.assertions").assert_genai_span_compliant
    spec = pytest.importorskip("pytest_genai_semconv.spec")
    attributes = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    metrics = pytest.importorskip("opentelemetry.semconv._incubating.metrics.gen_ai_metrics")
    test_the_operations_of_a_memory_are_spans_without_content(measured)
    chatted = Measured()
    test_calls_of_models_are_spans_with_tokens_below_what_needed_them(chatted)
    content = Measured()
    test_content_of_a_chat_and_of_embeddings(content)
    spans = [*measured.spans, *chatted.spans, *content.spans]
    for span in spans:
        if span.name != "ask":  # which is no operation of the conventions
            compliant(span)
    used = {name for span in spans for name in span.attributes if name.startswith("gen_ai.")}
    assert used <= set(spec.ATTRIBUTE_TYPES)
    # the official package still has those that it had before the conventions moved to a repository of their own
    official = {value for name, value in vars(attributes).items() if name.startswith("GEN_AI_")}
    assert {name for name in used if name not in official} == {
        "gen_ai.memory.query.text", "gen_ai.memory.record.count", "gen_ai.memory.record.id", "gen_ai.memory.records",
        "gen_ai.memory.store.id", "gen_ai.retrieval.top_k",
    } & used  # fmt: skip
    known = {value for value in vars(metrics).values() if isinstance(value, str)}
    assert set(chatted.metrics()) <= known


@pytest.mark.parametrize(("value", "spans"), [("on", 2), ("content", 2), ("off", 0), ("", 0)])
def test_the_environment_switches_it_on(value: str, spans: int) -> None:
    pytest.importorskip("opentelemetry.sdk")
    program = """
import sys
import worldthread
assert "opentelemetry" not in sys.modules
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
provider, exporter = TracerProvider(), InMemorySpanExporter()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
with worldthread.Memory(model="none", embedder="fake") as memory:
    memory.recall("Anna?")
found = exporter.get_finished_spans()
print(len(found), sum("gen_ai.memory.query.text" in span.attributes for span in found))
"""
    import os

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, telemetry.VARIABLE: value},
    )  # fmt: skip
    assert done.stdout.split() == [str(spans), str(int(value == "content"))]


def test_mistakes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "_SWITCH", telemetry._Switch())
    monkeypatch.setenv(telemetry.VARIABLE, "yes please")
    with Memory(model="none", embedder="fake") as memory, pytest.raises(InputError, match="on, content or off"):
        memory.recall("Anna?")
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("otel"))):
        telemetry.enable()


def test_without_telemetry_results_are_the_same() -> None:
    with Memory(model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1, user="anna")
        assert memory.forget(where=Filter(user="anna")) == 1
        assert Memory.recall.__doc__.startswith("Find the facts")
