"""Attention of a local model at its decision, by section of the prompt (supplementary Table 14)."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge_r1.core.items import best_of
from judge_r1.core.text_check import counted
from judge_r1.episode.confidence import decision_position
from judge_r1.episode.rollout import task_prompt
from judge_r1.episode.task import PairwiseTask
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
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
from judge_r1.evaluation.report.charts import Figure, bar_chart
from judge_r1.evaluation.report.tables import NONE, Grid
from judge_r1.models.hub import load_model, load_tokenizer
from judge_r1.statistics.intervals import clustered_mean_ci, gap_ci

PAPER = {PRINCIPLES: 0.9011, INSTRUCTIONS: 0.0317, CONTEXT: 0.0131, A: 0.0243, B: 0.0298}
"""Table 14, GRPO-8B: shares of these five sections together."""
FEW = 5
"""With fewer clusters on a side, a difference has no interval."""
_SHORT_NAMES = ("1st", "chat", "instr", "princ", "case", "asked", "A", "B", "own", "found")
SHORT = dict(zip(SECTIONS, _SHORT_NAMES, strict=True))
"""The names of the sections on the axis of a chart."""


class Look(NamedTuple):
    """One decision. `attention` and `tokens` map each section of the episode to its share of the attention (mean over
    the layers) and of the tokens read; `right` is true if the decision prefers the better candidate."""

    item_id: str
    cluster_id: str
    prefers_first: bool
    right: bool
    attention: Mapping[str, float]
    tokens: Mapping[str, float]


def looks(judged: Judged, member: int, model: Any, tokenizer: SafeTokenizer) -> tuple[list[Look], int, int]:
    """The decisions of a panel's member, the number of votes without one, and the number of averaged layers.

    The model reads the ids of the episode. It need not be the model that wrote them, but it needs the same tokenizer.

    Raises:
        AnalysisError: A prompt in the votes differs from the one that this tokenizer gives for the item.
    """
    config = judged.episode(member)
    found: list[Look] = []
    without = layers = 0
    for item in judged.benchmark.items:
        for stored in (stored for stored in judged.results.votes[item.item_id] if stored.member == member):
            position = decision_position(stored.trajectory, tokenizer.decode)
            task = judged.benchmark.task(item, stored.order)
            if position is None or not isinstance(task, PairwiseTask):
                without += 1
                continue
            prompt = task_prompt(task, config)
            ids, sections = prompt_sections(prompt, tokenizer, config.prompt, thinking=config.thinking)
            if tuple(ids) != stored.trajectory.prompt_ids:
                raise AnalysisError(
                    f"judge {judged.name!r}: the prompt of item {item.item_id} is not the one in its vote: name the "
                    "model that wrote it, or one with the same tokenizer and chat template"
                )
            read = [*ids, *stored.trajectory.token_ids[:position]]
            weights = last_attention(model, read)
            read_sections = episode_sections(sections, stored.trajectory)[: len(read)]
            layers, winner = len(weights), stored.vote.winner
            found.append(
                Look(
                    item.item_id,
                    item.cluster_id,
                    winner == stored.order[0],
                    winner == best_of(item),
                    by_section(weights.mean(0), read_sections),
                    by_section([1 / len(read)] * len(read), read_sections),
                )
            )
    return found, without, layers


def attention_rows(panels: Iterable[Judged], models: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The attention of every local model among the panels' members, by a label that names panel, member and reader.

    `models` read the episodes instead of the model that wrote them.

    Raises:
        AnalysisError: No member is a local model.
    """
    rows: dict[str, dict[str, Any]] = {}
    for judged in panels:
        for member, (spec, _) in enumerate(judged.members):
            kind, _, own = spec.partition("@")
            for name in (models or [own]) if kind == "agentic" else ():
                tokenizer = SafeTokenizer(load_tokenizer(name))
                decisions, without, layers = looks(judged, member, load_model(name, attention="eager"), tokenizer)
                label = [
                    judged.name,
                    *[f"member {member}"] * (len(judged.members) > 1),
                    *[f"read by {name}"] * bool(models),
                ]
                rows[" ".join(label)] = {
                    "model": name,
                    "without": without,
                    "layers": layers,
                    **attention_row(decisions),
                }
    if not rows:
        raise AnalysisError("none of these judges is a local model (agentic@MODEL)")
    return rows


def by_section(weights: Iterable[float], sections: Sequence[str]) -> dict[str, float]:
    """The sum of the weights of each section; sections without a token are absent."""
    sums: dict[str, float] = {}
    for weight, section in zip(weights, sections, strict=True):
        sums[section] = sums.get(section, 0.0) + float(weight)
    return sums


