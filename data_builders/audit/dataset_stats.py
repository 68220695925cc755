"""Computes statistics of a set of pairs: prompt lengths (LRBench, Table 1), A/B and principle balance (Figure 3), and
context lengths by domain (supplementary Figure 1)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from data_builders.prompt_lengths import PromptLengths
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.rollout import task_prompt
from judge_r1.episode.task import pairwise_task
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.statistics.intervals import binomial_p
from retrieval.words import count_words

BINS = 10
"""Approximate number of bars in a histogram of context lengths."""
Measure = Callable[[str, bool], int]
"""Maps a piece of a prompt, and whether it is untrusted text, to its length."""


@dataclass(frozen=True)
class Lengths:
    """Lengths of a group of texts: mean, quantiles and maximum.

    A quantile is the smallest length that at least this share of the texts does not exceed.
    """

    n: int
    mean: float
    p10: int
    median: int
    p90: int
    longest: int

    @classmethod
    def of(cls, lengths: Iterable[int]) -> "Lengths":
        ordered = sorted(lengths)
        n = len(ordered)
        p10, median, p90 = (ordered[max(0, -(-share * n // 10) - 1)] for share in (1, 5, 9))
        return cls(n, sum(ordered) / n, p10, median, p90, ordered[-1])


@dataclass(frozen=True)
class GroupStats:
    """Statistics of one domain, or of all domains.

    A prompt is the one of an episode's configuration, with its chat template; without one, it is that of `judge_prompt`
    for a judge that sees the context and does not search, without the tokens of a chat template. Contexts are those of
    cases with pairs. A pair counts under every principle that it violates.
    """

    pairs: int
    cases: int
    kinds: dict[str, int]
    a_better: int
    balance_p: float
    principles: dict[str, int]
    prompt_tokens: Lengths
    prompt_words: Lengths
    context_tokens: Lengths
    context_words: Lengths
    contexts: tuple[int, ...]


@dataclass(frozen=True)
class DatasetStats:
    """Statistics by domain. `edges` are the bin edges of the histograms of context tokens, equal in all domains."""

    tokenizer: str
    overall: GroupStats
    domains: dict[str, GroupStats]
    edges: tuple[int, ...]

    def histogram(self, group: GroupStats) -> list[int]:
        """Count the cases of a group by context length; bin i is `edges[i] <= tokens < edges[i + 1]`."""
        bins = Counter(tokens // (self.edges[1] - self.edges[0]) for tokens in group.contexts)
        return [bins[number] for number in range(len(self.edges) - 1)]


def compute_stats(
    data: PairSet, tokenizer: SafeTokenizer, tokenizer_name: str, config: EpisodeConfig | None = None
) -> DatasetStats:
    """Compute the statistics of a set of pairs. Lengths are in tokens and in words. `config` is
    the episode whose prompts are measured."""
    tokens: Measure = lru_cache(maxsize=4096)(
        lambda text, untrusted: len(tokenizer.encode_untrusted(text) if untrusted else tokenizer.encode_trusted(text))
    )
    words: Measure = lru_cache(maxsize=4096)(lambda text, _: count_words(text))
    episode = PromptLengths(tokenizer, config) if config else None
    shown = config or EpisodeConfig(search=False)
    prompts = [
        (
            episode(pair, data.case_of(pair)) if episode else _prompt_length(pair, data, shown, tokens),
            _prompt_length(pair, data, shown, words),
        )
        for pair in data.pairs
    ]
    contexts = {
        case_id: (tokens(data.cases[case_id].context, True), words(data.cases[case_id].context, True))
        for case_id in dict.fromkeys(pair.case_id for pair in data.pairs)
    }
    domains = sorted({pair.domain for pair in data.pairs})
    longest = max(length for length, _ in contexts.values())
    step = _round_up(longest / BINS)
    return DatasetStats(
        tokenizer=tokenizer_name,
        overall=_group(range(len(data.pairs)), data, prompts, contexts),
        domains={
            domain: _group([i for i, p in enumerate(data.pairs) if p.domain == domain], data, prompts, contexts)
            for domain in domains
        },
        edges=tuple(step * i for i in range(longest // step + 2)),
    )


def _group(
    indices: Sequence[int], data: PairSet, prompts: Sequence[tuple[int, int]], contexts: dict[str, tuple[int, int]]
) -> GroupStats:
    pairs = [data.pairs[i] for i in indices]
    case_ids = list(dict.fromkeys(pair.case_id for pair in pairs))
    a_better = sum(pair.preferred == "A" for pair in pairs)
    violated = Counter(number for pair in pairs for number in pair.violated)
    return GroupStats(
        pairs=len(pairs),
        cases=len(case_ids),
        kinds=dict(sorted(Counter(pair.kind for pair in pairs).items())),
        a_better=a_better,
        balance_p=binomial_p(a_better, len(pairs)),
        principles={principle.code: violated[principle.number] for principle in PRINCIPLES},
        prompt_tokens=Lengths.of(prompts[i][0] for i in indices),
        prompt_words=Lengths.of(prompts[i][1] for i in indices),
        context_tokens=Lengths.of(contexts[case_id][0] for case_id in case_ids),
        context_words=Lengths.of(contexts[case_id][1] for case_id in case_ids),
        contexts=tuple(contexts[case_id][0] for case_id in case_ids),
    )


def _prompt_length(pair: ReasoningPair, data: PairSet, config: EpisodeConfig, measure: Measure) -> int:
    prompt = task_prompt(pairwise_task(pair, data.case_of(pair)), config)
    return sum(measure(*piece) for message in prompt.messages for piece in prompt.pieces(message.marked))


def _round_up(value: float) -> int:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= value:
                return digit * power
        power *= 10


def as_json(stats: DatasetStats) -> dict[str, Any]:
    """Return the content of stats.json."""
    return {
        "schema": 1,
        "tokenizer": stats.tokenizer,
        "context_token_edges": list(stats.edges),
        "overall": _entry(stats, stats.overall),
        "domains": {domain: _entry(stats, group) for domain, group in stats.domains.items()},
    }


def _entry(stats: DatasetStats, group: GroupStats) -> dict[str, Any]:
    return {
        "pairs": group.pairs,
        "cases": group.cases,
        "kinds": group.kinds,
        "a_better": group.a_better,
        "balance_p": round(group.balance_p, 4),
        "principles": group.principles,
        **{
            name: {**vars(lengths), "mean": round(lengths.mean, 1)}
            for name in ("prompt_tokens", "prompt_words", "context_tokens", "context_words")
            for lengths in [getattr(group, name)]
        },
        "context_histogram": stats.histogram(group),
    }
