"""Small agents of real packages with scripted models: what they write is read, each text once and in order.

`make test-trace-writers` installs the packages. Each agent is asked "What is 1 + 2?", calls `add`, and says "It is 3."
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import BadTrace, Unread, read_events

pytestmark = pytest.mark.slow
SYSTEM, ASKED, SAID, ANSWER = "Use the tool.", "What is 1 + 2?", "I add them.", "It is 3."
STORY = [
    ("message", "system", SYSTEM), ("message", "user", ASKED), ("message", "assistant", SAID),
    ("call", "add", "a: 1\nb: 2"), ("result", "add", "3"), ("message", "assistant", ANSWER),
]  # fmt: skip
WITHOUT_SYSTEM = STORY[1:]


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: One number.
        b: Another.
    """
    return a + b


def told(path: Path) -> list[tuple[str, str, str]]:
    unread = Unread()
    events = [(event.kind, event.name, event.text.strip()) for event in read_events(path, unread=unread)]
    assert unread.count == 0, unread.keys
    return events


@pytest.fixture(scope="session")
def exporter() -> Any:
    """The console exporter of the one provider of this process: packages keep its tracers."""
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
    from opentelemetry.trace import set_tracer_provider

    provider, found = trace.TracerProvider(), ConsoleSpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(found))
    set_tracer_provider(provider)
    return found


@pytest.fixture
def spans(exporter: Any, tmp_path: Path) -> Iterator[Path]:
    """The file to which the console exporter writes the spans."""
    with (tmp_path / "spans.json").open("a") as exporter.out:
        yield tmp_path / "spans.json"


def flushed(path: Path) -> Path:
    from opentelemetry.trace import get_tracer_provider

    get_tracer_provider().force_flush()  # type: ignore[attr-defined]
    return path


def chat_agent() -> Any:
    """An agent of LangChain."""
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "call_1"}
    model = Scripted(messages=iter([AIMessage(SAID, tool_calls=[call]), AIMessage(ANSWER)]))
    return agents.create_agent(model, tools=[add], system_prompt=SYSTEM)


def failing() -> None:
    """Runs an agent of LangChain with a tool whose error is a message."""
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool, ToolException

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def fail(a: int) -> str:
        """Fails."""
        raise ToolException("no numbers")

    call = {"name": "fail", "args": {"a": 1}, "id": "call_1"}
    model = Scripted(messages=iter([AIMessage(SAID, tool_calls=[call]), AIMessage(ANSWER)]))
    tool = StructuredTool.from_function(fail, handle_tool_error=True)
    agents.create_agent(model, tools=[tool]).invoke({"messages": [("user", ASKED)]})


def failed(path: Path) -> list[tuple[str, str]]:
    return [(event.name, event.text) for event in read_events(path) if event.kind == "result" and event.error]


