"""The haystack experiment runs from the data to its table, and a second run uses what the first one made."""

import json
import sys
from pathlib import Path

import pytest

from data_builders.build import write_pairs
from data_builders.haystack_splits import build_splits, shuffled_labels
from scripts.run_haystack import TRAINED, main, with_starts


def test_rows_follow_those_that_they_start_from() -> None:
    rows = list(TRAINED)
    for row, spec in TRAINED.items():
        assert not spec.start or rows.index(spec.start) < rows.index(row)
    assert with_starts(["GRPO from careful"]) == ["careful SFT", "GRPO from careful"]


@pytest.mark.slow
def test_rows_run_and_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    splits = build_splits(tmp_path / "data", {"train": 4, "dev": 2, "test": 1})
    write_pairs(shuffled_labels(splits["train"], 0), tmp_path / "data" / "shuffled")
    rows = ["warm-up", "GRPO", "GRPO, shuffled labels"]
    small = ["sft.traces=32", "sft.epochs=1", "grpo.steps=1", "eval_pairs=4"]
    monkeypatch.setattr(
        sys, "argv", ["run_haystack", "--out", str(tmp_path), "--seeds", "1", "--rows", *rows, "--set", *small]
    )
    main()
    table = json.loads((tmp_path / "table-dev.json").read_text())
    assert {*rows, "base", "GRPO, search disabled", "GRPO, another case's passages"} == set(table["rows"])
    assert table["rules"]["rule: the differing line"]["accuracy"] == 1
    assert table["rows"]["base"]["valid_rate"] == 0
    assert "GRPO - warm-up" in table["differences"]
    models = {path: path.stat().st_mtime_ns for path in tmp_path.glob("0/*/model/model.safetensors")}
    assert len(models) == len(rows)
    capsys.readouterr()
    main()
    assert {path: path.stat().st_mtime_ns for path in models} == models
    assert json.loads((tmp_path / "table-dev.json").read_text()) == table
