"""The English experiment: its data are split by case and hold what the table needs, and a row runs to the table."""

import json
import sys
from pathlib import Path
from statistics import fmean

import pytest
from factories import make_case
from report_factories import toy_results

from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import Flaw, Origin, ReasoningPair, Span
from judge_r1.training.recipe import load_recipe
from scripts import run_english


def test_the_splits_share_no_case_and_most_pairs_need_the_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("CASES_PER_DOMAIN", 4), ("HELD_OUT", 5), ("DEV", 2)):
        monkeypatch.setattr(run_english, name, value)
    run_english.build_data(tmp_path)
    parts = {name: load_pairs(tmp_path / name) for name in ("train", "dev", "test")}
    assert (len(parts["dev"].cases), len(parts["test"].cases)) == (2, 3)
    ids = [case_id for part in parts.values() for case_id in part.cases]
    assert len(ids) == len(set(ids)) > 8
    violated = [pair.violated for pair in parts["train"].pairs]
    assert {(1,), (2,), (5,)} <= set(violated)
    assert sum(labels in ((2,), (4,)) for labels in violated) > 0.2 * len(violated)


CASE = make_case(
    "Ana paid 34 crowns on Monday in the harbour office. Ben left Rome in May with two friends.",
    reference="1. Ana paid 34 crowns on Monday in the harbour office.\n2. Ben left Rome in May.",
    decision="Ben owes.",
)
BM25 = load_recipe(Path("english", "warmup"), ["episode.retriever=bm25"]).episode


def flawed(principle: int, old: str, new: str) -> ReasoningPair:
    at = CASE.reference.index(old)
    flaw = Flaw(principle=principle, operator="toy", span=Span(start=at, end=at + len(new)))
    origin = Origin(teacher="toy", seed=0, flaws=(flaw,))
    return ReasoningPair.of(CASE, CASE.reference.replace(old, new), variant=1, origin=origin, seed=0)


def test_the_rule_of_the_traces_takes_the_side_of_the_case_and_else_scores_half() -> None:
    contradicted, absent = flawed(2, "34", "43"), flawed(4, "34 crowns on Monday", "a fine of twelve dollars")
    vague = flawed(5, "Ben left Rome in May", "Something happened")
    found = run_english.rule_row(PairSet.of([CASE], [contradicted, absent, vague]), BM25)
    assert found["P2, P4"] == 1.0
    assert found["accuracy"] >= 2 / 3
    other = PairSet.of([CASE.model_copy(update={"context": "Nothing is known."})], [contradicted])
    assert run_english.rule_row(other, BM25)["P2, P4"] == 0.5


def test_intervals_compare_a_row_with_its_own_control() -> None:
    weak, strong = (
        [item.model_copy(update={"labels": item.labels and item.labels.model_copy(update={"violated": (2,)})})
         for item in found.items]
        for found in toy_results()
    )  # fmt: skip
    control = f"warm-up{run_english.ELSEWHERE}"
    lines = list(run_english.intervals({"base": weak, "warm-up": strong, control: weak}))
    change = fmean(item.score for item in strong) - fmean(item.score for item in weak)
    assert change > 0
    assert lines[0].startswith(f"base: accuracy {fmean(item.score for item in weak):.3f} [")
    assert [line.split("[")[0] for line in lines if " - " in line] == [
        f"warm-up - {name}: {what} {change:+.3f} "
        for what in ("accuracy", "P2, P4", "P2")
        for name in (control, "base")
    ]


def test_transfer_needs_a_source_and_a_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in ("medrbench", "=x", "medrbench="):
        monkeypatch.setattr(sys, "argv", ["run_english", "--out", "unused", "--transfer", value])
        with pytest.raises(SystemExit):
            run_english.main()
        assert "--transfer takes SOURCE=PATH" in capsys.readouterr().err


@pytest.mark.slow
def test_a_row_is_trained_and_judged_and_a_second_run_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("CASES_PER_DOMAIN", 2), ("HELD_OUT", 2), ("DEV", 1)):
        monkeypatch.setattr(run_english, name, value)
    small = ["sft.traces=4", "episode.retriever=bm25"]
    argv = ["run_english", "--out", str(tmp_path), "--rows", "warm-up", "--no-base", "--set", *small]
    monkeypatch.setattr(sys, "argv", argv)
    run_english.main()
    table = json.loads((tmp_path / "table-dev.json").read_text())
    assert set(table["rows"]) == {"warm-up", "warm-up, another case's passages"}
    assert not any(key.startswith("search if") for row in table["rows"].values() for key in row)
    model = tmp_path / "warm-up" / "model" / "model.safetensors"
    written = model.stat().st_mtime_ns
    run_english.main()
    assert model.stat().st_mtime_ns == written
    assert json.loads((tmp_path / "table-dev.json").read_text()) == table