def test_langsmith(spans: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langsmith")
    from langsmith import utils
    from langsmith.run_trees import get_cached_client

    with monkeypatch.context() as settings:
        for name in ("LANGSMITH_TRACING", "LANGSMITH_OTEL_ENABLED", "LANGSMITH_OTEL_ONLY"):
            settings.setenv(name, "true")
        settings.setenv("LANGSMITH_API_KEY", "none")
        utils.get_env_var.cache_clear()
        chat_agent().invoke({"messages": [("user", ASKED)]})
        get_cached_client().flush()
        assert told(flushed(spans)) == STORY
        spans.write_text("")
        failing()
        get_cached_client().flush()
    utils.get_env_var.cache_clear()
    assert failed(flushed(spans)) == [("fail", "no numbers")]


def test_openllmetry(spans: Path) -> None:
    langchain = pytest.importorskip("opentelemetry.instrumentation.langchain")
    from opentelemetry import trace

    instrumentor = langchain.LangchainInstrumentor()
    instrumentor.instrument(tracer_provider=trace.get_tracer_provider())
    try:
        chat_agent().invoke({"messages": [("user", ASKED)]})
        assert told(flushed(spans)) == STORY
        spans.write_text("")
        failing()
    finally:
        instrumentor.uninstrument()
    assert failed(flushed(spans)) == [("fail", "no numbers")]


@pytest.mark.parametrize("beside", [False, True])
def test_openinference_alone_and_beside_openllmetry(spans: Path, beside: bool) -> None:
    langchain = pytest.importorskip("openinference.instrumentation.langchain")
    from opentelemetry import trace
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    used = [langchain.LangChainInstrumentor(), *([LangchainInstrumentor()] if beside else [])]
    for instrumentor in used:
        instrumentor.instrument(tracer_provider=trace.get_tracer_provider())
    try:
        chat_agent().invoke({"messages": [("user", ASKED)]})
        assert told(flushed(spans)) == STORY
        spans.write_text("")
        failing()
    finally:
        for instrumentor in used:
            instrumentor.uninstrument()
    assert failed(flushed(spans)) == [("fail", "no numbers")]


def adder(*capabilities: Any) -> Any:
    """An agent of pydantic-ai."""
    ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart(ANSWER)])
        return ModelResponse(parts=[TextPart(SAID), ToolCallPart("add", {"a": 1, "b": 2}, "call_1")])

    return ai.Agent(FunctionModel(scripted), instructions=SYSTEM, tools=[add], capabilities=capabilities)


def test_pydantic_ai(spans: Path) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.capabilities import Instrumentation

    adder(Instrumentation()).run_sync(ASKED)
    assert told(flushed(spans)) == STORY


def test_pydantic_ai_returns_objects_and_fails(spans: Path) -> None:
    ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def refunds() -> list[dict[str, Any]]:
        """Lists refunds."""
        return [{"type": "refund", "amount": 250, "status": "paid"}, {"text": "late", "score": 0.9}]

    def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1 or not info.function_tools:
            raise ai.ModelHTTPError(429, "scripted", body="the quota is used up")
        return ModelResponse(parts=[ToolCallPart("refunds", {}, "call_1")])

    error = ("message", "system", "ModelHTTPError: status_code: 429, model_name: scripted, body: the quota is used up")
    returned = '{"type": "refund", "amount": 250, "status": "paid"}\n{"text": "late", "score": 0.9}'
    run = [STORY[1], ("call", "refunds", ""), ("result", "refunds", returned), error]
    for tools, events in (([refunds], run), ([], [STORY[1], error])):
        spans.write_text("")
        with pytest.raises(ai.ModelHTTPError):
            ai.Agent(FunctionModel(scripted), tools=tools, capabilities=[Instrumentation()]).run_sync(ASKED)
        assert told(flushed(spans)) == events


def test_logfire(tmp_path: Path) -> None:
    logfire = pytest.importorskip("logfire")
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

    with (tmp_path / "spans.json").open("w") as file:
        processor = SimpleSpanProcessor(ConsoleSpanExporter(out=file))
        own = logfire.configure(
            local=True, send_to_logfire=False, console=False, additional_span_processors=[processor]
        )
        agent = adder()
        own.instrument_pydantic_ai(agent)
        agent.run_sync(ASKED)
        own.force_flush()
    assert told(tmp_path / "spans.json") == STORY


@pytest.mark.parametrize("openinference", [False, True])
@pytest.mark.parametrize("conventions", ["", "gen_ai_latest_experimental"])
def test_strands(
    exporter: Any, spans: Path, monkeypatch: pytest.MonkeyPatch, conventions: str, openinference: bool
) -> None:
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", conventions)
    strands = pytest.importorskip("strands")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from strands.telemetry import tracer

    monkeypatch.setattr(tracer, "_tracer_instance", None)
    if openinference:  # its processor stands before the exporter
        own, processors = TracerProvider(), pytest.importorskip("openinference.instrumentation.strands_agents")
        own.add_span_processor(processors.StrandsAgentsToOpenInferenceProcessor())
        own.add_span_processor(SimpleSpanProcessor(exporter))
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: own)
        monkeypatch.setattr(tracer.trace_api, "get_tracer_provider", lambda: own)

    model = strands_model([{"text": SAID}, use("add", a=1, b=2)], [{"text": ANSWER}])
    strands.Agent(model=model, tools=[strands.tool(add)], system_prompt=SYSTEM, callback_handler=None)(ASKED)
    assert told(flushed(spans)) == STORY


