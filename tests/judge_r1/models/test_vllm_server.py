"""The server that `vllm:NAME` starts: its options, its end, its errors. A program stands for vLLM here; the real one
runs in tests/judge_r1/judges/test_vllm_serve.py (`make test-vllm`)."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge_r1.models.base import GenerateRequest
from judge_r1.models.open_model import open_model, own_server
from judge_r1.models.pretrained import ModelUnavailable

STAND_IN = """
import json, os, signal, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
Path(os.environ["SEEN"]).write_text(json.dumps([os.getpid(), *sys.argv[1:]]))
if os.environ.get("FAILS"):
    sys.exit("CUDA out of memory")
def end(*_):
    time.sleep(1)
    Path(os.environ["SEEN"] + ".ended").touch()
    os._exit(0)
signal.signal(signal.SIGTERM, end)
class Handler(BaseHTTPRequestHandler):
    def answer(self, data):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(data).encode())
    def do_GET(self):
        self.answer({})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        logprobs = {"tokens": ["token_id:5"], "token_logprobs": [-0.5], "top_logprobs": [{"token_id:5": -0.5}]}
        choice = {"index": 0, "text": "x", "token_ids": [5], "logprobs": logprobs, "finish_reason": "length"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        self.answer({"model": body["model"], "choices": [choice], "usage": usage})
HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the program that stands for vLLM writes its process and its arguments."""
    package = tmp_path / "site" / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").touch()
    (package / "api_server.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    return tmp_path / "seen"


def is_over(process: int) -> bool:
    for _ in range(200):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("vllm:runs/a/model", "runs/a/model"),
        ("vllm:Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("vllm:bundled:tiny", "bundled:tiny"),
        ("vllm:http://host/v1#m", None),
        ("vllm:host/v1#m", None),
        ("runs/a/model", None),
    ],
)
def test_a_backend_without_an_address_starts_a_server(backend: str, name: str | None) -> None:
    assert own_server(backend) == name


def test_the_server_answers_and_ends_with_the_model(seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_VLLM_OPTIONS", "--tensor-parallel-size 2")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    opened = open_model("vllm:bundled:tiny", concurrency=2)
    assert opened.takes_ids
    assert not seen.exists()  # a server is started when it is needed
    [generation] = asyncio.run(opened.generate([GenerateRequest(1, prompt_ids=[1, 2])]))
    assert list(generation.token_ids) == [5]
    process, *arguments = json.loads(seen.read_text())
    assert arguments[arguments.index("--tensor-parallel-size") + 1] == "2"
    assert Path(arguments[arguments.index("--model") + 1]).is_dir()
    opened.close()
    assert is_over(process)
    assert seen.with_name("seen.ended").exists()  # it had the time to end by itself


def test_the_server_ends_when_its_process_is_killed(seen: Path) -> None:
    code = (
        "from judge_r1.models.open_model import open_model as opened; opened('vllm:bundled:tiny', concurrency=1).model"
    )
    code += "; print(1, flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"1\n"
        parent.send_signal(signal.SIGKILL)
    assert is_over(json.loads(seen.read_text())[0])
    assert seen.with_name("seen.ended").exists()


def test_a_server_that_ends_is_an_error_with_its_log(seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", "1")
    with pytest.raises(ModelUnavailable, match=r"vLLM ended with the model [^\n]+\nCUDA out of memory"):
        _ = open_model("vllm:bundled:tiny", concurrency=1).model


def test_options_that_cannot_be_read_are_refused(seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_VLLM_OPTIONS", "--served-model-name 'a")
    with pytest.raises(ModelUnavailable, match="JUDGE_R1_VLLM_OPTIONS cannot be read as options"):
        _ = open_model("vllm:bundled:tiny", concurrency=1).model


def test_without_vllm_a_sentence_says_what_to_do() -> None:
    with pytest.raises(
        ModelUnavailable, match="vLLM, which is not installed here: use the environment of `make setup-gpu`"
    ):
        _ = open_model("vllm:bundled:tiny", concurrency=1).model
