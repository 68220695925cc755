"""The commands `audit` and `stats`."""

import json
from pathlib import Path

import pytest
from command_server import TRAINING, run

from data_builders.audit.annotation.choices import first_side
from data_builders.audit.annotation.record_log import RecordLog
from judge_r1.files.pair_set import load_pairs
from judge_r1.labels.audit_answers import Choice


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    assert run("build", "mini", "limit=12", "--out", out).returncode == 0
    return out


def test_audit_prints_and_writes_the_shortcuts(built: Path, tmp_path: Path) -> None:
    tiny = ("--language-model", "bundled:tiny", "--language-model-pairs", "10")
    done = run("audit", built, *tiny, modules=TRAINING)
    assert done.returncode == 0, done.stderr
    assert "The strongest reader that the bound applies to" in " ".join(done.stdout.split())
    assert "bundled:tiny read 110 pairs" in done.stdout
    content = json.loads((built / "audit.json").read_text())
    assert {finding["group"] for finding in content["findings"]} >= {"P1", "P2", "P4", "multi"}
    groups = dict.fromkeys(flag["group"] for flag in content["flagged"])
    assert f"{len(groups)} flagged ({', '.join(groups)})" in " ".join(done.stdout.split())
    assert content["language_model"] == {"name": "bundled:tiny", "pairs": 110}
    assert len(content["flag_lines"]) == len(groups)
    exported = run("export", built, "--format", "dpo", "--out", tmp_path / "dpo")
    assert exported.returncode == 0, exported.stderr
    card = (tmp_path / "dpo" / "README.md").read_text()
    assert all(f"* {built.name}: {line}" in card for line in content["flag_lines"])
    [found] = [row for row in content["look_up"] if row["group"] == "P2"]
    assert f"P2 in {found['accuracy']:.2f} [{found['ci95'][0]:.2f}, {found['ci95'][1]:.2f}] of {found['pairs']}" in card
    assert "a rule that looks up the words that differ" in " ".join(done.stdout.split())
    again = run("audit", "--seed", "1", built, "--out", tmp_path, "--language-model", "none")
    assert again.returncode == 0, again.stderr
    assert "no language model read the pairs" in again.stdout
    assert json.loads((tmp_path / "audit.json").read_text())["seed"] == 1


def test_cases_of_one_paper_count_as_one(built: Path, tmp_path: Path) -> None:
    cases = [json.loads(line) for line in (built / "cases.jsonl").read_text().splitlines()]
    same = [case for case in cases if case["domain"] == cases[0]["domain"]][:2]
    for case in same:
        case["meta"]["group"] = "a paper"
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (tmp_path / "pairs.jsonl").write_bytes((built / "pairs.jsonl").read_bytes())
    done = run("audit", tmp_path, "--language-model", "none")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "audit.json").read_text())["cases"] == len(cases) - 1


def test_audit_reports_groups_that_were_not_probed(built: Path, tmp_path: Path) -> None:
    lines = (built / "pairs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "pairs.jsonl").write_text("".join(line for line in lines if json.loads(line)["violated"] != [4]))
    (tmp_path / "cases.jsonl").write_bytes((built / "cases.jsonl").read_bytes())
    done = run("audit", tmp_path, "--language-model", "none")
    assert "; P4 not probed" in " ".join(done.stdout.split()), done.stderr


def test_stats_prints_and_writes_numbers_and_charts(built: Path) -> None:
    done = run("stats", built, "--tokenizer", "bundled:tiny", modules=TRAINING)
    assert done.returncode == 0, done.stderr
    content = json.loads((built / "stats.json").read_text())
    assert f"{content['overall']['prompt_tokens']['mean']:,.1f}" in done.stdout
    assert "<svg" in (built / "stats.html").read_text()


def test_report_of_answers(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    empty = run("audit", "report", built, "--answers", path)
    assert empty.returncode == 2
    assert "has no answers yet" in empty.stderr
    with RecordLog(path, Choice) as log:
        for pair in load_pairs(built).pairs:
            side = first_side(pair, "Ana", 1)
            answer = {"annotator": "Ana", "round": 1, "pair_id": pair.pair_id, "choice": pair.preferred}
            log.append(Choice.model_validate({**answer, "shown_first": side, "at": "2026-01-01T00:00:00+00:00"}))
    shown = run("audit", "report", built, "--answers", path)
    assert shown.returncode == 0, shown.stderr
    assert "100.0 %" in shown.stdout
    assert "1.000" in shown.stdout


@pytest.mark.parametrize("command", ["shortcuts", "serve", "report"])
def test_a_missing_folder_is_an_error(command: str, tmp_path: Path) -> None:
    done = run("audit", command, tmp_path / "none")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "give a folder that `judge-r1 build` or `judge-r1 split` wrote" in done.stderr
    assert not list(tmp_path.iterdir())
