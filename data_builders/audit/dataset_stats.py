"""Statistics of a set of pairs: prompt lengths (the paper's Table 1), A/B and principle balance (its Figure 3), and
context lengths by domain (its supplementary Figure 1)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.statistics.intervals import binomial_p

BINS = 10
"""About how many bars a histogram of context lengths has."""
Measure = Callable[[str, bool], int]
"""The length of a piece of a prompt; the flag says whether it is inserted text."""


@dataclass(frozen=True)
class Lengths:
    """How long some texts are: mean, and the shortest text that at least a tenth, half, nine tenths are no longer
    than."""

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
class Group:
    """One domain, or all. A prompt is instruction, context, decision and both reasonings, as `judge_prompt` writes
    them for a judge that sees the context and does not search; the tokens of a chat template are not in it. Contexts
    are those of cases that have pairs. A pair counts under every principle that it violates."""

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
class Statistics:
    """`edges` are those of the histogram of context tokens, the same in each domain."""

    tokenizer: str
    overall: Group
    domains: dict[str, Group]
    edges: tuple[int, ...]

    def histogram(self, group: Group) -> list[int]:
        """Cases of a group by context length: `edges[i] <= tokens < edges[i + 1]`."""
        bins = Counter(tokens // (self.edges[1] - self.edges[0]) for tokens in group.contexts)
        return [bins[number] for number in range(len(self.edges) - 1)]


def statistics(data: PairSet, codec: SafeTokenizer, tokenizer: str) -> Statistics:
    """Lengths in tokens of `codec`, whose name is `tokenizer`, and in words (what white space parts)."""
    tokens: Measure = lru_cache(maxsize=4096)(
        lambda text, inserted: len(codec.encode_untrusted(text) if inserted else codec.encode_trusted(text))
    )
    words: Measure = lru_cache(maxsize=4096)(lambda text, _: len(text.split()))
    prompts = [(_prompt_length(pair, data, tokens), _prompt_length(pair, data, words)) for pair in data.pairs]
    contexts = {
        case_id: (tokens(data.cases[case_id].context, True), words(data.cases[case_id].context, True))
        for case_id in dict.fromkeys(pair.case_id for pair in data.pairs)
    }
    domains = sorted({pair.domain for pair in data.pairs})
    longest = max(length for length, _ in contexts.values())
    step = _round_up(longest / BINS)
    return Statistics(
        tokenizer=tokenizer,
        overall=_group(range(len(data.pairs)), data, prompts, contexts),
        domains={
            domain: _group([i for i, p in enumerate(data.pairs) if p.domain == domain], data, prompts, contexts)
            for domain in domains
        },
        edges=tuple(step * i for i in range(longest // step + 2)),
    )


def _group(
    places: Sequence[int], data: PairSet, prompts: Sequence[tuple[int, int]], contexts: dict[str, tuple[int, int]]
) -> Group:
    pairs = [data.pairs[i] for i in places]
    case_ids = list(dict.fromkeys(pair.case_id for pair in pairs))
    a_better = sum(pair.preferred == "A" for pair in pairs)
    violated = Counter(number for pair in pairs for number in pair.violated)
    return Group(
        pairs=len(pairs),
        cases=len(case_ids),
        kinds=dict(sorted(Counter(pair.kind for pair in pairs).items())),
        a_better=a_better,
        balance_p=binomial_p(a_better, len(pairs)),
        principles={principle.code: violated[principle.number] for principle in PRINCIPLES},
        prompt_tokens=Lengths.of(prompts[i][0] for i in places),
        prompt_words=Lengths.of(prompts[i][1] for i in places),
        context_tokens=Lengths.of(contexts[case_id][0] for case_id in case_ids),
        context_words=Lengths.of(contexts[case_id][1] for case_id in case_ids),
        contexts=tuple(contexts[case_id][0] for case_id in case_ids),
    )


def _prompt_length(pair: ReasoningPair, data: PairSet, measure: Measure) -> int:
    prompt = judge_prompt(pair, data.case_of(pair), context="full", searches=0)
    return sum(measure(*piece) for message in prompt.messages for piece in prompt.pieces(message.marked))


def _round_up(value: float) -> int:
    """The next of 1, 2, 5 times a power of ten."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= value:
                return digit * power
        power *= 10


def as_json(found: Statistics) -> dict[str, Any]:
    """The content of stats.json."""
    return {
        "schema": 1,
        "tokenizer": found.tokenizer,
        "context_token_edges": list(found.edges),
        "overall": _entry(found, found.overall),
        "domains": {domain: _entry(found, group) for domain, group in found.domains.items()},
    }


def _entry(found: Statistics, group: Group) -> dict[str, Any]:
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
        "context_histogram": found.histogram(group),
    }
