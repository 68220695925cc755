"""Steps and tokens of a run: what it reads and writes at most, and what is likely, where its data are there."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import content_hash
from judge_r1.episode.prompts import judge_prompt
from judge_r1.training.recipe import Recipe

SAMPLED = 200
"""Prompts that are measured."""
CHARACTERS = 4.0
"""Characters in a token of English, where the model's tokenizer is not at hand."""


class Tokens(BaseModel):
    """`examples`: episodes or training examples of one step. `prompt` and `response` are tokens of one, at most;
    `mean_prompt` what the sampled prompts have, None without data."""

    model_config = ConfigDict(frozen=True)

    examples: int
    steps: int | None
    prompt: int
    response: int
    pairs: int | None
    mean_prompt: float | None
    counted_by: str = ""

    @property
    def longest(self) -> int:
        return self.prompt + self.response


def tokens_of(recipe: Recipe) -> Tokens:
    """GRPO plays pairs_per_step x group_size episodes in a step. SFT and DPO have a step for each batch of `epochs`
    passes, or `max_steps`; without data their number is not known."""
    data = _data(recipe.data.train)
    pairs = len(data.pairs) if data else None
    prompt, counted_by = _mean_prompt(recipe, data) if data else (None, "")
    response = recipe.episode.spending.episode_tokens
    if recipe.stage == "grpo":
        examples = recipe.grpo.pairs_per_step * recipe.grpo.group_size
        steps: int | None = recipe.grpo.steps
    else:
        part = recipe.sft if recipe.stage == "sft" else recipe.dpo
        used = pairs
        if recipe.stage == "sft" and recipe.sft.traces:
            used = min(recipe.sft.traces, pairs or recipe.sft.traces)
        examples = part.batch_size
        whole = None if used is None else -(-round(part.epochs * used) // part.batch_size)
        steps = part.max_steps if part.max_steps > 0 else whole
    return Tokens(
        examples=examples,
        steps=steps,
        prompt=recipe.episode.prompt_tokens,
        response=response,
        pairs=pairs,
        mean_prompt=prompt,
        counted_by=counted_by,
    )


def _data(folder: Path) -> PairSet | None:
    return load_pairs(folder) if (folder / "pairs.jsonl").exists() else None


def _mean_prompt(recipe: Recipe, data: PairSet) -> tuple[float, str]:
    """Tokens of a prompt, the mean over a sample that the seed decides, and what counted them."""
    chosen = sorted(data.pairs, key=lambda pair: content_hash("plan", recipe.seed, pair.pair_id))[:SAMPLED]
    config = recipe.episode
    prompts = [
        judge_prompt(
            pair,
            data.case_of(pair),
            context=config.context,
            searches=config.spending.max_searches,
            style=config.prompt,
        )
        for pair in chosen
    ]
    codec = _codec(recipe.model)
    if codec is None:
        lengths = [sum(len(message["content"]) for message in prompt.chat()) / CHARACTERS for prompt in prompts]
        return sum(lengths) / len(lengths), f"{CHARACTERS:.0f} characters a token"
    lengths = [len(codec.prompt_ids(prompt, thinking=config.thinking)) for prompt in prompts]
    return sum(lengths) / len(lengths), "the model's tokenizer"


def _codec(model: str) -> Any:
    """The model's codec if its tokenizer is on this machine; the hub is not asked for a plan."""
    if not model.startswith("bundled:") and not Path(model).exists():
        return None
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer

    try:
        return SafeTokenizer(load_tokenizer(model))
    except JudgeError:
        return None
