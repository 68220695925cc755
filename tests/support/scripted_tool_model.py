"""A local OpenAI-compatible server whose model calls tools by a script.

with ToolModel(script) as model:      # script(messages) -> list of calls [(name, arguments)], or a text
    ... f"{model.url}/v1"
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[list[dict[str, Any]]], Sequence[tuple[str, Any]] | str]
"""What the model says to a history. Arguments that are a text are sent as they are, valid JSON or not."""


class ToolModel:
    def __init__(self, script: Script) -> None:
        outer, self.requests = self, []  # type: tuple[ToolModel, list[dict[str, Any]]]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                message = _message(script(body["messages"]), len(body["messages"]))
                if body.get("stream"):
                    self._reply("text/event-stream", "".join(_chunks(message)).encode())
                else:
                    self._reply("application/json", json.dumps(_completion(message)).encode())

            def _reply(self, kind: str, data: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "ToolModel":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()


def _message(said: Sequence[tuple[str, Any]] | str, turn: int) -> dict[str, Any]:
    if isinstance(said, str):
        return {"role": "assistant", "content": said}
    calls = [
        {
            "id": f"call_{turn}_{number}", "type": "function",
            "function": {"name": name, "arguments": value if isinstance(value, str) else json.dumps(value)},
        }
        for number, (name, value) in enumerate(said)
    ]  # fmt: skip
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice], "usage": usage,
    }  # fmt: skip


def _chunks(message: dict[str, Any]) -> Iterator[str]:
    done = _completion(message)
    [choice] = done["choices"]
    calls = [{"index": number, **call} for number, call in enumerate(message.get("tool_calls") or [])]
    delta = {**message, "tool_calls": calls} if calls else message
    parts = [{"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": choice["finish_reason"]}]
    for part in parts:
        chunk = {**done, "object": "chat.completion.chunk", "choices": [{"index": 0, **part}]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"
