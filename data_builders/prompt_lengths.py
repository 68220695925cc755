"""How long prompts are, in tokens of the model that will train, and which of them are too long."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import Prompt, judge_prompt
from judge_r1.episode.tokenizer import SafeTokenizer


class PromptLengths:
    """Counts the tokens of prompts as `Codec.prompt_ids` would encode them.

    What is inserted into a prompt is encoded apart from what is ours, so that lengths add up: a case that many pairs
    share is encoded once.
    """

    def __init__(self, codec: SafeTokenizer, config: EpisodeConfig) -> None:
        self._codec, self._config = codec, config
        self._inserted = lru_cache(64)(lambda text: len(codec.encode_untrusted(text)))
        self._ours: dict[str, int] = {}

    def __call__(self, pair: ReasoningPair, case: Case) -> int:
        """Tokens of the pair's prompt, up to where the judge begins to write."""
        config = self._config
        searches = config.spending.max_searches
        prompt = judge_prompt(pair, case, context=config.context, searches=searches, style=config.prompt)
        if case.domain not in self._ours:
            empty = Prompt(prompt.messages, ("",) * len(prompt.inserted))
            self._ours[case.domain] = len(self._codec.prompt_ids(empty, thinking=config.thinking))
        return self._ours[case.domain] + sum(map(self._inserted, prompt.inserted))


class LengthAudit:
    """Prompt lengths by domain, and the pairs whose prompt has more than `limit` tokens."""

    def __init__(self, lengths: PromptLengths, limit: int) -> None:
        self.limit = limit
        self.too_long: list[dict[str, Any]] = []
        self._lengths = lengths
        self._seen: dict[str, array[int]] = defaultdict(lambda: array("I"))

    def fits(self, pair: ReasoningPair, case: Case) -> bool:
        """Count a pair; False where it is too long."""
        tokens = self._lengths(pair, case)
        self._seen[pair.domain].append(tokens)
        if tokens <= self.limit:
            return True
        self.too_long.append(
            {"pair_id": pair.pair_id, "case_id": pair.case_id, "domain": pair.domain, "prompt_tokens": tokens}
        )
        return False

    def summary(self) -> dict[str, dict[str, int]]:
        """For each domain: pairs, min, median, p90, p99 and max in tokens, and how many are over the limit."""
        return {domain: _distribution(sorted(self._seen[domain]), self.limit) for domain in sorted(self._seen)}


def _distribution(lengths: Sequence[int], limit: int) -> dict[str, int]:
    def rank(percent: int) -> int:
        """The smallest length that so many percent do not exceed (nearest rank)."""
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
