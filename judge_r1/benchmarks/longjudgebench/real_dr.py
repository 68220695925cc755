"""RealDR: 16 reports on each of 40 tasks, scored 0–10 on logic, expression and bias by one or two annotators.

The authors hold the scores back until acceptance: `ground_truth/realdr_gt.jsonl` is the user's to supply, and nothing
is derived from the annotation sheets that lie beside the documents.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.longjudgebench.docx import docx_text
from judge_r1.benchmarks.longjudgebench.files import GROUND_TRUTH, Id, Line, Output, lines, outputs, references
from judge_r1.benchmarks.longjudgebench.scope import Scope
from judge_r1.benchmarks.longjudgebench.subset import Query

DATASET = "realdr"
RAW = Path("data", "our_data")
DIMENSIONS = {"logical_structure_score": "逻辑结构", "expression_score": "表达形式", "bias_check_score": "偏见检查"}
"""As a judge's answer names them, and as the gold does."""


class Gold(Line):
    task_id: Id
    dimensions: Mapping[str, float]
    weights: Mapping[str, float]
    weighted_total: float


class Task(Line):
    instruction: str


def read(root: Path, scope: Scope) -> list[Query]:
    """One query a task, with its documents. The gold is the weighted mean, unrounded; `scope.paper` has it rounded to
    .1 without a rubric, as the release."""
    path = root / GROUND_TRUTH / "realdr_gt.jsonl"
    if path.exists() and not path.read_text(encoding="utf-8").lstrip().startswith("{"):
        raise BadBenchmark(
            f"{path} holds no scores: the authors release them later; put your own copy there, or name another set"
        )
    by_task: dict[str, list[Gold]] = defaultdict(list)
    for gold in lines(path, Gold):
        if not set(DIMENSIONS.values()) <= gold.dimensions.keys() & gold.weights.keys():
            raise BadBenchmark(
                f"{path}, id {gold.id}: dimensions and weights must name {', '.join(DIMENSIONS.values())}"
            )
        by_task[gold.task_id].append(gold)
    shown, known = outputs(root, DATASET), reference_of_tasks(root, scope)
    return [_query(root, task, docs, shown, known.get(task), scope) for task, docs in by_task.items()]


def _query(
    root: Path, task: str, docs: list[Gold], shown: Mapping[str, Output] | None, reference: str | None, scope: Scope
) -> Query:
    ids = tuple(doc.id for doc in docs)
    return Query(
        dataset=DATASET,
        column="RealDR",
        query_id=task,
        cluster_id=task,
        instruction=task_query(root, task) or "",
        systems=ids,
        ids=ids,
        texts=tuple(document(root, task, doc, shown, scope) for doc in ids),
        gold=tuple(gold_score(doc, scope) for doc in docs),
        reference=reference,
        weights=tuple(doc.weights for doc in docs),
    )


def gold_score(doc: Gold, scope: Scope) -> float:
    if scope.paper and not scope.rubric:
        return doc.weighted_total
    return weighted([doc.dimensions[name] for name in DIMENSIONS.values()], doc.weights)


def weighted(scores: list[float], weights: Mapping[str, float]) -> float:
    total = sum(weights[name] for name in DIMENSIONS.values())
    named = zip(scores, DIMENSIONS.values(), strict=True)
    return round(sum(score * weights[name] for score, name in named) / total, 9)


def document(root: Path, task: str, doc: str, shown: Mapping[str, Output] | None, scope: Scope) -> str | None:
    """Out of its .docx; out of the standardised file, which has no tables, where only that is there."""
    path = root / RAW / f"task{task}" / f"{doc}.docx"
    if path.exists() and (shown is None or scope.tables):
        return docx_text(path, tables=scope.tables)
    return shown[doc].responses[0].content if shown and doc in shown else None


def task_query(root: Path, task: str) -> str | None:
    """The question a task asks, without the four ways it was put."""
    path = root / RAW / "task_prompt" / f"task{task}.jsonl"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["query"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadBenchmark(f"{path} must be one JSON object with a query ({error!r})") from None


def reference_of_tasks(root: Path, scope: Scope) -> dict[str, str]:
    """By task: DR-Bench's reference for the same query, word for word. The released file numbers DR-Bench's references
    as if both had one order of tasks; the release never finds an entry of it, so with `scope.paper` there is none."""
    if scope.paper or not scope.reference:
        return {}
    known = references(root, "deepresearch_bench")
    asked = {
        line.instruction.strip(): line.id
        for line in lines(root / GROUND_TRUTH / "deepresearch_bench_gt.jsonl", Task)
        if line.id in known
    }
    tasks = {path.stem.removeprefix("task") for path in (root / RAW / "task_prompt").glob("task*.jsonl")}
    queries = {task: (task_query(root, task) or "").strip() for task in tasks}
    return {task: known[asked[query]] for task, query in sorted(queries.items()) if query in asked}
