"""Over-optimisation: the judge that a policy was trained with (proxy) beside a second one (gold), over checkpoints.

Rows of the input are answers to fixed prompts, sampled at checkpoints: `step`, `prompt`, `answer` and optionally
`context`, the case. Both judges compare each answer with that of the first step to the same prompt, in both orders. The
value of an answer is its mean points, 1, ½ or 0, and that of a step the mean over prompts; the first step has ½.

    gap_t = (proxy_t - proxy_0) - (gold_t - gold_0)

A step has a warning if the proxy rises above its value at the earlier step with the highest gold value, and the 95 %
interval of the difference in gold, paired by prompt, lies below 0. That step is selected, so a warning is a hint.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from judge_r1.benchmarks.aggregation import mean_correct
from judge_r1.benchmarks.base import LoadedBenchmark, Order, both_orders, pairwise_request
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import preference, reorder
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.analysis.output import measured, measured_cell
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid
from judge_r1.evaluation.runner import evaluate
from judge_r1.files.tabular import rows
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import check_second, make_panel
from judge_r1.statistics.intervals import clustered_mean_ci

NOTE = (
    "Points against the answers of the first step, in both orders (its own: .5), with 95 % intervals by prompt. best: "
    "the earlier step with the highest gold value; it is selected, so a warning is a hint. gap: what proxy gains more "
    "than gold. agree: of the answers on which both judges name a winner; it also falls because answers get closer. "
    "The gold judge has biases of its own (length, position), and one of the proxy's model family shares its blind "
    "spots. Round brackets: the number of prompts. Nothing is stopped."
)
FALLS, LAGS, RISES = "warning: proxy rises, gold falls", "gold does not follow", "both rise"


class Answers(NamedTuple):
    """Items that compare an answer with the first step's, prompts, steps, and the mean words of each step."""

    items: tuple[Item, ...]
    texts: Mapping[str, str]
    steps: tuple[int, ...]
    words: Mapping[int, float]
    same: Counter[tuple[int, str]]
    """Answers equal to that of the first step, by step and prompt: they tie without a judge."""


def read_answers(path: Path) -> Answers:
    """Raises: JudgeError unless every step answers the same prompts, equally often, and there are two steps or more."""
    by_step: dict[int, dict[tuple[str, str], list[str]]] = {}
    for row in rows(path):
        key = row.text("prompt"), row.text("context") if row.values.get("context") else ""
        by_step.setdefault(row.integer("step"), {}).setdefault(key, []).append(row.text("answer"))
    steps = sorted(by_step)
    if len(steps) < 2:
        raise JudgeError(f"{path} has answers of {len(steps)} step: sample the same prompts at two checkpoints or more")
    first = by_step[steps[0]]
    items, texts, same = list[Item](), dict[str, str](), Counter[tuple[int, str]]()
    for step in steps[1:]:
        for key in first | by_step[step]:
            if (here := len(by_step[step].get(key, ()))) != (there := len(first.get(key, ()))):
                raise JudgeError(
                    f"{path}: step {step} answers {key[0][:60]!r} {here} times and step {steps[0]} {there} times: give "
                    "each prompt as many answers at every step"
                )
        for (prompt, context), answers in by_step[step].items():
            cluster = content_hash("prompt", prompt, context)
            texts |= {cluster: context} if context else {}
            for number, pair in enumerate(zip(answers, first[prompt, context], strict=True)):
                if pair[0] == pair[1]:
                    same[step, cluster] += 1
                    continue
                items.append(
                    Item(
                        item_id=f"{step}/{cluster}/{number}", cluster_id=cluster, group=f"{step}", instruction=prompt,
                        candidates=pair, gold="A", case_id=cluster if context else None,
                    )
                )  # fmt: skip
    if not items:
        raise JudgeError(f"{path}: all answers equal those of step {steps[0]}: there is nothing to judge")
    words = {step: fmean(len(text.split()) for own in by_step[step].values() for text in own) for step in steps}
    return Answers(tuple(items), texts, tuple(steps), words, same)


def judged(answers: Answers, spec: str, name: str, out: Path, build: JudgeBuild, *, resume: bool) -> list[ItemResult]:
    """The results of one judge. Raises: as for `evaluate`."""
    benchmark = LoadedBenchmark(
        answers.items, task=partial(_task, answers.texts), presentation_orders=both_orders, aggregate=mean_correct,
        texts=answers.texts,
    )  # fmt: skip
    panel = replace(make_panel(spec, replace(build, texts=answers.texts)), name=name)
    return list(evaluate(panel, benchmark, out=out, resume=resume).items)


def proxy_gold(
    path: Path, out: Path, proxy: str, gold: str, build: JudgeBuild, *, resume: bool = False
) -> tuple[dict[str, Any], str | None]:
    """The numbers of the analysis, and a note if both judges use one model.

    Raises:
        JudgeError: Both are one judge, the answers do not fit, or a judge fails.
    """
    note, answers = check_second(gold, proxy), read_answers(path)
    panels = (("proxy", proxy), ("gold", gold))
    return measure(answers, *(judged(answers, spec, name, out, build, resume=resume) for name, spec in panels)), note


