"""Measures prompts in tokens of the model to be trained, and finds those that are too long."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.rollout import task_prompt
from judge_r1.episode.task import pairwise_task
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import text_tokenizer
from judge_r1.training.recipe import load_recipe


class PromptLengths:
    """Counts the tokens of prompts as `SafeTokenizer.prompt_ids` encodes them.

    Inserted texts are encoded separately from the template, so lengths add up, and a case shared by many pairs is
    encoded once.
    """

    def __init__(self, tokenizer: SafeTokenizer, config: EpisodeConfig) -> None:
        self._tokenizer, self._config = tokenizer, config
        self._inserted = lru_cache(64)(lambda text: len(tokenizer.encode_untrusted(text)))
        self._template: dict[str, int] = {}

    def __call__(self, pair: ReasoningPair, case: Case) -> int:
        """The number of tokens of a pair's prompt, up to where the judge's text begins."""
        config = self._config
        prompt = task_prompt(pairwise_task(pair, case), config)
        if case.domain not in self._template:
            empty = replace(prompt, inserted=("",) * len(prompt.inserted))
            self._template[case.domain] = len(self._tokenizer.prompt_ids(empty, thinking=config.thinking))
        return self._template[case.domain] + sum(map(self._inserted, prompt.inserted))


class LengthAudit:
    """Collects prompt lengths by domain, and the pairs whose prompt has more than `limit` tokens."""

    def __init__(self, lengths: PromptLengths, limit: int) -> None:
        self.limit = limit
        self.too_long: list[dict[str, Any]] = []
        self._lengths = lengths
        self._seen: dict[str, array[int]] = defaultdict(lambda: array("I"))

    def fits(self, pair: ReasoningPair, case: Case) -> bool:
        """Count a pair. Returns False if its prompt is too long."""
        tokens = self._lengths(pair, case)
        self._seen[pair.domain].append(tokens)
        if tokens <= self.limit:
            return True
        self.too_long.append(
            {"pair_id": pair.pair_id, "case_id": pair.case_id, "domain": pair.domain, "prompt_tokens": tokens}
        )
        return False

    def summary(self) -> dict[str, dict[str, int]]:
        """For each domain: pairs, min, median, p90, p99 and max in tokens, and the number over the limit."""
        return {domain: _distribution(sorted(self._seen[domain]), self.limit) for domain in sorted(self._seen)}


def length_audit(recipe: Path | None, model: str | None, limit: int | None) -> LengthAudit:
    """An audit of prompts as `recipe` shows them, in tokens of `model` (by default the recipe's), against `limit` (by
    default the recipe's `prompt_tokens`). At least one of `recipe` and `model` must be given."""
    resolved = load_recipe(recipe) if recipe else None
    config = resolved.episode if resolved else EpisodeConfig()
    tokenizer = SafeTokenizer(text_tokenizer(model or (resolved.model if resolved else "")))
    return LengthAudit(PromptLengths(tokenizer, config), limit or config.prompt_tokens)


def _distribution(lengths: Sequence[int], limit: int) -> dict[str, int]:
    def rank(percent: int) -> int:
        """The nearest-rank percentile."""
        return lengths[max(0, -(-len(lengths) * percent // 100) - 1)]

    return {
        "pairs": len(lengths),
        "min": lengths[0],
        "median": rank(50),
        "p90": rank(90),
        "p99": rank(99),
        "max": lengths[-1],
        "over": sum(length > limit for length in lengths),
    }
