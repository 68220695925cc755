"""The English experiment: its data are split by case and hold what the table needs, and a row runs to the table."""

import json
import sys
from pathlib import Path

import pytest

from judge_r1.core.pair_set import load_pairs
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
    assert set(violated) == {(number,) for number in range(1, 7)}
    assert sum(labels in ((2,), (4,)) for labels in violated) > 0.35 * len(violated)


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
