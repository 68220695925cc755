"""A planted key appears in no output of a run: debug logs, tracebacks with local variables, reprs and written files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_llm_server import FakeLLMServer, Faults
from teacher_factories import KEY, echo

SCRIPT = """
import asyncio, logging, pprint, sys, traceback
from contextlib import suppress
from pathlib import Path
from data_builders.teachers import BatchPending, TeacherRequest
from data_builders.teachers.cached_teacher import open_teacher
from data_builders.teachers.batch_api import BatchExport
from data_builders.teachers.answer_cache import Cache
from judge_r1.core.endpoint import RetryPolicy
from data_builders.teachers.spec import parse_spec
from judge_r1.core.endpoint import find_key

logging.basicConfig(level=0, stream=sys.stderr)
spec, refused, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
limits = RetryPolicy(attempts=2, backoff_s=0.01, request_s=20)

def show(thing, depth=0):
    print(repr(thing), str(thing))
    if depth < 3 and hasattr(thing, "__dict__") and type(thing).__module__.startswith(("data_builders", "judge_r1")):
        for value in vars(thing).values():
            show(value, depth + 1)

def tell(error):
    print("error:", error)
    while error is not None:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        print("".join(shown.format()), error.args, vars(error))
        error = error.__cause__ or error.__context__

async def main():
    with Cache(folder / "cache.sqlite") as cache:
        for number, one in enumerate((spec, refused)):
            async with open_teacher(one, cache, policy=limits) as teacher:
                show(teacher)
                requests = [TeacherRequest(system="s", user=f"{number} q{n}", max_tokens=9) for n in range(12)]
                for answer in await asyncio.gather(*map(teacher.ask, requests), return_exceptions=True):
                    if isinstance(answer, Exception):
                        tell(answer)
                    else:
                        show(answer)
        wire = parse_spec(spec)
        key = find_key(wire.endpoint)
        show(wire), show(key)
        with BatchExport(wire.at_endpoint(None), cache, folder / "batch.jsonl") as export:
            with suppress(BatchPending):
                await export.ask(TeacherRequest(system="s", user="another", max_tokens=9))
        show(export)

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", ["chat", "anthropic"])
def test_keys_never_reach_output_errors_or_files(kind: str, tmp_path: Path) -> None:
    kinds = ("server_error", "garbage", "truncated", "reset", "rate_limit")
    with (
        FakeLLMServer(echo, key=KEY, faults=Faults(rate=0.5, kinds=kinds, in_a_row=9)) as server,
        FakeLLMServer(echo, key="another key") as refusing,
    ):
        specs = {"chat": (server.chat, refusing.chat), "anthropic": (server.anthropic, "chat@https://x.invalid/v1#m")}
        environment = {**os.environ, **server.environment, "OPENAI_API_KEY": KEY}
        command = [sys.executable, "-X", "dev", "-W", "ignore", "-c", SCRIPT, *specs[kind], tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        assert done.returncode == 0, done.stderr[-2_000:]
        assert server.served.total() >= 3  # the key was used
        assert "attempts failed" in done.stdout  # so there were error messages
        assert "HTTP Request: POST" in done.stderr  # requests were logged
        if kind == "chat":
            assert refusing.refused[401]
            assert "rejects the key" in done.stdout
    written = {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert {"cache.sqlite", "batch.jsonl"} <= written.keys()
    for name, data in {"stdout": done.stdout.encode(), "stderr": done.stderr.encode(), **written}.items():
        assert KEY.encode() not in data, name
        assert KEY.removeprefix("sk-").encode() not in data, name
