"""SFT, DPO and GRPO with search through TRL on the GPU, three steps each, beside the same steps on the processor.

    python -m scripts.gpu_checks.training --out runs/gpu-check

SFT and DPO must have the losses of the processor, up to the rounding of bfloat16. For GRPO, TRL's masks must be those
of the episodes, and its first gradient in float32 that of a plain computation. The rewards of GRPO are drawn from the
token ids, so that every group has a gradient, however little the bundled model knows.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

from judge_r1.files.run_log import read_rows
from judge_r1.training.recipe import Recipe, load_recipe
from scripts.gpu_checks.check import Check, child, main

STEPS = 3
GRADIENT_TOLERANCE = 1e-3
LOSS_TOLERANCE = 0.02
"""Relative. bfloat16 has 8 bits: a mean over many tokens is up to about a percent off."""


def run(check: Check) -> None:
    from data_builders.build import build

    folder = check.out / "training"
    shutil.rmtree(folder, ignore_errors=True)
    data = folder / "data"
    build("mini", data, variants=1, seed=0, limit=check.size(120, 24))
    supervised(check, folder, data)
    grpo(check, folder, data)


def supervised(check: Check, folder: Path, data: Path) -> None:
    """SFT and DPO on gold judgments, on both devices at once."""
    stages = {"sft": "mini/json", "dpo": "mini/dpo"}
    runs = [(stage, device) for stage in stages for device in dict.fromkeys((check.device, "cpu"))]
    threads, batch = str(max(1, (os.cpu_count() or 1) // (2 * len(runs)))), check.size(16, 4)
    running = {}
    for stage, device in runs:
        settings = [
            f"data.train={data}", "model=bundled:tiny", f"{stage}.max_steps={STEPS}", f"{stage}.batch_size={batch}",
            f"{stage}.micro_batch_size={batch}", *(["start=null"] if stage == "dpo" else []),
        ]  # fmt: skip
        out = folder / f"{stage}-{device}"
        command = [sys.executable, "-m", "judge_r1.cli", "train", f"recipes/{stages[stage]}.yaml", "--out", str(out)]
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
        running[stage, device] = child([*command, *settings], Path(f"{out}.log"), OMP_NUM_THREADS=threads, **hidden)
    for (stage, device), process in running.items():
        if process.wait():
            check.row(f"{stage} on {device}", f"exit code {process.returncode}", ok=False)
    for stage in stages:
        found, expected = (_losses(folder / f"{stage}-{device}") for device in (check.device, "cpu"))
        worst = max((abs(a - b) / abs(b) for a, b in zip(found, expected, strict=False)), default=1.0)
        ok = len(found) == len(expected) == STEPS and worst <= LOSS_TOLERANCE
        what = f"{stage}: largest relative difference of a loss to the processor's"
        check.row(what, worst, expected=LOSS_TOLERANCE, ok=ok)
        _seconds(check, stage, folder / f"{stage}-{check.device}")


def grpo(check: Check, folder: Path, data: Path) -> None:
    """GRPO with search: its masks, its first gradient, its seconds. In float32 the gradient must be that of a plain
    computation; in bfloat16, which the product uses on a GPU, a few tokens of low probability round far apart."""
    from judge_r1.training.trl import common

    run = folder / "grpo"
    recorded, recipe = _train(check, run, data)
    check.count("grpo: steps with a finite loss", len(_losses(run)), STEPS)
    _masks(check, recorded, run)
    _seconds(check, "grpo", run)
    if check.on_gpu:
        _gradient(check, recorded, recipe, "bfloat16", None)
        arguments = common.common_arguments
        in_float32 = {"bf16": False}
        with patch.object(
            common, "common_arguments", lambda *args, **options: arguments(*args, **options) | in_float32
        ):
            recorded, recipe = _train(check, folder / "grpo-float32", data)
    _gradient(check, recorded, recipe, "float32", GRADIENT_TOLERANCE)


def _train(check: Check, run: Path, data: Path) -> tuple[Any, Recipe]:
    """Three steps of GRPO into a run folder; returns the trainer with what it recorded, and the recipe."""
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.training.run_folder import RunFolder
    from judge_r1.training.trl import grpo as module
    from judge_r1.training.trl import grpo_trainer

    pairs, size = check.size(12, 2), check.size(8, 4)
    recipe = load_recipe(Path("mini", "grpo"), [
        f"data.train={data}", "model=bundled:tiny", f"grpo.steps={STEPS}", f"grpo.pairs_per_step={pairs}",
        f"grpo.group_size={size}", f"grpo.micro_batch_size={size}", f"grpo.rollout_batch_size={pairs * size}",
        f"grpo.traced_pairs={pairs}",
    ])  # fmt: skip
    recorded = _recording(grpo_trainer.CappedKlTrainer)
    with patch.object(grpo_trainer, "CappedKlTrainer", recorded), patch.object(module, "reward", _drawn_rewards):
        module.train_grpo(recipe, load_pairs(data), RunFolder(run, recipe))
    return recorded, recipe


def _drawn_rewards(
    prompts: list[str], completions: list[str], r: list[float | None], **columns: Any
) -> list[float | None]:
    """A reward in [0, 1) from the token ids of each episode."""
    return [hash(tuple(ids)) % 1009 / 1009 for ids in columns["completion_ids"]]


def _recording(trainer: Any) -> Any:
    """The trainer, which keeps the micro-batches of its first step and the gradient that the optimiser gets."""
    from transformers import TrainerCallback

    class KeepGradient(TrainerCallback):  # type: ignore[misc]
        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
            if state.global_step == 0:
                named = ((name, p.grad) for name, p in model.named_parameters() if p.grad is not None)
                Recording.gradient = {name: gradient.detach().float().clone() for name, gradient in named}

    class Recording(trainer):  # type: ignore[misc]
        batches: ClassVar[list[dict[str, Any]]] = []
        gradient: ClassVar[dict[str, Any]] = {}

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.add_callback(KeepGradient())

        def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
            if self.state.global_step == 0:
                kept = {name: value.detach().clone() for name, value in inputs.items() if hasattr(value, "detach")}
                self.batches.append(kept)
            return super()._compute_loss(model, inputs)

    return Recording


def _masks(check: Check, recorded: Any, run: Path) -> None:
    """The tokens and masks that TRL trains on are those of the episodes."""
    episodes = [row["trajectory"] for row in read_rows(run / "traces.jsonl") if row["step"] == 1]
    expected = sorted((tuple(episode["token_ids"]), tuple(episode["loss_mask"])) for episode in episodes)
    found = []
    for batch in recorded.batches:
        masks = batch["completion_mask"] * batch.get("tool_mask", 1)
        lengths = batch["completion_mask"].sum(1).tolist()
        for ids, mask, length in zip(batch["completion_ids"].tolist(), masks.tolist(), lengths, strict=True):
            found.append((tuple(ids[:length]), tuple(mask[:length])))
    same = sum(one == other for one, other in zip(sorted(found), expected, strict=len(found) == len(expected)))
    check.count("grpo: episodes whose ids and masks reach the loss unchanged", same, len(expected))


def _gradient(check: Check, recorded: Any, recipe: Recipe, dtype: str, allowed: float | None) -> None:
    """The relative error of the trainer's first gradient to a plain one in float32."""
    plain = _plain_gradient(recorded.batches, recipe)
    error = _difference({name: recorded.gradient[name] for name in plain}, plain)
    ok = None if allowed is None else error <= allowed
    check.row(f"grpo: relative error of the first gradient, {dtype}", error, expected=allowed, ok=ok)


