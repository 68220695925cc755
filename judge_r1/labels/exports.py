"""Exports of tools for labelling, as rows with our column names.

An adapter reads one record of an export, and says by which keys its records are known. Texts and labels may be records
of their own that share an id. docs/labels.md says which adapters were tried on files that the tool itself wrote.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.files.strict_json import parse_json
from judge_r1.files.transcripts import is_conversations
from judge_r1.labels.audit_answers import ANSWERS_FILE, QUESTION, audit_rows
from judge_r1.labels.kinds import BadLabels

Fields = Mapping[str, Any]
Rows = Iterator[tuple[str, Fields]]
_SUFFIXES = (".json", ".jsonl", ".ndjson")


class Tool(NamedTuple):
    """A tool's export. Each record has all keys of one of `keys`, and one of them those of the first, the labels'."""

    name: str
    keys: Sequence[set[str]]
    rows: Callable[[Any], Iterator[Fields]]

    def wrote(self, records: Sequence[Any]) -> bool:
        return all(isinstance(record, dict) and any(record.keys() >= keys for keys in self.keys) for record in records)


def read_export(path: Path, question: str | None) -> Rows | None:
    """The rows of an export, each with its place; None if the file is a table.

    Raises:
        BadLabels: The export has several questions and `question` names none of them, or a record of another form.
    """
    if path.suffix == ".eval":
        return _inspect_log(path)
    pairs = is_conversations(path) or ((path / CASES_FILE).is_file() and (path / PAIRS_FILE).is_file())
    if pairs or (path / ANSWERS_FILE).is_file():
        if not (answers := list(audit_rows(path))):
            raise BadLabels(f"{path / ANSWERS_FILE} has no answers yet: collect them with judge-r1 audit serve {path}")
        return _of_question(path, answers, question)
    if path.suffix not in _SUFFIXES or not path.is_file():
        return None
    records = _records(path)
    tool = next((one for one in TOOLS if one.wrote(records)), None)
    if tool is None or not any(record.keys() >= tool.keys[0] for record in records):
        return None
    try:
        found = [(f"{path}, record {n}", row) for n, record in enumerate(records, 1) for row in tool.rows(record)]
    except (TypeError, AttributeError, KeyError) as error:
        raise BadLabels(f"{path} looks like an export of {tool.name}, but an entry has another form: {error}") from None
    return _of_question(path, found, question)


def _records(path: Path) -> Sequence[Any]:
    data = path.read_bytes()
    if path.suffix == ".json":
        value = parse_json(data, path)
        if isinstance(value, dict):
            value = next((value[name] for name in ("data", "traces", "records") if name in value), None)
        return value if isinstance(value, list) else []
    return [
        parse_json(line, f"{path}, line {number}") for number, line in enumerate(data.splitlines(), 1) if line.strip()
    ]


def _of_question(path: Path, rows: Sequence[tuple[str, Fields]], question: str | None) -> Rows:
    # A score of code is no question that people or judges answer.
    names = sorted({row[QUESTION] for _, row in rows if row.get(QUESTION) and "annotator_kind" not in row})
    if question is None and len(names) > 1:
        raise BadLabels(f"{path} has the questions {', '.join(names)}: choose one by --question")
    if question is not None and question not in names:
        raise BadLabels(f"{path} has no question {question!r}: it has {', '.join(names) or 'none'}")
    for where, answered in rows:
        row = {name: value for name, value in answered.items() if name != QUESTION}
        asked = answered.get(QUESTION) in (question or next(iter(names), None), None)
        yield where, row if asked else {**row, "label": None, "verdict": None}


def _given(item: Fields, question: str | None, value: Any, person: object = None) -> dict[str, Any]:
    """The row of a person's label or, without `person`, of a verdict."""
    if person is None:
        return {**item, QUESTION: question, "verdict": value}
    return {**item, QUESTION: question, "annotator": str(person), "label": value}


def _first(*values: Any) -> Any:
    """The first value that is there."""
    return next((value for value in values if value is not None), None)


def _inspect_log(path: Path) -> Rows:
    """The samples of a log of Inspect, with a column for each scorer: --columns label=SCORER names people's."""
    from judge_r1.evaluation.inspect_logs import read_samples, values_of
    from judge_r1.traces.inspect_log import message_text

    for sample in read_samples(path)[1]:
        scores = {name: value for name, _, value in values_of(sample) if value == value}  # NaN is unscored
        about, given = sample.metadata or {}, sample.input
        text = given if isinstance(given, str) else "\n\n".join(map(message_text, given))
        row = {"id": f"{sample.id}/{sample.epoch}", "input": text, "output": sample.output.completion}
        yield f"{path}, sample {sample.id}", {**row, "cluster": str(about.get("cluster_id") or sample.id), **scores}