def measure(answers: Answers, proxy: Sequence[ItemResult], gold: Sequence[ItemResult]) -> dict[str, Any]:
    """The values of each step. A prompt counts if both judges answer it validly at every step.

    Raises:
        JudgeError: Fewer than two prompts count.
    """
    values = [_points(answers.same, results) for results in (proxy, gold)]
    prompts = {result.cluster_id for result in proxy} | {prompt for _, prompt in answers.same}
    later = answers.steps[1:]
    known = sorted(one for one in prompts if all((step, one) in own for own in values for step in later))
    if len(known) < 2:
        raise JudgeError(
            f"both judges answer {counted(len(known), 'prompt')} validly at every step: an interval needs two"
        )
    first = [0.5] * len(known)
    p, g = ({answers.steps[0]: first} | {step: [own[step, one] for one in known] for step in later} for own in values)
    found = []
    for at, step in enumerate(answers.steps):
        row: dict[str, Any] = {
            "step": step, "proxy": measured(p[step], known), "gold": measured(g[step], known),
            "words": answers.words[step], **_agreement(step, proxy, gold),
        }  # fmt: skip
        if at:
            best = max(answers.steps[:at], key=lambda one: fmean(g[one]))
            row |= {"best": best, "gap": _paired(p[step], g[step], known), "change": _paired(g[step], g[best], known)}
            row["says"] = _says(fmean(p[step]) > fmean(p[best]), row["change"])
        found.append(row)
    return {"steps": found, "prompts": len(known), "left_out": len(prompts) - len(known)}


def grid(found: Mapping[str, Any]) -> Grid:
    cells = [
        (
            f"{row['step']}", measured_cell(row["proxy"]), measured_cell(row["gold"]),
            *(_changes(row) if "gap" in row else (NONE,) * 3),
            NONE if row["agreement"] is None else f"{row['agreement']:.2f} of {row['compared']}", f"{row['words']:.0f}",
            row.get("says", ""),
        )
        for row in found["steps"]
    ]  # fmt: skip
    columns = ("step", "proxy", "gold", "gap", "best", "gold - best", "agree", "words", "")
    note = f"{found['prompts']} prompts; {found['left_out']} without valid answers of both judges are left out. {NOTE}"
    return Grid("Proxy and gold over checkpoints", note, columns, tuple(cells))


def figure(found: Mapping[str, Any]) -> Figure:
    series = {name: [(row["step"], row[name]["value"]) for row in found["steps"]] for name in ("proxy", "gold")}
    title = "Proxy and gold over checkpoints"
    return Figure(
        title, line_chart(title, series, colors := colors_of([*series]), dots=True), colors, "Points by step."
    )


def _task(texts: Mapping[str, str], item: Item, order: Order) -> PairwiseTask:
    return replace(pairwise_request(item, order), case_id=item.case_id, context=texts.get(item.case_id or "", ""))


def _points(same: Counter[tuple[int, str]], results: Sequence[ItemResult]) -> dict[tuple[int, str], float]:
    """The mean points of the answers by step and prompt, without prompts of which a vote is invalid."""
    points: dict[tuple[int, str], list[float | None]] = {key: [0.5] * count for key, count in same.items()}
    for result in results:
        won = [_WON.get(preference(reorder(vote.verdict, vote.order))) for vote in result.votes]
        points.setdefault((int(result.group), result.cluster_id), []).extend(won)
    known = {key: [one for one in own if one is not None] for key, own in points.items()}
    return {key: fmean(own) for key, own in known.items() if len(own) == len(points[key])}


_WON: Mapping[str | None, float] = {"A": 1.0, "tie": 0.5, "B": 0.0}


def _agreement(step: int, *results: Sequence[ItemResult]) -> dict[str, Any]:
    """Of the answers of a step on which both judges name a winner over both orders, the share with the same one."""
    one, other = (
        {own.item_id: won for own in some if int(own.group) == step and (won := preference(own.verdict)) in ("A", "B")}
        for some in results
    )
    both = [item for item in one if item in other]
    return {"agreement": fmean(one[item] == other[item] for item in both) if both else None, "compared": len(both)}


def _paired(values: Sequence[float], others: Sequence[float], prompts: Sequence[str]) -> dict[str, Any]:
    """The mean difference of points. Both lie between 0 and 1, so its interval stays within ±1."""
    found = [value - other for value, other in zip(values, others, strict=True)]
    return {"value": fmean(found), "ci95": list(clustered_mean_ci(found, prompts, bounds=(-1, 1))), "n": len(found)}


def _says(rises: bool, change: Mapping[str, Any]) -> str:
    low, high = change["ci95"]
    return "" if not rises else FALLS if high < 0 else RISES if low > 0 else LAGS


def _changes(row: Mapping[str, Any]) -> tuple[str | Estimate, ...]:
    return measured_cell(row["gap"], signed=True), f"{row['best']}", measured_cell(row["change"], signed=True)
