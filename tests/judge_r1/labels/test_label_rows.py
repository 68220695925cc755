"""Reading labels: names of columns, kinds, people, errors, and the same result from every file format."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from label_factories import TWO_CLASSES, rows_of, write_csv, write_lines

from judge_r1.core.errors import JudgeError
from judge_r1.labels.check import check
from judge_r1.labels.gold import gold_of
from judge_r1.labels.kinds import find_scheme
from judge_r1.labels.people import count_answers, read_answers
from judge_r1.labels.rows import read_labels
from judge_r1.labels.verdicts import verdicts_of_file


@pytest.mark.parametrize(
    ("words", "options", "kind", "answers"),
    [
        (["Pass", "fail", "pass "], {}, "binary", ("pass", "fail")),
        (["0", "1", "1"], {}, "binary", ("1", "0")),
        (["helpful", "harmful"], {"positive": "helpful"}, "binary", ("helpful", "harmful")),
        (["yes"], {}, "binary", ("yes", "no")),
        (["1", "4", "5.0", "2/5"], {}, "ordinal", ("1", "2", "3", "4", "5")),
        (["1", "2"], {"scale": (1, 5)}, "ordinal", ("1", "2", "3", "4", "5")),
        (["0.5", "0.25", "1"], {}, "numeric", ()),
        (["red", "green", "blue"], {}, "nominal", ("blue", "green", "red")),
        (["A", "model_b", "tie (bothbad)"], {"pairs": True}, "pairwise", ("A", "B", "tie")),
        (["left", "right"], {"pairs": True}, "pairwise", ("A", "B")),
    ],
)
def test_kinds_are_found(words: list[str], options: dict[str, Any], kind: str, answers: tuple[str, ...]) -> None:
    scheme = find_scheme(words, **options)
    assert (scheme.kind, scheme.answers) == (kind, answers)


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["red", "blue"], {}, "--positive"),
        (["pass", "passed"], {"kind": "binary"}, "mean the same"),
        (["pass", "passed", "fail"], {}, "fail, pass, passed are more than two words"),
        (["4-5", "3"], {"kind": "ordinal"}, "'4-5' is no number"),
        (
            ["3,5", "4,0"],
            {},
            "'3,5' may be the number 3.5 or the labels 3 and 5: write a point, or give --kind nominal",
        ),
        ([str(n) + "x" for n in range(30)], {}, "30 different labels"),
        (["A", "C3"], {"pairs": True}, "'c3' names no side"),
        (
            ["yes", "no"],
            {"scale": (1, 5)},
            "--scale is for whole numbers, and these labels are nominal, such as 'no': leave",
        ),
        (["0.5", "0.7", "1"], {"scale": (0, 1)}, "--scale is for whole numbers, and these labels are numeric"),
        (["1", "9"], {"scale": (1, 5)}, "outside the scale"),
        (["a", "b", "c"], {"kind": "binary"}, "two words"),
        (["yes", "no"], {"positive": "good"}, "no label of the file"),
    ],
)
def test_labels_that_fit_no_kind_are_named(words: list[str], options: dict[str, Any], said: str) -> None:
    with pytest.raises(JudgeError, match=said):
        find_scheme(words, **options)


def test_every_format_and_order_gives_the_same_labels_and_numbers(tmp_path: Path) -> None:
    rows = rows_of(TWO_CLASSES)
    as_csv = read_labels(write_csv(tmp_path / "a.csv", rows))
    turned = random.Random(0).sample(rows, len(rows))
    lines = read_labels(write_lines(tmp_path / "a.jsonl", [{**row, "color": "red"} for row in turned]))
    (tmp_path / "a.json").write_text(json.dumps(turned))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    others = [read_labels(tmp_path / name) for name in ("a.json", "a.parquet")]
    assert {found.digest for found in (as_csv, lines, *others)} == {as_csv.digest}
    assert gold_of(as_csv).labels == gold_of(lines).labels
    assert as_csv.columns["label"] == "label"
    results = [check(found, [verdicts_of_file(found)]).judges[0] for found in (as_csv, lines, *others)]
    assert all((one.measures, one.decision) == (results[0].measures, results[0].decision) for one in results)


def test_wide_files_hold_one_column_for_each_person(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "output": "x", "label_ana": "pass", "label_ben": "fail"},
        {"id": "2", "output": "y", "label_ana": "pass", "label_ben": ""},
        {"id": "3", "output": "z", "label_ana": "", "label_ben": ""},
    ]
    labels = read_labels(write_csv(tmp_path / "wide.csv", rows))
    assert labels.people == ["ana", "ben"]
    assert [item.id for item in labels.pool] == ["3"]
    gold = gold_of(labels)
    assert (gold.labels, gold.contested) == ({"2": "pass"}, ("1",))
    assert gold_of(labels, "ben").labels == {"1": "fail", "2": "pass"}


def test_what_is_read_with_a_note(tmp_path: Path) -> None:
    rows = rows_of(TWO_CLASSES)
    labels = read_labels(write_csv(tmp_path / "twice.csv", [*rows, rows[0], rows[1]]))
    assert len(labels.items) == 100
    assert "2 labels stood in the file already and count once" in labels.notes
    seen = read_labels(write_csv(tmp_path / "seen.csv", [{**row, "saw_verdict": "true"} for row in rows]))
    assert any("anchored" in note for note in seen.notes)


def test_a_split_has_several_names(tmp_path: Path) -> None:
    names = ["", "test", "dev", "train", "examples", "validation"]
    rows = [{"id": n, "output": n, "label": "pass", "split": name} for n, name in enumerate(names)]
    labels = read_labels(write_csv(tmp_path / "splits.csv", rows))
    later = {"id": 9, "output": "9", "label": "pass"}
    [item] = read_labels(write_lines(tmp_path / "later.jsonl", [later, {**later, "split": "dev"}])).items
    assert item.split == "dev"
    assert [item.split for item in labels.items] == ["test", "test", *["dev"] * 4]
    with pytest.raises(JudgeError, match="which --split dev does"):
        read_labels(write_csv(tmp_path / "train.csv", rows[2:])).of_split("test")


def test_chosen_and_rejected_are_placed_by_the_id(tmp_path: Path) -> None:
    rows = [{"id": str(n), "prompt": "q", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(20)]
    labels = read_labels(write_lines(tmp_path / "pairs.jsonl", rows))
    gold = gold_of(labels).labels
    assert set(gold.values()) == {"A", "B"}
    for item in labels.items:
        assert item.texts[gold[item.id].lower()].startswith("good")


def test_labels_of_models_are_left_out_and_a_file_of_them_is_an_error(tmp_path: Path) -> None:
    rows = [{**row, "annotator_kind": "human" if n else "model"} for n, row in enumerate(rows_of(TWO_CLASSES))]
    labels = read_labels(write_csv(tmp_path / "some.csv", rows))
    assert len(labels.items) == 99
    assert any("labels of models" in note for note in labels.notes)
    with pytest.raises(JudgeError, match="not of people"):
        read_labels(write_csv(tmp_path / "all.csv", [{**row, "annotator_kind": "model"} for row in rows]))


def test_equal_texts_are_one_cluster_and_are_listed_if_their_labels_differ(tmp_path: Path) -> None:
    rows = [{"id": str(n), "input": "same", "output": "x", "label": "pass" if n else "fail"} for n in range(2)]
    labels = read_labels(write_csv(tmp_path / "twins.csv", rows))
    assert len({item.cluster for item in labels.items}) == 1
    assert any("texts that stand under several ids: 1" in note for note in labels.notes)
    assert any("different labels" in note for note in labels.notes)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "1", "output": "x", "grade": "pass"}], "no column of labels"),
        ([{"id": "1", "output": "x", "label": ""}], "has no label"),
        ([{"id": "1", "label": "pass"}], "no text to judge"),
        ([{"id": "1", "output": "x", "label": ["pass", "fail"]}], r'1: the label is \["pass", "fail"\]: it must'),
        *(
            ([{"id": "1", "output": "x", "label": label}], "1: the label is .*must be a word or a number")
            for label in ("[]", "{}", "[NaN]", [], {}, "[" * 100_000)
        ),
        ([{"id": "1", "output": "x", "label": "pass", "split": "fold 3"}], "1: split 'fold 3' is none of"),
        *(
            (
                [{"id": "1", "output": "x", "label": "pass", "verdict": "pass", "confidence": word}],
                f"confidence '{word}'",
            )
            for word in ("high", "nan", "90")
        ),
        (
            [{"id": n, "output": "x", "label": label} for n, label in enumerate(("4.0", "4/5", "4-5", "3"))],
            "3: label '4-5' is no number, and others are",
        ),
        (
            [{"id": "1", "output": "x", "label": "pass"}, {"id": "1", "output": "x", "label": "fail"}],
            "keep one of them",
        ),
        ([{"id": "1", "output": "x", "label": "pass"}, {"id": "1", "output": "y", "label": "pass"}], "has other texts"),
        (
            [{"id": "1", "output": "x", "label": "pass", "split": split} for split in ("", "test", "dev")],
            "3: id '1' is of the split 'dev', and of 'test' in .*1",
        ),
    ],
)
def test_rows_that_cannot_be_used_are_named(tmp_path: Path, rows: list[dict[str, str]], said: str) -> None:
    with pytest.raises(JudgeError, match=said):
        read_labels(write_lines(tmp_path / "bad.jsonl", rows))


def test_columns_can_be_named(tmp_path: Path) -> None:
    rows = [{"nr": "1", "text": "x", "grade": "pass"}, {"nr": "2", "text": "y", "grade": "fail"}]
    file = write_csv(tmp_path / "own.csv", rows)
    labels = read_labels(file, columns={"label": "grade", "output": "text", "id": "nr"})
    assert gold_of(labels).labels == {"1": "pass", "2": "fail"}
    with pytest.raises(JudgeError, match="no column 'mark'"):
        read_labels(file, columns={"label": "mark"})


TASK = {"input": "q", "output": "x"}
DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("file", "people"),
    [
        # Trace.to_json of traces with feedback, one overridden, and expectations; tests of the tools' own files follow.
        ("mlflow_3.17.2.json", ["ana", "ben"]),
        # get_spans and get_span_annotations of arize-phoenix-client 3.5.0 from a running arize-phoenix 20.26.1.
        ("phoenix_20.26.1.json", ["ana", "ben"]),
        # The export JSON of a running label-studio 1.23.2, with a skipped task and predictions; one person.
        ("label_studio_1.23.2.json", ["1"]),
        # JsonIO.to_json of argilla's records with responses and suggestions, without a server.
        ("argilla_2.8.0.json", ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"]),
        # JSON of langfuse's own ObservationV2 and ScoreV3, without a server.
        ("langfuse_5.0.4.json", ["ana", "ben"]),
        # JSON of langsmith's own Run and Feedback, without a server.
        ("langsmith_0.15.1.json", ["ana", "ben"]),
    ],
)
def test_exports_as_the_tools_write_them(file: str, people: list[str]) -> None:
    labels = read_labels(DATA / file, question=None if "argilla" in file else "helpful")
    found = {item.texts["input"]: item for item in labels.items}
    assert {text: item.texts["output"] for text, item in found.items()} == {
        f"question {n}": f"answer to question {n}" for n in range(4)
    }
    assert labels.people == people
    first = [found[f"question {n}"].labels.get(people[0]) for n in range(4)]
    assert first == (["no", "yes", "no", "no"] if "mlflow" in file else ["no", "yes", "no", "yes"])
    if len(people) > 1:
        second = [found[f"question {n}"].labels.get(people[1]) for n in range(4)]
        assert second[:3] == [None, "yes", None]
        assert second[3] is not None
    assert {item.verdict for item in labels.items} == ({None} if "studio" in file else {"yes"})


@pytest.mark.parametrize(
    "records",
    [
        [{"data": 1, "annotations": []}],
        [{"data": TASK, "annotations": None}],
        [{"id": 1, "fields": TASK, "responses": {"ok": {"value": 1}}}],
        [{"info": {"assessments": None}, "data": {}}],
        [{"run_id": "1", "key": "ok", "feedback_source": 3}],
        [{"span_id": "1", "annotator_kind": "HUMAN", "result": "pass"}],
    ],
)
def test_an_export_of_another_form_is_named(tmp_path: Path, records: list[Any]) -> None:
    (tmp_path / "export.json").write_text(json.dumps(records))
    with pytest.raises(JudgeError, match=r"looks like an export of .* has another form"):
        read_labels(tmp_path / "export.json")


def test_scores_without_texts_are_read_with_their_verdicts(tmp_path: Path) -> None:
    scores = [
        {"traceId": str(n), "name": "ok", "value": None, "stringValue": word, "source": source, "timestamp": "now"}
        for n, word in enumerate(("pass", "fail"))
        for source in ("ANNOTATION", "EVAL")
    ]
    texts = {"id": "0", "input": None, "output": "x"}
    code = [{**scores[0], "source": "API", "stringValue": "fail", "name": name} for name in ("ok", "length")]
    (tmp_path / "export.json").write_text(json.dumps([*scores, *code, texts]))
    labels = read_labels(tmp_path / "export.json")
    first, second = labels.items
    assert "labels of models or code are left out: they are no labels of people" in labels.notes
    assert (dict(first.texts), dict(second.texts)) == ({"output": "x"}, {})
    assert (first.verdict, second.verdict) == ("pass", "fail")


@pytest.mark.parametrize(
    ("line", "said"), [('{"a": 1}', "line 1: "), ("", "an answer to pair z, which is not in the set")]
)
def test_answers_of_an_audit_that_fit_no_pair_are_named(tmp_path: Path, line: str, said: str) -> None:
    from factories import make_case, make_pair

    case = make_case()
    (tmp_path / "cases.jsonl").write_text(case.model_dump_json(by_alias=True) + "\n")
    (tmp_path / "pairs.jsonl").write_text(make_pair(case).model_dump_json(by_alias=True) + "\n")
    answer = {
        "schema": 1,
        "annotator": "ana",
        "round": 1,
        "pair_id": "z",
        "choice": "A",
        "shown_first": "A",
        "at": "now",
    }
    (tmp_path / "answers.jsonl").write_text(line or json.dumps(answer))
    with pytest.raises(JudgeError, match=said):
        read_labels(tmp_path)


@pytest.mark.parametrize("tool", ["argilla", "label studio"])
def test_a_field_that_is_called_question_is_a_text(tmp_path: Path, tool: str) -> None:
    texts = {"question": "What is due?", "answer": "34 crowns"}
    argilla = {"id": "1", "fields": texts, "responses": {"ok": [{"value": "pass", "user_id": "7"}]}}
    result = {"from_name": "ok", "type": "choices", "value": {"choices": ["pass"]}}
    studio = {"id": 1, "data": texts, "annotations": [{"completed_by": 7, "result": [result]}]}
    (tmp_path / "export.json").write_text(json.dumps([argilla if tool == "argilla" else studio]))
    [item] = read_labels(tmp_path / "export.json").items
    assert (item.texts["input"], dict(item.labels)) == ("What is due?", {"7": "pass"})


def test_a_table_of_label_studio_has_ratings_in_json() -> None:
    file = DATA / "label_studio_sdk_2.1.2.csv"
    scheme = read_labels(file, columns={"label": "quality"}).scheme
    assert (scheme.kind, scheme.answers) == ("ordinal", ("1", "2", "3", "4"))
    assert read_labels(file, columns={"label": "score"}).scheme.kind == "numeric"
    with pytest.raises(JudgeError, match=r"row 3: the label is .*rude.*wrong.*: it must be a word"):
        read_labels(file, columns={"label": "faults"})


def test_a_number_of_label_studio_is_a_label(tmp_path: Path) -> None:
    """As label-studio-sdk 2.1.2 exports a question of the tag Number."""
    result = {"from_name": "score", "to_name": "t", "type": "number", "value": {"number": 2.5}}
    studio = {"id": 1, "data": TASK, "annotations": [{"completed_by": 7, "result": [result]}]}
    (tmp_path / "export.json").write_text(json.dumps([studio]))
    assert read_labels(tmp_path / "export.json", question="score", kind="numeric").items[0].labels == {"7": "2.5"}


def test_what_an_online_evaluator_of_langsmith_says_is_no_label_of_a_person(tmp_path: Path) -> None:
    records = json.loads((DATA / "langsmith_0.15.1.json").read_text())
    said = next(record for record in records if (record.get("feedback_source") or {}).get("type") == "model")
    said |= {"feedback_source": {**said["feedback_source"], "type": "auto_eval"}}
    (tmp_path / "export.json").write_text(json.dumps(records))
    found = read_labels(tmp_path / "export.json", question="helpful")
    assert found.people == read_labels(DATA / "langsmith_0.15.1.json", question="helpful").people


def test_ids_and_labels_of_many_digits_stay_apart(tmp_path: Path) -> None:
    table = {"id": [12345678.0, 12345679.0], "output": ["x", "x"], "label": [0.12345671, 1234567.5]}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    found = {item.id: item.labels["human"] for item in read_labels(tmp_path / "a.parquet", kind="numeric").items}
    assert found == {"12345678": "0.12345671", "12345679": "1234567.5"}


def test_several_choices_of_label_studio_are_no_label(tmp_path: Path) -> None:
    """Of a question with choice="multiple", the list that holds the choice of an answer has several (by its docs)."""
    result = {"from_name": "flaws", "type": "choices", "value": {"choices": ["facts", "logic"]}}
    studio = {"id": 1, "data": TASK, "annotations": [{"completed_by": 7, "result": [result]}]}
    (tmp_path / "export.json").write_text(json.dumps([studio]))
    with pytest.raises(JudgeError, match=r'the label is \["facts", "logic"\]: it must be a word'):
        read_labels(tmp_path / "export.json")


def test_an_export_with_several_questions_needs_one(tmp_path: Path) -> None:
    given = {"ok": [{"value": "pass", "user_id": "7"}], "fluent": [{"value": "5", "user_id": "7"}]}
    records = [{"id": "1", "fields": TASK, "responses": given}]
    (tmp_path / "export.json").write_text(json.dumps(records))
    with pytest.raises(JudgeError, match="the questions fluent, ok"):
        read_labels(tmp_path / "export.json")
    assert gold_of(read_labels(tmp_path / "export.json", question="ok")).labels == {"1": "pass"}


def test_a_log_of_inspect_has_a_column_for_each_scorer(tmp_path: Path) -> None:
    path = _inspect_log(tmp_path, [f"q{n}" for n in range(3)], {"person": ["C", "C", "I"], "model": ["C"] * 3})
    labels = read_labels(path, columns={"label": "person", "verdict": "model"}, positive="c")
    assert gold_of(labels).labels == {"0/1": "c", "1/1": "c", "2/1": "i"}
    assert {item.verdict for item in labels.items} == {"C"}
    assert (labels.items[0].texts["input"], labels.items[0].texts["output"]) == ("q0", "answer 0")


def _inspect_log(folder: Path, inputs: list[Any], scores: dict[str, list[Any]]) -> Path:
    log = pytest.importorskip("inspect_ai.log")
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    samples = [
        log.EvalSample(
            id=n, epoch=1, input=given, target="x", output=ModelOutput.from_content("m", f"answer {n}"),
            scores={name: Score(value=values[n]) for name, values in scores.items()},
        )
        for n, given in enumerate(inputs)
    ]  # fmt: skip
    spec = log.EvalSpec(
        created="2026-01-01T00:00:00+00:00", task="t", dataset=log.EvalDataset(samples=len(samples)), model="m",
        config=log.EvalConfig(),
    )  # fmt: skip
    log.write_eval_log(log.EvalLog(eval=spec, samples=samples, status="success"), str(folder / "a.eval"))
    return folder / "a.eval"


def test_unscored_samples_and_scores_by_key_of_a_log(tmp_path: Path) -> None:
    path = _inspect_log(tmp_path, ["a", "b", "c"], {"person": ["C", "I", math.nan], "both": [{"ok": 1, "tone": 3}] * 3})
    labels = read_labels(path, columns={"label": "person"}, positive="c")
    assert (labels.scheme.answers, gold_of(labels).labels) == (("c", "i"), {"0/1": "c", "1/1": "i"})
    assert [item.id for item in labels.pool] == ["2/1"]
    assert set(gold_of(read_labels(path, columns={"label": "both/tone"})).labels.values()) == {"3"}


def test_calls_and_files_in_the_input_of_a_log_are_shown(tmp_path: Path) -> None:
    model, tool = pytest.importorskip("inspect_ai.model"), pytest.importorskip("inspect_ai.tool")
    called = tool.ToolCall(id="1", function="look", arguments={"order": "A-17"})
    talk = [
        model.ChatMessageUser(
            content=[
                model.ContentText(text="Refund it."), model.ContentImage(image="https://a.org/b.png"),
                model.ContentData(data={"note": "a late fee"}),
            ]
        ),
        model.ChatMessageAssistant(content="I look.", tool_calls=[called]),
        model.ChatMessageTool(content="250 dollars", tool_call_id="1", function="look"),
    ]  # fmt: skip
    labels = read_labels(_inspect_log(tmp_path, [talk], {"person": ["C"]}), columns={"label": "person"}, positive="c")
    assert labels.items[0].texts["input"] == (
        'user: Refund it.\n[image] https://a.org/b.png\n[data] {"data": {"note": "a late fee"}}\n\n'
        "assistant: I look.\n\ncall look: order: A-17\n\ntool: 250 dollars"
    )


def test_choices_of_an_audit_are_labels(tmp_path: Path) -> None:
    from factories import make_case, make_pair

    case = make_case()
    pair = make_pair(case)
    (tmp_path / "cases.jsonl").write_text(case.model_dump_json(by_alias=True) + "\n")
    (tmp_path / "pairs.jsonl").write_text(pair.model_dump_json(by_alias=True) + "\n")
    for answers in (None, ""):
        if answers is not None:
            (tmp_path / "answers.jsonl").write_text(answers)
        with pytest.raises(JudgeError, match=f"has no answers yet: collect them with judge-r1 audit serve {tmp_path}$"):
            read_labels(tmp_path)
    common = {"schema": 1, "annotator": "ana", "pair_id": pair.pair_id, "at": "now"}
    answer = {**common, "round": 1, "choice": "A", "shown_first": "B"}
    changed, second = {**answer, "choice": "B"}, {**answer, "round": 2, "choice": "B"}
    write_lines(tmp_path / "answers.jsonl", [changed, answer, second])
    (item,) = read_labels(tmp_path).items
    assert dict(item.labels) == {"ana": "A"}
    assert item.texts["a"] == pair.reasoning_a
    assert count_answers(read_answers([tmp_path]))["all"]["people"] == {"ana": 1}
    (tmp_path / "sheet.jsonl").touch()
    write_lines(tmp_path / "answers.jsonl", [{**common, "real": True, "natural": False}])
    with pytest.raises(JudgeError, match="the questions natural, real"):
        read_labels(tmp_path)
    (item,) = read_labels(tmp_path, question="natural").items
    assert (dict(item.labels), item.texts["output"]) == ({"ana": "no"}, pair.flawed)
