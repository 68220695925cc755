"""Estimates the steps and tokens of a run: the maximum, and the likely number if its data exist."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PAIRS_FILE, PairSet
from judge_r1.core.record_base import content_hash
from judge_r1.core.transcripts import is_conversations
from judge_r1.episode.prompts import judge_prompt
from judge_r1.training.data.training_pairs import training_pairs
from judge_r1.training.recipe import Recipe

SAMPLED = 200
"""Number of prompts that are measured."""
CHARACTERS = 4.0
"""Characters per English token, used without the model's tokenizer."""


class Tokens(BaseModel):
    """`examples`: episodes or training examples per step. `prompt`, `response`: maximum tokens of each. `mean_prompt`:
    mean tokens of sampled prompts; None without data."""

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
    """The tokens of a recipe's run. GRPO samples pairs_per_step x group_size episodes per step. SFT and DPO have
    `max_steps` steps, or one per batch of `epochs` passes over the data, unknown without data."""
    data = _data(recipe.data.train)
    pairs = len(data.pairs) if data else None
    prompt, counted_by = _mean_prompt(recipe, data) if data else (None, "")
    response = recipe.episode.effective_budget.episode_tokens
    if recipe.stage == "grpo":
        examples = recipe.grpo.pairs_per_step * recipe.grpo.group_size
        steps: int | None = recipe.grpo.steps
    else:
        part = recipe.sft if recipe.stage == "sft" else recipe.dpo
        used = pairs
        if recipe.stage == "sft" and recipe.sft.traces:
            used = min(recipe.sft.traces, pairs or recipe.sft.traces)
        examples = part.batch_size
        epoch_steps = None if used is None else -(-round(part.epochs * used) // part.batch_size)
        steps = part.max_steps if part.max_steps > 0 else epoch_steps
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
    found = is_conversations(folder) or (folder / PAIRS_FILE).exists()
    return training_pairs(folder) if found else None


def _mean_prompt(recipe: Recipe, data: PairSet) -> tuple[float, str]:
    """Mean tokens per prompt over a seeded sample, and how they were counted."""
    chosen = sorted(data.pairs, key=lambda pair: content_hash("plan", recipe.seed, pair.pair_id))[:SAMPLED]
    config = recipe.episode
    prompts = [
        judge_prompt(
            pair,
            data.case_of(pair),
            context=config.context,
            searches=config.effective_budget.max_searches,
            style=config.prompt,
        )
        for pair in chosen
    ]
    tokenizer = _tokenizer(recipe.model)
    if tokenizer is None:
        lengths = [sum(len(message["content"]) for message in prompt.chat()) / CHARACTERS for prompt in prompts]
        return sum(lengths) / len(lengths), f"{CHARACTERS:.0f} characters per token"
    lengths = [len(tokenizer.prompt_ids(prompt, thinking=config.thinking)) for prompt in prompts]
    return sum(lengths) / len(lengths), "the model's tokenizer"


def _tokenizer(model: str) -> Any:
    """The tokenizer of the model's tokenizer.json if it is on this machine, else None. The hub is not accessed."""
    if not model.startswith("bundled:") and not Path(model).exists():
        return None
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import resolve
    from judge_r1.models.pretrained import loading

    try:
        with loading(f"tokenizer of {model!r}"):
            from transformers import PreTrainedTokenizerFast  # without the classes of all models, which take seconds

            tokenizer = PreTrainedTokenizerFast.from_pretrained(resolve(model))
            return SafeTokenizer(tokenizer) if tokenizer.chat_template else None
    except JudgeError:
        return None
