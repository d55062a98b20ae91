from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from worldthread import Memory, telemetry

provider, spans = TracerProvider(), InMemorySpanExporter()  # an OTLP exporter sends them to a collector
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
telemetry.enable()  # content=True records texts and questions too

with Memory() as memory:  # in RAM; Memory("agent.worldthread") for a file
    memory.remember("Anna lives in Rome.")
    memory.ask("Where does Anna live?")

for span in spans.get_finished_spans():
    print(span.name)
