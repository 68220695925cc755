"""Fits the weights of checklists to human annotations, category by category, and writes them with their diagnostics."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.hellobench.annotations import Annotation, averaged, read_annotations
from judge_r1.benchmarks.hellobench.files import CategoryWeights, WeightsFile
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import reasons
from judge_r1.evaluation.report.tables import Grid, share
from judge_r1.files.jsonl import write_json
from judge_r1.statistics.agreement import agreement_of_people
from judge_r1.statistics.checklist_weights import LOWER_BOUND, WeightFit, fit_weights


class BadAnnotations(JudgeError):
    """Annotations that no weights can be fitted to; the message names the line."""


def fit_file(
    files: Sequence[Path],
    out: Path,
    *,
    resamples: int = 1000,
    ridge: float = 0.0,
    pool_below: int = 0,
    seed: int = 0,
) -> dict[str, WeightFit]:
    """Writes the weights of every category in `files` to `out` and returns the fits.

    Several annotators of one response are averaged. The intervals are bootstraps over instructions. A category with
    fewer than `pool_below` responses is fitted together with the categories of its task that have as many questions.

    Raises:
        BadAnnotations: A category has rows with different numbers of questions, or there is no annotation.
        BadTable: A row is incomplete.
    """
    skipped: Counter[str] = Counter()
    every = [annotation for file in files for annotation in read_annotations(file, skipped)]
    if not every:
        raise BadAnnotations(f"{files[0]} holds no annotation (skipped: {reasons(skipped)})")
    categories: dict[str, list[Annotation]] = {}
    for annotation in every:
        known = categories.setdefault(annotation.category, [annotation])
        if len(known[0].scores) != len(annotation.scores):
            raise BadAnnotations(
                f"{annotation.where}: has {len(annotation.scores)} item scores, and {known[0].where} of the same "
                f"category {annotation.category!r} has {len(known[0].scores)}"
            )
        if known[0] is not annotation:
            known.append(annotation)
    fits, pooled = {}, {}
    responses = {category: averaged(annotations) for category, annotations in categories.items()}
    for category, rows in responses.items():
        if len(rows) < pool_below:
            pooled[category], rows = _pooled(rows, responses.values())
        fits[category] = fit_weights(
            [row.scores for row in rows],
            [row.overall for row in rows],
            [row.id for row in rows],
            ridge=ridge,
            resamples=resamples,
            seed=seed,
        )
    report = WeightsFile(
        schema=1,
        annotations=[{"file": file.name, "hash": sha256(file.read_bytes()).hexdigest()[:16]} for file in files],
        settings={
            "lower_bound": LOWER_BOUND,
            "ridge": ridge,
            "pool_below": pool_below,
            "resamples": resamples,
            "seed": seed,
        },
        rows=len(every),
        skipped=skipped,
        annotator_pearson=annotator_agreement(every),
        categories={category: _entry(fit, pooled.get(category)) for category, fit in fits.items()},
    )
    write_json(out, report.model_dump(mode="json", by_alias=True))
    return fits


def _pooled(rows: Sequence[Annotation], others: Iterable[Sequence[Annotation]]) -> tuple[str, list[Annotation]]:
    """The task of a category, and its responses together with those of the task's categories of the same length.
    Raises: BadAnnotations if the ids do not tell the task."""
    first = rows[0]
    if first.task is None:
        raise BadAnnotations(
            f"{first.where}: the id {first.id!r} does not tell the task, such as chat_012, so that category "
            f"{first.category!r} cannot be pooled: add ids, or leave out --pool-below"
        )
    alike = (found for found in others if found[0].task == first.task and len(found[0].scores) == len(first.scores))
    return first.task, [row for found in alike for row in found]


def annotator_agreement(annotations: Sequence[Annotation]) -> dict[str, dict[str, float | int | None]]:
    """The agreement of each two annotators in the overall scores of the responses that both scored (Table 19)."""
    scores: dict[str, dict[tuple[str, str, str], float]] = {}
    for one in annotations:
        if one.annotator:
            scores.setdefault(one.annotator, {})[one.category, one.id, one.system] = one.overall
    found = agreement_of_people(scores)
    return {people: {name: own[name] for name in ("pearson", "n")} for people, own in found.items()}


def weights_grid(fits: Mapping[str, WeightFit]) -> Grid:
    """One row per category: the weights with their intervals, the fit, and what is wrong with it."""
    rows = []
    for category, fit in fits.items():
        cells = [f"{weight:.1f}" for weight in fit.weights]
        if fit.low and fit.high:
            intervals = zip(cells, fit.low, fit.high, strict=True)
            cells = [f"{cell} [{low:.1f}, {high:.1f}]" for cell, low, high in intervals]
        numbers = (str(fit.n), f"{fit.rank}/{len(fit.weights)}", share(fit.r2), f"{fit.mse:.2f}")
        rows.append((category, *numbers, ", ".join(cells), "; ".join(fit.warnings) or "-"))
    note = (
        "Weights sum to 100, with 95 % intervals (bootstrap over instructions). Rank: of the item scores, of the "
        "number of questions; below it, the weights are not determined. R² and MSE: of the overall score, 0 to 10."
    )
    return Grid("Weights", note, ("category", "rows", "rank", "R²", "MSE", "weights", "warnings"), tuple(rows))


def _entry(fit: WeightFit, pooled: Any) -> CategoryWeights:
    return CategoryWeights(
        weights=fit.weights,
        low=fit.low,
        high=fit.high,
        raw_weights=fit.raw,
        r2=fit.r2,
        mse=fit.mse,
        n=fit.n,
        clusters=fit.clusters,
        rank=fit.rank,
        at_bound=fit.at_bound,
        warnings=fit.warnings,
        pooled=pooled,
    )
