"""DR-Bench: four deep-research agents on 50 Chinese tasks, scored by three annotators on four dimensions, 0–100."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field, model_validator

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, Values, number
from judge_r1.benchmarks.longjudgebench.query import (
    GROUND_TRUTH,
    STANDARDIZED,
    Criterion,
    Line,
    Query,
    lines,
    outputs,
    references,
)
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.verdicts import ScoresVerdict, Verdict

DATASET = "deepresearch_bench"
RAW = Path("data", "DeepResearch-Bench-Dataset", "generated_reports")
DIMENSIONS = {
    "comprehensiveness": "Comprehensiveness",
    "insight": "depth",
    "instruction_following": "instruction following",
    "readability": "readability",
}
"""Name in the weights -> name in an annotation."""
_DIMENSION = re.compile(r"Dimension: (?P<name>[^\n(]+?) \(dimension_weight: [\d.]+\)")
_CRITERION = re.compile(r"\s*- \[Weight: (?P<weight>[\d.]+)\] (?P<name>[^\n:]+): (?P<explanation>[^\n]*)")


class Annotation(BaseModel):
    dimension_scores: Mapping[str, Mapping[str, float]]
    overall_scores: Mapping[str, float]


class Aggregate(BaseModel):
    weighted_total: float
    overall: float


class AnnotatedScores(Line):
    instruction: str
    dimension_weights: Mapping[str, float]
    raw_annotations: tuple[Annotation, ...] = Field(min_length=1)
    aggregated: Mapping[str, Aggregate] = Field(min_length=1)

    @model_validator(mode="after")
    def _complete(self) -> "AnnotatedScores":
        if set(self.dimension_weights) != set(DIMENSIONS) or sum(self.dimension_weights.values()) <= 0:
            raise ValueError(f"dimension_weights must name {', '.join(DIMENSIONS)} and have a positive sum")
        for annotation in self.raw_annotations:
            for system in self.aggregated:
                scored = annotation.dimension_scores.get(system, {})
                if system not in annotation.overall_scores or not set(DIMENSIONS.values()) <= scored.keys():
                    raise ValueError(f"every annotation must score {system[:80]!r} overall and in each dimension")
        return self


class Criteria(Line):
    criteria_text: str


class Report(Line):
    article: str


def read(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per task. The gold is the unrounded mean of the annotators' weighted dimensions. `options.paper` uses
    the release's gold: the rounded `overall` without a rubric and `weighted_total` with one, both out of 10."""
    known = references(root, DATASET)
    criteria = {line.id: line for line in lines(root / STANDARDIZED / f"{DATASET}_criteria.jsonl", Criteria)}
    gold_lines = list(lines(root / GROUND_TRUTH / f"{DATASET}_gt.jsonl", AnnotatedScores))
    systems = tuple(dict.fromkeys(system for gold in gold_lines for system in gold.aggregated))
    texts = _texts(root, systems)
    queries = []
    for gold in gold_lines:
        own = tuple(gold.aggregated)
        text = criteria[gold.id].criteria_text if gold.id in criteria else ""
        queries.append(
            Query(
                column="DR",
                query_id=gold.id,
                cluster_id=gold.id,
                instruction=gold.instruction,
                systems=own,
                ids=(gold.id,) * len(own),
                texts=tuple(texts.get((gold.id, system)) for system in own),
                gold=tuple(gold_score(gold, system, options) for system in own),
                reference=known.get(gold.id),
                weights=(gold.dimension_weights,) * len(own),
                criteria=criteria_of(text, f"{DATASET}_criteria.jsonl, id {gold.id}") if text else {},
                criteria_text=text,
                annotators=tuple(
                    tuple(annotation.overall_scores[system] / 10 for system in own)
                    for annotation in gold.raw_annotations
                ),
            )
        )
    return queries


def gold_score(gold: AnnotatedScores, system: str, options: SubsetOptions) -> float:
    aggregate = gold.aggregated[system]
    if options.paper:
        return (aggregate.weighted_total if options.rubric else aggregate.overall) / 10
    totals = [
        sum(
            weight * annotation.dimension_scores[system][DIMENSIONS[name]]
            for name, weight in gold.dimension_weights.items()
        )
        for annotation in gold.raw_annotations
    ]
    return round(sum(totals) / len(totals) / 10, 9)


def criteria_of(text: str, where: str) -> dict[str, tuple[Criterion, ...]]:
    """The rubric's criteria per dimension, with the names of the weights. Raises BadBenchmark."""
    heads = list(_DIMENSION.finditer(text))
    found = {}
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # without a heading there is one end more
        part = text[head.end() : end]
        found[head["name"].strip().lower().replace(" ", "_")] = tuple(
            Criterion(match["name"].strip(), match["explanation"].strip(), float(match["weight"]))
            for match in _CRITERION.finditer(part)
        )
    if set(found) != set(DIMENSIONS) or not all(found.values()):
        raise BadBenchmark(f"{where}: criteria_text must list weighted criteria for {', '.join(DIMENSIONS)}")
    return found


def _texts(root: Path, systems: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """(task, system) -> text, from the standardised file or, if it is missing, the agents' own files."""
    if (shown := outputs(root, DATASET)) is not None:
        return {(line.id, system): text for line in shown.values() for system, text in line.by_system.items()}
    files = {system: root / RAW / f"{system}.jsonl" for system in systems}
    found = {system: lines(path, Report) for system, path in files.items() if path.exists()}
    return {(line.id, system): line.article for system, reports in found.items() for line in reports}


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    if not options.rubric:
        return ScoresVerdict(scores=(number(values, "overall_score", 10),))
    weights = query.weights[order[0]]
    total = sum(
        weight * _dimension(values.get(name), query.criteria.get(name, ()), options.paper)
        for name, weight in weights.items()
    )
    return ScoresVerdict(scores=(total / sum(weights.values()),))


def _dimension(listed: object, criteria: Sequence[Criterion], paper: bool) -> float:
    """The weighted mean of a dimension's scores. Scores are matched to criteria by text, with `paper` by position. If
    the match is not one to one, the mean is unweighted, as in the release if the numbers differ."""
    if not isinstance(listed, list) or not listed or not all(isinstance(entry, dict) for entry in listed):
        raise UnreadableAnswer("missing_field")
    scores = [number(entry, "target_score", 10) for entry in listed]
    if paper:
        matched = list(criteria) if len(criteria) == len(scores) else []
    else:
        matched = _matched([str(entry.get("criterion", "")) for entry in listed], criteria)
    if not matched:
        return sum(scores) / len(scores)
    named = zip(scores, matched, strict=True)
    return sum(score * found.weight for score, found in named) / sum(found.weight for found in matched)


def _matched(texts: Sequence[str], criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criterion of each text, or an empty list if texts and criteria do not match one to one."""
    found: list[Criterion] = []
    for text in map(_plain, texts):
        fitting = [
            one
            for one in criteria
            if text and (text.startswith(_plain(one.name)) or _plain(f"{one.name}{one.explanation}").startswith(text))
        ]
        if len(fitting) != 1:
            return []
        found += fitting
    return found if len(found) == len(criteria) == len(set(found)) else []


def _plain(text: str) -> str:
    return re.sub(r"\[weight[^][]*\]|[\W_]+", "", text.casefold())