@pytest.mark.parametrize("conventions", ["", "gen_ai_latest_experimental"])
def test_strands_with_thoughts_an_image_and_errors(
    exporter: Any, spans: Path, monkeypatch: pytest.MonkeyPatch, conventions: str
) -> None:
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", conventions)
    strands = pytest.importorskip("strands")
    from strands.telemetry import tracer

    monkeypatch.setattr(tracer, "_tracer_instance", None)

    @strands.tool  # type: ignore[untyped-decorator]
    def look(a: int) -> dict[str, Any]:
        """Looks."""
        if a == 1:
            raise ValueError("no such page")
        image = {"image": {"format": "png", "source": {"bytes": b"abc"}}}
        return {"status": "error" if a == 2 else "success", "content": [{"json": {"sum": 3, "status": "ok"}}, image]}

    thought = {"reasoningContent": {"text": "I think."}}
    calls = ([use("look", a=number)] for number in range(3))
    model = strands_model([thought, {"text": SAID}, *next(calls)], *calls, [{"text": ANSWER}])
    strands.Agent(model=model, tools=[look], callback_handler=None)(ASKED)
    found, seen = told(flushed(spans)), '{"sum": 3, "status": "ok"}\n[image]\nbytes: <replaced>'
    assert [one for one in found if one[0] != "result"] == [
        STORY[1], ("thought", "assistant", "I think."), STORY[2], *(("call", "look", f"a: {n}") for n in range(3)),
        STORY[5],
    ]  # fmt: skip
    errors = ["Error: no such page\nno such page", f"{seen}\ntool returned error status"]
    assert [text for kind, _, text in found if kind == "result"] == [seen, *errors]
    assert [text for _, text in failed(spans)] == errors


def use(name: str, **arguments: int) -> dict[str, Any]:
    return {"toolUse": {"name": name, "toolUseId": f"call_{arguments['a']}", "input": json.dumps(arguments)}}


def strands_model(*turns: list[dict[str, Any]]) -> Any:
    """A model of Strands that answers with these blocks."""
    from strands.models import Model

    class Scripted(Model):
        def update_config(self, **_: Any) -> None: ...

        def get_config(self) -> Any:
            return {"model_id": "scripted"}

        def structured_output(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
            blocks = turns[len(messages) // 2]
            yield {"messageStart": {"role": "assistant"}}
            for block in blocks:
                call = block.get("toolUse")
                yield {"contentBlockStart": {"start": {"toolUse": {**call, "input": ""}} if call else {}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": call["input"]}} if call else block}}
                yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if "toolUse" in blocks[-1] else "end_turn"}}

    return Scripted()


def test_smolagents(tmp_path: Path) -> None:
    smolagents = pytest.importorskip("smolagents")
    from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

    class Scripted(smolagents.Model):  # type: ignore[misc]
        calls = 0

        def generate(self, *_: Any, **__: Any) -> ChatMessage:
            self.calls += 1
            name, arguments = ("add", {"a": 1, "b": 2}) if self.calls == 1 else ("final_answer", {"answer": ANSWER})
            function = ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = ChatMessageToolCall(id=f"call_{self.calls}", type="function", function=function)
            return ChatMessage(role=MessageRole.ASSISTANT, content=SAID, tool_calls=[call])

    agent = smolagents.ToolCallingAgent(
        tools=[smolagents.tool(add)], model=Scripted(), instructions=SYSTEM, verbosity_level=0
    )
    agent.run(ASKED)
    messages = [message.dict() for message in agent.write_memory_to_messages()]
    (tmp_path / "messages.json").write_text(json.dumps(messages, default=str))
    found = told(tmp_path / "messages.json")
    assert SYSTEM in found[0][2]
    assert ("message", "user", f"New task:\n{ASKED}") in found
    assert STORY[3] in found
    assert [text for kind, _, text in found if kind == "result"] == ["3", ANSWER]
    assert sum(text == SAID for _, _, text in found) == 2


def test_openai_agents(tmp_path: Path) -> None:
    agents = pytest.importorskip("agents")
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    def message(text: str) -> Any:
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])

    call = ResponseFunctionToolCall(type="function_call", call_id="call_1", name="add", arguments='{"a": 1, "b": 2}')
    steps = iter([[message(SAID), call], [message(ANSWER)]])

    class Scripted(agents.Model):  # type: ignore[misc]
        async def get_response(self, *_: Any, **__: Any) -> Any:
            return agents.ModelResponse(output=next(steps), usage=agents.Usage(), response_id=None)

        async def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    agents.set_tracing_disabled(True)
    agent = agents.Agent(name="adder", instructions=SYSTEM, tools=[agents.function_tool(add)], model=Scripted())
    result = agents.Runner.run_sync(agent, ASKED)
    (tmp_path / "items.json").write_text(json.dumps(result.to_input_list()))
    assert told(tmp_path / "items.json") == WITHOUT_SYSTEM