def _label_studio(task: Any) -> Iterator[Fields]:
    """A task with its annotations. Predictions are no labels of people, and skipped tasks have none."""
    item = {**task["data"], "id": str(task.get("id", ""))}
    yield item
    for annotation in task["annotations"]:
        by = annotation.get("completed_by")
        person = by.get("email") or by.get("id") if isinstance(by, dict) else by
        for result in () if annotation.get("was_cancelled") else annotation.get("result", ()):
            value = result.get("value", {})
            label = _first(*(value.get(key) for key in ("choices", "rating", "number", "selected")))
            if label not in (None, []):
                # Several choices are no label, and refused as such.
                only = label[0] if isinstance(label, list) and len(label) == 1 else label
                yield _given(item, result.get("from_name"), only, person or "")


def _argilla(record: Any) -> Iterator[Fields]:
    """A record with responses and suggestions by question; only submitted responses are labels."""
    item = {**record["fields"], "id": str(record["id"])}
    yield item
    for question, answers in (record["responses"] or {}).items():
        for one in answers:
            if one.get("status", "submitted") == "submitted":
                yield _given(item, question, one["value"], one["user_id"])
    for question, one in (record.get("suggestions") or {}).items():
        yield _given(item, question, one["value"])


def _langfuse(record: Any) -> Iterator[Fields]:
    """A trace or observation with its texts, or a score: of `ANNOTATION` it is a person's, of `EVAL` a judge's, and of
    another source (`API`) that of code, which counts as left out. What is said of a whole trace is said of its root
    observation."""
    root = record.get("traceId") and not record.get("parentObservationId")
    if "source" not in record:
        texts = {name: _only(record[name]) for name in ("input", "output")}
        yield {**texts, "id": record["traceId"] if root else record["id"]}
    else:
        about, source = record.get("subject") or {}, record["source"]
        item = {"id": str(_first(record.get("observationId"), record.get("traceId"), about.get("id")))}
        person = None if source == "EVAL" else record.get("authorUserId") or "human"
        by = {} if source in ("ANNOTATION", "EVAL") else {"annotator_kind": "code"}
        yield {**_given(item, record["name"], _first(record.get("stringValue"), record["value"]), person), **by}


def _mlflow(record: Any) -> Iterator[Fields]:
    """A trace, as `Trace.to_json` or `to_dict` writes it."""
    info = record.get("info", record)
    spans = (record.get("data") or {}).get("spans", ())
    root: Fields = next((span for span in spans if not span.get("parent_span_id")), {})
    texts = {
        ours: _only(_first(root.get("attributes", {}).get(theirs), info.get(short)))
        for ours, theirs, short in (
            ("input", "mlflow.spanInputs", "request_preview"), ("output", "mlflow.spanOutputs", "response_preview")
        )
    }  # fmt: skip
    item = {**texts, "id": str(_first(info.get("trace_id"), info.get("request_id")))}
    yield item
    for one in info["assessments"]:
        if one.get("valid") is not False:  # another one of the same person stands in its place
            source, value = one.get("source", {}), (one.get("feedback") or one.get("expectation") or {}).get("value")
            person = (source.get("source_id") or "human") if source.get("source_type") == "HUMAN" else None
            yield _given(item, _first(one.get("assessment_name"), one.get("name")), value, person)


def _phoenix(record: Any) -> Iterator[Fields]:
    """A span with its texts, or an annotation of a span."""
    if "context" in record:
        texts = {ours: record["attributes"].get(f"{ours}.value") for ours in ("input", "output")}
        yield {**texts, "id": record["context"]["span_id"]}
        return
    result = record["result"] or {}
    person = _first(record.get("identifier") or None, record.get("user_id"), "human")
    human = record["annotator_kind"] == "HUMAN"
    label = _first(result.get("label"), result.get("score"))
    yield _given({"id": record["span_id"]}, record["name"], label, person if human else None)


def _langsmith(record: Any) -> Iterator[Fields]:
    """A run with its texts, or a feedback on a run: of the sources `model` and `auto_eval` it is a judge's, else a
    person's."""
    if "run_id" not in record:
        yield {"id": str(record["id"]), "input": _only(record["inputs"]), "output": _only(record.get("outputs"))}
        return
    source = record["feedback_source"] or {}
    person = None if source.get("type") in ("model", "auto_eval") else source.get("user_id") or "human"
    value = _first(record.get("value"), record.get("score"))
    yield _given({"id": str(record["run_id"])}, record["key"], value, person)


TOOLS = (
    Tool("Label Studio", [{"data", "annotations"}], _label_studio),
    Tool("Argilla", [{"id", "fields", "responses"}], _argilla),
    Tool("Langfuse", [{"name", "source", "value", "timestamp"}, {"id", "input", "output"}], _langfuse),
    Tool("MLflow", [{"info", "data"}, {"assessments"}], _mlflow),
    Tool("Phoenix", [{"span_id", "annotator_kind", "result"}, {"context", "attributes"}], _phoenix),
    Tool("LangSmith", [{"run_id", "key", "feedback_source"}, {"id", "inputs"}], _langsmith),
)


def _only(value: Any) -> Any:
    """The text of a value that is one: as it is, as JSON, or in an object of one text."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    only = list(found.values()) if isinstance(found, dict) else [found]
    return only[0] if len(only) == 1 and isinstance(only[0], str) else value