def _plain_gradient(batches: list[dict[str, Any]], recipe: Recipe) -> dict[str, Any]:
    """Eq. 4 at ratio 1, token by token: the gradient of the mean of advantage x log-probability, its norm clipped at 1
    as the trainer's. The KL term has none at the first step, where policy and reference are equal."""
    import torch

    from judge_r1.models.hub import load_model

    model = load_model(recipe.model).float().train()
    masks = [batch["completion_mask"] * batch.get("tool_mask", 1) for batch in batches]
    count = sum(int(mask.sum()) for mask in masks)
    for batch, mask in zip(batches, masks, strict=True):
        ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1)
        attention = torch.cat([batch["prompt_mask"], batch["completion_mask"]], 1)
        positions = (attention.cumsum(1) - 1).clamp(min=0)
        logits = model(input_ids=ids, attention_mask=attention, position_ids=positions).logits
        logits = logits[:, -mask.shape[1] - 1 : -1].float() / recipe.grpo.temperature
        logprobs = logits.log_softmax(-1).gather(2, batch["completion_ids"][..., None])[..., 0]
        (-(batch["advantages"].view(len(ids), -1) * mask * logprobs).sum() / count).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def _difference(found: dict[str, Any], expected: dict[str, Any]) -> float:
    """The norm of the difference over the norm of `expected`."""
    above = sum(float((found[name] - gradient).norm() ** 2) for name, gradient in expected.items())
    return float((above / sum(float(gradient.norm() ** 2) for gradient in expected.values())) ** 0.5)


def _losses(run: Path) -> list[float]:
    return [row["loss"] for row in read_rows(run / "metrics.jsonl") if "progress" in row]


def _seconds(check: Check, stage: str, run: Path) -> None:
    """The stages of the last step."""
    rows = [row for row in read_rows(run / "metrics.jsonl") if "time/step" in row]
    for name in ("generation", "search", "score", "update", "step"):
        if rows and f"time/{name}" in rows[-1]:
            check.row(f"{stage}: {name} of the last step", rows[-1][f"time/{name}"], "s")


if __name__ == "__main__":
    main(__doc__, "training", run)
