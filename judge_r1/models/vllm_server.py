"""A vLLM server that this process starts for a model and ends with it: the backend `vllm:NAME` of a SPEC."""

import atexit
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from judge_r1.models.base import GenerateRequest, Generation, LanguageModel
from judge_r1.models.pretrained import ModelUnavailable

OPTIONS = "JUDGE_R1_VLLM_OPTIONS"
"""The environment variable with further options of vLLM, for example `--tensor-parallel-size 2`."""
START_S = 1800.0
"""Deadline for the start of a server, which compiles kernels the first time."""
_STOP_S = 60.0
_LOG_TAIL = 2000
_WATCHED = f"""exec 3<&0
"$@" 3<&- < /dev/null & server=$!
(cat <&3 > /dev/null; kill $server; sleep {_STOP_S:.0f}; kill -9 0) &
wait $server; kill -9 0"""
"""Ends the server when this process ends, however it does: then the pipe that `cat` reads is closed. The server may end
by itself for `_STOP_S`, then its group is killed."""


class VllmServer:
    """The `LanguageModel` at a server of `name`, a folder or hub name. The server runs when it is made. Call `close`
    when done.

    Raises:
        ModelUnavailable: vLLM is not installed, or ended before it served. The message has the end of its log.
    """

    def __init__(self, name: str, client_at: Callable[[str], LanguageModel]) -> None:
        if find_spec("vllm") is None:
            raise ModelUnavailable(
                f"vllm:{name} starts vLLM, which is not installed here: use the environment of `make setup-gpu`, name "
                f"a running server by vllm:URL#MODEL, or load the model here as {name}"
            )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._folder = tempfile.TemporaryDirectory(prefix="judge-r1-vllm-")
        log = Path(self._folder.name) / "log"
        try:
            options = shlex.split(os.environ.get(OPTIONS, ""))
        except ValueError as error:
            raise ModelUnavailable(f"{OPTIONS} cannot be read as options ({error}): correct it") from None
        # The log-probabilities are those of the tokens as they are sampled, at the temperature of the request.
        words = [
            *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", name, "--host", "127.0.0.1"),
            *("--port", str(port), "--logprobs-mode", "processed_logprobs", *options),
        ]
        print(f"starting vLLM for {name}; its log is {log}", file=sys.stderr, flush=True)
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                ["sh", "-c", _WATCHED, "vllm", *words],
                stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        atexit.register(self.close)
        try:
            self._await(f"http://127.0.0.1:{port}/health", name, log)
        except BaseException:
            self.close()
            raise
        self._client = client_at(f"http://127.0.0.1:{port}/v1")

    def _await(self, health: str, name: str, log: Path) -> None:
        until, opener = time.monotonic() + START_S, build_opener(ProxyHandler({}))
        while True:
            with suppress(URLError, OSError), opener.open(health, timeout=5):
                return
            if self._process.poll() is not None or time.monotonic() > until:
                late = f"did not serve within {START_S:.0f} s" if self._process.poll() is None else "ended"
                tail = log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL:].strip()
                raise ModelUnavailable(f"vLLM {late} with the model {name} (options: {OPTIONS}):\n{tail}")
            time.sleep(0.5)

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """As `LanguageModel.generate`."""
        return await self._client.generate(requests)

    def close(self) -> None:
        """Ends the server."""
        atexit.unregister(self.close)
        if self._process.stdin:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()
