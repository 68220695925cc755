"""Memory and seconds of Qwen3-8B's architecture at the length of the paper, beside what `train --dry-run` predicts.

    python -m scripts.gpu_checks.size --out runs/gpu-check

The weights are random, and so are the tokens: 12,500 of the prompt and 4,000 of the response. The first rows are a
forward pass, and one with its backward pass, in bfloat16. The others are steps of the real trainers (float32 weights,
bfloat16 computation, activation checkpointing), whose model and episodes are given in memory.
"""

import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from judge_r1.core.records import Trajectory
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.models.base import Sampling
from judge_r1.models.shape import SHIPPED, Shape
from judge_r1.training.cost_estimate import GPUS, Gpu, Lengths, Machine, detected, forward_flops, memory, step_seconds
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder
from scripts.gpu_checks.check import Check, main, peak_gib, reset_peak, timed

GIB = 2**30
TOLERANCE = 0.15
STEPS = 2
TOKENIZER = "bundled:tiny"
"""Its ids are valid in every model here."""


def run(check: Check) -> None:
    prompt, response = check.size(12_500, 48), check.size(4_000, 16)
    gpu = detected() or GPUS["H100"]
    shutil.rmtree(check.out / "size", ignore_errors=True)
    if check.on_gpu:
        import torch

        _predicted(check, "memory of the card", torch.cuda.mem_get_info()[1] / GIB, "GiB", gpu.memory)
    passes(check, gpu, prompt, response)
    trainers(check, gpu, prompt, response)


def shape_of(check: Check, name: str) -> Shape:
    """The shape of Qwen3-NAME; a tiny one on a laptop."""
    shape = SHIPPED[f"Qwen/Qwen3-{name}"]
    if not check.small:
        return shape
    return shape._replace(layers=2, width=64, mlp=128, heads=4, kv_heads=2, head_size=16, vocabulary=2000)


def model_of(shape: Shape, device: str, dtype: Any) -> Any:
    """A model of the shape with random weights, made on the device."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen3Config

    config = Qwen3Config(
        vocab_size=shape.vocabulary, hidden_size=shape.width, intermediate_size=shape.mlp,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_size, tie_word_embeddings=shape.tied, max_position_embeddings=40_960,
    )  # fmt: skip
    torch.manual_seed(0)
    with torch.device(device):
        return AutoModelForCausalLM.from_config(config, dtype=dtype)


def passes(check: Check, gpu: Gpu, prompt: int, response: int) -> None:
    """One pass over a row: log-probabilities, and two gradients that add up, as in a step of several micro-batches.
    A padding mask rules flash attention out."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from trl.trainer.utils import add_fused_lm_head

    from judge_r1.training.trl.common import project_labelled_positions_only

    if not check.on_gpu:
        project_labelled_positions_only()
    shape = shape_of(check, "8B")
    reset_peak(check.device)
    model = model_of(shape, check.device, torch.bfloat16)
    add_fused_lm_head(model, outputs=("log_probs", "entropy"))
    ids = torch.randint(10, 500, (1, prompt + response), device=check.device)
    mask = torch.ones_like(ids)
    mask[:, 0] = 0
    labels = ids.clone()
    labels[:, :prompt] = -100
    forward = forward_flops(shape, prompt + response) / Machine(gpu, 1, 1).flops
    recipe = load_recipe(Path("paper", "warmup-fc-search"))  # computes in bfloat16, with DeepSpeed
    gib = 4 * shape.parameters / GIB + memory(recipe, shape, 1, prompt + response)["activations"]
    flash = (SDPBackend.FLASH_ATTENTION, *(() if check.on_gpu else (SDPBackend.MATH,)))
    every = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH)
    ways = {
        "flash attention": (flash, None),
        "a padding mask": (every, mask),
        "the attention of plain PyTorch": ((SDPBackend.MATH,), None),
    }
    for name, (kernels, attention_mask) in ways.items():

        def loss(attention_mask: Any = attention_mask) -> Any:
            return model(input_ids=ids, attention_mask=attention_mask, labels=labels, fused_lm_head=True).loss

        predicted = (forward, 4 * forward, gib) if name == "flash attention" else (None, None, None)
        with sdpa_kernel(list(kernels)):  # around the backward pass, too, which computes the forward pass again
            model.eval()
            with torch.no_grad():
                _pass(check, f"log-probabilities, bfloat16, {name}", loss, predicted[0], None)
            model.train()
            model.gradient_checkpointing_enable({"use_reentrant": False})
            gradient = lambda loss=loss: loss().backward()  # noqa: E731
            _pass(check, f"forward and backward, bfloat16, {name}", gradient, *predicted[1:])
        model.zero_grad()
        model.gradient_checkpointing_disable()


