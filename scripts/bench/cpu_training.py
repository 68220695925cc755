"""Measures what makes training on processors faster, each with and without, on the traces of a recipe.

    judge-r1 build builtin --max-steps 3 --variants 2 --limit 6 --reader none --out runs/english/small
    OMP_NUM_THREADS=1 python -m scripts.bench.cpu_training --data runs/english/small

A measurement is one forward and backward pass. Both sides take turns; the ratio is the median over the repeats.
Seconds are processor seconds of one thread, so other processes disturb little. Tokens exclude padding.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from rich.console import Console

from data_builders.rationales.rules import recipe_traces
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.records import Trajectory
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.training.data.data_order import by_length, shuffled
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.sft import IGNORED, training_rows
from judge_r1.training.trl.lora import adapter_config
from judge_r1.training.trl.response_logprobs import project_labelled_positions_only
from judge_r1.training.trl.shared_prompts import shared_logprobs

Rows = Sequence[dict[str, Any]]
Side = tuple[str, int, Callable[[], torch.Tensor]]
"""Name, tokens and loss of one side of a comparison."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--recipe", type=Path, default=Path("english", "warmup"))
    parser.add_argument("--rows", type=int, default=4, help="traces per micro-batch")
    parser.add_argument("--group", type=int, default=6, help="episodes of a prompt")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--traces", type=int, default=48, help="traces whose padding is measured")
    parser.add_argument("--set", nargs="*", default=[], help="key=value overrides of the recipe")
    given = parser.parse_args()
    torch.set_num_threads(1)
    recipe = load_recipe(given.recipe, [f"data.train={given.data}", f"sft.traces={given.traces}", *given.set])
    traces, _ = recipe_traces(recipe, load_pairs(given.data), SafeTokenizer(load_tokenizer(recipe.model)))
    rows = training_rows(recipe, lambda: traces)
    console = Console(soft_wrap=True)
    _print_padding(rows, given.rows, console)
    pad = load_tokenizer(recipe.model).pad_token_id
    lora, full = _model(recipe, lora=True), _model(recipe, lora=False)
    masked = _model(recipe, lora=False, masked=True)
    batch = _padded(rows[: given.rows], pad)
    tokens = int(batch["attention_mask"].sum())
    comparisons: dict[str, tuple[Side, Side]] = {
        "weights": (
            ("all", tokens, lambda: full(**batch, fused_lm_head=True).loss),
            ("LoRA", tokens, lambda: lora(**batch, fused_lm_head=True).loss),
        ),
        "right padding": (
            ("masked", tokens, lambda: masked(**batch, fused_lm_head=True).loss),
            ("without a mask", tokens, lambda: full(**batch, fused_lm_head=True).loss),
        ),
        "log-probabilities (LoRA)": (
            ("every position", tokens, lambda: _at_every_position(lora, batch)),
            ("labels", tokens, lambda: lora(**batch, fused_lm_head=True).loss),
        ),
    }
    ids, mask, response = _group(traces[0], given.group)
    tokens = int(mask.sum())
    comparisons[f"prompt of a group of {given.group} (LoRA)"] = (
        ("in each row", tokens, lambda: _whole(lora, ids, mask, response)),
        ("once", tokens, lambda: _once(lora, ids, mask, response)),
    )
    for name, sides in comparisons.items():
        seconds = [[_seconds(loss, (full, lora, masked)) for _, _, loss in sides] for _ in range(given.repeats)]
        ratios = sorted(first / second for first, second in seconds)
        shown = [
            f"{side}: {tokens / median(spent):.1f} tokens/s"
            for (side, tokens, _), spent in zip(sides, zip(*seconds, strict=True), strict=True)
        ]
        console.print(
            f"{name}: {', '.join(shown)}; ratio {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, "
            f"{given.repeats} repeats)"
        )


def _model(recipe: Recipe, *, lora: bool, masked: bool = False) -> Any:
    """The model as it is trained, or `masked`, as it is loaded otherwise."""
    from peft import get_peft_model
    from trl.trainer.utils import add_fused_lm_head

    project_labelled_positions_only()
    model = load_model(recipe.model, training=not masked)
    add_fused_lm_head(model, outputs=("log_probs", "entropy"))
    return (get_peft_model(model, adapter_config(recipe.lora)) if lora else model).train()


def _padded(rows: Rows, pad: int) -> dict[str, torch.Tensor]:
    longest = max(row["length"] for row in rows)
    fill = {"input_ids": pad, "labels": IGNORED}
    batch = {
        name: torch.tensor([row[name] + [value] * (longest - row["length"]) for row in rows])
        for name, value in fill.items()
    }
    mask = [[1] * row["length"] + [0] * (longest - row["length"]) for row in rows]
    return batch | {"attention_mask": torch.tensor(mask)}


def _group(trace: Trajectory, size: int) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Episodes with the prompt of a trace. Each repeats its response."""
    ids = torch.tensor([[*trace.prompt_ids, *trace.token_ids]] * size)
    return ids, torch.ones_like(ids), len(trace.token_ids)


def _at_every_position(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The loss as TRL computes it on processors without `project_labelled_positions_only`."""
    from trl.trainer import utils

    kept, utils._use_triton = utils._use_triton, lambda device: False
    try:
        loss: torch.Tensor = model(**batch, fused_lm_head=True).loss
        return loss
    finally:
        utils._use_triton = kept


def _whole(model: Any, ids: torch.Tensor, mask: torch.Tensor, response: int) -> torch.Tensor:
    labels = ids.clone()
    labels[:, :-response] = IGNORED
    loss: torch.Tensor = -model(input_ids=ids, attention_mask=mask, labels=labels, fused_lm_head=True).log_probs.mean()
    return loss


def _once(model: Any, ids: torch.Tensor, mask: torch.Tensor, response: int) -> torch.Tensor:
    found = shared_logprobs(model, ids, mask, response)
    assert found is not None
    return -found[0].mean()


def _seconds(loss: Callable[[], torch.Tensor], models: Sequence[Any]) -> float:
    """Processor seconds of a forward and backward pass."""
    start = time.process_time()
    loss().backward()  # type: ignore[no-untyped-call]
    seconds = time.process_time() - start
    for model in models:
        model.zero_grad()
    return seconds


def _print_padding(rows: Rows, size: int, console: Console) -> None:
    """Tokens of padded micro-batches over tokens of the rows: the cost grows with the former."""
    lengths = [row["length"] for row in rows]
    orders = {"at random": shuffled(len(rows), len(rows), 0), "by length": by_length(lengths, len(rows), 4 * size, 0)}
    for name, order in orders.items():
        batches = [[lengths[i] for i in order[start : start + size]] for start in range(0, len(order), size)]
        padded = sum(max(batch) * len(batch) for batch in batches)
        console.print(f"micro-batches of {size} {name}: {padded / sum(lengths):.3f} padded tokens per token")
    trained = sum(label != IGNORED for row in rows for label in row["labels"])
    console.print(
        f"{len(rows)} traces: {min(lengths)} to {max(lengths)} tokens, median {median(lengths):.0f}; "
        f"{trained / sum(lengths):.0%} of the positions have a label"
    )


if __name__ == "__main__":
    main()