@pytest.fixture
def adk(spans: Path) -> dict[str, Any]:
    """The session of an agent of Google ADK, whose spans are in the file."""
    pytest.importorskip("google.adk")
    from google.adk.agents import Agent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai.types import Content, FunctionCall, Part

    class Scripted(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncIterator[Any]:
            call = Part(function_call=FunctionCall(name="add", args={"a": 1, "b": 2}, id="call_1"))
            parts = [Part(text=ANSWER)] if len(request.contents) > 1 else [Part(text=SAID), call]
            yield LlmResponse(content=Content(role="model", parts=parts))

    async def run() -> Any:
        runner = InMemoryRunner(Agent(name="adder", model=Scripted(model="scripted"), instruction=SYSTEM, tools=[add]))
        own = {"user_id": "me", "app_name": runner.app_name}
        session = await runner.session_service.create_session(**own)
        asked = Content(role="user", parts=[Part(text=ASKED)])
        async for _ in runner.run_async(user_id="me", session_id=session.id, new_message=asked):
            pass
        return await runner.session_service.get_session(**own, session_id=session.id)

    return json.loads(asyncio.run(run()).model_dump_json(exclude_none=True))


def test_google_adk_sessions(adk: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text(json.dumps(adk))
    found = [(kind, name, text) for kind, name, text in told(tmp_path / "session.json")]
    assert [(kind, text) for kind, _, text in found if kind != "result"] == [
        (kind, text) for kind, _, text in WITHOUT_SYSTEM if kind != "result"
    ]
    assert [text for kind, _, text in found if kind == "result"] == ["3"]


def test_google_adk_says_how_spans_keep_contents(adk: dict[str, Any], spans: Path) -> None:
    option = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
    with pytest.raises(BadTrace, match=f"the writer kept no contents; set {option}"):
        told(flushed(spans))


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")


def test_google_adk_spans(contents: None, adk: dict[str, Any], spans: Path) -> None:
    (_, _, system), *found = told(flushed(spans))
    assert system.startswith(SYSTEM)
    assert [one for one in found if one[0] != "result"] == [one for one in WITHOUT_SYSTEM if one[0] != "result"]
    assert [text for kind, _, text in found if kind == "result"] == ['{"result": 3}']


def test_the_docs_name_the_versions() -> None:
    from paths import REPO

    table = (REPO / "docs/experiments/trace_writers.csv").read_text()
    for line in (REPO / "requirements" / "trace-writers.txt").read_text().split():
        pinned = line.partition("==")[2]
        assert pinned in table, f"docs/experiments/trace_writers.csv lacks {line}"