def _pass(check: Check, what: str, work: Callable[[], Any], seconds: float | None, gib: float | None) -> None:
    """Rows of the seconds of `work`, the second time, and of the peak memory of both."""
    reset_peak(check.device)
    with failures(check, what):
        work()
        found, _ = timed(work, check.device)
        _predicted(check, f"{what}: seconds", found, "s", seconds)
        if (peak := peak_gib(check.device)) is not None:
            _predicted(check, f"{what}: memory", peak, "GiB", gib)


@contextmanager
def failures(check: Check, what: str) -> Iterator[None]:
    """Notes that memory does not suffice, and any other error as wrong. The next row runs."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError:
        check.row(what, "out of memory")
    except Exception as error:
        traceback.print_exc()
        check.row(what, f"{type(error).__name__}: {str(error)[:200]}", ok=False)


def trainers(check: Check, gpu: Gpu, prompt: int, response: int) -> None:
    """Steps of SFT, GRPO and DPO with LoRA on 8B, and of SFT on all weights, the largest that fits and a smaller one. A
    shorter row separates what grows with the tokens."""
    from data_builders.build import build

    data = check.out / "size" / "data"
    build("mini", data, variants=1, seed=0, limit=8)
    pairs = load_pairs(data)
    lora = ["lora.rank=64", "lora.alpha=128"]
    runs = [("sft", "8B", lora, 1), ("grpo", "8B", lora, 1), ("dpo", "8B", lora, 2), ("sft", "8B", lora, 2)]
    runs += [("sft", "4B", [], 1), ("sft", "1.7B", [], 1)]
    for stage, size, options, divisor in runs:
        with failures(check, f"{stage}, Qwen3-{size}, {(prompt + response) // divisor:,} tokens"):
            _train(check, gpu, stage, size, options, pairs, prompt // divisor, response // divisor)


RECIPES = {"sft": "paper/warmup-fc-search", "dpo": "options/dpo-judgment", "grpo": "paper/judge-r1-fc-search"}


def _train(
    check: Check, gpu: Gpu, stage: str, size: str, options: list[str], pairs: PairSet, prompt: int, response: int
) -> None:
    """Rows of the peak memory and the seconds of a step of two micro-batches with one example each."""
    shape, kind = shape_of(check, size), "LoRA" if options else "all weights"
    part = {
        "sft": ["sft.batch_size=2", "sft.micro_batch_size=1", f"sft.max_steps={STEPS}"],
        "dpo": ["dpo.batch_size=2", "dpo.micro_batch_size=1", f"dpo.max_steps={STEPS}"],
        "grpo": [
            "grpo.engine=trl", f"grpo.steps={STEPS}", "grpo.pairs_per_step=1", "grpo.group_size=2",
            "grpo.micro_batch_size=1", "grpo.updates_per_step=1", "data.dev=null", "eval_every=null", "keep=last",
        ],
    }[stage]  # fmt: skip
    tokens = prompt + response
    data = check.out / "size" / "data"
    recipe = load_recipe(Path(RECIPES[stage]), [
        f"name=size-{stage}-{size}", f"model={TOKENIZER}", "deepspeed=null", f"data.train={data}", *options, *part,
    ])  # fmt: skip
    what = f"{stage}, Qwen3-{size}, {kind}, {tokens:,} tokens"
    reset_peak(check.device)
    folder = check.out / "size" / f"{stage}-{size}-{tokens}"
    with _in_memory(stage, shape, check.device):
        _run_trainer(stage, recipe, pairs, RunFolder(folder, recipe), prompt, response)
    if (peak := peak_gib(check.device)) is not None:
        parts = memory(recipe, shape, 1, tokens)
        print(f"{what}: predicted {parts}; reserved {reserved_gib():.1f}", flush=True)
        _predicted(check, f"{what}: memory", peak, "GiB", sum(parts.values()))
    seconds = [row["time/step"] for row in read_rows(folder / "metrics.jsonl") if "time/step" in row][-1]
    expected = None
    if stage != "grpo":
        one = Lengths(prompt, response, 0)
        expected = sum(s.seconds for s in step_seconds(recipe, shape, Machine(gpu, 1, 1), one))
    _predicted(check, f"{what}: seconds of a step", seconds, "s", expected)


def reserved_gib() -> float:
    import torch

    return torch.cuda.max_memory_reserved() / GIB


def _run_trainer(stage: str, recipe: Recipe, pairs: PairSet, run: RunFolder, prompt: int, response: int) -> None:
    from judge_r1.training.trl import dpo, grpo, sft

    episode = _episode(prompt, response)
    if stage == "sft":
        sft.train_sft(recipe, lambda: [episode], run)
    elif stage == "grpo":
        grpo.train_grpo(recipe, pairs, run, _Recorded(episode))
    else:
        chosen, rejected = list(episode.token_ids), list(episode.token_ids[::-1])
        ids = {"prompt_ids": list(episode.prompt_ids), "chosen_ids": chosen, "rejected_ids": rejected}
        row = ids | {"length": prompt + response}
        with patch.object(dpo, "preference_rows", lambda *args: [row]):
            dpo.train_dpo(recipe, pairs, run)


class _Recorded:
    """Returns the same episode for every request, with alternating rewards so that a group has a gradient."""

    def __init__(self, episode: Trajectory) -> None:
        self.episode = episode

    def run(self, pairs: Sequence[Any], sampling: Sampling) -> list[Trajectory]:
        rewards = (float(number % 2) for number in range(len(pairs)))
        return [self.episode.model_copy(update={"reward": {"r": r, "R1": 2 * r, "R2": r}}) for r in rewards]


def _episode(prompt: int, response: int) -> Trajectory:
    """Random ids; every token of the response is sampled."""
    random = Random(0)
    ids = [random.randrange(10, 500) for _ in range(prompt + response)]
    return Trajectory(
        prompt_ids=tuple(ids[:prompt]), token_ids=tuple(ids[prompt:]), loss_mask=(1,) * response,
        logprobs=(-6.0,) * response, turns=(), judgment=None, ended="answer",
    )  # fmt: skip


@contextmanager
def _in_memory(stage: str, shape: Shape, device: str) -> Iterator[None]:
    """Lets a trainer get a model of the shape that is on no disk, and save neither it nor a checkpoint."""
    import torch
    from transformers import Trainer

    from judge_r1.models.cpu.training import drop_masks_of_right_padding
    from judge_r1.training.trl import common, dpo, grpo, sft

    def load(name: str, **options: Any) -> Any:
        model = model_of(shape, device, torch.float32)
        drop_masks_of_right_padding(model)
        return model

    module = {"sft": sft, "dpo": dpo, "grpo": grpo}[stage]
    where = common if stage == "grpo" else module
    unsaved = patch.object(Trainer, "_save_checkpoint", lambda *args, **options: None)
    with unsaved, patch.object(module, "load_model", load), patch.object(where, "save_model", lambda *args: None):
        name, lenient = "context_length", lambda *args: None
        if stage == "grpo":
            name = "check_data"
        with patch.object(module, name, lenient):  # the tokenizer's own model has a short context
            yield


def _predicted(check: Check, what: str, found: float, unit: str, expected: float | None) -> None:
    """A row whose prediction must be within 15 % on a GPU at full size."""
    ok = None
    if expected is not None and check.on_gpu and not check.small:
        ok = abs(found / expected - 1) <= TOLERANCE
    check.row(what, found, unit, expected=expected, ok=ok)


if __name__ == "__main__":
    main(__doc__, "size", run)
