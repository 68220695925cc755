"""A custom domain in one YAML file: errors name the field, and prompts use only its wording."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from factories import make_pair
from hypothesis import given
from hypothesis import strategies as st
from source_factories import write_rows

from data_builders.prompts import DOMAINS, domain_text
from data_builders.sources.corpus_io import SourceError
from data_builders.sources.custom import read
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case
from judge_r1.episode.prompts import judge_prompt
from judge_r1.files.tabular import BadTable

YAML: dict[str, Any] = {
    "domain": "insurance claims",
    "role": "a claims adjuster",
    "decision_name": "coverage decision",
    "files": "claims.jsonl",
    "columns": {"context": "file", "decision": "outcome", "reference": "why", "id": "no", "group": "policy"},
    "license": "CC BY 4.0",
}
ROW = {"no": 7, "policy": "P1", "file": "A hose burst.", "outcome": "covered", "why": "1. A burst hose is sudden."}


@pytest.fixture(autouse=True)
def _domains_as_before() -> Iterator[None]:
    before = dict(DOMAINS)
    yield
    DOMAINS.clear()
    DOMAINS.update(before)


def domain_file(folder: Path, rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    write_rows(folder / "claims.jsonl", [ROW] if rows is None else rows)
    data = {key: value for key, value in (YAML | changes).items() if value is not ...}
    (folder / "domain.yaml").write_text(yaml.safe_dump(data))
    return folder / "domain.yaml"


def cases(path: Path, limit: int | None = None) -> tuple[list[Case], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(read(path, limit, 0, skipped)), skipped


def test_a_row_becomes_a_case_of_the_new_domain(tmp_path: Path) -> None:
    (case,), skipped = cases(domain_file(tmp_path))
    assert not skipped
    assert (case.domain, case.source, case.license) == ("insurance claims", "insurance claims/7", "CC BY 4.0")
    assert (case.context, case.decision, case.reference) == (ROW["file"], ROW["outcome"], ROW["why"])
    assert case.meta == {"group": "P1", "file": "claims.jsonl", "row": 1}


def test_repairs_of_a_text_are_counted_in_the_case_and_in_the_build_report(tmp_path: Path) -> None:
    from data_builders.generators import generator_for
    from data_builders.generators.base import BuildPlan

    text = "ofﬁces, 5 × 109/L, investigation: an inves-\ntigation."
    rows = [ROW | {"no": n, "file": f"{ROW['file']} {n} {text}"} for n in (1, 2)]
    path = domain_file(tmp_path, rows)
    found, _ = cases(path)
    assert [case.context for case in found] == [
        f"{ROW['file']} {n} offices, 5 × 10^9/L, investigation: an investigation." for n in (1, 2)
    ]
    changes = {"ligatures": 1, "powers of ten": 1, "words broken at a line end": 1}
    assert [case.meta["text_changes"] for case in found] == [changes, changes]
    generator = generator_for("custom", with_teacher=False)(BuildPlan(source="custom", path=path))
    for case in found:
        generator.finalize(case)
    assert generator.details()["text_changes"] == dict.fromkeys(changes, 2)


def test_domain_wording_reaches_teacher_prompts_but_no_record(tmp_path: Path) -> None:
    assert domain_text("insurance claims").role == "an expert in the field 'insurance claims'"
    ((case,), _) = cases(domain_file(tmp_path))
    assert domain_text("insurance claims").role == "a claims adjuster"
    assert domain_text("insurance claims").decision_name == "coverage decision"
    assert "adjuster" not in case.model_dump_json()


def test_the_judge_prompt_has_the_domain_name_but_no_wording_from_the_case(tmp_path: Path) -> None:
    ((case,), _) = cases(domain_file(tmp_path))
    forged = case.model_copy(update={"meta": {"lead": "EVIL", "role": "EVIL", "domain": "EVIL"}})
    system, user = judge_prompt(make_pair(forged, "1. No."), forged, context="full", searches=0).chat()
    assert "reasonings from the domain 'insurance claims' about the same case" in system["content"]
    assert "EVIL" not in system["content"] + user["content"]


def test_several_files_with_optional_columns_are_read_in_order(tmp_path: Path) -> None:
    more = tmp_path / "more.json"
    more.write_text(
        json.dumps([{"file": "B.", "outcome": "no", "why": "1. c"}, {"file": "", "outcome": "", "why": ""}])
    )
    path = domain_file(
        tmp_path,
        [{k: ROW[k] for k in ("file", "outcome", "why")}],
        files=["more.json", "claims.jsonl"],
        columns={"context": "file", "decision": "outcome", "reference": "why"},
        decision_name=...,
    )
    found, skipped = cases(path)
    assert [case.source for case in found] == ["insurance claims/more.json:1", "insurance claims/claims.jsonl:1"]
    assert "group" not in found[0].meta
    assert skipped == {"custom: context is empty": 1}
    assert cases(path, 1)[0] == found[:1]
    assert domain_text("insurance claims").decision_name == "decision"


def test_rows_can_have_different_licenses(tmp_path: Path) -> None:
    columns = YAML["columns"] | {"license": "terms"}
    rows = [ROW | {"terms": "CC0"}, ROW | {"no": 8, "terms": None}]
    path = domain_file(tmp_path, rows[:1], license=..., columns=columns)
    assert cases(path)[0][0].license == "CC0"
    with pytest.raises(SourceError, match=r"line 2: column 'terms', the licence, is empty"):
        cases(domain_file(tmp_path, rows, license=..., columns=columns))


def test_hub_names_are_recognised(tmp_path: Path) -> None:
    write_rows(tmp_path / "data" / "train.jsonl", [ROW])
    ((case,), _) = cases(domain_file(tmp_path, files=f"hub:{tmp_path / 'data'}"))
    assert case.source == "insurance claims/7"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rolle": "x"}, r"domain\.yaml: unknown key rolle; did you mean 'role'\?"),
        (
            {"columns": {**YAML["columns"], "referense": "why"}},
            r"unknown key columns\.referense; did you mean 'columns.reference'",
        ),
        (
            {"columns": {"context": "file", "decision": "outcome"}},
            r"domain\.yaml: field columns\.reference: Field required",
        ),
        ({"role": ...}, r"field role: Field required"),
        ({"role": "a\nb"}, r"field role: must be words on one line"),
        ({"role": " "}, r"field role: must be words on one line"),
        ({"role": "x" * 201}, r"field role: String should have at most 200 characters"),
        ({"domain": "Insurance!"}, r"field domain: 'Insurance!' must have lower-case letters"),
        ({"license": ...}, r"give either license, or columns\.license if it differs by row"),
        ({"files": "clams.jsonl"}, r"domain\.yaml: key files names clams\.jsonl, and .*clams\.jsonl does not exist"),
        ({"files": []}, r"field files"),
        (
            {"columns": YAML["columns"] | {"context": "flie"}},
            r"claims\.jsonl, line 1: column 'flie' is missing; did you mean 'file'\? The columns are: no, policy",
        ),
        (
            {"columns": YAML["columns"] | {"id": False}},
            r"field columns\.id: .*put quotes round names such as no, yes and on",
        ),
        ({"columns": YAML["columns"] | {"decision": "no"}}, r"line 1: column 'no' must hold text, not int"),
    ],
)
def test_a_mistake_is_reported(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=message):
        cases(domain_file(tmp_path, **changes))


def test_duplicate_ids_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"line 2: column 'no' repeats '7' of .*claims\.jsonl, line 1"):
        cases(domain_file(tmp_path, [ROW, ROW | {"file": "Another."}]))


def test_a_missing_or_invalid_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"give path=domain\.yaml"):
        next(read(None, None, 0, Counter()))
    with pytest.raises(JudgeError, match=r"nowhere\.yaml cannot be read"):
        cases(tmp_path / "nowhere.yaml")
    for other in (tmp_path, tmp_path / "claims.jsonl"):
        with pytest.raises(SourceError, match=r"reads a YAML file .* docs/build_dataset\.md#your-own-domain"):
            cases(other)
    (tmp_path / "bad.yaml").write_text("domain: [")
    with pytest.raises(JudgeError, match=r"bad\.yaml is not YAML"):
        cases(tmp_path / "bad.yaml")


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_accepted_domains_are_plain_names(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    try:
        ((case,), _) = cases(domain_file(tmp_path_factory.mktemp("d"), domain=name))
    except JudgeError:
        return
    assert case.domain == name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_ -")


def test_rows_without_a_group_do_not_form_one(tmp_path: Path) -> None:
    rows = [{**ROW, "no": n, "policy": policy} for n, policy in enumerate([None, "", "P2"])]
    found, _ = cases(domain_file(tmp_path, rows))
    assert [case.meta.get("group") for case in found] == [None, None, "P2"]


def test_an_empty_id_and_an_empty_table_are_reported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"claims\.jsonl, line 1: column 'no', the id, is empty"):
        cases(domain_file(tmp_path, [{**ROW, "no": None}]))
    with pytest.raises(BadTable, match=r"claims\.jsonl has no rows"):
        cases(domain_file(tmp_path, []))
