#!/usr/bin/env bash
# Strands with OpenInference's span processor: the exporters after it find no GenAI messages.
# The processor adds the attributes of OpenInference to the spans of Strands. One expects the GenAI events, which hold
# the messages, to stay beside them for other exporters. The processor takes the events out and replaces the attributes:
# who reads GenAI messages finds none, and what an exporter before the processor wrote is another file.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages strands-agents==1.62.0 openinference-instrumentation-strands-agents==0.1.12 opentelemetry-sdk==1.44.0
seen <<'PY'
import strands
from openinference.instrumentation.strands_agents import StrandsAgentsToOpenInferenceProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
from strands.models import Model


class Scripted(Model):
    def update_config(self, **_): ...

    def get_config(self):
        return {"model_id": "scripted"}

    def structured_output(self, *_, **__):
        raise NotImplementedError

    async def stream(self, *_, **__):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "It is 3."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


before, after, provider = InMemorySpanExporter(), InMemorySpanExporter(), TracerProvider()
copies = []
first = SimpleSpanProcessor(before)
first.on_end = lambda span: copies.append([event.name for event in span.events])
for processor in (first, StrandsAgentsToOpenInferenceProcessor(), SimpleSpanProcessor(after)):
    provider.add_span_processor(processor)
set_tracer_provider(provider)
strands.Agent(model=Scripted(), callback_handler=None)("What is 1 + 2?")
early = sum(name.startswith("gen_ai.") for names in copies for name in names)
late = sum(event.name.startswith("gen_ai.") for span in after.get_finished_spans() for event in span.events)
own = any("llm.output_messages.0.message.content" in span.attributes for span in after.get_finished_spans())
print(f"GenAI events before the processor: {early}, after it: {late}; messages of OpenInference: {own}")
raise SystemExit(not early or late or not own)
PY
