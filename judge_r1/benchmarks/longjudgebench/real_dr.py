"""RealDR: 16 reports on each of 40 tasks, scored 0–10 on logic, expression and bias by one or two annotators.

The authors withhold the scores until acceptance, so users must supply `ground_truth/realdr_gt.jsonl`. The annotation
sheets next to the documents are not used. `read` joins three files of the release for each task: its gold, its query,
and its reports, .docx files that `docx_text` reads as the release does. `read_answer` maps an answer to a score.
"""

import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from pydantic import model_validator

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.answer_parsers import Values, number
from judge_r1.benchmarks.longjudgebench.query import (
    GROUND_TRUTH,
    FileId,
    Line,
    Output,
    Query,
    lines,
    outputs,
    references,
)
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.verdicts import ScoresVerdict, Verdict
from judge_r1.files.strict_json import parse_json

DATASET = "realdr"
RAW = Path("data", "our_data")
DIMENSIONS = {"logical_structure_score": "逻辑结构", "expression_score": "表达形式", "bias_check_score": "偏见检查"}
"""Name in a judge's answer -> name in the gold."""


class DocumentScores(Line):
    id: FileId
    task_id: FileId
    dimensions: Mapping[str, float]
    weights: Mapping[str, float]
    weighted_total: float

    @model_validator(mode="after")
    def _complete(self) -> "DocumentScores":
        names = DIMENSIONS.values()
        if not set(names) <= self.dimensions.keys() & self.weights.keys():
            raise ValueError(f"dimensions and weights must name {', '.join(names)}")
        if sum(self.weights[name] for name in names) <= 0:
            raise ValueError("the sum of the weights must be positive")
        return self


class Task(Line):
    instruction: str


def read(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per task, with its documents as outputs. The gold is the unrounded weighted mean; with `options.paper`
    and no rubric it is rounded to 0.1, as in the release."""
    path = root / GROUND_TRUTH / "realdr_gt.jsonl"
    if path.exists() and not path.read_bytes().lstrip().startswith(b"{"):
        raise BadBenchmark(
            f"{path} holds no scores; the authors have not released them: supply your own copy or name another set"
        )
    by_task: dict[str, list[DocumentScores]] = defaultdict(list)
    for gold in lines(path, DocumentScores):
        by_task[gold.task_id].append(gold)
    shown, known = outputs(root, DATASET), reference_of_tasks(root, options)
    queries = []
    for task, docs in by_task.items():
        ids = tuple(doc.id for doc in docs)
        queries.append(
            Query(
                column="RealDR",
                query_id=task,
                cluster_id=task,
                instruction=task_query(root, task) or "",
                systems=ids,
                ids=ids,
                texts=tuple(document(root, task, doc, shown, options) for doc in ids),
                gold=tuple(gold_score(doc, options) for doc in docs),
                reference=known.get(task),
                weights=tuple(doc.weights for doc in docs),
            )
        )
    return queries


def gold_score(doc: DocumentScores, options: SubsetOptions) -> float:
    """From 0 to 10: `weighted`, or what the release stores of it."""
    if options.paper and not options.rubric:
        return doc.weighted_total
    return weighted([doc.dimensions[name] for name in DIMENSIONS.values()], doc.weights)


def weighted(scores: list[float], weights: Mapping[str, float]) -> float:
    """Σ w·s / Σ w over the three dimensions. Rounding hides the order of the sum, so equal scores tie."""
    total = sum(weights[name] for name in DIMENSIONS.values())
    named = zip(scores, DIMENSIONS.values(), strict=True)
    return round(sum(score * weights[name] for score, name in named) / total, 9)


def document(root: Path, task: str, doc: str, shown: Mapping[str, Output] | None, options: SubsetOptions) -> str | None:
    """The text of a .docx file, or from the standardised file, which has no tables, if only that is available."""
    path = root / RAW / f"task{task}" / f"{doc}.docx"
    if path.exists() and (shown is None or options.tables):
        return docx_text(path, tables=options.tables)
    return shown[doc].responses[0].content if shown and doc in shown else None


def task_query(root: Path, task: str) -> str | None:
    """The task's query, without the four prompt variants."""
    path = root / RAW / "task_prompt" / f"task{task}.jsonl"
    try:
        return str(parse_json(path.read_bytes(), path)["query"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadBenchmark(f"{path} must be a JSON object with the field query ({error!r})") from None


def reference_of_tasks(root: Path, options: SubsetOptions) -> dict[str, str]:
    """Task -> DR-Bench's reference for the identical query. The ids in the released file assume that both data sets
    list tasks in the same order, and the release's code matches none of them; with `options.paper` there is none."""
    if options.paper or not options.reference:
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


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LARGEST = 256 * 2**20
"""Limit in bytes for the unpacked document. A report has a few hundred thousand."""


def docx_text(path: Path, *, tables: bool = False) -> str:
    """The paragraphs of a .docx body, one per line, as the release reads them. With `tables`, also the tables at their
    position in the body, one row per line, cells separated by ` | `. Raises BadBenchmark."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo("word/document.xml").file_size > _LARGEST:
                raise BadBenchmark(f"{path}: the document is larger than {_LARGEST} bytes")
            data = archive.read("word/document.xml")
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise BadBenchmark(f"{path}: the document declares XML entities, which is not allowed")
        body = ElementTree.fromstring(data).find(f"{_W}body")
    except (OSError, KeyError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise BadBenchmark(f"{path} is not a .docx file ({error}): download it again") from None
    if body is None:
        raise BadBenchmark(f"{path} has no body: download it again")
    return "\n".join(_blocks(body, tables))


def _blocks(parent: ElementTree.Element, tables: bool) -> Iterator[str]:
    for block in parent:
        if block.tag == f"{_W}p":
            yield _text(block)
        elif block.tag == f"{_W}tbl" and tables:
            for row in block.iter(f"{_W}tr"):
                cells = row.findall(f"{_W}tc")
                yield " | ".join(" ".join(_text(p) for p in cell.iter(f"{_W}p")).strip() for cell in cells)


def _text(paragraph: ElementTree.Element) -> str:
    """The text of a paragraph's runs and links, with breaks and tabs. Text boxes are not included."""
    runs: list[ElementTree.Element] = []
    for part in paragraph:
        runs += [part] if part.tag == f"{_W}r" else part.findall(f"{_W}r") if part.tag == f"{_W}hyperlink" else []
    return "".join(_part_text(part) for run in runs for part in run)


def _part_text(part: ElementTree.Element) -> str:
    if part.tag == f"{_W}t":
        return part.text or ""
    if part.tag == f"{_W}br":
        return "\n" if part.get(f"{_W}type", "textWrapping") == "textWrapping" else ""
    return {f"{_W}tab": "\t", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}.get(part.tag, "")


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    if not options.rubric:
        return ScoresVerdict(scores=(number(values, "overall_score", 10),))
    scores = [number(values, name, 10) for name in DIMENSIONS]
    return ScoresVerdict(scores=(weighted(scores, query.weights[order[0]]),))
