"""Exports of tools for labelling, as rows with our column names.

Each adapter is a pure function of the parsed file: it returns None for a file of another tool. Shapes are those of the
tools' documentation; docs/labels.md says which of them were tried on files that the tool itself wrote.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.files.pair_set import load_pairs
from judge_r1.files.strict_json import parse_json
from judge_r1.labels.kinds import BadLabels

Rows = Iterator[tuple[str, Mapping[str, Any]]]
_SUFFIXES = (".json", ".jsonl", ".ndjson")


def read_export(path: Path, question: str | None) -> Rows | None:
    """The rows of an export, each with its place; None if the file is a table.

    Raises:
        BadLabels: The export has several questions and `question` names none of them, or it has no labels.
    """
    if path.suffix == ".eval":
        return _inspect_log(path)
    if (path / "answers.jsonl").is_file():
        return _audited(path)
    if path.suffix not in _SUFFIXES or not path.is_file():
        return None
    records = _records(path)
    for adapter in _ADAPTERS:
        try:
            found = adapter(records) if records and all(isinstance(one, dict) for one in records) else None
        except (TypeError, AttributeError, KeyError) as error:
            tool = adapter.__name__.strip("_").replace("_", " ")
            raise BadLabels(f"{path} looks like an export of {tool}, but an entry has another form: {error}") from None
        if found is not None:
            return _of_question(path, found, question)
    return None


def _inspect_log(path: Path) -> Rows:
    """The samples of a log of Inspect, with a column for each scorer: --columns label=SCORER names people's."""
    from judge_r1.evaluation.inspect_logs import read_samples

    for sample in read_samples(path)[1]:
        scores = {name: score.as_str() for name, score in (sample.scores or {}).items()}
        about = sample.metadata or {}
        row = {"id": f"{sample.id}/{sample.epoch}", "input": _input(sample.input), "output": sample.output.completion}
        yield f"{path}, sample {sample.id}", {**row, "cluster": str(about.get("cluster_id") or sample.id), **scores}


def _input(given: Any) -> str:
    """The input of a sample: a text, or messages."""
    return given if isinstance(given, str) else "\n\n".join(f"{one.role}: {one.text}" for one in given)


def _audited(folder: Path) -> Rows:
    """The pairs of a folder that people annotated with `judge-r1 audit serve`, with their first choices."""
    data = load_pairs(folder)
    pairs, cases = data.by_id(), data.cases
    for number, line in enumerate((folder / "answers.jsonl").read_bytes().splitlines(), 1):
        where = f"{folder / 'answers.jsonl'}, line {number}"
        answer = parse_json(line, where)
        if not isinstance(answer, dict) or not answer.keys() >= {"round", "pair_id", "annotator", "choice"}:
            raise BadLabels(f"{where}: is no answer of `judge-r1 audit serve`")
        if answer["round"] != 1:
            continue
        if (pair := pairs.get(answer["pair_id"])) is None:
            raise BadLabels(f"{where}: {folder} has no pair {answer['pair_id']!r}")
        case = cases[pair.case_id]
        yield where, {
            "id": pair.pair_id, "input": case.decision, "context": case.context, "a": pair.reasoning_a,
            "b": pair.reasoning_b, "cluster": pair.case_id, "annotator": answer["annotator"], "label": answer["choice"],
        }  # fmt: skip


def _records(path: Path) -> Sequence[Any]:
    data = path.read_bytes()
    if path.suffix == ".json":
        value = parse_json(data, path)
        if isinstance(value, dict):
            value = next(
                (value[name] for name in ("data", "traces", "records") if isinstance(value.get(name), list)), []
            )
        return value if isinstance(value, list) else []
    return [
        parse_json(line, f"{path}, line {number}") for number, line in enumerate(data.splitlines(), 1) if line.strip()
    ]


def _of_question(path: Path, rows: Sequence[Mapping[str, Any]], question: str | None) -> Rows:
    names = sorted({row["question"] for row in rows if row.get("question")})
    if question is None and len(names) > 1:
        raise BadLabels(f"{path} has the questions {', '.join(names)}: choose one by --question")
    if question is not None and question not in names:
        raise BadLabels(f"{path} has no question {question!r}: it has {', '.join(names) or 'none'}")
    chosen = question or (names[0] if names else None)
    for number, row in enumerate(rows, 1):
        kept = row if row.get("question") in (chosen, None) else {**row, "label": None, "verdict": None}
        yield f"{path}, label {number}", {name: value for name, value in kept.items() if name != "question"}


