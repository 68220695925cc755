"""Attention by section of the prompt at the decision token (supplementary Table 14), beside how long sections are.

A section that holds 60 % of the tokens gets 60 % of an attention that looks at nothing in particular, so each share
stands beside the section's share of the tokens, and `relative` is their ratio.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from judge_r1.episode.confidence import decision_place
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import question_prompt
from judge_r1.episode.task import PairwiseTask
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.analysis.looking import last_attention
from judge_r1.evaluation.analysis.prompt_sections import (
    CONTEXT,
    INSTRUCTIONS,
    PRINCIPLES,
    SECTIONS,
    A,
    B,
    episode_sections,
    prompt_sections,
)
from judge_r1.evaluation.report.labels import best_of
from judge_r1.statistics.intervals import clustered_mean_ci, gap_ci

PAPER = {PRINCIPLES: 0.9011, INSTRUCTIONS: 0.0317, CONTEXT: 0.0131, A: 0.0243, B: 0.0298}
"""Table 14, GRPO-8B: shares of these five sections together."""
FEW = 5
"""A bootstrap over fewer clusters than these is too sure of itself."""


class Look(NamedTuple):
    """One decision. `attention` and `tokens` give each section that the episode has its share of the attention (mean
    of the layers) and of the tokens read; `right` says whether it prefers the better candidate."""

    item_id: str
    cluster_id: str
    prefers_first: bool
    right: bool
    attention: Mapping[str, float]
    tokens: Mapping[str, float]


def looks(judged: Judged, member: int, model: Any, codec: SafeTokenizer) -> tuple[list[Look], int, int]:
    """Every decision of a row's judge that its ids tell, how many games have none, and how many layers were averaged.

    The episode's own ids are read again (token in, token out), so a model that did not write them can be asked where it
    would look at the same place, if it has the same tokenizer. Errors: AnalysisError where the prompts of the traces
    are not those that this tokenizer and these items give.
    """
    settings = judged.members[member].settings
    config = EpisodeConfig.model_validate({k: v for k, v in settings.items() if k in EpisodeConfig.model_fields})
    found: list[Look] = []
    without = layers = 0
    for item in judged.suite.items:
        for trace in (trace for trace in judged.results.traces[item.item_id] if trace.member == member):
            place = decision_place(trace.trajectory, codec.decode)
            question = judged.suite.task(item, trace.order)
            if place is None or not isinstance(question, PairwiseTask):
                without += 1
                continue
            budget = config.spending.max_searches if question.case_id else 0
            prompt = question_prompt(question, context=config.context, searches=budget, style=config.prompt)
            ids, sections = prompt_sections(prompt, codec, config.prompt, thinking=config.thinking)
            if tuple(ids) != trace.trajectory.prompt_ids:
                raise AnalysisError(
                    f"row {judged.name!r}: the prompt of item {item.item_id} is not the one in its trace: name the "
                    "model that wrote it, or one with the same tokenizer and chat template"
                )
            read = [*ids, *trace.trajectory.token_ids[:place]]
            weights = last_attention(model, read)
            layers = len(weights)
            winner = trace.vote.winner
            found.append(
                Look(
                    item.item_id,
                    item.cluster_id,
                    winner == trace.order[0],
                    winner == best_of(item),
                    by_section(weights.mean(0), episode_sections(sections, trace.trajectory)[: len(read)]),
                    by_section([1 / len(read)] * len(read), episode_sections(sections, trace.trajectory)[: len(read)]),
                )
            )
    return found, without, layers


def by_section(weights: Iterable[float], sections: Sequence[str]) -> dict[str, float]:
    """The sum of the weights of each section; a section without a token is absent."""
    sums: dict[str, float] = {}
    for weight, section in zip(weights, sections, strict=True):
        sums[section] = sums.get(section, 0.0) + float(weight)
    return sums


def attention_row(found: Sequence[Look]) -> dict[str, Any]:
    """By section: mean share of the attention with its interval by cluster, share of the tokens, their ratio, the share
    among the paper's five sections, and the means by preference and by correctness, over all decisions given."""
    if not found:
        raise AnalysisError("no decision was found: the row has no valid answers, or none whose ids tell where it is")
    groups = {
        "first": [look for look in found if look.prefers_first],
        "second": [look for look in found if not look.prefers_first],
        "right": [look for look in found if look.right],
        "wrong": [look for look in found if not look.right],
    }
    clusters = [look.cluster_id for look in found]
    five = sum(fmean(look.attention.get(name, 0.0) for look in found) for name in PAPER)
    five_tokens = sum(fmean(look.tokens.get(name, 0.0) for look in found) for name in PAPER)
    sections: dict[str, Any] = {}
    for name in SECTIONS:
        shares = [min(1.0, look.attention.get(name, 0.0)) for look in found]
        tokens = fmean(look.tokens.get(name, 0.0) for look in found)
        if not tokens:
            continue
        mean = fmean(shares)
        sections[name] = {
            "attention": mean,
            "ci95": list(clustered_mean_ci(shares, clusters)),
            "tokens": tokens,
            "relative": mean / tokens,
            "of_five": mean / five if name in PAPER and five else None,
            "tokens_of_five": tokens / five_tokens if name in PAPER else None,
            "paper": PAPER.get(name),
            **{
                key: fmean(look.attention.get(name, 0.0) for look in part) if part else None
                for key, part in groups.items()
            },
            "first_minus_second": _gap(name, groups["first"], groups["second"]),
            "right_minus_wrong": _gap(name, groups["right"], groups["wrong"]),
        }
    return {"n": len(found), **{key: len(part) for key, part in groups.items()}, "sections": sections}


def _gap(section: str, one: Sequence[Look], other: Sequence[Look]) -> dict[str, Any] | None:
    """The difference of two groups of decisions; without an interval where one of them is of too few clusters."""
    if not one or not other:
        return None
    a, b = ([(look.cluster_id, min(1.0, look.attention.get(section, 0.0))) for look in part] for part in (one, other))
    enough = min(len({look.cluster_id for look in part}) for part in (one, other)) >= FEW
    return {
        "value": fmean(value for _, value in a) - fmean(value for _, value in b),
        "ci95": list(gap_ci(a, b)) if enough else None,
    }
