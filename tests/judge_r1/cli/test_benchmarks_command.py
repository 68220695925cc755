"""`judge-r1 benchmarks`, and `judge-r1 eval --predictions` on published outputs."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_server import run

from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.evaluation.published_outputs import NoPredictions, row_names, score_predictions

PAIR = {"source": "mmlu-pro-law", "question": "?", "response_model": "m", "response_A": "x", "response_B": "y"}


def outputs(folder: Path, name: str, decisions: dict[str, str]) -> Path:
    """Write judged pairs in JudgeBench's published format. The label of each is A>B."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        PAIR
        | {
            "pair_id": pair_id,
            "label": "A>B",
            "judge_name": "test",
            "judgments": [{"judgment": {}, "decision": decision}],
        }
        for pair_id, decision in decisions.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_the_list_marks_unverified_benchmarks() -> None:
    shown = run("benchmarks")
    assert shown.returncode == 0, shown.stderr
    shipped = {name: BENCHMARKS.get(name) for name in BENCHMARKS.names()}  # without those that other tests register
    shipped = {name: entry for name, entry in shipped.items() if entry.load.__module__.startswith("judge_r1.")}
    for name, entry in shipped.items():
        heads = [line for line in shown.stdout.splitlines() if line.startswith(f"{name} (")]
        assert heads == [
            f"{name} ({'verified' if entry.verified else 'unverified'}{', outputs' if entry.predictions else ''})"
        ]
        assert f"  path: {entry.path}\n" in shown.stdout
        assert not entry.subsets or f"  subset: {entry.subsets}\n" in shown.stdout
    unverified = {name for name, entry in shipped.items() if not entry.verified}
    assert unverified >= {"rewardbench", "rewardbench2", "contextualjudgebench", "autoj"}
    assert not unverified & {"lrbench", "judgebench", "llmbar", "pandalm", "hhh", "ood"}
    assert all(entry.verified is not None for entry in shipped.values())


def test_published_outputs_are_evaluated(tmp_path: Path) -> None:
    data = outputs(tmp_path, "pairs.jsonl", {"1": "A>B", "2": "A>B"})
    one = outputs(tmp_path / "out", "one.jsonl", {"1": "A>B", "2": "A>B"})
    two = outputs(tmp_path / "out", "two.jsonl", {"1": "A>B", "2": "B>A"})
    result = run("eval", "--benchmark", "judgebench", "--path", data, "--predictions", one, "--predictions", two,
               "--out", tmp_path / "eval")  # fmt: skip
    assert result.returncode == 0, result.stderr
    summary = json.loads((tmp_path / "eval" / "summary.json").read_text())
    assert [(row["name"], row["n"], row["accuracy"]) for row in summary["rows"]] == [("one", 2, 1.0), ("two", 2, 0.5)]
    assert [(d["a"], d["b"], d["delta"]) for d in summary["differences"]] == [("two", "one", -0.5)]
    assert summary["rows"][0]["settings"] == {"predictions": "one.jsonl"}
    assert summary["rows"][0]["by_domain"]["Knowledge"]["n"] == 2
    assert "two minus one" in result.stdout
    assert (tmp_path / "eval" / "report.html").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--judge", "always-a", "--predictions", "x"], "scores published outputs without a judge"),
        (["--limit", "3", "--predictions", "x"], "scores published outputs without a judge"),
        ([], "nothing to evaluate: give --judge, --baselines, or --predictions"),
        (["--predictions", "nowhere.jsonl"], "nowhere.jsonl cannot be read: No such file"),
    ],
)
def test_outputs_that_cannot_be_scored_are_a_one_line_error(more: list[str], message: str, tmp_path: Path) -> None:
    data = outputs(tmp_path, "pairs.jsonl", {"1": "A>B"})
    result = run("eval", "--benchmark", "judgebench", "--path", data, "--out", tmp_path / "eval", *more)
    assert result.returncode == 2
    assert message in result.stderr
    assert not (tmp_path / "eval").exists()


def test_published_outputs_may_be_named(tmp_path: Path) -> None:
    data = outputs(tmp_path, "pairs.jsonl", {"1": "A>B"})
    one, two = (outputs(tmp_path / name, "out.jsonl", {"1": "A>B"}) for name in ("a=b", "c"))
    common = ("eval", "--benchmark", "judgebench", "--path", data, "--out")
    done = run(*common, tmp_path / "eval", "--predictions", one, "--predictions", f"gpt={two}")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]
    assert [row["name"] for row in rows if "predictions" in row["settings"]] == ["a=b/out", "gpt"]
    twice = run(*common, tmp_path / "x", "--predictions", f"gpt={one}", "--predictions", f"gpt={two}")
    assert "two files of --predictions have the name 'gpt'" in twice.stderr


def test_a_folder_with_an_evaluation_is_not_overwritten(tmp_path: Path) -> None:
    data = outputs(tmp_path, "pairs.jsonl", {"1": "A>B"})
    common = ("eval", "--benchmark", "judgebench", "--path", data, "--out", tmp_path / "eval")
    assert run(*common, "--judge", "always-a").returncode == 0
    before = (tmp_path / "eval" / "summary.json").read_bytes()
    result = run(*common, "--predictions", data)
    assert "already holds an evaluation: choose another --out" in result.stderr
    assert (tmp_path / "eval" / "summary.json").read_bytes() == before


def test_outputs_of_autoj_are_scored_with_the_repository_rules(tmp_path: Path) -> None:
    row = {"scenario": "planning", "response 1": "Run", "response 2": "Stay"}
    data = [{**row, "prompt": f"{n}?", "label": label} for n, label in enumerate((0, 1, 2))]
    for name, lines in (
        ("testdata_pairwise", data),
        ("pairwise_mine", [{"output": 0}, {"output": 0}, {"output": 2}]),
        ("pairwise_exchange_mine", [{"output": 1}, {"output": 0}, {"output": 2}]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    options = ("--path", tmp_path, "--predictions", tmp_path / "pairwise_mine.jsonl", "--out", tmp_path / "out")
    result = run("eval", "--benchmark", "autoj", *options)
    assert result.returncode == 0, result.stderr
    (found,) = json.loads((tmp_path / "out" / "summary.json").read_text())["rows"]
    assert (found["accuracy"], found["extra"]["equal"], found["consistency"]) == (pytest.approx(2 / 3), 2 / 3, 0.5)


def test_a_benchmark_without_an_output_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        NoPredictions, match="outputs of lrbench cannot be scored; those of autoj, hellobench, judgebench"
    ):
        score_predictions("lrbench", tmp_path, [tmp_path / "x.json"], None)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/x.jsonl", "a/y.json"], ["x", "y"]),
        (["a/v/result.json", "b/v/result.json"], ["a/v/result", "b/v/result"]),
        (["model=gpt-3.5,x.jsonl.gz"], ["model=gpt-3.5,x"]),
        (["a/x.json", "a/x.jsonl"], None),
    ],
)
def test_judges_are_named_after_their_files(files: list[str], names: Any) -> None:
    if names:
        assert row_names([Path(file) for file in files]) == names
    else:
        with pytest.raises(NoPredictions, match="the same name"):
            row_names([Path(file) for file in files])


def test_judges_with_different_items_are_not_compared(tmp_path: Path) -> None:
    data = outputs(tmp_path, "pairs.jsonl", {"1": "A>B"})
    one, two = (outputs(tmp_path, f"{name}.jsonl", {name: "A>B"}) for name in ("2", "3"))
    summary = score_predictions("judgebench", data, [one, two], None)
    assert summary["differences"] == []