def _label_studio(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Label Studio's JSON: `data` of a task, `annotations` with `result`s. Predictions are no labels of people."""
    if not all("data" in task and "annotations" in task for task in records):
        return None
    rows = []
    for task in records:
        item = {**task["data"], "id": str(task.get("id", ""))}
        rows.append(item)
        for annotation in task["annotations"]:
            if annotation.get("was_cancelled"):
                continue
            by = annotation.get("completed_by")
            person = str(by.get("email") or by.get("id")) if isinstance(by, dict) else str(by)
            for result in annotation.get("result", ()):
                value = result.get("value", {})
                label = next((value[key] for key in ("choices", "rating", "selected") if key in value), None)
                label = label[0] if isinstance(label, list) and label else label
                if label is not None:
                    rows.append({**item, "annotator": person, "label": label, "question": result.get("from_name")})
    return rows


def _argilla(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Argilla 2: `fields`, and `responses` by question; only submitted ones are labels."""
    if not all("fields" in record and "responses" in record for record in records):
        return None
    rows = []
    for number, record in enumerate(records):
        item = {**record["fields"], "id": str(record.get("id") or number)}
        rows.append(item)
        for question, answers in (record["responses"] or {}).items():
            rows += [
                {**item, "annotator": str(one.get("user_id")), "label": one.get("value"), "question": question}
                for one in answers
                if one.get("status", "submitted") == "submitted"
            ]
    return rows


def _langfuse(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Langfuse's scores: those of `ANNOTATION` are people's, those of `EVAL` the judge's. They hold no texts but those
    joined to them as `input` and `output`."""
    if not all("source" in score and "name" in score and "traceId" in score for score in records):
        return None
    rows = []
    for score in records:
        value = score.get("stringValue") if score.get("stringValue") is not None else score.get("value")
        item = {"id": str(score.get("observationId") or score["traceId"]), "question": score["name"]}
        item |= {name: score[name] for name in ("input", "output") if name in score}
        if score["source"] == "ANNOTATION":
            rows.append({**item, "annotator": str(score.get("authorUserId") or "human"), "label": value})
        elif score["source"] == "EVAL":
            rows.append({**item, "verdict": value})
    return rows


def _mlflow(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """MLflow's traces with `assessments`, as `Trace.to_json` or `to_dict` writes them."""
    infos = [record.get("info", record) for record in records]
    if not all("assessments" in info for info in infos):
        return None
    rows = []
    for record, info in zip(records, infos, strict=True):
        item: dict[str, Any] = {"id": str(info.get("trace_id") or info.get("request_id"))}
        item |= {ours: _text(value) for ours, value in _mlflow_texts(record, info).items() if value is not None}
        rows.append(dict(item))
        for one in info["assessments"]:
            if one.get("valid") is False:  # another one of the same person stands in its place
                continue
            source = one.get("source", {})
            value = (one.get("feedback") or one.get("expectation") or {}).get("value")
            found = {**item, "question": one.get("assessment_name") or one.get("name")}
            if source.get("source_type") == "HUMAN":
                rows.append({**found, "annotator": source.get("source_id") or "human", "label": value})
            elif source.get("source_type") in ("LLM_JUDGE", "CODE"):
                rows.append({**found, "verdict": value})
    return rows


def _mlflow_texts(record: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
    data = record.get("data") or {}
    root: Mapping[str, Any] = next((span for span in data.get("spans", ()) if not span.get("parent_span_id")), {})
    attributes = root.get("attributes", {})
    return {
        "input": _plain(attributes.get("mlflow.spanInputs") or info.get("request_preview")),
        "output": _plain(attributes.get("mlflow.spanOutputs") or info.get("response_preview")),
    }


def _plain(value: Any) -> Any:
    """The text of an attribute, which MLflow writes as JSON: that of a text or of an object with one text, as it is."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
    only = list(found.values()) if isinstance(found, dict) else [found]
    return only[0] if len(only) == 1 and isinstance(only[0], str) else value


def _phoenix(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Phoenix's span annotations, with the spans' texts joined as `input` and `output`."""
    if not all("span_id" in one and "annotator_kind" in one and "result" in one for one in records):
        return None
    rows = []
    for one in records:
        result = one["result"] or {}
        value = result.get("label") if result.get("label") is not None else result.get("score")
        item: dict[str, Any] = {"id": str(one["span_id"]), "question": one.get("name")}
        item |= {name: one[name] for name in ("input", "output") if name in one}
        if one["annotator_kind"] == "HUMAN":
            rows.append({**item, "annotator": one.get("identifier") or "human", "label": value})
        else:
            rows.append({**item, "verdict": value})
    return rows


def _langsmith(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """LangSmith's runs with `feedback`: a list of `key`, `score` or `value`, and `feedback_source`."""
    if not all("inputs" in run and isinstance(run.get("feedback"), list) for run in records):
        return None
    rows = []
    for run in records:
        item: dict[str, Any] = {
            "id": str(run.get("id", "")),
            "input": _text(run["inputs"]),
            "output": _text(run.get("outputs")),
        }
        rows.append(dict(item))
        for one in run["feedback"]:
            value = one.get("value") if one.get("value") is not None else one.get("score")
            source = (one.get("feedback_source") or {}).get("type")
            found = {**item, "question": one.get("key")}
            if source in ("app", "api", None):
                rows.append({**found, "annotator": str(one.get("user_id") or "human"), "label": value})
            else:
                rows.append({**found, "verdict": value})
    return rows


_ADAPTERS: Sequence[Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any]] | None]] = (
    _label_studio, _argilla, _langfuse, _mlflow, _phoenix, _langsmith,
)  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
