#!/usr/bin/env bash
# Inspect: the mock model fetches a vocabulary from the network.
# `mockllm/model` is there for tests. Since it counts the tokens of its answers with tiktoken, an evaluation that needs
# no model ends with an error where there is no network. An output that states its usage is not counted.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages inspect-ai==0.3.285 tiktoken==0.13.0
seen <<'PY'
import tempfile

import tiktoken.load
from inspect_ai import Task, eval as run
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

fetched = []


def offline(path: str) -> bytes:
    fetched.append(path)
    raise OSError("no network")


tiktoken.load.read_file_cached = lambda path, expected_hash=None: offline(path)


def status(usage: ModelUsage | None) -> str:
    output = ModelOutput.from_content("mockllm", "4")
    output.usage = usage
    model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
    task = Task(dataset=[Sample(input="2 + 2 = ?", target="4")], solver=generate(), scorer=match())
    with tempfile.TemporaryDirectory() as folder:
        return run(task, model=model, log_dir=folder, display="none")[0].status


counted, stated = status(None), status(ModelUsage(input_tokens=5, output_tokens=1))
print("without usage:", counted, "after a request for", fetched[0].rsplit("/", 1)[-1])
print("with usage:", stated)
raise SystemExit((counted, stated) != ("error", "success"))
PY
