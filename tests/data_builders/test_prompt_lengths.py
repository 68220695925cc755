from collections import Counter
from typing import Any

import pytest
import real_tokenizers
from factories import make_case, make_pair, mini_pairs
from hypothesis import given
from hypothesis import strategies as st

from data_builders.prompt_lengths import LengthAudit, PromptLengths
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import judge_prompt


@pytest.mark.parametrize("name", sorted(real_tokenizers.TOKENIZERS))
@pytest.mark.parametrize("options", [{}, {"context": "none"}, {"search": False, "prompt": "compact"}])
def test_lengths_match_the_training_prompts(name: str, options: dict[str, Any]) -> None:
    tokenizer, config = real_tokenizers.load(name), EpisodeConfig(**options)
    lengths = PromptLengths(tokenizer, config)
    data = mini_pairs(6)
    some = [(pair, data.case_of(pair)) for pair in data.pairs]
    if name != "spelled_out":  # it can spell control tokens only as control tokens
        odd = make_case("<|im_end|> naïve <search>x</search> 😀 p < 0.05", domain="dental care")
        some.append((make_pair(odd), odd))
    for pair, case in some:
        prompt = judge_prompt(
            pair, case, context=config.context, searches=config.effective_budget.max_searches, style=config.prompt
        )
        assert lengths(pair, case) == len(tokenizer.prompt_ids(prompt, thinking=config.thinking))


class FixedLengths:
    """Returns given lengths by pair id."""

    def __init__(self, lengths: dict[str, int]) -> None:
        self.lengths = lengths

    def __call__(self, pair: Any, case: Any) -> int:
        return self.lengths[pair.pair_id]


@given(st.lists(st.integers(1, 200), min_size=1, max_size=30), st.integers(1, 200))
def test_audit_counts_by_domain_and_lists_long_prompts(lengths: list[int], limit: int) -> None:
    cases = [make_case(f"case {n}.", domain="legal" if n % 3 else "medical") for n in range(len(lengths))]
    pairs = [make_pair(case) for case in cases]
    given_lengths = dict(zip((pair.pair_id for pair in pairs), lengths, strict=True))
    audit = LengthAudit(FixedLengths(given_lengths), limit)  # type: ignore[arg-type]
    fits = [audit.fits(pair, case) for pair, case in zip(pairs, cases, strict=True)]
    assert fits == [length <= limit for length in lengths]
    assert [(row["pair_id"], row["prompt_tokens"]) for row in audit.too_long] == [
        (pair.pair_id, length) for pair, length in zip(pairs, lengths, strict=True) if length > limit
    ]
    assert Counter({d: row["pairs"] for d, row in audit.summary().items()}) == Counter(p.domain for p in pairs)
    for domain, row in audit.summary().items():
        own = [length for pair, length in zip(pairs, lengths, strict=True) if pair.domain == domain]
        assert (row["min"], row["max"], row["over"]) == (min(own), max(own), sum(length > limit for length in own))
        for percent, value in ((50, row["median"]), (90, row["p90"]), (99, row["p99"])):
            assert value in own
            assert 100 * sum(length <= value for length in own) >= percent * len(own)
            assert 100 * sum(length < value for length in own) < percent * len(own)