def attention_row(found: Sequence[Look]) -> dict[str, Any]:
    """Per section: the mean share of the attention with its clustered interval, the share of the tokens, their ratio,
    the share among the paper's five sections, and the means by preference and by correctness."""
    if not found:
        raise AnalysisError("no decision was found: the judge has no valid answer whose token ids show the decision")
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
    """The difference of two groups of decisions; without an interval if a group has too few clusters."""
    if not one or not other:
        return None
    a, b = ([(look.cluster_id, min(1.0, look.attention.get(section, 0.0))) for look in part] for part in (one, other))
    enough = min(len({cluster for cluster, _ in part}) for part in (a, b)) >= FEW
    return {
        "value": fmean(value for _, value in a) - fmean(value for _, value in b),
        "ci95": list(gap_ci(a, b)) if enough else None,
    }


LAYERS = 4
CHUNK = 512
"""Tokens per forward pass: memory for attention is `CHUNK` times the length per layer, not the square of the length."""


def last_attention(model: Any, ids: Sequence[int]) -> NDArray[np.float64]:
    """The attention of the last of `ids`, which predicts the next token, to all of them.

    Returns float64 `[layers, len(ids)]`: the mean over the heads of each of the last `LAYERS` layers (fewer if the
    model has fewer). Each row sums to 1. `model` must be loaded with attention="eager"; other implementations do not
    return weights. All ids but the last are read into a cache, so only the weights of the last one are computed.

    Raises:
        AnalysisError: The model returns no attention weights.
    """
    import torch
    from transformers import DynamicCache

    from judge_r1.models.kv_cache import CACHE_ARGUMENT

    count = len(ids)
    reading = {CACHE_ARGUMENT: DynamicCache(config=model.config), "use_cache": True, "logits_to_keep": 1}
    tensor = torch.tensor([list(ids)], device=model.device)
    with torch.no_grad():
        for start in range(0, count - 1, CHUNK):
            part = tensor[:, start : min(start + CHUNK, count - 1)]
            model(input_ids=part, **reading)
        out = model(input_ids=tensor[:, -1:], **reading, output_attentions=True)
    weights = [layer for layer in out.attentions or () if layer is not None][-LAYERS:]
    if not weights:
        raise AnalysisError("this model returns no attention weights: load it with attention='eager'")
    rows = np.zeros((len(weights), count))
    for row, layer in zip(rows, weights, strict=True):
        window = layer[0, :, -1].double().mean(0).cpu().numpy()
        row[count - len(window) :] = window  # a sliding window covers only the last ids
    off = float(np.abs(rows.sum(1) - 1).max())
    if off > 0.02:
        raise AnalysisError(f"a layer's attention sums to {1 + off:.3f} or {1 - off:.3f}, not to 1")
    shares: NDArray[np.float64] = rows / rows.sum(1, keepdims=True)
    return shares


NOTE = (
    "Attention, percent: mean over decisions, the last layers and their heads, from the position that predicts the "
    "sign of the answer [95 % interval, clustered]. Tokens: the section's share of all tokens read so far, its "
    "share under uniform attention. Relative: attention / tokens. Of five, even, paper: shares among the paper's "
    "five sections alone, of the attention here, of the tokens here, and of the attention in supplementary Table 14 "
    "(GRPO-8B). A - B: decisions for A minus those for B; right - wrong accordingly [95 % interval, clustered; none "
    "where one side has fewer than 5 clusters]."
)


def attention_grid(name: str, row: Mapping[str, Any]) -> Grid:
    cells = tuple(
        (
            section,
            _interval(part["attention"], part["ci95"]),
            _share(part["tokens"]),
            f"{part['relative']:.2f}",
            *(_share(part[key]) for key in ("of_five", "tokens_of_five", "paper")),
            *(_difference(part[key]) for key in ("first_minus_second", "right_minus_wrong")),
        )
        for section, part in row["sections"].items()
    )
    title = (
        f"{name}: attention at {row['n']} decisions ({row['first']} A, {row['second']} B; {row['right']} right, "
        f"{row['wrong']} wrong), {counted(row['layers'], 'layer')}; {counted(row['without'], 'vote')} without a "
        "decision"
    )
    columns = ("section", "attention", "tokens", "relative", "of five", "even", "paper", "A - B", "right - wrong")
    return Grid(title, NOTE, columns, cells)


def attention_figure(name: str, row: Mapping[str, Any]) -> Figure:
    """The shares of attention and tokens as a group of bars per section."""
    labels = [SHORT[section] for section in row["sections"]]
    bars = {key: [part[key] for part in row["sections"].values()] for key in ("attention", "tokens")}
    title = f"{name}: share of the attention and of the tokens"
    colors = {"attention": 0, "tokens": 6}
    return Figure(name, bar_chart(title, labels, bars, colors), colors, f"{title}.")


def _share(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def _interval(value: float, ci95: Sequence[float] | None, sign: str = "") -> str:
    if ci95 is None:
        return f"{100 * value:{sign}.1f}"
    low, high = ci95
    return f"{100 * value:{sign}.1f} [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"


def _difference(part: Mapping[str, Any] | None) -> str:
    return NONE if part is None else _interval(part["value"], part["ci95"], "+")
