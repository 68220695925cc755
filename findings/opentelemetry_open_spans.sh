#!/usr/bin/env bash
# OpenTelemetry: force_flush and shutdown export no span that is still open, and its children keep its id.
# A run that is killed, or whose file is read while it runs, has an agent's span that is not over. One expects a flush
# to write what there is. Only ended spans are exported: the span of the agent, with the task and the last answer, is
# missing, and each child names a parent that no line has.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages opentelemetry-sdk==1.44.0
seen <<'PY'
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

provider, exporter = TracerProvider(), InMemorySpanExporter()
provider.add_span_processor(BatchSpanProcessor(exporter))
tracer = provider.get_tracer("agent")
agent = tracer.start_as_current_span("invoke_agent", attributes={"task": "What is 1 + 2?"})
agent.__enter__()
with tracer.start_as_current_span("chat"):
    pass
provider.force_flush()
provider.shutdown()
spans = exporter.get_finished_spans()
known = {span.context.span_id for span in spans}
lost = [span.name for span in spans if span.parent and span.parent.span_id not in known]
print(f"exported: {[span.name for span in spans]}, with a parent that is missing: {lost}")
raise SystemExit([span.name for span in spans] != ["chat"] or lost != ["chat"])
PY
