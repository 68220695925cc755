#!/usr/bin/env bash
# smolagents: of two calls in one step, of which one raises, the memory has neither.
# The memory of an agent is what its model reads next, and what is kept of a run. One expects both calls in it, the
# result of the one that worked, and the error of the other. ToolCallingAgent notes calls and results when all have
# worked: what was paid is paid, and no message says so, so that the model may pay again.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages smolagents==1.26.0
seen <<'PY'
from smolagents import Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

paid = []


class Pay(Tool):
    name, description, output_type = "pay", "Pays.", "string"
    inputs = {"amount": {"type": "integer", "description": "How much."}}

    def forward(self, amount):
        paid.append(amount)
        return "receipt 17"


class Notify(Tool):
    name, description, output_type = "notify", "Sends a note.", "string"
    inputs = {"person": {"type": "string", "description": "To whom."}}

    def forward(self, person):
        raise ValueError("no such person")


class Scripted(Model):
    calls = iter([[("pay", {"amount": 250}), ("notify", {"person": "Ana"})], [("final_answer", {"answer": "done"})]])

    def generate(self, *_, **__):
        functions = [ChatMessageToolCallFunction(name=name, arguments=given) for name, given in next(self.calls)]
        calls = [ChatMessageToolCall(id=one.name, type="function", function=one) for one in functions]
        return ChatMessage(role=MessageRole.ASSISTANT, content="I act.", tool_calls=calls)


agent = ToolCallingAgent(tools=[Pay(), Notify()], model=Scripted(), verbosity_level=0)
agent.run("Pay 250 and tell Ana.")
texts = " ".join(str(message.content) for message in agent.write_memory_to_messages()[2:])
found = {word: word in texts for word in ("'pay'", "receipt 17", "no such person")}
print(f"paid {paid}; in the memory: {found}")
raise SystemExit(paid != [250] or "receipt 17" in texts or "'pay'" in texts)
PY
